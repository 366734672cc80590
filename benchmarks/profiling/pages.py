"""Results as Markdown and CSV."""

import csv
import io
import math
from typing import Any

from profiling import ratios
from profiling.ratios import AUTO, LBFGS, Entry

COLUMNS = ("seconds", "projections", "rounds", "passes", "iterations", "tolerance", "end", "reason")
FACTS = ("half", "loss", "sparse", "samples", "dim", "equations", "l2", "target")


def printed(results: dict[str, Any], half: str) -> str:
    """Return goals and ratios of the problems measured, for the terminal."""
    return _section(ratios.entries(results, half), half)


def page(results: dict[str, Any]) -> str:
    """Return the page of the documentation, both halves."""
    around = results["surroundings"]
    versions = ", ".join(f"{name} {number}" for name, number in around["packages"].items())
    made = f"{around['cores']} cores, Python {around['python']}; {versions}.\n"
    parts = [INTRODUCTION, made]
    for half in ("open", "held-out"):
        problems = ratios.entries(results, half)
        if not problems:
            parts.append(f"\n## The {half} half\n\nNot run.\n")
            continue
        figures = "".join(f"![{half}: {what}](profiles-{half}-{what}.svg)\n" for what in ("seconds", "projections"))
        parts.append(f"\n## The {half} half\n\n{figures}\n{_section(problems, half)}")
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
    lines = ["| solver | problems | quickest | within 2x | within 10x | not reached |", "|---|---:|---:|---:|---:|---:|"]
    for name, found in ratios.profile(problems, "seconds").items():
        cells = [sum(one <= most for one in found) for most in (1.0, 2.0, 10.0)]
        failed = sum(math.isinf(one) for one in found)
        lines.append(f"| {name} | {len(found)} | {cells[0]} | {cells[1]} | {cells[2]} | {failed} |")
    return "\n".join(lines) + "\n"


def _ratios(problems: dict[str, Entry]) -> str:
    head = "| problem | N | p | m | auto | / best explicit | / L-BFGS | / best peer | projections: auto | L-BFGS | own stop |"
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


INTRODUCTION = """# Performance profiles

`make profile` runs Tether's methods and other libraries' solvers over the collection of `benchmarks/collection.py` and writes this page,
its figures and `profiles.csv`. `make profile PROFILE="--half open --methods tether"` runs less and only prints.

- **The target** is a true gap F(x) - F* of 1e-6 |F*| (|F*| counted between a thousandth and the whole of the gap of the feasible
  point nearest to 0), at a point with ||A x - b|| <= 1e-6 (1 + ||b||). Values are computed by NumPy, apart from every solver. F* is the
  least value of two solvers: L-BFGS run to rounding, and Newton in the null space, Newton-CG or the optimality system.
- **The clock** starts at the arrays X, y, A, b (or P, q; or the edges of a network). Set-up is on it: factorising A, constants of F, the basis
  of a null space, forming X'X. Compilation is not: every solver warms up on the problem first. Of up to seven further runs the best counts.
- Solvers that show iterates are stopped at the first one that reaches the target; looking is off the clock. The others are
  run with tolerances 1e-1, 1e-2, ... (quadratic programs: 1e-2, 1e-4, ...), and the first that reaches the target counts.
- Everything runs in one process, one solver after the other, on all cores. A run ends after 30 s or 20 times the best time so far (at least 2 s).
- SciPy's minimisers work in the null space: on data multiplied by a basis of it where that is small, else on projected gradients, compiled as
  Tether's own. glum works on multiplied data too; scikit-learn only where there are no equations, without an intercept of its own. scikit-learn's
  HuberRegressor solves another problem. *null-space newton* is a plain NumPy code of this benchmark and not counted among the peers.
- **The profiles** (Dolan and More): the share of problems on which a solver took at most t times as long as the best, among the problems that it takes.
- A hash of its name puts each problem into the half that is looked at while Tether is developed or into the half that is only run at the end.
- *own stop* is the time at which auto's certificate ends the run, over the time at which the target was reached.
"""
