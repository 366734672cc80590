"""Smoothness constants of objectives that are known by their gradients alone.

Power iteration on differences of gradients around 0: (grad f(r v) - grad f(0)) / r is the Hessian times v.
What it finds are curvatures near one point and of some samples, so they are estimates, with a margin.
"""

import math
from collections.abc import Callable

import numpy as np

from tether.arrays import Array
from tether.inputs import nonnegative
from tether.objectives.base import Objective, Smoothness

_RADIUS = 1e-3
_FULL_STEPS, _FULL_MARGIN = 15, 1.25
_SAMPLES, _SAMPLE_STEPS, _SAMPLE_MARGIN = 32, 6, 2.0


def known_or_estimated(
    objective: Objective, known: float | Smoothness | None, convexity: float
) -> Smoothness:
    """Return what the user knows of the constants, and estimates of the rest."""
    if isinstance(known, Smoothness):
        return known
    if known is not None:
        return Smoothness(known, known, convexity)
    return estimated_smoothness(objective, convexity)


def checked_smoothness(smoothness: float | Smoothness | None, convexity: float) -> float | Smoothness | None:
    """Return the smoothness that a user gave, or refuse it."""
    if smoothness is None:
        return None
    if isinstance(smoothness, Smoothness):
        if convexity:
            raise ValueError(
                "convexity must not be given beside a Smoothness, which has its own; drop one of them."
            )
        return smoothness
    value = nonnegative("smoothness", smoothness)
    if value == 0.0 or value < convexity:
        raise ValueError(
            f"smoothness must be positive and at least convexity = {convexity:g}, got {value:g}."
        )
    return value


def with_ridge(known: float | Smoothness | None, l2: float) -> float | Smoothness | None:
    """Return the constants of a function plus (l2 / 2) ||x||^2."""
    if isinstance(known, Smoothness):
        return Smoothness(known.maximum + l2, known.full + l2, known.convexity + l2, known.exact)
    return None if known is None else known + l2


def estimated_smoothness(objective: Objective, convexity: float) -> Smoothness:
    """Return L_F from full gradients and L_max from a few dozen samples; the same at every call."""
    rng = np.random.default_rng(0)
    n = objective.n_samples
    full = _curvature(
        lambda x: objective.batch_gradient(x, None), rng.standard_normal(objective.dim), _FULL_STEPS
    )
    largest = 0.0
    for i in rng.choice(n, size=min(n, _SAMPLES), replace=False):
        sample = np.array([i])
        start = rng.standard_normal(objective.dim)
        largest = max(largest, _curvature(_gradient_of(objective, sample), start, _SAMPLE_STEPS))
    full, largest = _FULL_MARGIN * full, _SAMPLE_MARGIN * largest
    if not (math.isfinite(full) and full > 0.0):
        raise ValueError(
            f"smoothness could not be estimated, the gradient near x = 0 changes at rate {full:g}; "
            "look for NaN in the data, or give a number."
        )
    return Smoothness(max(largest, full, convexity), max(full, convexity), convexity, exact=False)


def _gradient_of(objective: Objective, batch: np.ndarray) -> Callable[[Array], Array]:
    return lambda x: objective.batch_gradient(x, batch)


def _curvature(gradient: Callable[[Array], Array], start: Array, steps: int) -> float:
    """Return the largest ||H v|| over a power iteration; no larger than the norm of H."""
    at_zero = gradient(np.zeros_like(start))
    v, largest = start, 0.0
    for _ in range(steps):
        v = v / np.linalg.norm(v)
        change = (gradient(_RADIUS * v) - at_zero) / _RADIUS
        length = float(np.linalg.norm(change))
        if not length > 0.0:  # also stops at NaN
            return length if math.isnan(length) else largest
        v, largest = change, max(largest, length)
    return largest
