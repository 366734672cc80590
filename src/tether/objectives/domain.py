"""Where a function is finite, if not everywhere: an interval for each variable."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array

MARGIN = 0.1  # of an interval, or of the size of its only end: how far inside a point is moved
EDGE = 1e-6  # of the same: nearer than this a point is at the edge


class Domain(NamedTuple):
    """The box lower <= x <= upper, without its lower end where ``closed`` is False."""

    lower: Array | float
    upper: Array | float
    closed: bool = True

    def holds(self, x: Array) -> bool:
        """Say whether x is in the domain; NaN is not."""
        above = np.all(x >= self.lower) if self.closed else np.all(x > self.lower)
        return bool(above and np.all(x <= self.upper))

    def holds_inside(self, x: Array) -> bool:
        """Say whether x is in the domain and not at its edge."""
        return bool(np.all(x > self.lower) and np.all(x < self.upper))

    def misses(self, x: Array) -> NDArray[np.bool_]:
        """Say for each variable whether x leaves the domain there."""
        inside = x >= self.lower if self.closed else x > self.lower
        return ~(inside & (x <= self.upper))

    def take(self, some: NDArray[np.int64]) -> "Domain":
        """Return the intervals of some variables."""
        lower, upper = (end[some] if isinstance(end, np.ndarray) else end for end in (self.lower, self.upper))
        return Domain(lower, upper, self.closed)

    def inward(self, x: Array) -> Array:
        """Return x, moved a little away from the edge where it is outside or nearly so."""
        margin = MARGIN * self._widths()
        low, high = self.lower + margin, self.upper - margin
        near_low = ~(x > self.lower + EDGE * margin)
        near_high = ~(x < self.upper - EDGE * margin)
        return np.where(near_low, low, np.where(near_high, high, x))

    def edge(self, x: Array) -> NDArray[np.int64]:
        """Return the variables that are at the edge of the domain."""
        margin = EDGE * self._widths()
        return np.flatnonzero((x <= self.lower + margin) | (x >= self.upper - margin))

    def _widths(self) -> Array:
        """Return how wide each interval is; of half lines, the size of their end, or 1."""
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        with np.errstate(invalid="ignore"):
            width = upper - lower
        size = np.where(np.isfinite(lower), np.abs(lower), np.where(np.isfinite(upper), np.abs(upper), 1.0))
        return np.where(np.isfinite(width), width, np.where(size == 0.0, 1.0, size))
