"""Results as Markdown and CSV."""

import csv
import io
import math
from pathlib import Path
from typing import Any

from profiling import ratios
from profiling.ratios import AUTO, LBFGS, Entry

COLUMNS = ("seconds", "projections", "rounds", "passes", "iterations", "tolerance", "end", "reason")
INTRODUCTION = Path(__file__).with_name("introduction.md")
TITLES = {
    "open": "The open half",
    "held-out": "The held-out half",
    "set aside": "Set aside",
    "drawn last": "Drawn last",
    "drawn at random": "Drawn at random",
}
FACTS = ("half", "loss", "sparse", "samples", "dim", "equations", "l2", "target")


def figure_name(half: str, what: str) -> str:
    """Return the file of a figure."""
    return f"profiles-{half.replace(' ', '-')}-{what}.svg"


def printed(results: dict[str, Any], half: str) -> str:
    """Return goals and ratios of the problems measured, for the terminal."""
    return _section(ratios.entries(results, half), half)


def page(results: dict[str, Any]) -> str:
    """Return the page of the documentation, both halves."""
    around = results["surroundings"]
    versions = ", ".join(f"{name} {number}" for name, number in around["packages"].items())
    made = f"{around['cores']} cores, Python {around['python']}; {versions}.\n"
    parts = [INTRODUCTION.read_text(), made]
    for half, title in TITLES.items():
        problems = ratios.entries(results, half)
        if not problems:
            parts.append(f"\n## {title}\n\nNot run.\n")
            continue
        figures = "".join(
            f"![{half}: {what}]({figure_name(half, what)})\n" for what in ("seconds", "projections")
        )
        parts.append(f"\n## {title}\n\n{figures}\n{_section(problems, half)}")
    return "\n".join(parts)


def _section(problems: dict[str, Entry], half: str) -> str:
    return "\n".join([_goals(problems), _quartiles(problems), _ratios(problems), _notes(problems)])


def _goals(problems: dict[str, Entry]) -> str:
    lines = ["| goal | met | measured |", "|---|---|---|"]
    for goal in ratios.goals(problems):
        met = {True: "yes", False: "**no**", None: "–"}[goal.met]
        lines.append(f"| {goal.words} | {met} | {goal.numbers} |")
    return "\n".join(lines) + "\n"


def _quartiles(problems: dict[str, Entry]) -> str:
    lines = [
        "| solver | problems | quickest | within 2x | within 10x | not reached |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, found in ratios.profile(problems, "seconds").items():
        cells = [sum(one <= most for one in found) for most in (1.0, 2.0, 10.0)]
        failed = sum(math.isinf(one) for one in found)
        lines.append(f"| {name} | {len(found)} | {cells[0]} | {cells[1]} | {cells[2]} | {failed} |")
    return "\n".join(lines) + "\n"


def _ratios(problems: dict[str, Entry]) -> str:
    head = "| problem | N | p | m | auto | / best explicit | / L-BFGS | / best peer "
    head += "| projections: auto | L-BFGS | own stop |"
    lines = [head, "|---|---:|---:|---:|---:|---|---:|---|---:|---:|---:|"]
    for name, entry in problems.items():
        explicit, peers = (ratios.against(entry, some(entry)) for some in (ratios.explicit, ratios.peers))
        lbfgs, _ = ratios.against(entry, [LBFGS])
        own = ratios.ratio(ratios.cost(entry, f"{AUTO}, own stop"), ratios.cost(entry, AUTO))
        cells = [
            name,
            *(f"{entry[fact]:,}" for fact in ("samples", "dim", "equations")),
            _seconds(ratios.cost(entry, AUTO)),
            f"{_times(explicit[0])} {explicit[1].removeprefix('tether ')}",
            _times(lbfgs),
            f"{_times(peers[0])} {peers[1]}",
            _count(ratios.cost(entry, AUTO, "projections")),
            _count(ratios.cost(entry, LBFGS, "projections")),
            _times(own),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _notes(problems: dict[str, Entry]) -> str:
    lines = []
    for name, entry in problems.items():
        if entry["doubt"] > 0.01:
            lines.append(f"- {name}: F* is known only to {entry['doubt']:.1g} of the gap that is asked for.")
        for solver, record in entry["solvers"].items():
            if record["end"] in ("failed", "missed"):
                lines.append(f"- {name}, {solver}: {record.get('reason') or 'stopped above the target'}.")
    return "\n".join(lines) + "\n" if lines else ""


def table(results: dict[str, Any]) -> str:
    """Return all records as CSV, one line a pair of problem and solver."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["problem", *FACTS, "solver", *COLUMNS])
    for name, entry in ratios.entries(results).items():
        for solver, record in entry["solvers"].items():
            if record["end"] != "refused":
                facts = [entry[fact] for fact in FACTS]
                writer.writerow([name, *facts, solver, *(record.get(column, "") for column in COLUMNS)])
    return text.getvalue()


def compared(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Return the ratios of times and projections, after to before, of Tether's methods."""
    old, new = ratios.entries(before), ratios.entries(after)
    lines = ["| problem | method | seconds | projections |", "|---|---|---:|---:|"]
    for name in (name for name in new if name in old):
        for solver in ratios.families(new[name], "tether"):
            changes = [
                ratios.ratio(ratios.cost(new[name], solver, what), ratios.cost(old[name], solver, what))
                for what in ("seconds", "projections")
            ]
            lines.append(f"| {name} | {solver} | {_times(changes[0])} | {_times(changes[1])} |")
    return "\n".join(lines) + "\n"


def _times(number: float) -> str:
    return "–" if math.isnan(number) else "never" if math.isinf(number) else f"{number:.2f}x"


def _seconds(number: float) -> str:
    return "–" if math.isnan(number) else "not reached" if math.isinf(number) else f"{number:.3g} s"


def _count(number: float) -> str:
    return "–" if not math.isfinite(number) else f"{number:.0f}"
