"""Walls that cross: a target whose lower wall is above its upper one, and rows without entries."""

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array
from tether.feasible.given import Given
from tether.feasible.sides import EQUATION, LOWER, LOWER_BOUND, UPPER, UPPER_BOUND, Side, sentence
from tether.feasible.targets import Targets, Walls
from tether.inputs import InfeasibleError

ROUNDING = 1e-12  # relative, by which walls may cross without contradicting each other


def side_of(given: Given, targets: Targets, target: int, above: bool) -> Side:
    """Return who gave a wall of a target."""
    walls: Walls = targets.upper if above else targets.lower
    owner = int(walls.owner[target])
    if owner < given.dim:
        return Side(UPPER_BOUND if above else LOWER_BOUND, owner)
    rows, k = given.rows, owner - given.dim
    assert rows is not None
    if rows.lower[k] == rows.upper[k]:
        return Side(EQUATION, k)
    return Side(UPPER if above == (walls.scale[target] > 0.0) else LOWER, k)


def uncrossed(given: Given, targets: Targets) -> Targets:
    """Return targets whose walls are in order, or refuse those that contradict each other."""
    lower, upper = targets.lower.value, targets.upper.value
    crossed = np.flatnonzero(lower > upper)
    if len(crossed) == 0:
        return targets
    wide = lower[crossed] - upper[crossed] > ROUNDING * (np.abs(lower[crossed]) + np.abs(upper[crossed]))
    if wide.any():
        k = int(crossed[wide][0])
        raise InfeasibleError(sentence(given, [side_of(given, targets, k, above) for above in (False, True)]))
    return _met(targets, crossed, given.dim)


def _met(targets: Targets, crossed: NDArray[np.int64], dim: int) -> Targets:
    """Return targets whose walls cross by rounding with both at the place of one: a bound, if it is one."""
    lower, upper = targets.lower.value.copy(), targets.upper.value.copy()
    bound = targets.lower.owner[crossed] < dim
    place: Array = np.where(bound, lower[crossed], upper[crossed])
    lower[crossed] = upper[crossed] = place
    return targets._replace(
        lower=targets.lower._replace(value=lower), upper=targets.upper._replace(value=upper)
    )


def require_empty_rows(given: Given) -> None:
    """Refuse rows without entries that ask for anything but 0."""
    rows = given.rows
    if rows is None:
        return
    empty = np.diff(rows.matrix.indptr) == 0
    wrong = np.flatnonzero(empty & ((rows.lower > 0.0) | (rows.upper < 0.0)))
    if len(wrong):
        k = int(wrong[0])
        kind = EQUATION if rows.lower[k] == rows.upper[k] else LOWER if rows.lower[k] > 0.0 else UPPER
        raise InfeasibleError(sentence(given, [Side(kind, k)]))
