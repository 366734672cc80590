"""What the theorems say of the gap after some steps: their bounds with the constants of their proofs.

The error of DP-SGD has three parts; variance reduction leaves the first only.

    optimisation   2 Delta^2 (1 - mu eta)^T / (eta W_T),  W_T = sum_{j<T} (1 - mu eta)^j
    statistical    6 eta sigma_{A perp}^2
    residual       c (E-1) L eta^2 sigma^2 / (1 - mu eta),  c = 12 (Theorem 3.1) or 36 (Theorem 3.2)
"""

import math
from typing import NamedTuple

from tether.inputs import positive, shown
from tether.theory.acceleration import drift, momentum, momentum_sequence, restart_length
from tether.theory.conditions import count, stage
from tether.theory.names import family
from tether.theory.setting import Setting, require_setting

__all__ = ["ErrorBound", "error_bound"]


class ErrorBound(NamedTuple):
    """A bound on E[F(x) - F*], by where it comes from."""

    optimisation: float
    statistical: float = 0.0
    residual: float = 0.0

    @property
    def total(self) -> float:
        """The sum."""
        return self.optimisation + self.statistical + self.residual


def error_bound(
    method: str,
    setting: Setting,
    steps: float,
    *,
    step_size: float,
    interval: float = 1,
    stage_length: float | None = None,
    feasible_gradients: bool = False,
) -> ErrorBound:
    """Bound the expected gap of what a method answers with after T steps.

    Parameters
    ----------
    method : str
        "dp-sgd", "dp-svrg" or "dp-asvrg", or their "p-" forms.
    setting : Setting
        The problem in numbers; ``noise`` for SGD. Its accuracy plays no part.
    steps : int
        T.
    step_size : float
        eta; bounds hold up to the largest step of the theorem, see `tether.theory.step_size`.
    interval, stage_length : int
        E and m; m is needed with stages. Only whole stages count, with mu > 0 of DP-ASVRG whole restarts.
    feasible_gradients : bool
        Assumption 3.2: DP-SGD then has the smaller residual error of Theorem 3.1.

    Examples
    --------
    >>> setting = Setting(smoothness=1.0, n_samples=100, accuracy=1e-3)
    >>> round(error_bound("p-svrg", setting, 10_000, step_size=0.04, stage_length=100).total, 6)
    0.02

    References
    ----------
    Li & Zhang, the proofs of Theorems 3.1, 3.2, 4.1, 5.1 and 5.2. Theorem 3.2 prints 18 where its proof gives
    36, and three versions of its noise; here it is sigma_A^2 + E ||grad F(x*)||^2, as in Lemma 3.2.
    """
    require_setting(setting)
    T, eta, E = count("steps", steps), positive("step_size", step_size), count("interval", interval)
    base = family(method).base
    if base == "dp-sgd":
        return _sgd(setting, T, eta, E, feasible_gradients)
    if base not in ("dp-svrg", "dp-asvrg"):
        raise ValueError(f"method must be of SGD, SVRG or ASVRG, got {shown(method)}: no bound is known.")
    if stage_length is None:
        raise ValueError(f"stage_length is needed for the bound of {method}, got None.")
    E, m = stage(E, stage_length)
    return ErrorBound((_svrg if base == "dp-svrg" else _asvrg)(setting, T // m, eta, E, m))


def _sgd(setting: Setting, T: float, eta: float, E: float, feasible: bool) -> ErrorBound:
    if setting.noise is None:
        raise ValueError("dp-sgd needs Setting(noise=...), got None; measure it with heterogeneity.")
    mu, L, noise = setting.convexity, setting.smoothness, setting.noise
    keep = 1.0 - mu * eta
    total = T if mu == 0 else -math.expm1(T * math.log1p(-mu * eta)) / (mu * eta)
    drift_noise = 12.0 * noise.normal if feasible else 36.0 * (noise.normal + E * noise.gradient)
    return ErrorBound(
        2.0 * setting.distance**2 * keep**T / (eta * total),
        6.0 * eta * noise.tangent,
        (E - 1.0) * L * eta**2 * drift_noise / keep,
    )


def _svrg(setting: Setting, S: float, eta: float, E: float, m: float) -> float:
    mu, square = setting.convexity, setting.distance**2
    if S < 1:
        return setting.gap
    if mu == 0:
        return 4.0 * square / (eta * m * S) + setting.gap / S
    return (2.0 * square / eta + setting.gap) * math.exp(-min(m * mu * eta, 0.5) * S)


def _asvrg(setting: Setting, S: float, eta: float, E: float, m: float) -> float:
    L, mu = setting.smoothness, setting.convexity
    if S < 1:
        return setting.gap
    if mu == 0:
        delta = drift(eta, smoothness=L, interval=E)
        thetas = momentum_sequence(eta, int(S), smoothness=L, interval=E)
        start = setting.gap / thetas[0] ** 2 + setting.distance**2 / (2.0 * eta * m * (1.0 - delta))
        return float(start * thetas[-1] ** 2)
    theta = momentum(eta, smoothness=L, convexity=mu, stage_length=m, interval=E)
    length = restart_length(theta, step_size=eta, convexity=mu, stage_length=m)
    return float(setting.gap * 0.5 ** (S // length))
