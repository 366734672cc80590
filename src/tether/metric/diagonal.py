"""A diagonal metric: it keeps sparse rows sparse, and on a network makes conductances of edges."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tether.arrays import Array
from tether.metric.base import Map, Metric, Normal

# Of the largest entry. Smaller ones, negative ones too, are raised to it: edges without costs are no reason
# to give up, and a factorisation stands such a range.
SMALLEST_ENTRY = 1e-12


class DiagonalMetric(Metric):
    """M = diag(m).

    Parameters
    ----------
    entries : ndarray, shape (p,)
        m; entries that are not positive are raised to a small share of the largest.
    """

    keeps_sparse = True

    def __init__(self, entries: Array) -> None:
        self.dim = len(entries)
        self._entries = entries
        largest = float(np.max(entries, initial=0.0))
        raised = np.maximum(entries, SMALLEST_ENTRY * largest) if largest > 0.0 else np.ones(self.dim)
        self.exact = bool(np.array_equal(raised, entries))
        self._inverse = np.sqrt(raised)  # R^-1
        self._root = self.diagonal = 1.0 / self._inverse

    @property
    def scale(self) -> Array:
        """R^-1, the square roots of the entries."""
        return self._inverse

    @property
    def matrix(self) -> Array:
        """The entries, as they were raised."""
        return self._inverse**2

    def apply(self, v: Array) -> Array:
        """Return m v."""
        return _times(self._entries, v)

    def whiten(self, v: Array) -> Array:
        """Return v / sqrt(m)."""
        return _times(self._root, v)

    def colour(self, v: Array) -> Array:
        """Return v / sqrt(m)."""
        return _times(self._root, v)

    def unwhiten(self, v: Array) -> Array:
        """Return sqrt(m) v."""
        return _times(self._inverse, v)

    def uncolour(self, v: Array) -> Array:
        """Return sqrt(m) v."""
        return _times(self._inverse, v)

    def rows(self, matrix: Any) -> Any:
        """Return A with its columns divided by sqrt(m)."""
        return scaled_columns(matrix, self._root)

    def columns(self, matrix: Any) -> Any:
        """Return D^T with its columns multiplied by sqrt(m)."""
        return scaled_columns(matrix, self._inverse)

    def smallest(self, image: Map, normal: Normal) -> float:
        """Return the smallest entry."""
        return max(0.0, float(self._entries.min())) if self.exact else 0.0


def scaled_columns(matrix: Any, factors: Array) -> Any:
    """Return a matrix, dense or sparse, with its columns multiplied."""
    if sp.issparse(matrix):
        scaled = sp.csr_array(matrix, dtype=float, copy=True)
        scaled.data *= factors[scaled.indices]
        return scaled
    return np.asarray(matrix * factors, dtype=float)


def _times(factors: Array, v: Array) -> Array:
    return factors * v if v.ndim == 1 else factors[:, None] * v
