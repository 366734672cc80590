"""Multipliers by their names, and which inequalities, bounds and terms hold them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array
from tether.feasible.given import Given
from tether.feasible.targets import NO_TARGET, Roles, Targets, Walls, scaled_slopes

AT_WALL = 1e-10  # relative to the numbers that a row sums up


class Multipliers(NamedTuple):
    """The multipliers of a solution, in the order of the user's rows.

    grad F(x) = A^T equalities + G^T inequalities + bounds - D^T penalty,

    so that those of equations, inequalities and bounds are the derivatives of the optimal value with respect
    to the right-hand sides: at least 0 where a lower side holds, at most 0 where an upper side holds, and 0
    elsewhere.

    Attributes
    ----------
    equalities : ndarray or None
        Of `Affine`, `Range`, `Flow`, the total of `Simplex` and equations written as expressions, one after
        the other as they were given.
    inequalities : ndarray or None
        Of all rows of all LinearConstraints, one after the other, and of expressions that are inequalities;
        equations among the rows of a LinearConstraint stand at their row, with either sign.
    bounds : ndarray or None
        Of the variables: of `Bounds`, `NonNegative` and `Simplex` together.
    penalty : ndarray or None
        A subgradient of the penalty at D x, for all rows of all L1 terms, one after the other: lam where
        (D x)_i > 0, -lam where it is less than 0, between them where it is 0.
    """

    equalities: Array | None
    inequalities: Array | None
    bounds: Array | None
    penalty: Array | None


class Active(NamedTuple):
    """Which inequalities and bounds hold as equations, and which terms are at their kink.

    Attributes
    ----------
    inequalities, bounds : ndarray of int or None
        -1 where the lower side holds, 1 where the upper side does, 0 elsewhere; where both sides are equal,
        that to which the multiplier belongs.
    penalty : ndarray of bool or None
        Where (D x)_i = 0.
    """

    inequalities: NDArray[np.int8] | None
    bounds: NDArray[np.int8] | None
    penalty: NDArray[np.bool_] | None


class Place(NamedTuple):
    """Values of rows at a point, and the sizes of what they sum up."""

    value: Array
    size: Array

    def walls(self, lower: Array, upper: Array, multipliers: Array | None) -> NDArray[np.int8]:
        """Return at which of its walls each value is: -1, 1 or 0."""
        below = np.isfinite(lower) & (self.value - lower <= AT_WALL * (self.size + np.abs(lower)))
        above = np.isfinite(upper) & (upper - self.value <= AT_WALL * (self.size + np.abs(upper)))
        pressed = np.zeros(len(lower)) if multipliers is None else multipliers
        above &= ~(below & (pressed >= 0.0))
        return np.where(above, 1, np.where(below, -1, 0)).astype(np.int8)

    def kinks(self) -> NDArray[np.bool_]:
        """Return which values are zero."""
        return np.abs(self.value) <= AT_WALL * self.size


class Shares(NamedTuple):
    """A dual of each target, taken apart."""

    walls: Array
    slopes: Array


def shares(targets: Targets, duals: Array) -> Shares:
    """Return which part of each dual belongs to slopes, the rest being that of walls.

    What the slopes can carry is theirs, and all of it where there is no wall; where zero is beyond a wall
    they have one slope only.
    """
    (lower, upper), (left, right) = (targets.lower.value, targets.upper.value), (targets.left, targets.right)
    low = np.where(lower > 0.0, right, np.where(np.isfinite(lower) | (left + right == 0.0), -left, -np.inf))
    high = np.where(upper < 0.0, -left, np.where(np.isfinite(upper) | (left + right == 0.0), right, np.inf))
    slopes = np.clip(duals, low, high)
    return Shares(duals - slopes, slopes)


def wall_multipliers(given: Given, targets: Targets, walls: Array) -> tuple[Array, Array]:
    """Return the multipliers of bounds and of rows: each wall's goes to the one who gave it."""
    count = 0 if given.rows is None else len(given.rows.lower)
    found = np.zeros(given.dim + count)
    for side, pressed in ((targets.lower, walls < 0.0), (targets.upper, walls > 0.0)):
        _hand_out(found, side, np.where(pressed, walls, 0.0))
    return found[: given.dim], found[given.dim :]


def _hand_out(found: Array, side: Walls, walls: Array) -> None:
    chosen = np.flatnonzero(walls)
    chosen = chosen[side.owner[chosen] != NO_TARGET]
    found[side.owner[chosen]] -= walls[chosen] / side.scale[chosen]  # an owner has one target


def term_multipliers(given: Given, targets: Targets, slopes: Array) -> Array:
    """Return a subgradient of each term: terms of one target all stand at the same part of their way."""
    assert given.terms is not None
    left, right = given.terms.left, given.terms.right
    roles: Roles = targets.terms
    found, chosen = np.zeros(len(left)), np.flatnonzero(roles.target != NO_TARGET)
    target, scale = roles.target[chosen], roles.scale[chosen]
    part = (slopes[target] + targets.left[target]) / (targets.left[target] + targets.right[target])
    below, above = scaled_slopes(left[chosen], right[chosen], scale)
    shared = np.bincount(target, minlength=1)[target] > 1
    found[chosen] = np.where(shared, part * above - (1.0 - part) * below, slopes[target]) / scale
    return found
