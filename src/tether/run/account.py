"""What is told of a solution: a sentence, facts, and lists of coefficients and multipliers by name.

Words only; `tether.run.printing` and the report put them on paper.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array, Indices
from tether.feasible import Active, Multipliers
from tether.names import Labels
from tether.run.statement import counted

if TYPE_CHECKING:
    from tether.run.solution import Solution

ENDINGS = {  # other runs were stopped before they came to an end
    "CONVERGED": "Solved",
    "EXHAUSTED": "As far as rounding allows",
}
SIDES = {-1: "at its lower bound", 1: "at its upper bound", 0: ""}


class Line(NamedTuple):
    """A variable or a row: what it is called, its number, and what there is to say."""

    name: str
    value: float
    note: str = ""


class Listing(NamedTuple):
    """Some lines under a title, and what was left out."""

    title: str
    heading: str  # of the numbers
    lines: tuple[Line, ...]
    rest: str = ""


def headline(sol: "Solution") -> str:
    """Say whether it is solved, and how well."""
    if sol.status.name == "DIVERGED":
        return f"No answer: {sol.message.split('; ')[0]}."
    return f"{ENDINGS.get(sol.status.name, 'Stopped early')}: {certificate(sol)}."


def certificate(sol: "Solution") -> str:
    """Say what is certain about F(x), or why nothing is."""
    if math.isnan(sol.fun):
        return "F was not measured, because the workers keep their losses to themselves"
    if sol.gap is not None and math.isfinite(sol.gap):
        return f"F(x) is certainly within {sol.gap:.2g} of the minimum"
    slope = slope_of(sol)
    flat = f"||P grad F(x)|| is at most {slope:.2g}, but " if math.isfinite(slope) else ""
    reason = sol.doubt or "nothing bounds the gap, because F is not known to be strongly convex"
    return flat + reason


def slope_of(sol: "Solution") -> float:
    """Return the bound on ||P grad F|| where F was last seen at its value at x; nan where it was not."""
    there = np.flatnonzero(sol.history["value"] == sol.fun)
    return float(sol.history["slope"][there[-1]]) if len(there) else math.nan


def facts(sol: "Solution") -> list[tuple[str, str]]:
    """Return what was solved, how well, by what and at what cost."""
    problem = [] if sol.problem is None else [("problem", str(sol.problem))]
    status = [] if sol.success else [("status", sol.message)]
    return [*problem, *status, *_quality(sol), *_residual(sol), ("solved by", by(sol)), *_cost(sol)]


def by(sol: "Solution") -> str:
    """Say what solved it, and why that, if it was chosen and nothing else was."""
    solver = sol.solver or sol.method
    return f"{solver} ({sol.decisions[0].reason})" if len(sol.decisions) == 1 else solver


def _quality(sol: "Solution") -> list[tuple[str, str]]:
    if math.isnan(sol.fun):
        return [("F(x)", "not measured: the workers keep their losses to themselves")]
    known = sol.gap is not None and math.isfinite(sol.gap)
    return [
        ("F(x)", f"{sol.fun:.12g}{_fall(sol)}"),
        ("gap", f"at most {sol.gap:.3g}" if known else "unknown"),
    ]


def _fall(sol: "Solution") -> str:
    """Say where F began."""
    values = sol.history["value"]
    first = values[np.isfinite(values)][:1]
    return f", from {first[0]:.6g} at the start" if len(first) and first[0] > sol.fun else ""


def _residual(sol: "Solution") -> list[tuple[str, str]]:
    free = sol.problem is not None and not sol.problem.restrictions
    return [] if free else [("||Ax - b||", f"{sol.residual:.3g}")]


def _cost(sol: "Solution") -> list[tuple[str, str]]:
    counts = sol.counts
    passes = "" if sol.problem is None else f" ({_passes(passes_of(sol))} over the data)"
    found = [
        ("rounds", f"{counts.rounds:,} ({counted(counts.projections, 'vector')} projected)"),
        ("work", f"{counted(counts.gradients, 'component gradient')}{passes} in {sol.seconds:.3g} s"),
    ]
    if counts.audits or counts.audit_gradients:
        looks, gradients = counted(counts.audits, "round"), counts.audit_gradients
        found.append(("audits", f"{looks} and {counted(gradients, 'component gradient')} to look at F"))
    if counts.sent:
        sent, received = counts.sent / 1e6, counts.received / 1e6
        found.append(("traffic", f"{sent:.3g} MB from workers, {received:.3g} MB to them"))
    return found


def passes_of(sol: "Solution") -> float:
    """Return the passes over the data that the method took; nan where N is not known."""
    return math.nan if sol.problem is None else sol.counts.gradients / sol.problem.n_samples


def _passes(number: float) -> str:
    return "1 pass" if number == 1.0 else f"{number:,.4g} passes"


def coefficients(sol: "Solution", most: int) -> Listing:
    """Return the entries of x by name; the largest where there are too many, and what the others are."""
    labels = Labels("x", len(sol.x)) if sol.problem is None else sol.problem.variables
    bounds = None if sol.active is None else sol.active.bounds
    shown = _largest(sol.x, most)
    lines = tuple(
        Line(labels.at(k), float(sol.x[k]), "" if bounds is None else SIDES[int(bounds[k])]) for k in shown
    )
    title = "coefficients" if len(shown) == len(sol.x) else f"coefficients, the {len(shown)} largest"
    return Listing(title, "value", lines, _others(sol.x, bounds, len(shown)))


def _others(x: Array, bounds: NDArray[np.int8] | None, shown: int) -> str:
    """Say how many coefficients there are, are zero and are at bounds."""
    parts = [f"{len(x):,} in all"] if shown < len(x) else []
    zeros, held = int(np.sum(x == 0.0)), 0 if bounds is None else int(np.count_nonzero(bounds))
    parts += [f"{zeros:,} zero"] if zeros else []
    parts += [f"{held:,} at bounds"] if held else []
    return ", ".join(parts)


def multipliers(sol: "Solution", most: int) -> list[Listing]:
    """Return the multipliers by name: of equations, and of inequalities, bounds and terms that hold."""
    found, problem = sol.multipliers, sol.problem
    if found is None or problem is None:
        return []
    if not isinstance(found, Multipliers):
        return _of_equations(found, problem.equations, most)
    active = sol.active or Active(None, None, None)
    listings = [] if found.equalities is None else _of_equations(found.equalities, problem.equations, most)
    if found.inequalities is not None and active.inequalities is not None:
        holding = _Holding("inequalities", found.inequalities, active.inequalities)
        listings.append(holding.listing(problem.inequalities, most))
    if found.bounds is not None and active.bounds is not None:
        holding = _Holding("bounds", found.bounds, active.bounds)
        listings.append(holding.listing((problem.variables,), most))
    return listings + _of_terms(sol)


def ray(sol: "Solution", most: int) -> list[Listing]:
    """Return the direction along which F falls for ever, where there is one."""
    if sol.ray is None:
        return []
    labels = Labels("x", len(sol.x)) if sol.problem is None else sol.problem.variables
    shown = _largest(sol.ray, most)
    lines = tuple(Line(labels.at(int(k)), float(sol.ray[k])) for k in shown)
    left = len(sol.ray) - len(shown)
    return [
        Listing("a direction along which F falls for ever", "change", lines, f"{left:,} more" if left else "")
    ]


def _of_equations(values: Array, labels: tuple[Labels, ...], most: int) -> list[Listing]:
    if not len(values):
        return []
    shown = _largest(values, most)
    lines = tuple(Line(_name(labels, int(k)), float(values[k])) for k in shown)
    left = len(values) - len(shown)
    rest = f"{left:,} more with smaller multipliers" if left else ""
    return [Listing("multipliers of equations", "multiplier", lines, rest)]


class _Holding(NamedTuple):
    """Rows or variables that may be at a side, with their multipliers."""

    title: str
    values: Array
    sides: NDArray[np.int8]

    def listing(self, labels: tuple[Labels, ...], most: int) -> Listing:
        """Return those that hold, the most pressed first."""
        held = np.flatnonzero(self.sides)
        held = held[np.argsort(-np.abs(self.values[held]), kind="stable")]
        lines = tuple(self._line(_name(labels, int(k)), int(k)) for k in held[:most])
        left = f", {len(held) - most:,} of them not shown" if len(held) > most else ""
        rest = f"{len(held):,} of {len(self.sides):,} active{left}"
        return Listing(f"multipliers of {self.title}", "multiplier", lines, rest)

    def _line(self, name: str, k: int) -> Line:
        side = "lower side holds" if self.sides[k] < 0 else "upper side holds"
        return Line(name, float(self.values[k]), side)


def _of_terms(sol: "Solution") -> list[Listing]:
    kinks = None if sol.active is None else sol.active.penalty
    if kinks is None:
        return []
    return [Listing("terms of the penalty", "", (), f"{int(np.sum(kinks)):,} of {len(kinks):,} at zero")]


def _name(labels: tuple[Labels, ...], k: int) -> str:
    """Return what row k is called, counted through all blocks of rows."""
    for block in labels:
        if k < block.size:
            return block.at(k)
        k -= block.size
    return f"row {k}"


def _largest(values: Array, most: int) -> Indices:
    """Return the places of all values in their order, or of the largest by size."""
    if len(values) <= most:
        return np.arange(len(values))
    chosen = np.argpartition(-np.abs(values), most - 1)[:most]
    return chosen[np.argsort(-np.abs(values[chosen]), kind="stable")]
