"""Scalar convex functions with a kink at zero and two walls, many side by side.

    g_j(z) = left_j max(-z, 0) + right_j max(z, 0)    for  lower_j <= z <= upper_j,    else infinite.

An l1 term has left = right, a quantile-like one has not; a bound has walls and no slopes. Everything that a
method needs of them is closed form: value, prox, subdifferential, conjugate.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tether.arrays import Array
from tether.kernels.pieces import misfit_all, nearest_all

COMPILED_SIZE = 500  # functions from which on a kernel is quicker than NumPy is
FLAT = 1e-9  # of its size: a direction that goes no farther goes nowhere


class Pieces(NamedTuple):
    """Many scalar functions: slopes to both sides of zero, between walls."""

    lower: Array
    upper: Array
    left: Array  # -g' below zero, at least 0
    right: Array  # g' above zero, at least 0

    @classmethod
    def of(
        cls,
        size: int,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        left: ArrayLike = 0.0,
        right: ArrayLike = 0.0,
    ) -> "Pieces":
        """Return that many functions; a number stands for all of them."""
        given = (lower, upper, left, right)
        return cls(*(np.broadcast_to(np.asarray(part, dtype=float), (size,)).copy() for part in given))

    @property
    def size(self) -> int:
        """How many functions there are."""
        return len(self.lower)

    @property
    def trivial(self) -> bool:
        """Whether all of them are zero everywhere."""
        bounded = np.isfinite(self.lower).any() or np.isfinite(self.upper).any()
        return not (bounded or self.left.any() or self.right.any())

    def some(self, chosen: NDArray[np.intp] | NDArray[np.bool_] | slice) -> "Pieces":
        """Return some of the functions."""
        return Pieces(*(part[chosen] for part in self))

    def plus(self, other: "Pieces") -> "Pieces":
        """Return the sums of functions: slopes add up, the narrower walls hold."""
        return Pieces(
            np.maximum(self.lower, other.lower),
            np.minimum(self.upper, other.upper),
            self.left + other.left,
            self.right + other.right,
        )

    def times(self, factor: float) -> "Pieces":
        """Return the functions times a positive number, which leaves their walls where they are."""
        return self._replace(left=factor * self.left, right=factor * self.right)

    def value(self, z: Array) -> float:
        """Return the sum of all g_j(z_j), walls aside: whether z keeps to them is a matter of rounding."""
        return float(self.right @ np.maximum(z, 0.0) + self.left @ np.maximum(-z, 0.0))

    def violation(self, z: Array) -> Array:
        """Return by how much each z_j is beyond its walls."""
        return np.maximum(np.maximum(self.lower - z, z - self.upper), 0.0)

    def prox(self, z: Array, t: Array | float) -> Array:
        """Return argmin_u g_j(u) + (u - z_j)^2 / (2 t_j) for each j."""
        moved = np.where(z > 0.0, np.maximum(z - t * self.right, 0.0), np.minimum(z + t * self.left, 0.0))
        return np.clip(moved, self.lower, self.upper)

    def interval(self, z: Array) -> tuple[Array, Array]:
        """Return the ends of the subdifferential of each g_j at z_j, which is at or between the walls."""
        low = np.where(z > 0.0, self.right, -self.left)
        high = np.where(z < 0.0, -self.left, self.right)
        low = np.where(z <= self.lower, -np.inf, low)
        high = np.where(z >= self.upper, np.inf, high)
        return low, high

    def nearest(self, v: Array, z: Array) -> Array:
        """Return the subgradient of each g_j at z_j that is nearest to v_j."""
        if self._suit_kernels(v, z):
            found = np.empty(self.size)
            nearest_all(v, z, *self, found)
            return found
        low, high = self.interval(z)
        return np.clip(v, low, high)

    def _suit_kernels(self, *numbers: Array) -> bool:
        """Say whether kernels save time, and were compiled for arrays like these."""
        if self.size < COMPILED_SIZE:
            return False
        return all(
            part.shape == self.lower.shape
            and part.flags.c_contiguous
            and part.flags.writeable
            and part.dtype == np.float64
            for part in (*numbers, *self)
        )

    def settled(self, z: Array) -> NDArray[np.bool_]:
        """Say which z_j are on a kink or at a wall, where g_j has more than one slope."""
        low, high = self.interval(z)
        return low < high

    def open_along(self, d: Array, scale: Array | float) -> bool:
        """Say whether no wall and no slope is met for ever along d, given sizes that make rounding of it."""
        up, down = d > FLAT * scale, d < -FLAT * scale
        stopped = up & (np.isfinite(self.upper) | (self.right > 0.0))
        stopped |= down & (np.isfinite(self.lower) | (self.left > 0.0))
        return not stopped.any()

    @property
    def holds(self) -> bool:
        """Whether every variable meets a wall or a slope on both sides, so that none goes on for ever."""
        left, right = (
            (self.left > 0.0) | np.isfinite(self.lower),
            (self.right > 0.0) | np.isfinite(self.upper),
        )
        return bool((left & right).all())

    def conjugate(self, y: Array) -> Array:
        """Return each sup_z y z - g_j(z); infinite beyond the slopes where there is no wall."""
        above, below = np.maximum(y - self.right, 0.0), np.maximum(-y - self.left, 0.0)
        with np.errstate(invalid="ignore"):
            right = np.where(above > 0.0, above * self.upper, 0.0)
            left = np.where(below > 0.0, -below * self.lower, 0.0)
        return self._off_zero(y, right + left)

    def _off_zero(self, y: Array, plain: Array) -> Array:
        """Correct a conjugate where zero is beyond a wall: the supremum is at that wall, or at the other."""
        away = (self.lower > 0.0) | (self.upper < 0.0)
        if not away.any():
            return plain
        ends = []
        for wall in (self.lower, self.upper):
            with np.errstate(invalid="ignore"):
                slope = np.where(wall > 0.0, y - self.right, y + self.left)
                ends.append(np.where(slope == 0.0, 0.0, slope * wall))
        return np.where(away, np.maximum(*ends), plain)

    def shrinkage(self, y: Array) -> float:
        """Return the largest c <= 1 with a finite conjugate of every function at c y; 0 if there is none."""
        high = np.where(np.isfinite(self.upper), np.inf, self.right)
        low = np.where(np.isfinite(self.lower), np.inf, self.left)
        room = np.where(y > 0.0, high, low)
        tight = np.abs(y) > room
        return float(np.min(room[tight] / np.abs(y[tight]), initial=1.0))

    def misfit(self, z: Array, y: Array) -> Array:
        """Return each g_j(z_j) + g_j*(y_j) - y_j z_j: how far y_j is from being a subgradient at z_j.

        It is the integral of y_j - g_j' from z_j to where y_j is a slope. Its parts on both sides of zero are
        never of opposite signs, so that nothing cancels: it is 0 for a subgradient, exactly.
        """
        total = np.zeros(self.size)
        if self._suit_kernels(z, y):
            misfit_all(z, y, *self, total)
            return total
        for side, slope in ((np.maximum, self.right), (np.minimum, -self.left)):
            low, here, high = side(self.lower, 0.0), side(z, 0.0), side(self.upper, 0.0)
            for rise, way in ((y - slope, high - here), (slope - y, here - low)):
                total += np.multiply(rise, np.abs(way), out=np.zeros(self.size), where=rise > 0.0)
        return total
