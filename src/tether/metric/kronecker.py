"""The metric of a model with several outputs, G (x) S / trace(S) + s I: two small eigenproblems.

With G = U diag(a) U^T and S / trace(S) = V diag(b) V^T it is (U (x) V) diag(a b^T + s) (U (x) V)^T, so R
costs a product with U and one with V.
"""

from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, eigh

from tether import threads
from tether.arrays import Array
from tether.metric.base import Map, Metric, Normal, NotFinite

# Of the largest eigenvalue: smaller ones are rounding, and are raised to it.
SMALLEST_EIGENVALUE = 1e-10
MANY_ROWS = 64  # that are worth sharing among cores
MULTITHREADED_SIZE = 1_500  # from which on all threads of BLAS are worth waking, even where cores are busy


class KroneckerMetric(Metric):
    """M = G (x) S / trace(S) + s I, for variables in the order (feature, output).

    Parameters
    ----------
    features : ndarray, shape (d, d)
        G.
    outputs : ndarray, shape (K, K)
        S.
    shift : float
        s.
    """

    def __init__(self, features: Array, outputs: Array, shift: float) -> None:
        trace = float(np.trace(outputs))
        a, self._u = _eigen(features)
        b, self._v = _eigen(outputs / trace if trace > 0.0 else outputs)
        self.dim = len(a) * len(b)
        values = np.outer(np.maximum(a, 0.0), np.maximum(b, 0.0)) + shift
        largest = float(values.max())
        raised = np.maximum(values, SMALLEST_EIGENVALUE * largest) if largest > 0.0 else np.ones_like(values)
        self.exact = bool(np.array_equal(raised, values))
        self._values = values
        self._inverse = np.sqrt(raised)  # R^-1 = diag(inverse) (U (x) V)^T
        self._root = 1.0 / self._inverse
        self._shift = shift

    def apply(self, v: Array) -> Array:
        """Return M v."""
        return self._forth(self._values, self._back(np.ones(1), v))

    def whiten(self, v: Array) -> Array:
        """Return R^T v."""
        return self._back(self._root, v)

    def colour(self, v: Array) -> Array:
        """Return R v."""
        return self._forth(self._root, v)

    def unwhiten(self, v: Array) -> Array:
        """Return R^-T v."""
        return self._forth(self._inverse, v)

    def uncolour(self, v: Array) -> Array:
        """Return R^-1 v."""
        return self._back(self._inverse, v)

    def rows(self, matrix: Any) -> Any:
        """Return A R, a share of the rows on every core."""
        dense = _dense(matrix)
        parts = threads.CORES if len(dense) >= MANY_ROWS else 1
        shares = threads.share(lambda _, begin, end: self.whiten(dense[begin:end].T).T, len(dense), parts)
        return np.concatenate(shares)

    def columns(self, matrix: Any) -> Any:
        """Return (R^-1 D)^T."""
        return self.uncolour(_dense(matrix).T).T

    def smallest(self, image: Map, normal: Normal) -> float:
        """Return the shift less what rounding may have hidden: G and S are positive semidefinite."""
        return self._shift if self.exact else 0.0

    def _back(self, factors: Array, v: Array) -> Array:
        """Return diag(factors) (U (x) V)^T v."""
        return self._flat(factors * _product(self._u.T, self._blocks(v) @ self._v), v)

    def _forth(self, factors: Array, v: Array) -> Array:
        """Return (U (x) V) diag(factors) v."""
        return self._flat(_product(self._u, factors * self._blocks(v)) @ self._v.T, v)

    def _blocks(self, v: Array) -> Array:
        """Return vectors as d x K matrices, the columns of a matrix as a stack of them."""
        if v.ndim == 1:
            return v.reshape(len(self._u), len(self._v))
        return np.ascontiguousarray(v.T).reshape(v.shape[1], len(self._u), len(self._v))

    def _flat(self, blocks: Array, v: Array) -> Array:
        return blocks.reshape(-1) if v.ndim == 1 else blocks.reshape(v.shape[1], self.dim).T


def _product(matrix: Array, blocks: Array) -> Array:
    """Return the product of a matrix with a block, or with all blocks of a stack side by side.

    One product of many columns is several times as quick as many of few.
    """
    if blocks.ndim == 2:
        return matrix @ blocks
    count, rows, columns = blocks.shape
    beside = matrix @ blocks.transpose(1, 0, 2).reshape(rows, count * columns)
    return beside.reshape(rows, count, columns).transpose(1, 0, 2)


def _eigen(matrix: Array) -> tuple[Array, Array]:
    with threads.all_blas_threads() if len(matrix) > MULTITHREADED_SIZE else nullcontext():
        try:
            values, vectors = eigh(matrix, driver="evd", check_finite=False)
        except LinAlgError as error:
            raise NotFinite("the eigenvalues of the second derivatives of F could not be found.") from error
    return values, vectors


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=float)
