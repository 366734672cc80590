"""Few long dense rows: the Cholesky factor of their Gram matrix is all that is needed beside them."""

from scipy.linalg.blas import dgemv
from scipy.linalg.lapack import dpotrs

from tether.arrays import Array
from tether.constraints.algebra.dense import unit_gram
from tether.constraints.algebra.rows import Fit, Rows

WIDTH = 20  # times as many columns as rows make rows long


class GramRows(Rows):
    """The rows of a dense matrix that are far from dependent, through A A^T; see `gram_rows`."""

    kind = "dense, by Gram matrix"

    def __init__(self, matrix: Array, scale: Array, factor: Array) -> None:
        self._columns, self._factor = matrix.T, factor
        self.shape = (matrix.shape[0], matrix.shape[1])
        self.scale, self.rank = scale, matrix.shape[0]
        self.work = 4.0 * matrix.size

    def apply(self, x: Array) -> Array:
        """Return A x."""
        return dgemv(1.0, self._columns, x, trans=1) if x.ndim == 1 else self._columns.T @ x

    def adjoint(self, y: Array) -> Array:
        """Return A^T y."""
        return dgemv(1.0, self._columns, y) if y.ndim == 1 else self._columns @ y

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
        point = self.adjoint(self._solved(b))
        point = point + self.adjoint(self._solved(b - self.apply(point)))
        return Fit(point, self.scale * (b - self.apply(point)))

    def _solved(self, r: Array) -> Array:
        """Return (A A^T)^-1 r."""
        scale = self.scale if r.ndim == 1 else self.scale[:, None]
        return scale * dpotrs(self._factor, scale * r)[0]


def gram_rows(matrix: Array) -> GramRows | None:
    """Return the rows of a long dense matrix in row order; None where they are few or nearly depend."""
    rows, columns = matrix.shape
    if rows == 0 or WIDTH * rows > columns or not matrix.flags.c_contiguous:
        return None
    gram = unit_gram(matrix)
    return None if gram is None else GramRows(matrix, *gram)
