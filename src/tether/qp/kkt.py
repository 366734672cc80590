"""The linear system of a face: free variables, and multipliers of what is held.

    H u + C'v = f
    C u       = g

It may be singular, where a solution is not unique or rows repeat each other. Then a little is added to the
diagonal, delta to H and -delta to the zeros, and taken back by refinement: a proximal method of multipliers,
which ends near where it began. Where the pivots of a Cholesky factorisation say that it is far from singular
nothing is added.
"""

from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from tether.arrays import Array
from tether.elimination import eliminated

DELTA = 1e-7  # in units in which the largest entries of rows and columns are near 1
FIRM = 1e-5  # of the largest pivot, squared: one as large needs no delta
DENSE_SIZE = 150  # up to which a dense factorisation is the quickest
FEW_ROWS = 1000  # up to which the Schur complement of a diagonal is formed


class Factor(Protocol):
    """A factorised system."""

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """Return u and v."""
        ...


class DenseFactor:
    """Bunch-Kaufman factorisation of the whole matrix."""

    def __init__(self, H: Array, C: Array) -> None:
        n, m = len(H), len(C)
        whole = np.zeros((n + m, n + m), order="F")
        whole[:n, :n] = H
        whole[n:, :n] = C
        whole[np.arange(n), np.arange(n)] += DELTA
        whole[np.arange(n, n + m), np.arange(n, n + m)] -= DELTA
        self._n = n
        work = lapack.dsytrf_lwork(n + m, lower=1)[0] if n + m else 1
        self._factor, self._pivots, _ = lapack.dsytrf(whole, lower=1, lwork=int(work), overwrite_a=1)

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """Return u and v."""
        if not len(f) + len(g):
            return f, g
        both, _ = lapack.dsytrs(self._factor, self._pivots, np.concatenate([f, g]), lower=1)
        return both[: self._n], both[self._n :]


class CholeskyFactor:
    """Cholesky factorisation of H and of the Schur complement: for few rows."""

    def __init__(self, H: Array, C: Array) -> None:
        self._lower, firm = _lower(H)
        if not firm:
            lifted = H.copy(order="F")
            lifted.flat[:: len(H) + 1] += DELTA
            self._lower, info = lapack.dpotrf(lifted, lower=1, overwrite_a=1)
            if info != 0:
                raise np.linalg.LinAlgError
        self._image = lapack.dtrtrs(self._lower, C.T, lower=1)[0] if len(C) else np.zeros((len(H), 0))
        self._rows = _Positive(self._image.T @ self._image)

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """Return u and v."""
        half = lapack.dtrtrs(self._lower, f, lower=1)[0]
        v = self._rows.solve(self._image.T @ half - g)
        return lapack.dtrtrs(self._lower, half - self._image @ v, lower=1, trans=1)[0], v


class DiagonalFactor:
    """The Schur complement C H^-1 C' of a diagonal H: for few rows."""

    def __init__(self, diagonal: Array, C: Any) -> None:
        self._inverse, self._C = 1.0 / (diagonal + DELTA), C
        product = (C * self._inverse) @ C.T if isinstance(C, np.ndarray) else (C * self._inverse[None]) @ C.T
        self._rows = _Positive(product if isinstance(product, np.ndarray) else product.toarray())

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """Return u and v."""
        v = self._rows.solve(self._C @ (self._inverse * f) - g)
        return self._inverse * (f - self._C.T @ v), v


class _Positive:
    """A small positive semidefinite matrix, plus delta if it needs that."""

    def __init__(self, matrix: Array) -> None:
        self._lower, firm = _lower(matrix)
        if firm:
            return
        lifted = np.asfortranarray(matrix)
        largest = max(1.0, float(lifted.diagonal().max(initial=0.0)))
        lifted[np.diag_indices(len(lifted))] += DELTA
        self._lower, info = lapack.dpotrf(lifted, lower=1)
        if info != 0:
            lifted[np.diag_indices(len(lifted))] += DELTA * largest
            self._lower, info = lapack.dpotrf(lifted, lower=1)
        if info != 0:
            raise np.linalg.LinAlgError

    def solve(self, f: Array) -> Array:
        return lapack.dpotrs(self._lower, f, lower=1)[0] if len(f) else f


def _lower(matrix: Array) -> tuple[Array, bool]:
    """Return the Cholesky factor of a matrix, and whether it is far from singular."""
    if not len(matrix):
        return matrix, True
    lower, info = lapack.dpotrf(matrix, lower=1)
    pivots = lower.diagonal()
    return lower, info == 0 and bool(pivots.min() ** 2 >= FIRM * max(1.0, pivots.max() ** 2))


class SparseFactor:
    """Sparse LU factorisation in symmetric order."""

    def __init__(self, H: Any, C: Any) -> None:
        self._n, m = H.shape[0], C.shape[0]
        whole = sparse.block_array(
            [
                [H + DELTA * sparse.eye_array(self._n), C.T],
                [C, -DELTA * sparse.eye_array(m)],
            ],
            format="csc",
        )
        factor = eliminated(whole)
        if factor is None:
            raise np.linalg.LinAlgError
        self._lu = factor

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """Return u and v."""
        both = self._lu.solve(np.concatenate([f, g]))
        return both[: self._n], both[self._n :]


def factorised(H: Any, C: Any) -> Factor:
    """Factorise the system of a face; H is dense, sparse or a diagonal."""
    n, m = H.shape[0], C.shape[0]
    if H.ndim == 1 and m <= FEW_ROWS and (H > 1e3 * DELTA).all():
        return DiagonalFactor(H, C)
    if isinstance(H, np.ndarray) and H.ndim == 2:
        return _dense(H, C if isinstance(C, np.ndarray) else C.toarray())
    if H.ndim == 1:
        H = sparse.diags_array(H, format="csc")
    if n + m <= DENSE_SIZE:
        return _dense(H.toarray(), C if isinstance(C, np.ndarray) else C.toarray())
    return SparseFactor(sparse.csc_array(H), sparse.csr_array(C))


def _dense(H: Array, C: Array) -> Factor:
    if len(C) < len(H):
        try:
            return CholeskyFactor(H, C)
        except np.linalg.LinAlgError:
            pass
    return DenseFactor(H, C)
