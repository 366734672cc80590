"""The rest of a page: decisions, coefficients, multipliers, counts, workers, and how to run it again."""

from collections.abc import Mapping
from html import escape

import numpy as np

from tether.report import markup
from tether.report.parts import Cell, Table
from tether.run.account import Listing
from tether.run.history import Counts, Decision
from tether.run.printing import listings, number
from tether.run.solution import Solution
from tether.run.statement import counted

SHOWN = 20  # coefficients and multipliers that are seen at once
MOST = 500  # that can be unfolded
WORDS = {
    "steps": "steps (T)",
    "stages": "stages (S)",
    "rounds": "rounds",
    "projections": "vectors projected (P)",
    "gradients": "component gradients (G)",
    "sent": "bytes from workers",
    "received": "bytes to workers",
    "audits": "rounds to look at F",
    "audit_gradients": "component gradients to look at F",
}


def decisions(solutions: Mapping[str, Solution]) -> str:
    """Return what auto decided, when and why; nothing where nobody decided anything."""
    several = len(solutions) > 1
    rows: list[list[Cell]] = []
    for name, sol in solutions.items():
        own: list[list[Cell]] = [[when(each), each.words, each.reason] for each in sol.decisions]
        rows += [[name, *row] for row in own] if several else own
    headings = ["when", "chosen", "because"]
    return markup.table(Table(["run", *headings] if several else headings, rows)) if rows else ""


def when(decision: Decision) -> str:
    """Say when something was decided."""
    if decision.request == 0:
        return "at the start"
    passes = markup.rounded(decision.passes)
    return f"after {counted(decision.request, 'request')}, {passes} passes"


def counts(solutions: Mapping[str, Solution]) -> str:
    """Return what was counted, a column a run; what no run has is left out."""
    used = [name for name in Counts._fields if any(getattr(sol.counts, name) for sol in solutions.values())]
    rows = [[WORDS[name], *(getattr(sol.counts, name) for sol in solutions.values())] for name in used]
    single = len(solutions) == 1
    return markup.table(Table(["", *(["count"] if single else solutions)], rows))


def values(sol: Solution) -> str:
    """Return coefficients, active constraints and multipliers by name."""
    first, more = listings(sol, SHOWN), listings(sol, MOST)
    lists = (_listing(short, long) for short, long in zip(first, more, strict=True))
    return f'<div class="lists">{"".join(lists)}</div>'


def _listing(short: Listing, long: Listing) -> str:
    """Return a list that is seen at once, and a longer one to unfold."""
    rest = f" <small>{escape(short.rest)}</small>" if short.rest else ""
    head = f"<h3>{escape(short.title[:1].upper() + short.title[1:])}{rest}</h3>"
    if not short.lines:
        return f"<div>{head}</div>"
    pieces = [head, _lines(short)]
    if len(long.lines) > len(short.lines):
        pieces.append(markup.folded(f"Show {len(long.lines):,}", _lines(long)))
    return f"<div>{''.join(pieces)}</div>"


def _lines(listing: Listing) -> str:
    noted = any(line.note for line in listing.lines)
    rows: list[list[Cell]] = [
        [line.name, number(line.value), *([line.note] if noted else [])] for line in listing.lines
    ]
    return markup.table(Table(["", listing.heading, *([""] if noted else [])], rows))


def again(sol: Solution) -> str:
    """Return what it takes to have the run again: settings, versions, and the method as it ran."""
    if sol.problem is None:
        return markup.code(sol.method)
    asked = dict(sol.problem.settings)
    method = asked.pop("method", "")
    filled = ["<p>With every setting filled in:</p>", markup.code(sol.method)] if sol.method != method else []
    pieces = ["<p>The method as it was asked for:</p>", markup.code(method), *filled]
    return "\n".join([markup.definitions([*asked.items(), *sol.problem.versions]), *pieces])


def workers(sol: Solution) -> Table | None:
    """Return how each worker of a federation ended and what it did; None without workers."""
    reports = sol.history.workers
    if not reports:
        return None
    last = {name: [_last(column) for column in reports[name].T] for name in ("value", "slope")}
    total = {name: np.nansum(reports[name], axis=0) for name in ("seconds", "sent")}
    rows = [
        [k, last["value"][k], last["slope"][k], float(total["seconds"][k]), float(total["sent"][k]) / 1e6]
        for k in range(len(last["value"]))
    ]
    return Table(["worker", "last loss", "last gradient norm", "seconds", "MB sent"], rows)


def _last(column: np.ndarray) -> float | None:
    known = column[np.isfinite(column)]
    return float(known[-1]) if len(known) else None
