"""What L-BFGS has learned of curvature: pairs of a step s_k and the change y_k of the gradient that it made.

The two loops that apply them, one pair after the other, are substitutions with the triangle of <s_i, y_j>,
which grows by a column with each pair. So vectors are read by four products with matrices, whatever the
number of pairs.

References
----------
Nocedal & Wright, "Numerical optimization" (2006), algorithm 7.4; Byrd, Nocedal & Schnabel, "Representations
of quasi-Newton matrices and their use in limited memory methods" (1994).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtrs

from tether.arrays import Array

FEW_NUMBERS = 20_000  # of rows, which are copied as quickly as room is found for another
SPACIOUS = 3  # times as much room as rows need, so that they are seldom copied


class Pairs(NamedTuple):
    """Pairs, one a row and the newest last."""

    steps: Array  # s_k
    changes: Array  # y_k
    images: Array  # P_M y_k in the metric of the replies; without one, y_k
    products: Array  # <s_i, y_j> for j >= i

    @classmethod
    def none(cls, dim: int) -> "Pairs":
        """Return no pairs of vectors of this length."""
        empty = np.empty((0, dim))
        return cls(empty, empty, empty, np.empty((0, 0)))

    def followed_by(self, step: Array, change: Array, image: Array, memory: int) -> "Pairs":
        """Return the pairs with another one behind them, and the oldest forgotten if there are too many."""
        first = max(0, len(self.steps) + 1 - memory)  # that is kept
        steps, changes = _with(self.steps[first:], step), _with(self.changes[first:], change)
        plain = self.images is self.changes and image is change
        images = changes if plain else _with(self.images[first:], image)
        products = np.zeros((len(steps), len(steps)), order="F")
        products[:-1, :-1] = self.products[first:, first:]
        products[:, -1] = steps.dot(change)
        return Pairs(steps, changes, images, products)

    def inverse(self, gradient: Array, image: Array) -> Array:
        """Return H g for the inverse Hessian H that maps changes to steps, about, given P_M g.

        Its first guess is P_M times what the newest pair says, which is linear, so that images of all vectors
        are at hand.
        """
        shares = dtrtrs(self.products, self.steps.dot(gradient))[0]
        result = image - shares.dot(self.images)
        lengths = self.products.diagonal()
        result *= lengths[-1] / self.changes[-1].dot(self.images[-1])
        shares = dtrtrs(self.products, lengths * shares - self.changes.dot(result), trans=1)[0]
        result += shares.dot(self.steps)
        return result


def _with(kept: Array, newest: Array) -> Array:
    """Return rows with another one behind them: in the room there, if it is still free, else all in new room.

    Rows that are there never change, and nobody who holds some of them sees those behind.
    """
    if kept.size < FEW_NUMBERS:
        return np.concatenate([kept, newest[None]])
    room, begin = _room(kept)
    end = begin + len(kept)
    if room is None or end == len(room) or not np.isnan(room[end, 0]):
        room, begin, end = np.empty((SPACIOUS * (len(kept) + 1), len(newest))), 0, len(kept)
        room[:end] = kept
        room[end:, 0] = np.nan  # free
    room[end] = newest
    return room[begin : end + 1]


def _room(rows: Array) -> tuple[Array | None, int]:
    """Return the array that rows are a part of, and where they begin in it; None if they are all of it."""
    room = rows.base
    if not isinstance(room, np.ndarray) or room.shape[1:] != rows.shape[1:] or not room.flags.writeable:
        return None, 0
    ahead = rows.__array_interface__["data"][0] - room.__array_interface__["data"][0]
    return room, ahead // room.strides[0]
