"""Rows of a dense matrix: one orthogonal factorisation of A^T, then two products a projection.

The products go through a basis that is larger than the caches a few columns at a time: the second product
finds them where the first has left them, so the basis is read from memory once and not twice.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lstsq
from scipy.linalg.blas import dgemv, dsyrk, dtrsm
from scipy.linalg.lapack import dgeqp3, dorgqr, dpotrf, dtrcon, dtrtri, dtrtrs

from tether.arrays import Array, norm
from tether.constraints.algebra.rows import Fit, Rows
from tether.lazy import lazy
from tether.threads import CORES, all_blas_threads, one_blas_thread, share

# A row closer than this to the span of the others is taken to lie in it: dropping it then moves a
# projection by no more than this, while keeping it would divide rounding errors by it.
DEPENDENCE_TOLERANCE = 1e-12
BLOCK_SIZE = 500_000  # numbers of a basis that stay in a cache
ORTHONORMALITY_ERROR = 2e-15  # by which columns may miss it, a few roundings
MULTITHREADED_WORK = 1e8  # multiplications from which on all threads of BLAS are worth waking
AWAKENING_WORK = 1e9  # the same during a run, which has sent them to sleep
PANEL = 32  # columns that LAPACK factorises together
GRAM_CONDITION = 1e-5  # the reciprocal condition number from which on Gram matrices lose nothing


class UnitGram(NamedTuple):
    """Rows that are far from dependent: what gives them unit length, and the factor of A A^T then."""

    scale: Array
    factor: Array  # upper triangular


class Bases(NamedTuple):
    """Orthonormal bases of the span of rows, and of its complement where that is smaller."""

    basis: Array  # Q
    triangle: Array  # R of the rows that are kept
    kept: Any  # their numbers
    complement: Array | None = None  # Z


class DenseRows(Rows):
    """The rows of a dense matrix, with orthonormal bases Q of their span and Z of its complement.

    A^T with unit columns is factorised as Q R; a projection uses Q or Z, whichever has fewer columns. Rows
    that are far from dependent are known to be so by their Gram matrix alone: Q is made when first needed.
    """

    kind = "dense"

    def __init__(self, matrix: Array) -> None:
        self._matrix = matrix
        self.shape = (matrix.shape[0], matrix.shape[1])
        rows, columns = self.shape
        self._gram = None if 2 * rows > columns else unit_gram(matrix)
        self.independent = self._gram is not None
        self.scale = 1.0 / row_lengths(matrix) if self._gram is None else self._gram.scale
        self.rank = rows if self.independent else len(self._bases.kept)
        if self.rank < rows:
            self.redundant = tuple(sorted(set(range(rows)) - set(self._bases.kept.tolist())))
        self.work = 2.0 * columns * min(self.rank, columns - self.rank)

    @lazy
    def _bases(self) -> Bases:
        with _threads(self.shape):
            if self._gram is not None:
                q, r = _orthonormalised(self._matrix, self._gram)
                return Bases(q, r, np.arange(len(r)))
            return self._pivoted((self._matrix * self.scale[:, None]).T)

    def _pivoted(self, columns: Array) -> Bases:
        """Return bases for rows of which some may lie in the span of others."""
        width, rows = columns.shape
        found, order, tau = dgeqp3(columns, lwork=2 * rows + PANEL * (rows + 1), overwrite_a=1)[:3]
        rank = int(np.sum(np.abs(found.diagonal()) > self._tolerance))
        triangle, kept = found[:rank, :rank].copy(order="F"), order[:rank] - 1
        if 2 * rank <= width:
            return Bases(_reflected(found[:, :rank], tau[:rank]), triangle, kept)
        whole = np.zeros((width, width), order="F")
        whole[:, : len(tau)] = found[:, : len(tau)]
        q = _reflected(whole, tau)
        return Bases(q[:, :rank], triangle, kept, q[:, rank:])

    @lazy
    def condition(self) -> float:  # type: ignore[override]
        """How far the rows that are kept are from dependent."""
        return condition_of(self._bases.triangle)

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
        basis, _, _, complement = self._bases
        return v - onto(basis, v) if complement is None else onto(complement, v)

    def component(self, v: Array) -> Array:
        """Return Q Q^T v, or v - Z Z^T v."""
        basis, _, _, complement = self._bases
        return onto(basis, v) if complement is None else v - onto(complement, v)

    def multipliers(self, gradient: Array) -> Array:
        """Return a least-squares lambda of A^T lambda = gradient, 0 on redundant rows."""
        basis, triangle, kept, _ = self._bases
        y = np.zeros(self.shape[0])
        y[kept] = _solved(triangle, basis.T @ gradient)
        return self.scale * y

    def fit(self, b: Array) -> Fit:
        """Return the shortest least-squares solution of A x = b and what it misses."""
        basis, triangle, kept, _ = self._bases
        target = self.scale * b
        point = basis @ _solved(triangle, target[kept], transposed=True)
        misfit = target - self.scale * (self._matrix @ point)
        if norm(misfit) <= 1e-13 * (norm(target) + norm(point)):
            return Fit(point, misfit)
        # The kept rows alone do not settle it: weigh all rows alike.
        unit = self._matrix * self.scale[:, None]
        point = lstsq(unit, target, cond=self._tolerance, check_finite=False)[0]
        return Fit(point, target - unit @ point)


def _reflected(vectors: Array, factors: Array) -> Array:
    """Return the first columns of a product of reflections, in place of the vectors that define them."""
    if not len(factors):
        return vectors
    return dorgqr(vectors, factors, lwork=PANEL * vectors.shape[1], overwrite_a=1)[0]


def _solved(triangle: Array, right: Array, transposed: bool = False) -> Array:
    """Return R^-1 y or R^-T y for an upper triangle R."""
    return dtrtrs(triangle, right, trans=int(transposed))[0] if len(right) else right


def condition_of(triangle: Array) -> float:
    """Return about the condition number of an upper triangle."""
    return 1.0 / max(float(dtrcon(triangle)[0]), DEPENDENCE_TOLERANCE) if len(triangle) else 1.0


def onto(basis: Array, v: Array) -> Array:
    """Return Q Q^T v for orthonormal columns Q in column order, and a vector or the columns of a matrix."""
    if v.ndim == 2:
        return basis @ (basis.T @ v)
    total, step = np.zeros(len(v)), max(1, BLOCK_SIZE // len(v))
    for first in range(0, basis.shape[1], step):
        q = basis[:, first : first + step]
        total = dgemv(1.0, q, dgemv(1.0, q, v, trans=1), beta=1.0, y=total, overwrite_y=1)
    return total


def unit_gram(matrix: Array, stretch: Array | None = None) -> UnitGram | None:
    """Return the Gram matrix of rows at unit length, factorised; None where they nearly depend.

    Rows are those of A diag(stretch).
    """
    if matrix.shape[0] == 0:
        return UnitGram(np.ones(0), np.empty((0, 0)))
    gram = _gram(matrix, stretch)
    squares = gram.diagonal()
    if not (squares.min() > 1e-280 and squares.max() < 1e280):
        return None
    scale = 1.0 / np.sqrt(squares)
    factor, fault = dpotrf(gram * scale * scale[:, None], overwrite_a=1)
    return UnitGram(scale, factor) if fault == 0 and dtrcon(factor)[0] >= GRAM_CONDITION else None


def _gram(matrix: Array, stretch: Array | None) -> Array:
    """Return the upper triangle of A diag(stretch)^2 A^T, by ranges of columns that cores take turns with."""
    rows, columns = matrix.shape
    if stretch is None and rows * rows * columns <= MULTITHREADED_WORK:
        with one_blas_thread():
            return dsyrk(1.0, matrix.T, trans=1)
    width = max(1, BLOCK_SIZE // rows)

    def work(_: int, begin: int, end: int) -> Array:
        total = np.zeros((rows, rows))
        room = None if stretch is None else np.empty((rows, min(width, end - begin)))
        for first in range(begin, end, width):
            some = slice(first, min(first + width, end))
            block = matrix[:, some]
            if room is not None and stretch is not None:
                block = np.multiply(block, stretch[some], out=room[:, : block.shape[1]])
            total += block @ block.T
        return total

    with one_blas_thread():
        return np.sum(share(work, columns, min(CORES, -(-columns // width))), axis=0)


def _orthonormalised(matrix: Array, gram: UnitGram) -> tuple[Array, Array]:
    """Return Q and R of rows at unit length from the Cholesky factor of their Gram matrix, or from two.

    Several times as fast as pivoting. The second factor removes what the first lost, if that can be seen at
    all; that takes a condition number below about 1e7 (Yamamoto, Nakatsukasa, Yanagisawa & Fukaya 2015). Q is
    in column order, in which Q^T x and Q y both pass along contiguous columns.
    """
    first = gram.factor
    if len(first) == 0:
        return matrix.T, first
    inverse = dtrtri(first)[0] * gram.scale[:, None]
    q = (inverse.T @ matrix).T  # a product of matrices is quicker than many substitutions
    if _is_orthonormal(q):
        return q, first
    second = dpotrf(dsyrk(1.0, q, trans=1), overwrite_a=1)[0]
    return dtrsm(1.0, second, q, side=1, overwrite_b=1), second @ first


def _threads(shape: tuple[int, ...]) -> AbstractContextManager[None]:
    """Return where rows are factorised: a large matrix on all threads that BLAS has, a huge one on all."""
    work = shape[0] ** 2 * shape[1]
    if work > AWAKENING_WORK:
        return all_blas_threads()
    return nullcontext() if work > MULTITHREADED_WORK else one_blas_thread()


def _is_orthonormal(q: Array) -> bool:
    """Look whether Q^T Q leaves vectors alone that have nothing to do with Q, up to rounding."""
    size = q.shape[1]
    probes = np.sin(np.arange(1.0, 2 * size + 1.0)).reshape(2, size)
    seen = [dgemv(1.0, q, dgemv(1.0, q, probe), trans=1) for probe in probes]
    return norm((seen - probes).ravel()) <= ORTHONORMALITY_ERROR * norm(probes.ravel())


def row_lengths(matrix: Array) -> Array:
    """Return the Euclidean length of each row, without overflow, and 1 for a row of zeros."""
    squares = np.einsum("ij,ij->i", matrix, matrix)
    if squares.min(initial=1.0) > 1e-280 and squares.max(initial=1.0) < 1e280:
        return np.sqrt(squares)
    largest = np.max(np.abs(matrix), axis=1, initial=0.0)
    largest[largest == 0.0] = 1.0
    lengths = largest * np.linalg.norm(matrix / largest[:, None], axis=1)
    lengths[lengths == 0.0] = 1.0
    return lengths
