"""The covariance of coefficients that keep to equations: V = Z (Z' H Z)^-1 Z', and sandwiches around it."""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

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


class Spectrum(NamedTuple):
    """The Hessian on the directions that equations leave: curvatures, rising, and a direction for each.

    Coefficients are in units of their own, so that columns may have any units.
    """

    curvatures: Array
    directions: Array
    units: Array

    @property
    def seen(self) -> Any:
        """Which directions the data determines."""
        return self.curvatures > SINGULAR * max(self.curvatures.max(initial=0.0), 1e-300)

    @property
    def rank(self) -> int:
        """How many directions the data determines."""
        return int(self.seen.sum())

    def inverse(self) -> Array:
        """Return Z (Z' H Z)^-1 Z', without directions that nothing determines."""
        along = self.directions[:, self.seen] / self.units[:, None]
        return np.asarray((along / self.curvatures[self.seen]) @ along.T)


def spectrum_on(hessian: Array, equations: Equations) -> Spectrum:
    """Return the Hessian on the directions that equations leave."""
    units = np.sqrt(np.maximum(np.diag(hessian), np.finfo(float).tiny))
    basis, _ = np.linalg.qr(units[:, None] * equations.basis())
    if not basis.shape[1]:
        return Spectrum(np.zeros(0), basis, units)
    inner = basis.T @ (hessian / np.outer(units, units)) @ basis
    curvatures, vectors = eigh(0.5 * (inner + inner.T))
    return Spectrum(curvatures, basis @ vectors, units)


def inverse_on(hessian: Array, equations: Equations, names: tuple[str, ...]) -> Array:
    """Return Z (Z' H Z)^-1 Z', or name coefficients that nothing determines."""
    spectrum = spectrum_on(hessian, equations)
    if spectrum.seen.all():
        return spectrum.inverse()
    direction = np.abs(spectrum.directions[:, 0])
    moved = tuple(names[j] for j in np.flatnonzero(direction > NAMED * direction.max()))
    raise ValueError(
        f"the data does not determine the coefficients of {few(moved)}: the Hessian is singular on the "
        "constraint; drop columns that others make up, add an equation such as 'sum == 0', or centre columns "
        "whose mean is far larger than their spread."
    )


def covariance_of(fit: Fit, inverse: Array, cov_type: Any, groups: Any = None) -> Array:
    """Return the covariance of one of the kinds, from the inverse of the Hessian on the constraint."""
    if cov_type not in COV_TYPES:
        raise ValueError(f"cov_type must be one of {', '.join(COV_TYPES)}, got {shown(cov_type)}.")
    if (groups is None) == (cov_type == "cluster"):
        missing = groups is None
        words = "must be given for" if missing else "must be left out unless it is"
        raise ValueError(f'groups {words} cov_type="cluster", got {"none" if missing else shown(cov_type)}.')
    _require_more_samples(fit, cov_type)
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


def _require_more_samples(fit: Fit, cov_type: str) -> None:
    """Refuse a spread that would be divided by the number of no samples."""
    known = fit.samples.distribution
    divides = cov_type in ("HC1", "cluster") or (known is not None and known.dispersed)
    if divides and fit.df_resid <= 0.0:
        raise ValueError(
            f"standard errors need more samples than free coefficients, got {fit.n_samples:g} (by their "
            f"weights, which count as frequencies) and {fit.n_free}; add samples or equations."
        )
