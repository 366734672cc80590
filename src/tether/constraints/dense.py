"""Rows of a dense matrix: one column-pivoted QR factorisation of A^T, then two products a projection."""

import numpy as np
from scipy.linalg import lstsq, qr, solve_triangular

from tether.constraints.base import Array
from tether.constraints.rows import Fit, Rows
from tether.threads import one_blas_thread

# A row closer than this to the span of the others is taken to lie in it: dropping it then moves a
# projection by no more than this, while keeping it would divide rounding errors by it.
DEPENDENT = 1e-12


class DenseRows(Rows):
    """The rows of a dense matrix, with orthonormal bases Q of their span and Z of its complement.

    A^T with unit columns is factorised as Q R; a projection uses Q or Z, whichever has fewer columns.
    """

    kind = "dense"

    def __init__(self, matrix: Array) -> None:
        self._matrix = matrix
        self.shape = (matrix.shape[0], matrix.shape[1])
        self.scale = 1.0 / row_lengths(matrix)
        rows, columns = self.shape
        # LAPACK leaves Q in column order, in which Q^T x and Q y are both passes along contiguous columns.
        with one_blas_thread():
            q, r, order = qr(
                (matrix * self.scale[:, None]).T,
                mode="full" if 2 * rows > columns else "economic",
                pivoting=True,
                overwrite_a=True,
                check_finite=False,
            )
        diagonal = np.abs(np.diag(r))
        rank = int(np.sum(diagonal > self._tolerance))
        self.rank = rank
        self.redundant = tuple(sorted(order[rank:].tolist()))
        self._kept = order[:rank]
        self._triangle = r[:rank, :rank].copy()
        self._basis = q[:, :rank]
        self._complement = q[:, rank:] if 2 * rank > columns else None

    @property
    def _tolerance(self) -> float:
        return max(DEPENDENT, float(np.finfo(float).eps) * max(self.shape))

    def apply(self, x: Array) -> Array:
        """Return A x."""
        return self._matrix @ x

    def adjoint(self, y: Array) -> Array:
        """Return A^T y."""
        return self._matrix.T @ y

    def tangent(self, v: Array) -> Array:
        """Return v - Q Q^T v, or Z Z^T v."""
        if self._complement is None:
            return v - self._basis @ (self._basis.T @ v)
        return self._complement @ (self._complement.T @ v)

    def component(self, v: Array) -> Array:
        """Return Q Q^T v, or v - Z Z^T v."""
        if self._complement is None:
            return self._basis @ (self._basis.T @ v)
        return v - self._complement @ (self._complement.T @ v)

    def multipliers(self, gradient: Array) -> Array:
        """Return a least-squares lambda of A^T lambda = gradient, 0 on redundant rows."""
        y = np.zeros(self.shape[0])
        y[self._kept] = solve_triangular(self._triangle, self._basis.T @ gradient, check_finite=False)
        return self.scale * y

    def fit(self, b: Array) -> Fit:
        """Return the shortest least-squares solution of A x = b and what it misses."""
        target = self.scale * b
        inner = solve_triangular(self._triangle, target[self._kept], trans="T", check_finite=False)
        point = self._basis @ inner
        misfit = target - self.scale * (self._matrix @ point)
        rounding = 1e-13 * (np.linalg.norm(target) + np.linalg.norm(point))
        if np.linalg.norm(misfit) <= rounding:
            return Fit(point, misfit)
        # The kept rows alone do not settle it: weigh all rows alike.
        unit = self._matrix * self.scale[:, None]
        point = lstsq(unit, target, cond=self._tolerance, check_finite=False)[0]
        return Fit(point, target - unit @ point)


def row_lengths(matrix: Array) -> Array:
    """Return the Euclidean length of each row, without overflow, and 1 for a row of zeros."""
    largest = np.max(np.abs(matrix), axis=1, initial=0.0)
    largest[largest == 0.0] = 1.0
    lengths = largest * np.linalg.norm(matrix / largest[:, None], axis=1)
    lengths[lengths == 0.0] = 1.0
    return lengths
