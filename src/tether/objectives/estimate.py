"""Smoothness constants of objectives that are known by their gradients alone.

Power iteration on differences of gradients around a point: (grad f(x + r v) - grad f(x)) / r is the Hessian
times v. What it finds are curvatures near where a run starts and near 0, and of some samples, so they are
estimates, with a margin.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tether.arrays import Array, Indices
from tether.inputs import nonnegative
from tether.objectives.base import Objective, Smoothness, centres, defined_shift
from tether.objectives.convexity import nonconvexity_of
from tether.objectives.smoothness import Constants, OpenSmoothness

_RADIUS = 1e-3
_FULL_STEPS, _FULL_MARGIN = 15, 1.25
_SAMPLES, _SAMPLE_STEPS, _SAMPLE_MARGIN = 32, 6, 2.0


def known_or_estimated(
    objective: Objective, known: float | Smoothness | None, convexity: float
) -> Smoothness:
    """Return what the user knows of the constants, and estimates of the rest; mu = 0 if F is not convex."""
    if isinstance(known, Smoothness):
        found = known
    elif known is not None:
        found = Smoothness(known, known, convexity)
    else:
        found = estimated_smoothness(objective, convexity)
    return found._replace(convexity=0.0) if found.convexity and not objective.convex else found


def known_or_open(objective: Objective, known: float | Smoothness | None, convexity: float) -> Constants:
    """Return what the user knows of the constants; L is left open where it would have to be estimated."""
    if known is not None:
        return objective.smoothness
    return OpenSmoothness(convexity if objective.convex else 0.0, lambda: objective.smoothness)


def told_or_seen(
    objective: Objective, convex: bool | None, known: float | Smoothness | None, convexity: float
) -> str:
    """Say what the user told of F not being convex, or what can be seen."""
    if convex is not None:
        return "" if convex else "convex=False was given"
    return nonconvexity_of(objective, known.convexity if isinstance(known, Smoothness) else convexity)


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


def told(convex: bool | None, known: float | Smoothness | None, convexity: float) -> tuple[Any, ...]:
    """Return what the user told of the constants and of convexity, for a digest."""
    return convex, tuple(known) if isinstance(known, Smoothness) else known, convexity


def with_ridge(known: float | Smoothness | None, l2: float) -> float | Smoothness | None:
    """Return the constants of a function plus (l2 / 2) ||x||^2."""
    if isinstance(known, Smoothness):
        return Smoothness(known.maximum + l2, known.full + l2, known.convexity + l2, known.exact)
    return None if known is None else known + l2


def estimated_smoothness(objective: Objective, convexity: float) -> Smoothness:
    """Return L_F from full gradients and L_max from a few dozen samples; the same at every call."""
    with np.errstate(all="ignore"):
        found = [_constants_near(objective, place) for place in centres(objective)]
    largest, full = (float(np.max(each)) for each in zip(*found, strict=True))
    if not (math.isfinite(full) and full > 0.0):
        raise ValueError(
            f"smoothness could not be estimated, the gradient near the start changes at rate {full:g}; "
            'look for NaN in the data, give a number, or take a method that needs none, such as "lbfgs".'
        )
    return Smoothness(max(largest, full, convexity), max(full, convexity), convexity, exact=False)


def _constants_near(objective: Objective, place: Array) -> tuple[float, float]:
    """Return estimates of L_max and L_F near a point, with their margins."""
    rng = np.random.default_rng(0)
    n, start = objective.n_samples, rng.standard_normal(objective.dim)
    shift = defined_shift(objective, place, _RADIUS * start / np.linalg.norm(start), None)
    radius = float(np.linalg.norm(shift))
    full = _curvature(_gradient_of(objective, None), place, start, _FULL_STEPS, radius)
    largest = 0.0
    for i in rng.choice(n, size=min(n, _SAMPLES), replace=False):
        start = rng.standard_normal(objective.dim)
        sample = _gradient_of(objective, np.array([i]))
        largest = max(largest, _curvature(sample, place, start, _SAMPLE_STEPS, radius))
    return _SAMPLE_MARGIN * largest, _FULL_MARGIN * full


def _gradient_of(objective: Objective, batch: Indices | None) -> Callable[[Array], Array]:
    return lambda x: objective.batch_gradient(x, batch)


def _curvature(
    gradient: Callable[[Array], Array], place: Array, start: Array, steps: int, radius: float
) -> float:
    """Return the largest ||H v|| over a power iteration; no larger than the norm of H."""
    here = gradient(place)
    v, largest = start, 0.0
    for _ in range(steps):
        v = v / np.linalg.norm(v)
        change = (gradient(place + radius * v) - here) / radius
        length = float(np.linalg.norm(change))
        if not length > 0.0:  # also stops at NaN
            return length if math.isnan(length) else largest
        v, largest = change, max(largest, length)
    return largest
