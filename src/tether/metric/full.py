"""The whole Hessian as a metric: one Cholesky factorisation, in units in which its diagonal is 1.

These units make the columns of raw data alike, so that conditions come from correlations and not from
somebody's choice of millimetres. A matrix that is not positive (l2 = 0, fewer samples than variables, a
function that is not convex) may still be positive for the directions that a set allows: adding rho N, N the
projector on the others, changes nothing for them. Where that is not enough, a ridge is added, as small as
will do.
"""

import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dtrmm, dtrmv, dtrsm, dtrsv
from scipy.linalg.lapack import dpotrf, dtrcon, dtrtri

from tether.arrays import Array, norm
from tether.metric.base import Map, Metric, Normal, NotFinite
from tether.threads import all_blas_threads

ROUNDING = float(np.finfo(float).eps)
CONDITION_LIMIT = (
    50.0  # times the unit roundoff: a matrix with a smaller reciprocal condition may be singular
)
FIRST_RIDGE, RIDGE_GROWTH = 1e-12, 10.0
MULTITHREADED_SIZE = 1_500  # from which on all threads of BLAS are worth waking, even where cores are busy
BOUNDED_SIZE = 2_000  # up to which eigenvalues are bounded
SMALL_SIZE = 60  # up to which all eigenvalues take less time than a few steps of Lanczos
LANCZOS_STEPS, LANCZOS_GAIN = 25, 0.01  # at most; and of an eigenvalue, below which another step is idle
WIDE = 1e4  # times 1 / M_jj, which is no larger than the norm of M^-1: no bound on it is as wide
SHARES = (0.8, 0.4, 0.1)  # of an estimated eigenvalue, tried in turn as a bound


class FullMetric(Metric):
    """M as a matrix.

    Parameters
    ----------
    matrix : ndarray, shape (p, p)
        M, symmetric.
    lift : ndarray, shape (p, p), optional
        What is added where M is not seen, with diag(M) scaled to 1.
    """

    def __init__(self, matrix: Array, lift: Array | None = None) -> None:
        self.dim = len(matrix)
        self._scale = _units(matrix.diagonal())
        self._unit = matrix / self._scale / self._scale[:, None]  # diag 1
        if not np.isfinite(self._unit).all():
            raise NotFinite("the second derivatives of F are too large or too small to be scaled.")
        with _threads(self.dim):
            lifted = self._unit if lift is None else self._unit + _size(self._unit) * lift
            self._lower, ridge, condition = _positive_factor(lifted)
        self.error = max(self.error, 4.0 * len(lifted) * ROUNDING * condition)
        self.exact = ridge == 0.0

    @property
    def scale(self) -> Array:
        """The square roots of the diagonal."""
        return self._scale

    def among(self, normal: Normal) -> "FullMetric":
        """Return this metric, with rho N where it is not positive by itself."""
        if self.exact:
            return self
        matrix = self._unit * self._scale * self._scale[:, None]
        lifted = FullMetric(matrix, normal(self._scale))
        return lifted if lifted.exact else self

    @property
    def matrix(self) -> Array:
        """M."""
        return self._unit * self._scale * self._scale[:, None]

    def apply(self, v: Array) -> Array:
        """Return M v."""
        return self._scaled(self._unit @ self._scaled(v))

    def whiten(self, v: Array) -> Array:
        """Return R^T v = L^-1 (v / d)."""
        return _solved(self._lower, self._unscaled(v), 0)

    def colour(self, v: Array) -> Array:
        """Return R v = (L^-T v) / d."""
        return self._unscaled(_solved(self._lower, v, 1))

    def unwhiten(self, v: Array) -> Array:
        """Return R^-T v = d (L v)."""
        return self._scaled(_product(self._lower, v, 0))

    def uncolour(self, v: Array) -> Array:
        """Return R^-1 v = L^T (d v)."""
        return _product(self._lower, self._scaled(v), 1)

    def rows(self, matrix: Any) -> Any:
        """Return A R."""
        with _threads(self.dim):
            return self.whiten(_dense(matrix).T).T

    def columns(self, matrix: Any) -> Any:
        """Return (R^-1 D)^T."""
        with _threads(self.dim):
            return self.uncolour(_dense(matrix).T).T

    def smallest(self, image: Map, normal: Normal) -> float:
        """Return a bound on the eigenvalues of M for directions of a set, at best 0.8 times the smallest.

        The largest eigenvalue of P_M suggests a number l. It is a bound if M - l I + rho N is positive
        (Finsler) or, where units differ so much that no rho will do, P (M - l I) P + rho N. A Cholesky
        factorisation with more than its rounding errors taken away proves either.
        """
        if not self.exact or self.dim > BOUNDED_SIZE:
            return 0.0
        guess = _largest_eigenvalue(image, self.dim)
        if not guess > 0.0:
            return 0.0
        with _threads(self.dim):
            outside = normal(self._scale)
            bounds = [share / guess for share in SHARES]
            proven = (bound for bound in bounds if self._is_below(bound, outside))
            split = (bound for bound in bounds if self._is_below_within(bound, outside))
            return next(proven, None) or next(split, 0.0)

    def inverse_norm(self) -> float:
        """Return a bound on the norm of M^-1, from the largest sums of |L^-1| over rows and over columns.

        They are at most those of the inverse of L with all that is off its diagonal made negative, which has
        no negative entries: one solution for each tells them (Higham 2002, section 8.3).
        """
        comparison, ones = -np.abs(self._lower), np.ones(self.dim)
        _raise_diagonal(comparison, 2.0 * self._lower.diagonal())
        sums = [float(dtrsv(comparison, ones, lower=1, trans=trans).max()) for trans in (0, 1)]
        square = (1.0 + self.error) * math.prod(sums)
        return square / float(self._scale.min()) ** 2 if self.exact and square <= WIDE else math.inf

    def steepness(self, reach: Array) -> float:
        """Return the sum of r_j sqrt((M^-1)_jj), because no |v_j| is more than that root times v's length."""
        if not self.exact or self.dim > BOUNDED_SIZE:
            return np.inf
        with _threads(self.dim):
            inverse, info = dtrtri(self._lower, lower=1)
        lengths = np.sqrt(np.einsum("ij,ij->j", inverse, inverse))
        return (1.0 + self.error) * float(reach / self._scale @ lengths) if info == 0 else np.inf

    def _is_below(self, bound: float, outside: Array) -> bool:
        """Say whether M - l I + rho N is positive for certain."""
        shifted = self._unit + 6.0 * _size(self._unit) * outside if outside.any() else self._unit.copy()
        _raise_diagonal(shifted, -bound / self._scale**2)
        return _is_positive(shifted)

    def _is_below_within(self, bound: float, outside: Array) -> bool:
        """Say whether P (M - l I) P + rho N is positive for certain."""
        inside = np.eye(self.dim) - outside
        shifted = self._unit.copy()
        _raise_diagonal(shifted, -bound / self._scale**2)
        shifted = inside @ (shifted @ inside) + _size(self._unit) * outside
        # by which a direction may miss P, seen through the smallest unit
        margin = 20.0 * self.dim * ROUNDING * float(np.sqrt(bound) / self._scale.min())
        _raise_diagonal(shifted, -margin)
        return _is_positive(0.5 * (shifted + shifted.T))

    def _scaled(self, v: Array) -> Array:
        return v * self._scale if v.ndim == 1 else v * self._scale[:, None]

    def _unscaled(self, v: Array) -> Array:
        return v / self._scale if v.ndim == 1 else v / self._scale[:, None]


def _units(diagonal: Array) -> Array:
    """Return the square roots of a diagonal; the largest where an entry is not positive."""
    if diagonal.min(initial=1.0) > 0.0:
        return np.sqrt(diagonal)
    scale = np.sqrt(np.maximum(diagonal, 0.0))
    scale[scale == 0.0] = scale.max(initial=0.0) or 1.0
    return scale


def _raise_diagonal(matrix: Array, by: Array | float) -> None:
    """Add numbers to the diagonal of a matrix."""
    np.einsum("ii->i", matrix)[...] += by


def _size(unit: Array) -> float:
    """Return a bound on the norm of a symmetric matrix."""
    return max(1.0, float(np.abs(unit).sum(axis=0).max(initial=0.0)))


def _positive_factor(matrix: Array) -> tuple[Array, float, float]:
    """Return L with L L^T = M + ridge I, the ridge, 0 where M is clearly positive, and a condition."""
    ridge = 0.0
    while True:
        shifted = matrix.T.copy(order="F")
        if ridge:
            _raise_diagonal(shifted, ridge)
        lower, info = dpotrf(shifted, lower=1, clean=1, overwrite_a=1)
        inverse = dtrcon(lower, uplo="L")[0] ** 2 if info == 0 else 0.0
        if inverse > CONDITION_LIMIT * ROUNDING:
            return lower, ridge, 1.0 / inverse
        ridge = max(FIRST_RIDGE, RIDGE_GROWTH * ridge)


def _is_positive(matrix: Array) -> bool:
    """Say whether a matrix, which is lost, is positive whatever rounding did (Higham 2002, Theorem 10.7)."""
    size = len(matrix)
    margin = 2.0 * size * (size + 2) * ROUNDING * np.abs(matrix.diagonal())
    _raise_diagonal(matrix, -margin)
    return dpotrf(matrix.T, lower=1, overwrite_a=1)[1] == 0


def _largest_eigenvalue(image: Map, dim: int) -> float:
    """Return the largest eigenvalue of a positive map; of a large one about, from below, by Lanczos."""
    if dim <= SMALL_SIZE:
        return float(np.linalg.eigvalsh(image(np.eye(dim)))[-1])
    direction = image(np.random.default_rng(0).standard_normal(dim))
    basis, images = np.empty((0, dim)), np.empty((0, dim))
    largest = 0.0
    for _ in range(min(dim, LANCZOS_STEPS)):
        length = norm(direction)
        if not length > ROUNDING * largest:
            break
        basis = np.vstack([basis, direction / length])
        images = np.vstack([images, image(basis[-1])])
        direction = images[-1] - (images[-1] @ basis.T) @ basis
        direction -= (direction @ basis.T) @ basis  # once is not enough in floating point
        before, largest = largest, float(np.linalg.eigvalsh(basis @ images.T)[-1])
        if largest <= (1.0 + LANCZOS_GAIN) * before:
            break
    return largest


def _solved(lower: Array, v: Array, transposed: int) -> Array:
    if v.ndim == 1:
        return dtrsv(lower, v, lower=1, trans=transposed)
    return dtrsm(1.0, lower, v, lower=1, trans_a=transposed)


def _product(lower: Array, v: Array, transposed: int) -> Array:
    if v.ndim == 1:
        return dtrmv(lower, v, lower=1, trans=transposed)
    return dtrmm(1.0, lower, v, lower=1, trans_a=transposed)


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=float)


def _threads(size: int) -> AbstractContextManager[None]:
    return all_blas_threads() if size > MULTITHREADED_SIZE else nullcontext()
