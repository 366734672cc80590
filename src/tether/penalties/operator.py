"""An operator, known by its products, turned into a matrix."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from tether.inputs import fresh_matrix, numbers

LARGEST_OPERATOR = 100_000_000  # rows times columns that are computed, to find those that are not 0
BLOCK = 256  # columns computed together
SPARSE_SHARE = 0.25  # of entries that are not 0, up to which a matrix is kept sparse


def matrix_of(name: str, operator: LinearOperator) -> Any:
    """Return an operator as a matrix, sparse where most of it is 0, or refuse one that is too large."""
    rows, columns = (int(length) for length in operator.shape)
    if rows * columns > LARGEST_OPERATOR:
        raise ValueError(
            f"{name} is an operator of shape ({rows}, {columns}), too large to be turned into a matrix by "
            f"its products; pass {name} as a sparse matrix."
        )
    firsts = range(0, max(1, columns), BLOCK)
    blocks = [_product(name, operator, np.eye(columns, min(BLOCK, columns - k), -k)) for k in firsts]
    matrix = sparse.csr_array(sparse.hstack(blocks))
    share = matrix.nnz / max(1, rows * columns)
    return fresh_matrix(name, matrix if share <= SPARSE_SHARE else matrix.toarray())


def _product(name: str, operator: LinearOperator, columns: Any) -> sparse.csr_array:
    expected = operator.shape[0], columns.shape[1]
    try:
        answer = operator.matmat(columns)
    except (NotImplementedError, TypeError, ValueError) as error:
        raise ValueError(
            f"{name}.matvec must return a vector of length {expected[0]} for one of length {len(columns)}, "
            f"got {type(error).__name__} instead."
        ) from error
    found = numbers(f"{name}.matvec(...)", answer)
    if found.shape != expected:
        raise ValueError(f"{name}.matvec(...) must have length {expected[0]}, got {found.shape[0]}.")
    return sparse.csr_array(found, dtype=float)
