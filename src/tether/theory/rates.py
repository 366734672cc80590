"""How much work a method needs: the rows of Tables 1 to 4 of Li & Zhang, and of what came later.

Four counters (Definition 4.1): T inner steps, S stages, P projections, G component gradients. With m steps a
stage and E between projections T = m S, P = S + T/E and G = T + N S. All numbers are **orders of magnitude**:
constants are one, the logarithm is included and never below one. Real runs are often far cheaper.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from tether.theory.conditions import LARGEST_COUNT, count, stage
from tether.theory.names import check_interval, family
from tether.theory.setting import Setting, require_setting
from tether.theory.variance import Heterogeneity

__all__ = ["Complexity", "complexity"]


class Complexity(NamedTuple):
    """Work to reach an accuracy, up to constants."""

    steps: float  # T
    stages: float  # S, anchors; zero for methods without
    projections: float  # P, rounds of a federation
    gradients: float  # G, component gradients; of one worker in a federation


def complexity(
    method: str, setting: Setting, interval: float | None = None, stage_length: float | None = None
) -> Complexity:
    """Return the steps, stages, projections and gradients that a method needs.

    Parameters
    ----------
    method : str
        "p-sgd", "dp-sgd", "p-svrg", "dp-svrg", "p-asvrg", "dp-asvrg"; "d-sgd", "local-sgd", "scaffold",
        "local-svrg", "local-asvrg"; "projected-gradient", "nesterov", "proxskip", "proxskip-svrg".
    setting : Setting
        The problem in numbers. ``setting.regularised()`` gives the rows of adaptive regularisation.
    interval : int, optional
        E; by default 1, and sqrt(kappa) for the two ProxSkips.
    stage_length : int, optional
        m; by default kappa E (SVRG; E when mu = 0), E (ASVRG), N (P-ASVRG), kappa (ProxSkip-SVRG).

    Examples
    --------
    >>> problem = Setting.conditioned(kappa=10_000, n_samples=10**6, accuracy=1e-6)
    >>> work = complexity("dp-asvrg", problem, interval=10, stage_length=100_000)
    >>> f"{work.projections:.1e} projections, {work.gradients:.1e} gradients"
    '2.8e+05 projections, 3.0e+07 gradients'

    References
    ----------
    Li & Zhang, Tables 1 to 4, Corollaries 5.1 to 5.3 and 6.1 to 6.3; Mishchenko et al. 2022 (ProxSkip);
    Malinovsky, Yi & Richtarik 2022 (its variance-reduced form).
    """
    base = family(method).base
    require_setting(setting)
    E = _default_interval(base, setting) if interval is None else count("interval", interval)
    check_interval(method, E)
    if base in ("dp-sgd", "scaffold"):
        return _sgd(method, setting, E)
    if base in ("projected-gradient", "nesterov"):
        return _full_gradient(base, setting)
    if base == "proxskip":
        return _proxskip(setting, E)
    m = _default_stage(method, setting, E) if stage_length is None else count("stage_length", stage_length)
    if base == "proxskip-svrg":
        return _proxskip_svrg(setting, E, m)
    E, m = stage(E, m)
    return _staged(_STAGES[base](setting, E, m), setting, E, m)


def _default_interval(base: str, setting: Setting) -> float:
    if base in ("proxskip", "proxskip-svrg"):
        return min(math.sqrt(_condition(base, setting)), LARGEST_COUNT)
    return 1.0


def _default_stage(method: str, setting: Setting, E: float) -> float:
    if method == "p-asvrg":
        return setting.n_samples
    base = family(method).base
    if base == "proxskip-svrg":
        return min(setting.kappa, LARGEST_COUNT)
    return min(setting.kappa * E, LARGEST_COUNT) if base == "dp-svrg" and setting.strongly_convex else E


def _condition(base: str, setting: Setting) -> float:
    if not setting.strongly_convex:
        raise ValueError(f"{base} needs convexity > 0, got 0; pass setting.regularised() instead.")
    return setting.kappa


def _logarithm(ratio: float) -> float:
    return max(1.0, math.log(max(ratio, 1.0)))


def _staged(stages: float, setting: Setting, E: float, m: float) -> Complexity:
    steps = m * stages
    return Complexity(steps, stages, stages + steps / E, steps + setting.n_samples * stages)


def _svrg_stages(setting: Setting, E: float, m: float) -> float:
    """Theorem 4.1: max(kappa E/m, 1) log(L E Delta^2/eps), or L E Delta^2/(m eps) + gap/eps."""
    if setting.strongly_convex:
        return max(setting.kappa * E / m, 1.0) * _logarithm(E * setting.difficulty)
    return E * setting.difficulty / m + setting.gap / setting.accuracy


def _asvrg_stages(setting: Setting, E: float, m: float) -> float:
    """Corollaries 5.1 and 5.2; the second term is the residual error and vanishes for E = 1."""
    residual = ((E**2 - 1) / m**2) ** (1 / 3)
    if setting.strongly_convex:
        k = setting.kappa
        halving = max(1.0, math.sqrt(k * E / m)) + k ** (2 / 3) * residual
        return halving * _logarithm(setting.gap / setting.accuracy)
    k = setting.difficulty
    return (math.sqrt(k) + residual * k ** (2 / 3)) * (_logarithm(k) if E > 1 else 1.0)


_STAGES: dict[str, Callable[[Setting, float, float], float]] = {
    "dp-svrg": _svrg_stages,
    "dp-asvrg": _asvrg_stages,
}


def _sgd(method: str, setting: Setting, E: float) -> Complexity:
    """Return the SGD rows: optimisation, statistical and residual error, each solved for T."""
    problem = setting.stacked() if family(method).federated else setting
    noise = _noise(method, problem, setting.variance)
    residual = 0.0 if method == "scaffold" else (E - 1) * problem.smoothness * noise.residual(E)
    L, eps = problem.smoothness, problem.accuracy
    if problem.strongly_convex:
        mu = problem.convexity
        terms = problem.kappa * E + noise.tangent / (mu * eps) + math.sqrt(residual / eps) / mu
        steps = terms * _logarithm(E * problem.difficulty)
    else:
        terms = L * E / eps + noise.tangent / eps**2 + math.sqrt(residual) / eps**1.5
        steps = terms * problem.distance**2
        if method == "scaffold":
            # Table 2 adds the initial gap as it stands, to the rounds.
            steps = (steps + E * setting.gap) * _logarithm(problem.difficulty)
    return Complexity(steps, 0.0, steps / E, steps)


def _noise(method: str, problem: Setting, variance: float | None) -> Heterogeneity:
    if problem.noise is None:
        raise ValueError(f"{method} needs Setting(noise=...), got None; measure it with heterogeneity.")
    if variance is not None and method in ("p-sgd", "d-sgd", "scaffold"):
        return problem.noise._replace(tangent=variance)
    return problem.noise


def _full_gradient(base: str, setting: Setting) -> Complexity:
    """Return kappa log or sqrt(kappa) log steps (L Delta^2/eps and its root for mu = 0), each N gradients."""
    power = 0.5 if base == "nesterov" else 1.0
    if setting.strongly_convex:
        steps = setting.kappa**power * _logarithm(setting.difficulty)
    else:
        steps = setting.difficulty**power
    return Complexity(steps, 0.0, steps, setting.n_samples * steps)


def _proxskip(setting: Setting, E: float) -> Complexity:
    """Return max(kappa, E^2) log steps with full gradients: the rate is 1 - min(1/kappa, 1/E^2)."""
    steps = max(_condition("proxskip", setting), E**2) * _logarithm(setting.difficulty)
    return Complexity(steps, 0.0, steps / E, setting.n_samples * steps)


def _proxskip_svrg(setting: Setting, E: float, m: float) -> Complexity:
    """Return max(kappa, E^2, m) log steps; a new anchor every m steps needs no projection."""
    steps = max(_condition("proxskip-svrg", setting), E**2, m) * _logarithm(setting.difficulty)
    return Complexity(steps, steps / m, steps / E, steps + setting.n_samples * steps / m)
