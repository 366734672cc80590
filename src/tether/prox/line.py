"""The root of q^T x(alpha) = target, where x(alpha) is the prox of points on a line.

It is the prox under one equation, and the exact line search under many. The sum is made of straight pieces
and never falls, so Newton's method within a bracket ends on the right piece; where it dawdles, the median of
the breaks in the bracket halves what is left, so that O(log p) passes do.
"""

import math
from typing import NamedTuple

import numpy as np

from tether.arrays import Array
from tether.kernels.pieces import breaks_along, sum_along
from tether.polyhedral import Pieces
from tether.threads import CORES, share

SHARED_SIZE = 200_000  # variables from which on a pass is shared among threads
PATIENCE = 3  # Newton steps between two medians
ROUNDING = 4e-16  # of the sum of sizes: a root to better than that is luck


class Line(NamedTuple):
    """Points c + alpha t q, and the prox of each."""

    centre: Array  # c
    t: Array
    q: Array
    pieces: Pieces

    def sum(self, alpha: float) -> tuple[float, float, float]:
        """Return q^T x(alpha), its slope, and the sum of the sizes of its terms."""
        length = len(self.q)
        if length < SHARED_SIZE:
            return sum_along(alpha, self.centre, self.t, self.q, tuple(self.pieces))

        def part(_: int, begin: int, end: int) -> tuple[float, float, float]:
            some = slice(begin, end)
            pieces = tuple(each[some] for each in self.pieces)
            return sum_along(alpha, self.centre[some], self.t[some], self.q[some], pieces)

        total, slope, size = np.sum(share(part, length, CORES), axis=0)
        return float(total), float(slope), float(size)

    def breaks(self, low: float, high: float) -> Array:
        """Return where, strictly between two alphas, the sum may change its slope."""
        found = np.empty(4 * len(self.q))
        count = breaks_along(low, high, self.centre, self.t, self.q, tuple(self.pieces), found)
        return found[:count]


def root(line: Line, target: float, alpha: float = 0.0) -> tuple[float, bool]:
    """Return an alpha where q^T x(alpha) = target, to rounding, and whether there is one.

    Where there is none, x(alpha) is as near as it comes.
    """
    low, high = -math.inf, math.inf
    turn = 0
    while True:
        turn += 1
        total, slope, size = line.sum(alpha)
        miss = total - target
        if abs(miss) <= ROUNDING * (size + abs(target)):
            return alpha, True
        low, high = (alpha, high) if miss < 0.0 else (low, alpha)
        newton = alpha - miss / slope if slope > 0.0 else math.nan
        if newton == alpha:
            return alpha, True
        if turn % PATIENCE and low < newton < high:
            alpha = newton
        elif len(breaks := line.breaks(low, high)):
            alpha = float(np.partition(breaks, len(breaks) // 2)[len(breaks) // 2])
        elif low < newton < high:
            alpha = newton
        else:
            return _on_one_piece(line, target, low, high)


def _on_one_piece(line: Line, target: float, low: float, high: float) -> tuple[float, bool]:
    """Return the root in a bracket within which the sum is straight."""
    if math.isinf(low) or math.isinf(high):
        return _beyond_all_breaks(line, target, low if math.isinf(high) else high, math.isinf(high))
    below, above = line.sum(low)[0] - target, line.sum(high)[0] - target
    return low + (high - low) * below / (below - above), True


def _beyond_all_breaks(line: Line, target: float, end: float, upwards: bool) -> tuple[float, bool]:
    """Return the root on the last piece to one side, which may begin exactly at its end."""
    away = max(1.0, abs(end))
    alpha = end + away if upwards else end - away
    total, slope, _ = line.sum(alpha)
    return (alpha - (total - target) / slope, True) if slope > 0.0 else (end, False)
