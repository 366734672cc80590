"""Symmetric matrices that users hand in: checked, and between which eigenvalues they lie."""

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigvalsh
from scipy.linalg.lapack import dpotrf

from tether.arrays import Array
from tether.elimination import eliminated, is_thin, work_of_eliminating
from tether.objectives.spectrum import largest_eigenvalue, largest_ritz_value
from tether.threads import one_blas_thread

DENSE_LIMIT = 1000  # size up to which all eigenvalues are computed
FACTORED_SIZE = 2000  # size up to which a matrix is factorised whatever its pattern
FACTORED_WORK = 1e9  # multiplications of a factorisation that take less time than products
ONE_THREAD = 60  # size up to which BLAS wakes no other thread
ROUNDING = 1e-10  # how unsymmetric or negative a matrix may be by rounding, relative to its size


def symmetric(matrix: NDArray[Any] | sparse.csr_array) -> NDArray[Any] | sparse.csr_array:
    """Return a square matrix in double precision, or refuse it if it is not symmetric."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"matrix must be square, got shape {matrix.shape}; pass rows c_i as factors=.")
    matrix = matrix.astype(np.float64, copy=False)
    if sparse.issparse(matrix) and diagonal_of(matrix) is not None:
        return matrix
    worst = float((matrix - matrix.T).max())  # which is -min as well
    if worst > ROUNDING * largest_entry(matrix):
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
    if isinstance(matrix, np.ndarray):
        if matrix[0, 1:].any():  # nobody has to look at the rest
            return None
        entries = np.count_nonzero(matrix)
    else:
        entries = matrix.count_nonzero()
    return diagonal if entries == np.count_nonzero(diagonal) else None


def is_surely_positive(matrix: NDArray[Any] | sparse.csr_array) -> bool:
    """Say whether a factorisation proves that a matrix is positive semidefinite, but for rounding.

    One with positive pivots is that of a positive matrix nearby; False says nothing.
    """
    diagonal = matrix.diagonal()
    if diagonal.min() < 0.0 or diagonal_of(matrix) is not None:
        return bool(diagonal.min() >= 0.0)
    shift = ROUNDING * float(diagonal.max())
    if sparse.issparse(matrix) and (is_thin(matrix) or matrix.shape[0] > FACTORED_SIZE):
        return _has_positive_pivots(matrix + shift * sparse.eye_array(len(diagonal)))
    if len(diagonal) > FACTORED_SIZE:
        return False
    dense = matrix.copy() if isinstance(matrix, np.ndarray) else matrix.toarray()
    np.einsum("ii->i", dense)[...] += shift
    with nullcontext() if len(dense) <= ONE_THREAD else one_blas_thread():
        return bool(dpotrf(dense.T, lower=1, clean=0, overwrite_a=1)[1] == 0)


def _has_positive_pivots(matrix: sparse.csr_array) -> bool:
    """Say whether elimination of a sparse matrix takes little time and meets positive pivots only."""
    if matrix.shape[0] > FACTORED_SIZE and work_of_eliminating(matrix) > FACTORED_WORK:
        return False
    factor = eliminated(sparse.csc_array(matrix))
    if factor is None or not np.array_equal(factor.perm_r, factor.perm_c):  # a pivot off the diagonal
        return False
    return float(factor.U.diagonal().min()) > 0.0


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
