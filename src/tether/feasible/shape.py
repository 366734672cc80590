"""Constraints and penalties of a problem: a plane, a function with kinks, and the way back."""

from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array, Indices
from tether.constraints import Constraint
from tether.feasible.contradiction import contradiction_in
from tether.feasible.crossings import require_empty_rows, uncrossed
from tether.feasible.equations import Equations, equations_of, parts_of
from tether.feasible.given import Given, read
from tether.feasible.implied import (
    known_equations,
    require_reachable,
    without_constant_rows,
    without_distant_walls,
)
from tether.feasible.multipliers import Active, Multipliers, Place, shares, term_multipliers, wall_multipliers
from tether.feasible.stacking import chosen_rows, compact
from tether.feasible.targets import Targets, free_targets, targets_of
from tether.inputs import InfeasibleError
from tether.names import Names
from tether.polyhedral import Duals, Polyhedral

SMALL = 300  # variables and rows up to which contradictions are looked for before anything is solved


class Feasible(NamedTuple):
    """min F(x) + psi(x) subject to A x = b: psi, A and b, and how they came of what was given."""

    given: Given
    targets: Targets
    equations: Equations
    polyhedral: Polyhedral | None  # psi; None where there are equations only
    as_rows: Indices  # the targets that are rows of psi
    as_equations: Indices  # the targets that are equations

    @property
    def plane(self) -> Constraint:
        """The equations, A x = b."""
        return self.equations.plane

    @property
    def plain(self) -> bool:
        """Whether equations are all that was given: multipliers then are one array."""
        return self.given.plain

    def multipliers(self, normal: Array, duals: Duals | None = None) -> Multipliers:
        """Return multipliers of what was given, for grad F(x) = normal - s - K^T y, normal = A^T lambda."""
        given, targets = self.given, self.targets
        equalities, own = self.equations.split(normal)
        walls, slopes = shares(targets, self._duals(own, duals))
        bounds, rows = wall_multipliers(given, targets, walls)
        return Multipliers(
            equalities if given.planes else None,
            None if given.rows is None else rows,
            None if given.box is None else bounds,
            None if given.terms is None else term_multipliers(given, targets, slopes),
        )

    def active(self, x: Array, multipliers: Multipliers) -> Active:
        """Return which inequalities, bounds and kinks hold at x; multipliers say which of two equal sides."""
        given = self.given
        inequalities = bounds = penalty = None
        if given.rows is not None:
            row = given.rows
            at = Place(row.matrix @ x, abs(row.matrix) @ np.abs(x))
            inequalities = at.walls(row.lower, row.upper, multipliers.inequalities)
        if given.box is not None:
            bounds = Place(x, np.abs(x)).walls(given.box.lower, given.box.upper, multipliers.bounds)
        if given.terms is not None:
            penalty = Place(given.terms.matrix @ x, abs(given.terms.matrix) @ np.abs(x)).kinks()
        return Active(inequalities, bounds, penalty)

    def __repr__(self) -> str:
        return f"Feasible({self.plane!r}, {len(self.as_rows)} rows)"

    def _duals(self, equations: Array, duals: Duals | None) -> Array:
        """Return the dual of each target."""
        found = np.zeros(len(self.targets.left))
        found[self.as_equations] = -equations
        if duals is not None:
            found[: self.given.dim], found[self.as_rows] = duals.coordinates, duals.rows
        return found


def as_feasible(
    constraints: Any, penalty: Any, dim: int, names: Names | None = None, *, presolve: bool = True
) -> Feasible:
    """Return constraints and penalties as a plane and a polyhedral function.

    Parameters
    ----------
    constraints : constraint, list of constraints or None
        `Affine`, `Range`, `Flow`, `Simplex`, `NonNegative`, SciPy's LinearConstraint and Bounds.
    penalty : L1, list of L1 or None
        What is added to F.
    dim : int
        The number of variables of the objective.
    names : tuple of str, optional
        Their names.
    presolve : bool, default True
        Whether rows with one entry become bounds, and parallel rows one.
    """
    given = read(constraints, penalty, dim, names)
    if given.bare:
        return _of_planes(given)
    require_empty_rows(given)
    targets = targets_of(given, merged=False) if given.plain else _targets(given, presolve)
    pieces = targets.pieces
    rows = pieces.some(slice(dim, None))
    slopes = rows.left + rows.right > 0.0
    walls = np.isfinite(rows.lower) | np.isfinite(rows.upper)
    equal = (rows.lower == rows.upper) & ~slopes
    as_equations, as_rows = dim + np.flatnonzero(equal), dim + np.flatnonzero(~equal & (walls | slopes))
    chosen = chosen_rows(targets.matrix, as_equations - dim)
    chosen = chosen.toarray() if _were_dense(given) else chosen
    equations = _equations(given, chosen, targets.lower.value[as_equations])
    matrix = compact(chosen_rows(targets.matrix, as_rows - dim))
    polyhedral = Polyhedral(pieces.some(slice(0, dim)), matrix, pieces.some(as_rows))
    trivial = polyhedral.coordinates.trivial and not polyhedral.couples
    feasible = Feasible(given, targets, equations, None if trivial else polyhedral, as_rows, as_equations)
    if _worth_a_look(feasible):
        _require(contradiction(feasible))
    return feasible


def _of_planes(given: Given) -> Feasible:
    """Return planes alone, on which nothing else acts."""
    targets, none = free_targets(given.dim), np.zeros(0, dtype=np.int64)
    return Feasible(given, targets, _equations(given, targets.matrix, np.zeros(0)), None, none, none)


def contradiction(feasible: Feasible) -> str | None:
    """Return a sentence that names a few constraints that contradict each other; None if none are found.

    It takes a linear program in all variables, and some more in those of the few.
    """
    return contradiction_in(feasible.given)


def _worth_a_look(feasible: Feasible) -> bool:
    """Say whether a small problem may contradict itself in ways that were not looked for already.

    Equations alone are consistent, or were refused; so are bounds, and one row between bounds.
    """
    psi, equations = feasible.polyhedral, feasible.plane.equations
    if psi is None or not psi.bounded or equations is None:
        return False
    rows = len(equations[1]) + int(np.sum(np.isfinite(psi.rows.lower) | np.isfinite(psi.rows.upper)))
    known = all(plane.constraint.equations is not None for plane in feasible.given.planes)
    return rows > known and psi.dim + rows <= SMALL and not _holds_near_zero(psi, *equations)


def _holds_near_zero(psi: Polyhedral, matrix: Any, right: Array) -> bool:
    """Say whether the point between the bounds that is nearest to zero satisfies everything."""
    x = np.clip(np.zeros(psi.dim), psi.coordinates.lower, psi.coordinates.upper)
    return psi.violation(x) == 0.0 and np.array_equal(matrix @ x, right)


def _targets(given: Given, presolve: bool) -> Targets:
    """Return what is left to act on, once what is implied is dropped and what contradicts itself refused."""
    targets = uncrossed(given, targets_of(given, merged=presolve))
    if not (np.isfinite(targets.lower.value).any() or np.isfinite(targets.upper.value).any()):
        return targets
    known = known_equations(given)
    if presolve:
        targets = without_constant_rows(given, targets, known)
    require_reachable(given, targets, known)
    return without_distant_walls(given, targets) if presolve else targets


def _equations(given: Given, matrix: Any, right: Array) -> Equations:
    """Return all equations, those of rows below those of planes; where they contradict each other, say so."""
    parts = parts_of(given, beside=not given.plain)
    try:
        return equations_of(parts, matrix, right)
    except ValueError:
        _require(contradiction_in(given))
        raise


def _were_dense(given: Given) -> bool:
    return given.rows is not None and bool(given.rows.dense.all())


def _require(contradiction: str | None) -> None:
    if contradiction is not None:
        raise InfeasibleError(contradiction)
