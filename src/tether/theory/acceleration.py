"""The momentum of DP-ASVRG: theta, its sequence and the length of a restart.

With a = eta L and delta = 9 (E^2 - 1) a^2, one stage of DP-ASVRG contracts when

    2 delta < theta <= 1 + delta     and     1 - theta >= 2 a / (1 - a),

the second being what the proof of the descent lemma uses (its statement has a / (1 - a)). `asvrg_step_size`
chooses eta so that the momenta below satisfy both.
"""

import math

import numpy as np

from tether.arrays import Array
from tether.inputs import number
from tether.theory.conditions import LARGEST_COUNT, count, stage

MOST_MOMENTA = 1e8  # kept in one array

__all__ = ["drift", "first_momentum", "momentum", "momentum_sequence", "next_momentum", "restart_length"]


def drift(step_size: float, *, smoothness: float, interval: float = 1) -> float:
    """Return delta = 9 (E^2 - 1) eta^2 L^2, the price of walking E steps off the constraint."""
    eta, L = number("step_size", step_size, above=0.0), number("smoothness", smoothness, above=0.0)
    E, a = count("interval", interval), eta * L
    delta = 9.0 * (E**2 - 1.0) * a * a if E > 1 else 0.0
    if delta >= 1.0:
        raise ValueError(
            f"step_size {eta:g} is too large for interval {E:g}: "
            f"9 (E^2 - 1) (eta L)^2 = {delta:.3g} must stay below 1; "
            f"shorten the step or fix the momentum by hand."
        )
    return delta


def momentum(
    step_size: float, *, smoothness: float, convexity: float, stage_length: float, interval: float = 1
) -> float:
    """Return theta = 2 delta + sqrt(4 delta^2 + eta mu m), the constant momentum for mu > 0.

    Parameters
    ----------
    step_size, smoothness, convexity : float
        eta, L and mu > 0.
    stage_length, interval : int
        m and E.

    Examples
    --------
    >>> momentum(0.2, smoothness=1.0, convexity=0.01, stage_length=50)
    0.31622776601683794

    References
    ----------
    Li & Zhang, Algorithm 4 and Theorem 5.1.
    """
    mu = number("convexity", convexity, above=0.0)
    E, m = stage(interval, stage_length)
    delta = drift(step_size, smoothness=smoothness, interval=E)
    theta = 2 * delta + math.sqrt(4 * delta**2 + step_size * mu * m)
    if theta > 1 + delta:
        raise ValueError(
            f"step_size {step_size:g} is too large for stage_length {m:g}: theta = {theta:.3g} "
            f"must not exceed {1 + delta:.3g}; shorten the step or the stage, or fix the momentum by hand."
        )
    return theta


def first_momentum(step_size: float, *, smoothness: float, interval: float = 1) -> float:
    """Return theta_0 = 1 - 2 eta L / (1 - eta L), the momentum of the first stage for mu = 0.

    Examples
    --------
    >>> first_momentum(0.2, smoothness=1.0)
    0.5
    """
    delta = drift(step_size, smoothness=smoothness, interval=interval)
    a = step_size * smoothness
    theta = 1 - 2 * a / (1 - a) if a < 1 else -math.inf
    if not theta > 2 * delta:
        raise ValueError(
            f"step_size {step_size:g} is too large: theta_0 = 1 - 2 eta L / (1 - eta L) = {theta:.3g} "
            f"must exceed 2 delta = {2 * delta:.3g}; take asvrg_step_size or fix the momentum by hand."
        )
    return theta


def next_momentum(theta: float, delta: float) -> float:
    """Return theta_{s+1}, the positive root of (1 - t + delta) / ((1 - delta) t^2) = 1 / theta_s^2.

    Written as 2 (1 + delta) / (1 + sqrt(1 + 4 (1 - delta^2) / theta^2)), which subtracts nothing.
    """
    theta, delta = number("theta", theta, above=0.0), number("delta", delta, least=0.0)
    if delta >= 1:
        raise ValueError(f"delta must lie in [0, 1), got {delta:g}.")
    return 2 * (1 + delta) / (1 + math.hypot(1, 2 * math.sqrt(1 - delta**2) / theta))


def momentum_sequence(step_size: float, stages: int, *, smoothness: float, interval: float = 1) -> Array:
    """Return theta_0, ..., theta_{S-1} for mu = 0: decreasing from theta_0 towards 2 delta.

    References
    ----------
    Li & Zhang, Algorithm 4 and the lemma on the auxiliary sequence.
    """
    if count("stages", stages) > MOST_MOMENTA:
        raise ValueError(f"stages must be at most {MOST_MOMENTA:g}, got {stages:g}.")
    delta = drift(step_size, smoothness=smoothness, interval=interval)
    thetas = np.empty(int(stages))
    thetas[0] = first_momentum(step_size, smoothness=smoothness, interval=interval)
    for s in range(1, len(thetas)):
        thetas[s] = next_momentum(thetas[s - 1], delta)
    return thetas


def restart_length(theta: float, *, step_size: float, convexity: float, stage_length: float) -> int:
    """Return S = ceil(4 theta / (eta mu m)), the stages after which the gap has halved.

    Examples
    --------
    >>> restart_length(0.3, step_size=0.2, convexity=0.01, stage_length=45)
    14

    References
    ----------
    Li & Zhang, Theorem 5.1.
    """
    theta, eta = number("theta", theta, above=0.0), number("step_size", step_size, above=0.0)
    gain = eta * number("convexity", convexity, above=0.0) * count("stage_length", stage_length)
    return max(1, math.ceil(min(4 * theta / gain, LARGEST_COUNT))) if gain > 0 else int(LARGEST_COUNT)
