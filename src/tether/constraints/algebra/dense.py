"""Rows of a dense matrix: one orthogonal factorisation of A^T, then two products a projection.

The products go through a basis that is larger than the caches a few columns at a time: the second product
finds them where the first has left them, so the basis is read from memory once and not twice.
"""

from contextlib import nullcontext
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, lstsq, qr, solve_triangular
from scipy.linalg.blas import dgemv, dsyrk, dtrsm
from scipy.linalg.lapack import dtrcon

from tether.arrays import Array
from tether.constraints.algebra.rows import Fit, Rows
from tether.threads import one_blas_thread

# A row closer than this to the span of the others is taken to lie in it: dropping it then moves a
# projection by no more than this, while keeping it would divide rounding errors by it.
DEPENDENCE_TOLERANCE = 1e-12
BLOCK_SIZE = 500_000  # numbers of a basis that stay in a cache
ORTHONORMALITY_ERROR = 2e-15  # by which columns may miss it, a few roundings
MULTITHREADED_WORK = 1e8  # multiplications from which on all threads of BLAS are worth waking
GRAM_CONDITION = 1e-5  # the reciprocal condition number from which on Gram matrices lose nothing


class Factors(NamedTuple):
    """Unit columns as Q R, the columns in a given order."""

    q: Any
    r: Any
    order: Any


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
        with nullcontext() if rows * rows * columns > MULTITHREADED_WORK else one_blas_thread():
            q, r, order = _factorised((matrix * self.scale[:, None]).T, complement=2 * rows > columns)
        diagonal = np.abs(np.diag(r))
        rank = int(np.sum(diagonal > self._tolerance))
        self.rank = rank
        self.redundant = tuple(sorted(order[rank:].tolist()))
        self._kept = order[:rank]
        self._triangle = r[:rank, :rank].copy()
        self._basis = q[:, :rank]
        self._complement = q[:, rank:] if 2 * rank > columns else None
        self.work = 2.0 * columns * min(rank, columns - rank)

    @property
    def _tolerance(self) -> float:
        return max(DEPENDENCE_TOLERANCE, float(np.finfo(float).eps) * max(self.shape))

    def apply(self, x: Array) -> Array:
        """Return A x."""
        return self._matrix @ x

    def adjoint(self, y: Array) -> Array:
        """Return A^T y."""
        return self._matrix.T @ y

    def tangent(self, v: Array) -> Array:
        """Return v - Q Q^T v, or Z Z^T v."""
        return v - onto(self._basis, v) if self._complement is None else onto(self._complement, v)

    def component(self, v: Array) -> Array:
        """Return Q Q^T v, or v - Z Z^T v."""
        return onto(self._basis, v) if self._complement is None else v - onto(self._complement, v)

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


def onto(basis: Array, v: Array) -> Array:
    """Return Q Q^T v for orthonormal columns Q in column order, and a vector or the columns of a matrix."""
    if v.ndim == 2:
        return basis @ (basis.T @ v)
    total, step = np.zeros(len(v)), max(1, BLOCK_SIZE // len(v))
    for first in range(0, basis.shape[1], step):
        q = basis[:, first : first + step]
        total = dgemv(1.0, q, dgemv(1.0, q, v, trans=1), beta=1.0, y=total, overwrite_y=1)
    return total


def _factorised(columns: Array, complement: bool) -> Factors:
    """Return Q and R, with Q in column order, in which Q^T x and Q y both pass along contiguous columns."""
    quick = None if complement else _factorised_by_gram(columns)
    if quick is not None:
        return quick
    mode: Literal["full", "economic"] = "full" if complement else "economic"
    return Factors(*qr(columns, overwrite_a=True, mode=mode, pivoting=True, check_finite=False))


def _factorised_by_gram(columns: Array) -> Factors | None:
    """Return Q and R from the Cholesky factors of one or two Gram matrices; None where columns nearly depend.

    Several times as fast as pivoting. The second factor removes what the first lost, if that can be seen at
    all; that takes a condition number below about 1e7 (Yamamoto, Nakatsukasa, Yanagisawa & Fukaya 2015).
    """
    if columns.shape[1] == 0:
        return Factors(columns, np.empty((0, 0)), np.arange(0))
    try:
        first = cholesky(dsyrk(1.0, columns, trans=1), check_finite=False)
    except LinAlgError:
        return None
    if dtrcon(first)[0] < GRAM_CONDITION:
        return None
    q = dtrsm(1.0, first, columns, side=1, overwrite_b=1)
    if _is_orthonormal(q):
        return Factors(q, first, np.arange(columns.shape[1]))
    second = cholesky(dsyrk(1.0, q, trans=1), check_finite=False)
    q = dtrsm(1.0, second, q, side=1, overwrite_b=1)
    return Factors(q, second @ first, np.arange(columns.shape[1]))


def _is_orthonormal(q: Array) -> bool:
    """Look whether Q^T Q leaves random vectors alone, up to rounding."""
    probes = np.random.default_rng(0).standard_normal((2, q.shape[1]))
    seen = [dgemv(1.0, q, dgemv(1.0, q, probe), trans=1) for probe in probes]
    return bool(np.linalg.norm(seen - probes) <= ORTHONORMALITY_ERROR * np.linalg.norm(probes))


def row_lengths(matrix: Array) -> Array:
    """Return the Euclidean length of each row, without overflow, and 1 for a row of zeros."""
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", matrix, matrix)
    if np.all((squares > 1e-280) & (squares < 1e280)):
        return np.sqrt(squares)
    largest = np.max(np.abs(matrix), axis=1, initial=0.0)
    largest[largest == 0.0] = 1.0
    lengths = largest * np.linalg.norm(matrix / largest[:, None], axis=1)
    lengths[lengths == 0.0] = 1.0
    return lengths
