"""Symmetric matrices that users hand in: checked, and between which eigenvalues they lie."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigvalsh

from tether.arrays import Array
from tether.objectives.spectrum import largest_eigenvalue, largest_ritz_value
from tether.threads import one_blas_thread

DENSE_LIMIT = 1000  # size up to which all eigenvalues are computed
ROUNDING = 1e-10  # how unsymmetric or negative a matrix may be by rounding, relative to its size


def symmetric(matrix: NDArray[Any] | sparse.csr_array) -> NDArray[Any] | sparse.csr_array:
    """Return a square matrix in double precision, or refuse it if it is not symmetric."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"matrix must be square, got shape {matrix.shape}; pass rows c_i as factors=.")
    matrix = matrix.astype(np.float64, copy=False)
    if sparse.issparse(matrix) and diagonal_of(matrix) is not None:
        return matrix
    worst, size = largest_entry(matrix - matrix.T), largest_entry(matrix)
    if worst > ROUNDING * size:
        raise ValueError(
            f"matrix must be symmetric, got entries that differ from their mirror image by {worst:.3g}; "
            "pass (C + C.T) / 2, which gives the same quadratic."
        )
    return matrix


def largest_entry(matrix: Any) -> float:
    """Return the largest size of an entry."""
    return max(float(matrix.max()), -float(matrix.min()))


def diagonal_of(matrix: NDArray[Any] | sparse.csr_array) -> Array | None:
    """Return the diagonal of a matrix that has nothing else; None for others."""
    diagonal = matrix.diagonal()
    entries = np.count_nonzero(matrix) if isinstance(matrix, np.ndarray) else matrix.count_nonzero()
    return diagonal if entries == np.count_nonzero(diagonal) else None


def _eigenvalues(matrix: Array) -> Array:
    """Return all eigenvalues; variables that nothing is tied to have their own."""
    diagonal = matrix.diagonal()
    tied = np.count_nonzero(matrix, axis=1) > (diagonal != 0.0)
    with one_blas_thread():
        return np.concatenate([diagonal[~tied], eigvalsh(matrix[np.ix_(tied, tied)])])


def spectrum_of(matrix: NDArray[Any] | sparse.csr_array) -> tuple[float, float]:
    """Return the extreme eigenvalues of C, both from above if C is large (then a negative one is proof)."""
    p, diagonal = matrix.shape[0], diagonal_of(matrix)
    if diagonal is not None:
        return float(diagonal.min()), float(diagonal.max())
    if p <= DENSE_LIMIT:
        values = _eigenvalues(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())
        return float(values.min()), float(values.max())
    sizes: Any = abs(matrix)
    bound = float(sizes.sum(axis=1).max())  # no eigenvalue is larger in size
    mirrored, _ = largest_ritz_value(lambda v: bound * v - matrix @ v, p, 1e-6)
    smallest = min(bound - mirrored, float(matrix.diagonal().min()))
    return smallest, largest_eigenvalue(lambda v: matrix @ v, p)
