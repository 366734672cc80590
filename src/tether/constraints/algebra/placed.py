"""Rows whose columns stand elsewhere: one matrix among variables in another order, or among more of them.

The factors stay what they are. A vector is gathered into the old order, worked on there and scattered back;
variables without a column are left alone.
"""

import numpy as np

from tether.arrays import Array, Indices
from tether.constraints.algebra.rows import Fit, Rows


class PlacedRows(Rows):
    """The rows of a matrix, column k of which belongs to variable ``place[k]`` of ``dim``."""

    def __init__(self, rows: Rows, place: Indices, dim: int) -> None:
        self._rows, self._place = rows, place
        self.shape = (rows.shape[0], dim)
        self.scale, self.kind, self.work = rows.scale, rows.kind, rows.work
        self.rank, self.redundant = rows.rank, rows.redundant

    def apply(self, x: Array) -> Array:
        """Return A x."""
        return self._rows.apply(x[self._place])

    def adjoint(self, y: Array) -> Array:
        """Return A^T y, 0 where there is no column."""
        return self._scattered(self._rows.adjoint(y))

    def tangent(self, v: Array) -> Array:
        """Return the part of v orthogonal to every row: v itself where there is no column."""
        t = np.array(v, dtype=float)
        t[self._place] = self._rows.tangent(t[self._place])
        return t

    def component(self, v: Array) -> Array:
        """Return the part of v in the span of the rows, 0 where there is no column."""
        return self._scattered(self._rows.component(v[self._place]))

    def multipliers(self, gradient: Array) -> Array:
        """Return a least-squares solution lambda of A^T lambda = gradient."""
        return self._rows.multipliers(gradient[self._place])

    def fit(self, b: Array) -> Fit:
        """Return the shortest least-squares solution of A x = b and what it misses."""
        fit = self._rows.fit(b)
        return fit._replace(point=self._scattered(fit.point))

    def _scattered(self, x: Array) -> Array:
        return scattered(x, self._place, self.shape[1])


def scattered(x: Array, place: Indices, dim: int) -> Array:
    """Return a vector, or the columns of a matrix, with entry k moved to ``place[k]`` of ``dim`` entries."""
    moved = np.zeros((dim, *x.shape[1:]))
    moved[place] = x
    return moved


def placed_columns(matrix: Array, place: Indices, dim: int) -> Array:
    """Return a dense matrix, as tables with names are, with column k moved to ``place[k]`` of ``dim``."""
    return np.ascontiguousarray(scattered(matrix.T, place, dim).T)
