"""Walls that equations or bounds imply, which are dropped, or contradict, which is an error.

A row that is a multiple of an equation is constant. Between the bounds of its variables a row can only take
the values of an interval: a wall beyond that is never reached, and one before it never kept.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether.arrays import Array, Indices
from tether.feasible.contradiction import CERTAIN, NOISE
from tether.feasible.crossings import side_of
from tether.feasible.given import Given
from tether.feasible.parallel import parallels
from tether.feasible.sides import EQUATION, Side, sentence
from tether.feasible.stacking import as_sparse, beneath
from tether.feasible.targets import NO_TARGET, Targets, Walls
from tether.inputs import InfeasibleError

LARGEST_LOOK = 4_000_000  # entries of equations that are looked through


class Known(NamedTuple):
    """The equations of planes, as far as they are at hand, and which they are."""

    matrix: sparse.csr_array
    right: Array
    sides: list[Side]


def known_equations(given: Given) -> Known:
    """Return the equations of planes that have a matrix of moderate size."""
    blocks, right, sides = list[sparse.csr_array](), [np.zeros(0)], list[Side]()
    for number, plane in enumerate(given.planes):
        equations = plane.constraint.equations
        if equations is not None and equations[0].size <= LARGEST_LOOK:
            blocks.append(sparse.csr_array(equations[0]))
            right.append(equations[1])
            sides += [Side(EQUATION, i, number) for i in range(len(equations[1]))]
    return Known(as_sparse(beneath(blocks, given.dim).copy()), np.concatenate(right), sides)


def without_constant_rows(given: Given, targets: Targets, known: Known) -> Targets:
    """Return targets without the walls of rows that are multiples of an equation."""
    filled = np.flatnonzero(np.diff(known.matrix.indptr))
    if targets.matrix.shape[0] == 0 or len(filled) == 0:
        return targets
    leader, scale = parallels(sparse.csr_array(sparse.vstack([known.matrix[filled], targets.matrix])))
    leader, scale = leader[len(filled) :], scale[len(filled) :]
    constant = np.flatnonzero(leader < len(filled))
    value = scale[constant] * known.right[filled[leader[constant]]]
    places = given.dim + constant
    slack = CERTAIN * np.abs(value) + NOISE * _largest(targets)
    for above, wrong in _outside(targets, places, value, value, slack):
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            equation = known.sides[filled[leader[constant[k]]]]
            raise InfeasibleError(sentence(given, [equation, side_of(given, targets, int(places[k]), above)]))
    none = np.zeros(0, dtype=np.int64)
    return _without_walls(_without_walls(targets, places, none), none, places)


def without_distant_walls(given: Given, targets: Targets) -> Targets:
    """Return targets without the walls of rows that bounds keep them from."""
    bounds = targets.lower.value[: given.dim], targets.upper.value[: given.dim]
    if targets.matrix.shape[0] == 0 or not any(np.isfinite(side).any() for side in bounds):
        return targets
    reach = _reach(targets.matrix, targets, given.dim)
    places = given.dim + np.arange(targets.matrix.shape[0])
    for above, wrong in _outside(targets, places, *reach):
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            raise InfeasibleError(sentence(given, _clash(given, targets, places[k], above)))
    low, high, _ = reach
    lower, upper = targets.lower.value[places], targets.upper.value[places]
    free = lower < upper  # those that are equal stay equations
    return _without_walls(targets, places[free & (low >= lower)], places[free & (high <= upper)])


def require_reachable(given: Given, targets: Targets, known: Known) -> None:
    """Refuse equations that no point between the bounds can satisfy."""
    if known.matrix.shape[0] == 0:
        return
    low, high, slack = _reach(known.matrix, targets, given.dim)
    slack = slack + CERTAIN * np.abs(known.right)
    for above, wrong in ((True, low > known.right + slack), (False, high < known.right - slack)):
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            row = known.matrix[[k]]
            raise InfeasibleError(sentence(given, [known.sides[k], *_bounds_of(given, targets, row, above)]))


def _outside(targets: Targets, places: Indices, low: Array, high: Array, slack: Array) -> Any:
    """Return for each side of some targets whether all values from low to high are beyond the wall."""
    lower, upper = targets.lower.value[places], targets.upper.value[places]
    with np.errstate(invalid="ignore"):
        above = low - upper > slack + CERTAIN * np.abs(upper)
        below = lower - high > slack + CERTAIN * np.abs(lower)
    return (True, above & np.isfinite(upper)), (False, below & np.isfinite(lower))


def _reach(matrix: sparse.csr_array, targets: Targets, dim: int) -> tuple[Array, Array, Array]:
    """Return the least and the largest value of each row between bounds, and how uncertain they are."""
    lower, upper = targets.lower.value[:dim], targets.upper.value[:dim]
    positive, negative = matrix.maximum(0.0), matrix.minimum(0.0)
    low, high = positive @ lower + negative @ upper, positive @ upper + negative @ lower
    walls = np.maximum(_finite(lower), _finite(upper))
    return low, high, abs(matrix) @ (CERTAIN * walls + NOISE * _largest(targets))


def _largest(targets: Targets) -> float:
    """Return the largest wall."""
    return float(max(_finite(side.value).max(initial=0.0) for side in (targets.lower, targets.upper)))


def _finite(walls: Array) -> Array:
    return np.where(np.isfinite(walls), np.abs(walls), 0.0)


def _clash(given: Given, targets: Targets, place: int, above: bool) -> list[Side]:
    """Return a wall of a row and the bounds that keep the row beyond it."""
    row = targets.matrix[[place - given.dim]]
    return [side_of(given, targets, int(place), above), *_bounds_of(given, targets, row, above)]


def _bounds_of(given: Given, targets: Targets, row: Any, least: bool) -> list[Side]:
    """Return the walls of variables that determine the least value of a row, or the largest."""
    return [
        side_of(given, targets, int(j), (entry < 0.0) == least)
        for j, entry in zip(row.indices, row.data, strict=True)
    ]


def _without_walls(targets: Targets, below: NDArray[np.int64], above: NDArray[np.int64]) -> Targets:
    return targets._replace(
        lower=_open(targets.lower, below, -np.inf), upper=_open(targets.upper, above, np.inf)
    )


def _open(walls: Walls, places: NDArray[np.int64], beyond: float) -> Walls:
    value, owner = walls.value.copy(), walls.owner.copy()
    value[places], owner[places] = beyond, NO_TARGET
    return walls._replace(value=value, owner=owner)
