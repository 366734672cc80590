"""Matrices on top of each other, dense or sparse."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

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


def as_sparse(matrix: Any) -> sparse.csr_array:
    """Return a matrix as a csr_array with sorted columns and without stored zeros."""
    rows = sparse.csr_array(matrix)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows
