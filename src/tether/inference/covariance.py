"""The covariance of coefficients that keep to equations: V = Z (Z' H Z)^-1 Z', and sandwiches around it."""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from tether.arrays import Array
from tether.inference.equations import Equations
from tether.inference.information import Samples
from tether.inference.likelihood import Fit
from tether.inputs import shown
from tether.names import few

COV_TYPES = ("nonrobust", "HC0", "HC1", "cluster")
SINGULAR = 1e-11  # of the largest eigenvalue: what rounding cannot tell from zero
NAMED = 1e-3  # of the largest entry: coefficients that are named in a direction
FEW_GROUPS = 2


def inverse_on(hessian: Array, equations: Equations, names: tuple[str, ...]) -> Array:
    """Return Z (Z' H Z)^-1 Z', or name coefficients that nothing determines."""
    basis = equations.basis()
    if not basis.shape[1]:
        return np.zeros_like(hessian)
    units = np.sqrt(np.maximum(np.diag(hessian), np.finfo(float).tiny))  # so that columns may have any units
    inner = _symmetric(basis.T @ hessian @ basis)
    _require_regular(hessian, basis, units, names)
    return np.asarray(basis @ cho_solve(cho_factor(inner), basis.T))


def _require_regular(hessian: Array, basis: Array, units: Array, names: tuple[str, ...]) -> None:
    """Refuse a Hessian that is singular on the directions that equations leave."""
    scaled, _ = np.linalg.qr(units[:, None] * basis)  # the same directions in units of their own
    values, vectors = eigh(_symmetric(scaled.T @ (hessian / np.outer(units, units)) @ scaled))
    if values[0] > SINGULAR * max(values[-1], 1e-300):
        return
    direction = np.abs(scaled @ vectors[:, 0])
    moved = tuple(names[j] for j in np.flatnonzero(direction > NAMED * direction.max()))
    raise ValueError(
        f"the data does not determine the coefficients of {few(moved)}: the Hessian is singular on the "
        "constraint; drop columns that others make up, or add an equation such as 'sum == 0'."
    )


def covariance_of(fit: Fit, inverse: Array, cov_type: Any, groups: Any = None) -> Array:
    """Return the covariance of one of the kinds, from the inverse of the Hessian on the constraint."""
    if cov_type not in COV_TYPES:
        raise ValueError(f"cov_type must be one of {', '.join(COV_TYPES)}, got {shown(cov_type)}.")
    if (groups is None) == (cov_type == "cluster"):
        missing = groups is None
        words = "must be given for" if missing else "must be left out unless it is"
        raise ValueError(f'groups {words} cov_type="cluster", got {"none" if missing else shown(cov_type)}.')
    if cov_type == "nonrobust":
        return fit.dispersion * inverse
    meat, factor = _meat(fit, cov_type, groups)
    return factor * inverse @ meat @ inverse


def _meat(fit: Fit, cov_type: str, groups: Any) -> tuple[Array, float]:
    """Return the sum of products of scores and the correction for few samples."""
    samples: Samples = fit.samples
    n, k = fit.n_samples, fit.n_free
    if cov_type == "cluster":
        sums = samples.sums(groups)
        if len(sums) < FEW_GROUPS:
            raise ValueError(f"groups must be at least 2 different ones, got {len(sums)}.")
        return sums.T @ sums, len(sums) / (len(sums) - 1.0) * (n - 1.0) / (n - k)
    return samples.outer_products(), n / (n - k) if cov_type == "HC1" else 1.0


def _symmetric(matrix: Array) -> Array:
    return 0.5 * (matrix + matrix.T)
