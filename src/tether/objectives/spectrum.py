"""Extreme eigenvalues of symmetric positive semidefinite matrices, on the safe side.

Smoothness constants want the largest eigenvalue from above, strong convexity wants the smallest from below.
"""

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.linalg import eigh_tridiagonal, eigvalsh
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh

from tether.arrays import Array
from tether.objectives.design import Design
from tether.threads import one_blas_thread

Product = Callable[[Array], Array]

_EPSILON = float(np.finfo(np.float64).eps)
_LANCZOS_STEPS = 50
_GRAM_WORK = 2e11  # multiplications that a Gram matrix may cost: a few seconds
_FACTOR_LIMIT = 5000  # sparse matrices up to this size are factorised even if they fill in


def largest_eigenvalue(product: Product, dim: int, tolerance: float = 1e-3) -> float:
    """Return lambda_max of a positive semidefinite matrix, known by its products, from above.

    The residual of the Ritz pair is added to the Ritz value, which never exceeds lambda_max itself.
    """
    with one_blas_thread():
        value, residual = largest_ritz_value(product, dim, tolerance)
    return max(value, 0.0) + residual


def largest_ritz_value(product: Product, dim: int, tolerance: float) -> tuple[float, float]:
    """Return Lanczos' lower bound of the largest eigenvalue of a symmetric matrix, and its residual."""
    direction = np.random.default_rng(0).standard_normal(dim)
    basis = np.empty((0, dim))
    diagonal: list[float] = []
    off: list[float] = []
    while True:
        direction = direction / np.linalg.norm(direction)
        basis = np.vstack([basis, direction])
        rest = product(direction)
        diagonal.append(float(direction @ rest))
        for _ in range(2):  # once is not enough in floating point
            rest = rest - basis.T @ (basis @ rest)
        length = float(np.linalg.norm(rest))
        values, vectors = eigh_tridiagonal(np.array(diagonal), np.array(off))
        value, residual = float(values[-1]), length * abs(float(vectors[-1, -1]))
        if residual <= tolerance * abs(value) or len(diagonal) == min(dim, _LANCZOS_STEPS):
            return value, residual
        off.append(length)
        direction = rest


def gram_is_affordable(design: Design, largest_width: int) -> bool:
    """Return whether the Gram matrix is small and cheap enough to form."""
    return design.width <= largest_width and design.n_samples * design.width**2 <= _GRAM_WORK


def largest_gram_eigenvalue(gram: Array, n_samples: int) -> float:
    """Return lambda_max of the Gram matrix of so many samples from above, with the margin as below."""
    return float(np.linalg.eigvalsh(gram)[-1]) + _gram_margin(gram, n_samples)


def smallest_gram_eigenvalue(gram: Array, n_samples: int) -> float:
    """Return lambda_min of the Gram matrix of so many samples from below.

    The margin, (N + p) machine epsilons times the trace, covers every rounding of the sum.
    """
    if n_samples < len(gram):
        return 0.0
    return max(0.0, float(eigvalsh(gram, subset_by_index=[0, 0])[0]) - _gram_margin(gram, n_samples))


def _gram_margin(gram: Array, n_samples: int) -> float:
    return (n_samples + len(gram) + 8) * _EPSILON * float(gram.trace())


def smallest_sparse_eigenvalue(matrix: sparse.csr_array, largest: float) -> float:
    """Return lambda_min of a sparse positive semidefinite matrix from below; 0 where it cannot be told.

    Gershgorin's discs are exact for diagonal matrices; Lanczos on the inverse serves a few thousand rows.
    """
    p = matrix.shape[0]
    diagonal = matrix.diagonal()
    if diagonal.min() <= 0.0:
        return 0.0
    discs = float((diagonal - (abs(matrix).sum(axis=1) - diagonal)).min())
    inverse = _smallest_by_inversion(matrix, largest) if p <= _FACTOR_LIMIT else 0.0
    return max(0.0, discs, inverse) * (1.0 - 1e-12)


def _smallest_by_inversion(matrix: sparse.csr_array, largest: float) -> float:
    shift = -1e-9 * largest  # just below 0, so that a singular matrix can be factorised too
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    try:
        value = eigsh(matrix.tocsc(), k=1, sigma=shift, v0=start, return_eigenvectors=False)[0]
    except (ArpackError, ArpackNoConvergence, RuntimeError):
        return 0.0
    return float(value) * (1.0 - 1e-6) - matrix.shape[0] * _EPSILON * largest
