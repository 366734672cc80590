"""The top of a page: what was solved, by what, and how well."""

import math
from collections.abc import Mapping
from html import escape

from tether.report import markup
from tether.report.parts import Cell, Mark, Table
from tether.run import account
from tether.run.solution import Solution

ROUNDING = 1e-9  # of F, by which values may differ that are the same
STATUS = {True: "good", False: "bad"}


def title_of(solutions: Mapping[str, Solution]) -> str:
    """Return a heading for runs that nobody gave one."""
    words = {
        sol.problem.objective.split(" with ")[0] for sol in solutions.values() if sol.problem is not None
    }
    problem = words.pop() if len(words) == 1 else ""
    if len(solutions) == 1:
        return _capital(problem or "A run")
    return f"{len(solutions)} runs" + (f": {problem}" if problem else "") if solutions else "Report"


def headline(solutions: Mapping[str, Solution], best: float | None) -> str:
    """Return what a reader wants to know first: of one run in cards, of several in a table."""
    if not solutions:
        return ""
    if len(solutions) > 1:
        return "\n".join([_problems(solutions), comparison(solutions, best)])
    (sol,) = solutions.values()
    problem = "" if sol.problem is None else f'<p class="lead">{escape(_capital(str(sol.problem)))}.</p>'
    return "\n".join([problem, _verdict(sol), markup.cards(numbers(sol, best))])


def numbers(sol: Solution, best: float | None) -> list[tuple[str, str]]:
    """Return the numbers of a run that are to be seen first, as HTML."""
    known = sol.gap is not None and math.isfinite(sol.gap)
    found = [("certified gap", f"≤ {markup.powers(sol.gap)}" if known and sol.gap is not None else "none")]
    if best is not None and not math.isnan(sol.fun):
        found.append(("true gap", markup.powers(sol.fun - best)))
    restricted = sol.problem is None or bool(sol.problem.restrictions)
    found += [("residual", markup.powers(sol.residual))] if restricted else []
    found.append(("projections", f"{sol.counts.projections:,}"))
    if sol.problem is not None:
        found.append(("passes over the data", markup.rounded(account.passes_of(sol))))
    return [*found, ("seconds", markup.rounded(sol.seconds))]


def comparison(solutions: Mapping[str, Solution], best: float | None) -> str:
    """Return runs side by side."""
    rows = [{"run": name, **_row(sol, best)} for name, sol in solutions.items()]
    return markup.table(Table(list(rows[0]), [list(row.values()) for row in rows]))


def _row(sol: Solution, best: float | None) -> dict[str, Cell]:
    """Return what is compared of a run, what matters most first."""
    true: dict[str, Cell] = {} if best is None else {"true gap": _small(sol.fun - best)}
    return {
        "status": Mark(sol.status.name.lower().replace("_", " "), sol.success),
        "certified gap": _small(sol.gap),
        **true,
        "projections": sol.counts.projections,
        "passes": f"{account.passes_of(sol):,.4g}",
        "seconds": f"{sol.seconds:,.3g}",
        "rounds": sol.counts.rounds,
        "residual": _small(sol.residual),
        "F(x)": f"{sol.fun:.9g}",
    }


def of_one_problem(solutions: Mapping[str, Solution]) -> bool:
    """Say whether runs seem to have solved the same problem, so that values of F can be compared."""
    stated = [sol.problem for sol in solutions.values()]
    first = stated[0]
    alike = all(one is not None and first is not None and first.is_like(one) for one in stated)
    return alike and _agree_on_the_minimum(list(solutions.values()))


def _agree_on_the_minimum(solutions: list[Solution]) -> bool:
    """Say whether some F* is within the certified gap of every run: else their data was not the same."""
    measured = [sol for sol in solutions if math.isfinite(sol.fun)]
    highest = min((sol.fun for sol in measured), default=math.inf)
    lowest = max((sol.fun - sol.gap for sol in measured if sol.gap is not None), default=-math.inf)
    return lowest <= highest + ROUNDING * abs(highest)


def _small(value: float | None) -> str:
    """Return what should be near zero with as many digits as matter."""
    if value is None or math.isnan(value):
        return markup.DASH
    return f"{value:.1e}" if value else "0"


def _problems(solutions: Mapping[str, Solution]) -> str:
    if of_one_problem(solutions):
        problem = next(iter(solutions.values())).problem
        return f'<p class="lead">{escape(_capital(str(problem)))}.</p>'
    lines = (
        f"<b>{escape(name)}</b>: {escape(str(sol.problem or 'unknown'))}" for name, sol in solutions.items()
    )
    words = "These runs solved different problems, so that values of F cannot be compared."
    return f'<p class="lead">{words}</p>' + "".join(f"<p>{line}.</p>" for line in lines)


def _verdict(sol: Solution) -> str:
    word, sentence = account.headline(sol).split(": ", 1)
    solver = f"By {account.by(sol)}."
    return (
        f'<p class="verdict"><span class="mark {STATUS[sol.success]}">{escape(word)}</span> '
        f"{escape(_capital(sentence))} {escape(solver)}</p>"
    )


def _capital(words: str) -> str:
    """Return a sentence with a capital, unless it begins with a formula."""
    return words if words[:2] in ("F ", "F(") else words[:1].upper() + words[1:]
