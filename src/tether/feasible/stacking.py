"""Matrices on top of each other, dense or sparse."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from tether.arrays import Indices

SPARSE_SHARE = 0.25  # of entries that are not 0, up to which a matrix is kept sparse
SMALL_SIZE = 1_000_000  # entries of a matrix that may be dense if some of them were


def stacked(blocks: Sequence[Any], dim: int) -> Any:
    """Return matrices of ``dim`` columns as one: sparse if all are, dense if all are or if it is small."""
    blocks = [block for block in blocks if block.shape[0]]
    if not blocks:
        return sparse.csr_array((0, dim))
    size, kinds = dim * sum(block.shape[0] for block in blocks), {sparse.issparse(block) for block in blocks}
    if kinds == {False} or (len(kinds) > 1 and size <= SMALL_SIZE):
        return np.vstack([block.toarray() if sparse.issparse(block) else block for block in blocks])
    return as_sparse(sparse.vstack([sparse.csr_array(block) for block in blocks]))


def compact(rows: sparse.csr_array) -> Any:
    """Return a matrix as an ndarray where much of it is not 0."""
    return rows.toarray() if rows.nnz > SPARSE_SHARE * rows.shape[0] * rows.shape[1] else rows


def beneath(blocks: Sequence[sparse.csr_array], dim: int) -> sparse.csr_array:
    """Return sparse matrices one below the other; one alone is not copied."""
    if len(blocks) > 1:
        return sparse.csr_array(sparse.vstack(blocks))
    return blocks[0] if blocks else sparse.csr_array((0, dim))


def identity(dim: int) -> sparse.csr_array:
    """Return the identity."""
    return sparse.csr_array((np.ones(dim), np.arange(dim), np.arange(dim + 1)), shape=(dim, dim))


def chosen_rows(matrix: sparse.csr_array, chosen: Indices) -> sparse.csr_array:
    """Return some rows of a matrix; all of them are the matrix itself."""
    count, dim = matrix.shape
    if len(chosen) == 0:
        return sparse.csr_array((0, dim))
    if len(chosen) == count and (np.diff(chosen) == 1).all():
        return matrix
    return sparse.csr_array(matrix[chosen])


def as_sparse(matrix: Any) -> sparse.csr_array:
    """Return a matrix as a csr_array with sorted columns and without stored zeros."""
    rows = sparse.csr_array(matrix)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows
