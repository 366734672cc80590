"""The tangent space of a set, as the kernel or as the image of a matrix, and what it is in another metric.

With M^-1 = R R^T directions are v = R w, and v is tangent when w is in ker(A R), or in the image of R^-1 D.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from tether.arrays import Array, norm
from tether.constraints.algebra.dense import DenseRows
from tether.constraints.algebra.dense import row_lengths as dense_row_lengths
from tether.constraints.algebra.gram import gram_rows
from tether.constraints.algebra.operator import operator_rows
from tether.constraints.algebra.rows import Rows
from tether.constraints.algebra.sparse import row_lengths as sparse_row_lengths
from tether.constraints.algebra.sparse import sparse_rows
from tether.lazy import lazy
from tether.metric.base import Metric

Map = Callable[[Array], Array]

DENSE_ENTRIES = 3e7  # up to which a matrix in another metric may be dense


class Within(NamedTuple):
    """A subspace in another metric."""

    onto: Map  # the orthogonal projector
    rows: Rows | None = None  # of A R, where there is an A


class Subspace(ABC):
    """The directions that a set allows, vectors of length ``dim``."""

    dim: int

    @abstractmethod
    def within(self, metric: Metric) -> "Within":
        """Return the orthogonal projector on { w : R w is tangent }, factorised."""

    def miss(self, v: Array) -> float:
        """Return by how much a direction is not tangent, over its length; infinite where nobody knows."""
        return math.inf

    @abstractmethod
    def normal(self, scale: Array) -> Array:
        """Return the projector on the complement of { scale v : v is tangent }, as a matrix."""


class Kernel(Subspace):
    """The kernel of a dense or a sparse matrix."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix
        self.dim = int(matrix.shape[1])

    def within(self, metric: Metric) -> Within:
        """Return the projector on ker(A R)."""
        if _is_too_large(self._matrix, metric):
            matrix = sp.csr_array(self._matrix)
            rows = _in_metric(matrix.shape, lambda x: matrix @ x, lambda y: matrix.T @ y, metric)
        else:
            rows = self._long_rows(metric) or _rows_of(metric.rows(self._matrix))
        return Within(rows.tangent, rows)

    def _long_rows(self, metric: Metric) -> Rows | None:
        """Return the rows of A R where they are long and dense and R is diagonal: A R then is not formed."""
        if sp.issparse(self._matrix) or metric.diagonal is None:
            return None
        return gram_rows(self._matrix, metric.diagonal)

    def miss(self, v: Array) -> float:
        """Return the largest |<a_i, v>| / ||a_i|| over ||v||."""
        size = norm(v)
        return float((np.abs(self._matrix @ v) / self.lengths).max(initial=0.0)) / size if size else 0.0

    @lazy
    def lengths(self) -> Array:
        """The lengths of the rows, 1 for a row of zeros."""
        lengths = sparse_row_lengths if sp.issparse(self._matrix) else dense_row_lengths
        return lengths(self._matrix)

    def normal(self, scale: Array) -> Array:
        """Return Q Q^T for an orthonormal basis Q of the rows divided by the scale."""
        return DenseRows(_dense(self._matrix) / scale).component(np.eye(self.dim))


class WholeSpace(Subspace):
    """All directions."""

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def within(self, metric: Metric) -> Within:
        """Return the projector that leaves directions as they are."""
        return Within(_same)

    def miss(self, v: Array) -> float:
        """Return 0: every direction is tangent."""
        return 0.0

    def normal(self, scale: Array) -> Array:
        """Return the projector on nothing."""
        return np.zeros((self.dim, self.dim))


class OperatorKernel(Subspace):
    """The kernel of a matrix that is known by its products."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.dim = rows.shape[1]

    def within(self, metric: Metric) -> Within:
        """Return the projector on ker(A R)."""
        if not metric.keeps_sparse and np.prod(self._rows.shape) <= DENSE_ENTRIES:
            return Kernel(self._entries()).within(metric)
        rows = _in_metric(self._rows.shape, self._rows.apply, self._rows.adjoint, metric)
        return Within(rows.tangent, rows)

    def normal(self, scale: Array) -> Array:
        """Return Q Q^T for an orthonormal basis Q of the rows divided by the scale."""
        return Kernel(self._entries()).normal(scale)

    def _entries(self) -> Array:
        units = np.eye(self._rows.shape[0])
        return np.array([self._rows.adjoint(unit) for unit in units]).reshape(self._rows.shape)


class Image(Subspace):
    """The span of the rows of a dense or a sparse matrix, D^T, which are its ``columns``."""

    def __init__(self, columns: Any) -> None:
        self.columns = columns
        self.dim = int(columns.shape[1])

    def within(self, metric: Metric) -> Within:
        """Return the projector on the image of R^-1 D."""
        if not _is_too_large(self.columns, metric):
            return Within(_rows_of(metric.columns(self.columns)).component)
        matrix = sp.csr_array(self.columns)
        shape = (int(matrix.shape[0]), self.dim)
        operator = LinearOperator(
            shape,
            matvec=lambda x: matrix @ metric.unwhiten(x.ravel()),
            rmatvec=lambda y: metric.uncolour(matrix.T @ y.ravel()),
            dtype=float,
        )
        return Within(operator_rows(operator).component)

    def normal(self, scale: Array) -> Array:
        """Return I - Z Z^T for an orthonormal basis Z of the directions times the scale."""
        return DenseRows(_dense(self.columns) * scale).tangent(np.eye(self.dim))


def _same(v: Array) -> Array:
    return v


def spanned_by(tangent: Map, dim: int) -> Image:
    """Return the tangent space of a set that is known by its projector alone."""
    projector = np.column_stack([tangent(unit) for unit in np.eye(dim)])
    values, vectors = np.linalg.eigh(0.5 * (projector + projector.T))
    return Image(np.ascontiguousarray(vectors[:, values > 0.5].T))


def _in_metric(shape: tuple[int, int], forward: Map, backward: Map, metric: Metric) -> Rows:
    """Return the rows of A R, known by their products."""
    operator = LinearOperator(
        shape,
        matvec=lambda x: forward(metric.colour(x.ravel())),
        rmatvec=lambda y: metric.whiten(backward(y.ravel())),
        dtype=float,
    )
    return operator_rows(operator)


def _is_too_large(matrix: Any, metric: Metric) -> bool:
    """Say whether a sparse matrix would become dense and large."""
    entries = float(matrix.shape[0]) * float(matrix.shape[1])
    return sp.issparse(matrix) and not metric.keeps_sparse and entries > DENSE_ENTRIES


def _rows_of(matrix: Any) -> Rows:
    return sparse_rows(matrix) if sp.issparse(matrix) else gram_rows(matrix) or DenseRows(matrix)


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=float)
