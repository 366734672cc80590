"""Step sizes for which convergence is proved.

They are safe and, for long intervals, far smaller than what works. With e = E^2 - 1 and k = L/mu:

    DP-SGD     min{ 1/(L(E+9)), 1/(mu + 25L(E-1)) }
    DP-SVRG    min{ 1/(10L), 1/(L(3+2E)), 1/(mu + 25L(E-1)), 1/(mu + 24L(2E-1)) }
    DP-ASVRG   mu > 0:  eta L = min{ 1/5, 1/(2(m/k + sqrt((m/k)^2 + 18e))), (m/(e^2 k))^(1/3) }
               mu = 0:  eta L = min{ 1/5, 2/(3 + sqrt(9 + 72e)), sqrt(ln(S+1)/(S+1)) / (3 sqrt(e)) }
"""

import math

from tether.inputs import positive, switch
from tether.theory.conditions import count, curvature, stage
from tether.theory.names import check_interval, family
from tether.theory.variance import Heterogeneity, require_noise

__all__ = ["asvrg_step_size", "horizon_step_size", "sgd_step_size", "step_size", "svrg_step_size"]


def step_size(
    method: str,
    *,
    smoothness: float,
    convexity: float = 0.0,
    interval: float = 1,
    stage_length: float | None = None,
    stages: float | None = None,
    feasible_gradients: bool = False,
) -> float:
    """Return a step size eta for which a method is proved to converge.

    Parameters
    ----------
    method : str
        "dp-sgd", "dp-svrg", "dp-asvrg" (or their "p-" and "local-" forms), "proxskip", "proxskip-svrg",
        "nesterov" or "projected-gradient".
    smoothness, convexity : float
        L and mu.
    interval : int
        E, the steps between two projections.
    stage_length : int, optional
        m; DP-ASVRG with mu > 0 needs it.
    stages : int, optional
        S; DP-ASVRG with mu = 0 and E > 1 needs it.
    feasible_gradients : bool
        Whether full gradients at feasible points stay in the constraint's tangent space (Assumption 3.2);
        DP-SGD may then walk faster.

    Examples
    --------
    >>> step_size("dp-svrg", smoothness=2.0)
    0.020833333333333332

    References
    ----------
    Li & Zhang, Theorems 3.1 to 5.2; Mishchenko et al. 2022 (ProxSkip, 1/L) and Malinovsky et al. 2022
    (its variance-reduced form, 1/(6L)).
    """
    base = family(method).base
    check_interval(method, interval)
    if base == "dp-sgd":
        return sgd_step_size(
            smoothness, convexity=convexity, interval=interval, feasible_gradients=feasible_gradients
        )
    if base == "dp-svrg":
        return svrg_step_size(smoothness, convexity=convexity, interval=interval)
    if base == "dp-asvrg":
        return asvrg_step_size(
            smoothness, convexity=convexity, interval=interval, stage_length=stage_length, stages=stages
        )
    L, _ = curvature(smoothness, convexity)
    count("interval", interval)
    return _fixed_step_size(base, L)


def _fixed_step_size(base: str, smoothness: float) -> float:
    fractions = {"proxskip": 1.0, "nesterov": 1.0, "projected-gradient": 1.0, "proxskip-svrg": 1 / 6}
    if base not in fractions:
        raise ValueError(f"the theory gives no step size for {base}; choose one by hand.")
    return fractions[base] / smoothness


def sgd_step_size(
    smoothness: float, *, convexity: float = 0.0, interval: float = 1, feasible_gradients: bool = False
) -> float:
    """Return the largest proved step of DP-SGD.

    References
    ----------
    Li & Zhang, Theorem 3.2; Theorem 3.1 with feasible gradients.
    """
    (L, mu), E = curvature(smoothness, convexity), count("interval", interval)
    if switch("feasible_gradients", feasible_gradients):
        return 1 / max(10 * L, mu + 8 * L * (E - 1))
    return 1 / max(L * (E + 9), mu + 25 * L * (E - 1))


def svrg_step_size(smoothness: float, *, convexity: float = 0.0, interval: float = 1) -> float:
    """Return the proved step of DP-SVRG, of the order of 1/(LE).

    References
    ----------
    Li & Zhang, proof of Theorem 4.1.
    """
    (L, mu), E = curvature(smoothness, convexity), count("interval", interval)
    return 1 / max(mu + 25 * L * (E - 1), 10 * L, L * (3 + 2 * E), mu + 24 * L * (2 * E - 1))


def asvrg_step_size(
    smoothness: float,
    *,
    convexity: float = 0.0,
    interval: float = 1,
    stage_length: float | None = None,
    stages: float | None = None,
) -> float:
    """Return the step of DP-ASVRG with which `momentum` and `momentum_sequence` meet their conditions.

    The bounds are tighter than the printed ones, which for E = 1 give theta_0 <= 0 (mu = 0) or violate
    1 - theta >= eta L / (1 - eta L) (mu > 0). Here a = eta L <= 1/5 keeps 1 - 2a/(1 - a) >= 1/2, and then

        mu > 0:  theta <= 1/2        follows from  18 (E^2-1) a^2 + (m/kappa) a <= 1/4,
        mu = 0:  theta_0 > 2 delta   follows from  3 a + 18 (E^2-1) a^2 <= 1.

    The last term of each minimum balances the bound on the number of stages. For mu = 0 it makes delta
    at most ln(S+1)/(S+1), which unlike ln(S)/S is positive for S = 1.

    References
    ----------
    Li & Zhang, Theorems 5.1 and 5.2.
    """
    (L, mu), E = curvature(smoothness, convexity), count("interval", interval)
    excess = E**2 - 1.0
    if mu > 0:
        if stage_length is None:
            raise ValueError(
                "stage_length is needed for the step size of dp-asvrg when convexity > 0, got None."
            )
        _, m = stage(E, stage_length)
        return _strongly_convex_asvrg(excess, m * mu / L) / L
    if excess == 0:
        return 0.2 / L
    if stages is None:
        raise ValueError(
            "stages is needed for the step size of dp-asvrg when convexity = 0 and interval > 1, got None."
        )
    S = count("stages", stages)
    balanced = math.sqrt(math.log(S + 1) / (S + 1)) / (3 * math.sqrt(excess))
    return min(0.2, 2 / (3 + math.sqrt(9 + 72 * excess)), balanced) / L


def _strongly_convex_asvrg(excess: float, ratio: float) -> float:
    """Return eta L from E^2 - 1 and m / kappa."""
    safe = 0.5 / max(2.5, ratio + math.sqrt(ratio**2 + 18 * excess))
    return min(safe, (ratio / excess**2) ** (1 / 3)) if excess > 0 else safe


def horizon_step_size(
    steps: float,
    noise: Heterogeneity,
    *,
    smoothness: float,
    convexity: float = 0.0,
    interval: float = 1,
    distance: float = 1.0,
    feasible_gradients: bool = False,
) -> float:
    """Return the step of DP-SGD that suits a budget of T steps.

    The error is of the order of r/(eta T) + c_1 eta + c_2 eta^2 (mu = 0) or exp(-mu eta T) r/eta + ...
    (mu > 0), with r = Delta^2, c_1 = sigma_{A perp}^2 and c_2 = (E-1) L (sigma_A^2 + (E-1)||grad F(x*)||^2).
    Among the steps that are safe, eta balances these terms:

        mu = 0:  min{ 1/d, sqrt(r/(c_1 T)), (r/(c_2 T))^(1/3) }
        mu > 0:  min{ 1/d, ln(max{e, min{mu^2 r T^2/c_1, mu^3 r T^3/c_2}}) / (mu T) }

    The printed choice for mu > 0 looks at c_1 only: it then exceeds 1/d, and grows without bound as c_1 -> 0.

    Examples
    --------
    >>> quiet, loud = Heterogeneity(0.0, 0.0), Heterogeneity(100.0, 0.0)
    >>> horizon_step_size(400, quiet, smoothness=1.0), horizon_step_size(400, loud, smoothness=1.0)
    (0.1, 0.005)

    References
    ----------
    Li & Zhang, Theorems 3.1 and 3.2 with the lemmas "Learning rate choice I" and "II".
    """
    T, D = count("steps", steps), positive("distance", distance)
    require_noise("noise", noise, Heterogeneity, optional=False)
    largest = sgd_step_size(
        smoothness, convexity=convexity, interval=interval, feasible_gradients=feasible_gradients
    )
    (L, mu), E = curvature(smoothness, convexity), count("interval", interval)
    across = noise.normal if feasible_gradients else noise.residual(E)
    errors = (noise.tangent, (E - 1.0) * L * across)
    if mu == 0:
        return min(largest, _balance(D**2 / T, errors))
    return min(largest, _balance_decay(D**2, mu * T, errors))


def _balance(share: float, errors: tuple[float, float]) -> float:
    """Return min over the terms of (r/T / c_i)^(1/(i+1))."""
    candidates = [(share / c) ** (1 / power) for c, power in zip(errors, (2, 3), strict=True) if c > 0]
    return min(candidates, default=math.inf)


def _balance_decay(r: float, decay: float, errors: tuple[float, float]) -> float:
    """Return ln(tau) / (mu T) with tau = max(e, min over the terms of r (mu T)^(i+1) / c_i)."""
    targets = [
        math.log(r) + power * math.log(decay) - math.log(c)  # the powers themselves could overflow
        for c, power in zip(errors, (2, 3), strict=True)
        if c > 0
    ]
    return max(1.0, min(targets)) / decay if targets else math.inf
