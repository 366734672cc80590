"""A metric of small blocks, as costs of groups of variables have: sparse, and inverted block by block."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tether.arrays import Array
from tether.metric.base import Map, Metric, Normal

BLOCK_SIZE = 64  # up to which a block may be dense
ROUNDING = float(np.finfo(float).eps)


class BlockMetric(Metric):
    """M = L L^T, with L^-1 at hand and both as sparse as the blocks.

    Parameters
    ----------
    matrix : sparse array, shape (p, p)
        M, symmetric; see `blocks_of`.
    lower, inverse : sparse array, shape (p, p)
        L and L^-1, so that R = L^-T.
    """

    keeps_sparse = True
    exact = True

    def __init__(self, matrix: sp.csr_array, lower: sp.csr_array, inverse: sp.csr_array) -> None:
        self.dim = matrix.shape[0]
        self._matrix, self._lower, self._inverse = matrix, lower, inverse
        self._upper, self._root = sp.csr_array(lower.T), sp.csr_array(inverse.T)

    def apply(self, v: Array) -> Array:
        """Return M v."""
        return self._matrix @ v

    def whiten(self, v: Array) -> Array:
        """Return R^T v = L^-1 v."""
        return self._inverse @ v

    def colour(self, v: Array) -> Array:
        """Return R v = L^-T v."""
        return self._root @ v

    def unwhiten(self, v: Array) -> Array:
        """Return R^-T v = L v."""
        return self._lower @ v

    def uncolour(self, v: Array) -> Array:
        """Return R^-1 v = L^T v."""
        return self._upper @ v

    def rows(self, matrix: Any) -> Any:
        """Return A R."""
        return _product(matrix, self._root)

    def columns(self, matrix: Any) -> Any:
        """Return (R^-1 D)^T = D^T L."""
        return _product(matrix, self._lower)

    def smallest(self, image: Map, normal: Normal) -> float:
        """Return 1 over a bound on the norm of L^-1: that of its rows times that of its columns."""
        sizes = abs(self._inverse)
        norm = float(sizes.sum(axis=0).max()) * float(sizes.sum(axis=1).max())  # of L^-1, squared
        return (1.0 - 1e-6) / norm


def blocks_of(matrix: sp.csr_array) -> BlockMetric | None:
    """Return the metric of a sparse matrix whose variables fall into small groups; None for others.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from tether.metric.blocks import blocks_of
    >>> metric = blocks_of(sp.csr_array(np.array([[4.0, 0.0, 2.0], [0.0, 9.0, 0.0], [2.0, 0.0, 5.0]])))
    >>> metric.whiten(np.array([2.0, 3.0, 5.0])).tolist()
    [1.0, 1.0, 2.0]
    """
    count, label = connected_components(matrix, directed=False)
    sizes = np.bincount(label, minlength=count)
    if count == 0 or sizes.max() > BLOCK_SIZE:
        return None
    order = np.argsort(label, kind="stable")  # variables group by group
    begin = np.concatenate([[0], np.cumsum(sizes)])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - begin[label[order]]  # of a variable in its group
    lower, inverse = _Pieces(matrix.shape[0]), _Pieces(matrix.shape[0])
    for size in np.unique(sizes):
        groups = np.flatnonzero(sizes == size)
        members = order[begin[groups][:, None] + np.arange(size)]
        found = _factorised(_stacked(matrix, groups, label, place, int(size)))
        if found is None:
            return None
        lower.add(found[0], members)
        inverse.add(found[1], members)
    return BlockMetric(matrix, lower.matrix(), inverse.matrix())


def _stacked(matrix: sp.csr_array, groups: Any, label: Any, place: Any, size: int) -> Array:
    """Return the blocks of some groups of one size, one over the other."""
    number = np.full(int(label.max()) + 1, -1)
    number[groups] = np.arange(len(groups))
    entries = matrix.tocoo()
    row, column = entries.coords
    kept = number[label[row]] >= 0
    row, column = row[kept], column[kept]
    blocks = np.zeros((len(groups), size, size))
    np.add.at(blocks, (number[label[row]], place[row], place[column]), entries.data[kept])
    return blocks


def _factorised(blocks: Array) -> tuple[Array, Array] | None:
    """Return L and L^-1 of every block, in units in which diagonals are 1; None unless all are positive."""
    size = blocks.shape[1]
    diagonal = np.einsum("kii->ki", blocks)
    if not diagonal.min() > 0.0:
        return None
    units = np.sqrt(diagonal)
    try:
        lower = np.linalg.cholesky(blocks / units[:, :, None] / units[:, None, :])
    except np.linalg.LinAlgError:
        return None
    if np.einsum("kii->ki", lower).min() ** 2 <= 1e4 * size * ROUNDING:
        return None
    return lower * units[:, :, None], np.linalg.inv(lower) / units[:, None, :]


class _Pieces:
    """A sparse matrix, put together from dense blocks."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._pieces: list[tuple[Array, Any, Any]] = []

    def add(self, blocks: Array, members: Any) -> None:
        row = np.broadcast_to(members[:, :, None], blocks.shape)
        column = np.broadcast_to(members[:, None, :], blocks.shape)
        below = np.tril(np.ones(blocks.shape[1:], dtype=bool))
        self._pieces.append((blocks[:, below].ravel(), row[:, below].ravel(), column[:, below].ravel()))

    def matrix(self) -> sp.csr_array:
        data, row, column = (np.concatenate(parts) for parts in zip(*self._pieces, strict=True))
        return sp.csr_array((data, (row, column)), shape=(self._dim, self._dim))


def _product(matrix: Any, factor: sp.csr_array) -> Any:
    if sp.issparse(matrix):
        return sp.csr_array(matrix @ factor)
    return np.asarray((factor.T @ matrix.T).T, dtype=float)
