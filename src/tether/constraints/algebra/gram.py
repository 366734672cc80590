"""Few long dense rows: the Cholesky factor of their Gram matrix is all that is needed beside them."""

import numpy as np
from scipy.linalg.blas import dgemv
from scipy.linalg.lapack import dpotrs

from tether.arrays import Array
from tether.constraints.algebra.dense import UnitGram, condition_of, unit_gram
from tether.constraints.algebra.rows import Fit, Rows

WIDTH = 20  # times as many columns as rows make rows long


class GramRows(Rows):
    """The rows of a dense matrix that are far from dependent, through A A^T; see `gram_rows`.

    Columns may be multiplied by numbers, which nobody does in memory: rows may be long.
    """

    kind = "dense, by Gram matrix"
    refines = True

    def __init__(self, matrix: Array, stretch: Array | None, gram: UnitGram) -> None:
        self._columns, self._stretch, self._factor = matrix.T, stretch, gram.factor
        self.shape = (matrix.shape[0], matrix.shape[1])
        self.scale, self.rank = gram.scale, matrix.shape[0]
        self.work, self.condition = 4.0 * matrix.size, condition_of(gram.factor)

    def apply(self, x: Array) -> Array:
        """Return A x."""
        x = self._stretched(x)
        return dgemv(1.0, self._columns, x, trans=1) if x.ndim == 1 else self._columns.T @ x

    def adjoint(self, y: Array) -> Array:
        """Return A^T y."""
        return self._stretched(dgemv(1.0, self._columns, y) if y.ndim == 1 else self._columns @ y)

    def tangent(self, v: Array) -> Array:
        """Return v - A^T (A A^T)^-1 A v, and that of it once more."""
        once = v - self.adjoint(self._solved(self.apply(v)))
        return once - self.adjoint(self._solved(self.apply(once)))

    def component(self, v: Array) -> Array:
        """Return A^T (A A^T)^-1 A v."""
        return v - self.tangent(v)

    def multipliers(self, gradient: Array) -> Array:
        """Return the l of A^T l nearest to a gradient."""
        y = self._solved(self.apply(gradient))
        return y + self._solved(self.apply(gradient - self.adjoint(y)))

    def fit(self, b: Array) -> Fit:
        """Return the shortest solution of A x = b and what it misses."""
        point, _ = self.nearest(np.zeros(self.shape[1]), b)
        return Fit(point, self.scale * (b - self.apply(point)))

    def nearest(self, v: Array, b: Array) -> tuple[Array, Array]:
        """Return the solution x = v + A^T l of A x = b nearest to v, refined once, and l."""
        first = self._solved(b - self.apply(v))
        point = v + self.adjoint(first)
        second = self._solved(b - self.apply(point))
        return point + self.adjoint(second), first + second

    def _stretched(self, v: Array) -> Array:
        if self._stretch is None:
            return v
        return v * (self._stretch if v.ndim == 1 else self._stretch[:, None])

    def _solved(self, r: Array) -> Array:
        """Return (A A^T)^-1 r."""
        scale = self.scale if r.ndim == 1 else self.scale[:, None]
        return scale * dpotrs(self._factor, scale * r)[0]


def gram_rows(matrix: Array, stretch: Array | None = None) -> GramRows | None:
    """Return the rows of A diag(stretch), A long, dense and in row order; None for others.

    There are none either where rows nearly depend.
    """
    rows, columns = matrix.shape
    if rows == 0 or WIDTH * rows > columns or not matrix.flags.c_contiguous:
        return None
    gram = unit_gram(matrix, stretch)
    return None if gram is None else GramRows(matrix, stretch, gram)
