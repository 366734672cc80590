"""Which constraints contradict each other: few of them, of which none can be left out.

All sides are relaxed alike and the least relaxation is found by a linear program: min t subject to
a_i^T x + t >= beta_i, rows of length one. Its multipliers y >= 0 are the proof (Farkas): sum_i y_i a_i = 0,
yet sum_i y_i beta_i > 0. A vertex has as few of them as possible; then each is left out in turn, to see
whether the others still contradict each other.

References
----------
Chinneck, "Feasibility and Infeasibility in Optimization", the deletion filter.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from tether.arrays import Array
from tether.feasible.equations import PROBED_SIZE, rows_of
from tether.feasible.given import Given
from tether.feasible.sides import EQUATION, LOWER, LOWER_BOUND, UPPER, UPPER_BOUND, Side, sentence
from tether.feasible.stacking import as_sparse

CERTAIN = 1e-8  # relative: what contradicts itself by less may be rounding
NOISE = 1e-13  # relative to the largest number of all: others may be the rounding of such
NONZERO = 1e-9  # relative, of multipliers of the linear program
LARGEST_SYSTEM = 20_000_000  # entries of a linear program that is worth its time
FILTERED_SIDES = 60  # up to which each side is left out in turn
FAR_UNIT = 1e3  # between units that are both tried
PRECISION = 1e-10  # of the linear program


class System(NamedTuple):
    """Sides, a^T x >= beta, or = beta where equal."""

    matrix: sparse.csr_array
    right: Array
    equal: Any
    sides: list[Side]

    def some(self, chosen: Any) -> "System":
        """Return some of the sides."""
        own = [self.sides[k] for k in chosen]
        return System(sparse.csr_array(self.matrix[chosen]), self.right[chosen], self.equal[chosen], own)


def conflict(given: Given) -> list[Side] | None:
    """Return sides that contradict each other, none of which can be left out; None where none are found."""
    system = system_of(given)
    if system is None or len(system.right) == 0:
        return None
    proof = _proof(system)
    if proof is None:
        return None
    chosen = np.flatnonzero(np.abs(proof) > NONZERO * np.abs(proof).max())
    return _filtered(system.some(chosen)).sides


def contradiction_in(given: Given) -> str | None:
    """Return a sentence that names constraints which contradict each other; None where none are found."""
    sides = conflict(given)
    return None if sides is None else sentence(given, sides)


def _filtered(system: System) -> System:
    if len(system.right) > FILTERED_SIDES:
        return system
    kept = list(range(len(system.right)))
    for k in range(len(system.right)):
        rest = [other for other in kept if other != k]
        if rest and _proof(system.some(rest)) is not None:
            kept = rest
    return system.some(kept)


def _proof(system: System) -> Array | None:
    """Return multipliers of the sides that prove that no point satisfies all of them, if there are any."""
    used = np.unique(system.matrix.indices)
    length = np.sqrt(system.matrix.power(2).sum(axis=1))
    length = np.where(length > 0.0, length, 1.0)
    rows = sparse.csr_array(sparse.diags_array(1.0 / length) @ system.matrix[:, used])
    for unit in _units(system.right / length):
        found = _relaxation(rows, system.right / length / unit, system.equal)
        if found is not None and _proves(found, rows, system.right / length):
            return found / length
    return None


def _units(right: Array) -> list[float]:
    """Return units in which sides are neither large nor small, because a linear program has a precision."""
    sizes = np.abs(right[right != 0.0])
    if len(sizes) == 0:
        return [1.0]
    middle, least = float(np.median(sizes)), float(sizes.min())
    return [middle, least] if middle > FAR_UNIT * least else [middle]  # where most are as good as infinite


def _proves(found: Array, rows: sparse.csr_array, right: Array) -> bool:
    worth, leak = found * right, np.abs(rows.T @ found)
    closed = leak.max(initial=0.0) <= CERTAIN * np.abs(found).max()
    slack = CERTAIN * np.abs(worth).sum() + NOISE * np.abs(right).max() * np.abs(found).sum()
    return bool(closed and worth.sum() > slack)


def _relaxation(rows: sparse.csr_array, right: Array, equal: Any) -> Array | None:
    """Return the multipliers of min t subject to rows x + t >= right, and rows x - t <= right if equal."""
    count, dim = rows.shape
    both = np.flatnonzero(equal)
    matrix = sparse.vstack([-rows, rows[both]])
    matrix = sparse.hstack([matrix, -np.ones((matrix.shape[0], 1))], format="csc")
    answer = linprog(
        np.eye(1, dim + 1, dim)[0],
        A_ub=matrix,
        b_ub=np.concatenate([-right, right[both]]),
        bounds=[(None, None)] * dim + [(0.0, None)],
        method="highs-ds",
        options={"primal_feasibility_tolerance": PRECISION, "dual_feasibility_tolerance": PRECISION},
    )
    if answer.status != 0 or answer.fun <= 0.0:
        return None
    pressed = -np.asarray(answer.ineqlin.marginals)
    found = pressed[:count].copy()
    found[both] -= pressed[count:]
    return found


def system_of(given: Given) -> System | None:
    """Return all sides of what was given; None where they are too many."""
    parts = [*_plane_sides(given), *_row_sides(given), *_bound_sides(given)]
    if sum(part.matrix.size for part in parts) > LARGEST_SYSTEM:
        return None
    sides = [side for part in parts for side in part.sides]
    empty = sparse.csr_array((0, given.dim))
    return System(
        as_sparse(sparse.vstack([empty, *(part.matrix for part in parts)])),
        np.concatenate([np.zeros(0), *(part.right for part in parts)]),
        np.array([side.kind == EQUATION for side in sides], dtype=bool),
        sides,
    )


class Part(NamedTuple):
    """Sides of one kind."""

    matrix: Any
    right: Array
    sides: list[Side]


def _plane_sides(given: Given) -> Iterator[Part]:
    for k, plane in enumerate(given.planes):
        if plane.constraint.equations is not None or given.dim <= PROBED_SIZE:
            matrix, right = rows_of(plane, given)
            small = matrix if matrix.size > LARGEST_SYSTEM else sparse.csr_array(matrix)
            yield Part(small, right, [Side(EQUATION, i, k) for i in range(len(right))])


def _row_sides(given: Given) -> Iterator[Part]:
    if given.rows is None:
        return
    matrix, lower, upper = given.rows.matrix, given.rows.lower, given.rows.upper
    equal = lower == upper
    for kind, chosen, right in (
        (EQUATION, equal, lower),
        (LOWER, ~equal & np.isfinite(lower), lower),
        (UPPER, ~equal & np.isfinite(upper), upper),
    ):
        sign, rows = -1.0 if kind == UPPER else 1.0, np.flatnonzero(chosen)
        yield Part(sign * matrix[rows], sign * right[rows], [Side(kind, int(i)) for i in rows])


def _bound_sides(given: Given) -> Iterator[Part]:
    if given.box is None:
        return
    each = sparse.eye_array(given.dim, format="csr")
    for kind, sign, walls in ((LOWER_BOUND, 1.0, given.box.lower), (UPPER_BOUND, -1.0, given.box.upper)):
        chosen = np.flatnonzero(np.isfinite(walls))
        yield Part(sign * each[chosen], sign * walls[chosen], [Side(kind, int(j)) for j in chosen])
