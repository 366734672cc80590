"""The rows of A x = b as the dual Newton method needs them: products, and A_f diag(t_f) A_f^T factorised.

A dense A may be as large as the memory allows: it is read in blocks of columns, shared among threads, and
never copied.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky

from tether.arrays import Array
from tether.elimination import eliminated
from tether.threads import CORES, share

Mask = NDArray[np.bool_]
Solve = Callable[[Array], Array]

SHARED_SIZE = 2_000_000  # entries from which on a product is shared among threads
BLOCK_SIZE = 400_000  # numbers of a block of scaled columns, which stays in a cache
DENSE_ROWS = 400  # up to which the matrix of a sparse A is dense
FILLED = 0.1  # the share of entries from which on it is dense, too
SMALLEST_DAMPING = 1e-15  # for each row: rounding
SMALLEST_PIVOT = 1e-6  # of a matrix that needs no damping
LARGEST_DENSE = 4_000  # rows of a dense matrix beyond which a filled one stays sparse


class Equations(ABC):
    """A and b, with A known by its products."""

    def __init__(self, matrix: Any, b: Array) -> None:
        self.matrix, self.b = matrix, b
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.lengths = self._lengths()

    @abstractmethod
    def apply(self, x: Array) -> Array:
        """Return A x."""

    @abstractmethod
    def adjoint(self, y: Array) -> Array:
        """Return A^T y."""

    @abstractmethod
    def product(self, weights: Array, columns: NDArray[np.intp]) -> Any:
        """Return the sum of w_j a_j a_j^T over some columns a_j of A."""

    @abstractmethod
    def _lengths(self) -> Array:
        """Return the lengths of the rows."""


class DenseEquations(Equations):
    """The rows of a dense matrix."""

    def apply(self, x: Array) -> Array:
        """Return A x."""
        if self.matrix.size < SHARED_SIZE:
            return self.matrix @ x
        return np.sum(self._shared(lambda begin, end: self.matrix[:, begin:end] @ x[begin:end]), axis=0)

    def adjoint(self, y: Array) -> Array:
        """Return A^T y."""
        if self.matrix.size < SHARED_SIZE:
            return self.matrix.T @ y
        return np.concatenate(self._shared(lambda begin, end: self.matrix[:, begin:end].T @ y))

    def product(self, weights: Array, columns: NDArray[np.intp]) -> Array:
        """Return the sum of w_j a_j a_j^T over some columns a_j of A."""
        if self.shape[0] * len(columns) < SHARED_SIZE:
            return self._part(weights, columns)
        parts = share(lambda _, begin, end: self._part(weights, columns[begin:end]), len(columns), CORES)
        return np.sum(parts, axis=0)

    def _part(self, weights: Array, columns: NDArray[np.intp]) -> Array:
        total = np.zeros((self.shape[0], self.shape[0]))
        width = max(1, BLOCK_SIZE // max(1, self.shape[0]))
        for begin in range(0, len(columns), width):
            some = columns[begin : begin + width]
            block = self._scaled(some, np.sqrt(weights[some]))
            total += block @ block.T
        return total

    def _scaled(self, columns: NDArray[np.intp], factors: Array) -> Array:
        """Return some columns, in order, multiplied."""
        first, last = columns[0], columns[-1] + 1
        if last - first == len(columns):
            return self.matrix[:, first:last] * factors
        block = self.matrix[:, first:last][:, columns - first]
        block *= factors
        return block

    def _shared(self, work: Callable[[int, int], Array]) -> list[Array]:
        return share(lambda _, begin, end: work(begin, end), self.shape[1], CORES)

    def _lengths(self) -> Array:
        return np.sqrt(np.einsum("ij,ij->i", self.matrix, self.matrix))


class SparseEquations(Equations):
    """The rows of a sparse matrix."""

    def __init__(self, matrix: Any, b: Array) -> None:
        self._by_column = sp.csc_array(matrix)
        self._transposed = sp.csr_array(matrix.T)
        super().__init__(sp.csr_array(matrix), b)

    def apply(self, x: Array) -> Array:
        """Return A x."""
        return self.matrix @ x

    def adjoint(self, y: Array) -> Array:
        """Return A^T y."""
        return self._transposed @ y

    def product(self, weights: Array, columns: NDArray[np.intp]) -> Any:
        """Return the sum of w_j a_j a_j^T over some columns a_j of A."""
        some = self._by_column[:, columns]
        product = sp.csc_array((some * weights[columns]) @ some.T)
        rows = self.shape[0]
        dense = rows <= DENSE_ROWS or (rows <= LARGEST_DENSE and product.nnz > FILLED * rows * rows)
        return product.toarray() if dense else product

    def _lengths(self) -> Array:
        return np.sqrt(np.asarray(self.matrix.power(2).sum(axis=1)).ravel())


def equations_of(matrix: Any, b: Array) -> Equations:
    """Return the rows of a dense or a sparse matrix."""
    kind = SparseEquations if sp.issparse(matrix) else DenseEquations
    return kind(matrix, b)


def factorised(product: Any, floor: Array, damping: float) -> Solve:
    """Return the solution of (S H S + damping I) S^-1 d = S r, where S makes the diagonal 1, or nearly.

    ``floor`` is what a diagonal entry counts at least: rows without free variables would have none. A matrix
    that is far from singular is not damped.
    """
    diagonal = product.diagonal()
    scale = 1.0 / np.sqrt(np.maximum(diagonal, floor))
    factor = _dense if isinstance(product, np.ndarray) else _sparse
    solve, pivot = factor(product, scale, SMALLEST_DAMPING * len(floor))
    for _ in range(20):
        if solve is not None and pivot >= min(SMALLEST_PIVOT, damping):
            return solve
        solve, pivot = factor(product, scale, damping)
        pivot, damping = np.inf, 10.0 * damping
    raise ArithmeticError("the matrix of a dual Newton step has no finite factor.")


def _dense(product: Array, scale: Array, damping: float) -> tuple[Solve | None, float]:
    """Return the solution and the smallest pivot."""
    matrix = product * scale * scale[:, None]
    matrix[np.diag_indices_from(matrix)] += damping
    try:
        factor = cholesky(matrix, lower=True, check_finite=False, overwrite_a=True)
    except LinAlgError:
        return None, 0.0
    pivot = float(np.square(np.diag(factor)).min(initial=1.0))
    return lambda r: scale * cho_solve((factor, True), scale * r, check_finite=False), pivot


def _sparse(product: Any, scale: Array, damping: float) -> tuple[Solve | None, float]:
    """Return the solution and the smallest pivot."""
    diagonal = sp.diags_array(scale)
    matrix = sp.csc_array(diagonal @ product @ diagonal + damping * sp.eye_array(len(scale)))
    factor = eliminated(matrix)
    if factor is None:
        return None, 0.0
    return lambda r: scale * factor.solve(scale * r), float(np.abs(factor.U.diagonal()).min(initial=1.0))
