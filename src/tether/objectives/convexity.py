"""Is it convex? A look at pairs of points before anything is concluded from it.

Gradients of a convex function never turn back: (grad f(x) - grad f(y))^T (x - y) >= mu ||x - y||^2 for all x
and y. One pair that says otherwise is proof. Pairs are tried on lines through the point at which a run
starts, and through 0 where F is finite there, as far as F is finite. Random pairs rarely find it in many
dimensions, so at the ends of each line a few steps of Lanczos look for the direction of the smallest
curvature.
"""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal

from tether.arrays import Array, Indices
from tether.objectives.base import Objective, centres, defined_shift

_SAMPLES = 256  # that are looked at; what they show is then looked at with all
_RADII = (1e-3, 0.1, 1.0, 10.0)  # of the surroundings, relative to the size of the point
_SHARES = (-1.0, -0.5, 0.0, 0.5, 1.0)  # of the radius: where gradients on a line are compared
_LANCZOS_STEPS = 16
_ROUNDING = 1e-6  # relative, of gradients that may be computed in single precision

Gradient = Callable[[Array], Array]


def as_convex(value: Any) -> bool | None:
    """Return what a user says of convexity: True, False, or None for "look"."""
    if value is None or value is True or value is False:
        return value
    raise ValueError(
        f"convex must be True, False or None (look whether anything shows otherwise), got {value!r}."
    )


def nonconvexity_of(objective: Objective, convexity: float) -> str:
    """Say what shows that F is not convex with this mu; return nothing if nothing does."""
    rng = np.random.default_rng(0)
    n = objective.n_samples
    some = None if n <= _SAMPLES else np.sort(rng.choice(n, _SAMPLES, replace=False))
    with np.errstate(all="ignore"):  # a function need not be finite everywhere
        for base, other in _pairs(objective, some, rng):
            if (
                _turns_back(_gradient(objective, some), base, other, convexity)
                and (some is None or _turns_back(_gradient(objective, None), base, other, convexity))
                and all(_is_defined(objective, x) for x in (base, other))
            ):
                return _words(_gradient(objective, None), base, other, convexity)
    return ""


def _pairs(
    objective: Objective, some: Indices | None, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Yield neighbours on lines through the start and through 0, and lowest neighbours of their ends."""
    gradient = _gradient(objective, some)
    for centre in centres(objective):
        for radius in max(1.0, float(np.linalg.norm(centre))) * np.array(_RADII):
            direction = rng.standard_normal(len(centre))
            reach = radius * direction / np.linalg.norm(direction)
            reach = defined_shift(objective, centre, reach, some)
            yield from pairwise(centre + share * reach for share in _SHARES)
            for end in (centre + reach, centre - reach):
                yield end, _lowest_neighbour(gradient, end, float(np.linalg.norm(reach)))


def _gradient(objective: Objective, batch: Indices | None) -> Gradient:
    """Return the gradient of a batch as a function of x; NaN where it refuses to be computed."""

    def gradient(x: Array) -> Array:
        try:
            return objective.batch_gradient(x, batch)
        except (ValueError, ArithmeticError):  # as math.log says it
            return np.full(len(x), math.nan)

    return gradient


def _is_defined(objective: Objective, x: Array) -> bool:
    """Say whether F is finite at x: the formula of a gradient may go on where the function ends."""
    try:
        return math.isfinite(objective.value(x))
    except (ValueError, ArithmeticError):  # as math.log says it
        return False


def _turns_back(gradient: Gradient, x: Array, y: Array, convexity: float) -> bool:
    """Say whether gradients at two points contradict convexity by more than rounding."""
    at_x, at_y, step = gradient(x), gradient(y), y - x
    length = float(np.linalg.norm(step))
    slack = _ROUNDING * float(np.linalg.norm(at_x) + np.linalg.norm(at_y)) * length
    growth = float((at_y - at_x) @ step)
    return math.isfinite(slack) and growth < (1.0 - _ROUNDING) * convexity * length**2 - slack


def _words(gradient: Gradient, x: Array, y: Array, convexity: float) -> str:
    step = y - x
    rate = float((gradient(y) - gradient(x)) @ step) / float(step @ step)
    return (
        f"between two points at distance {np.linalg.norm(step):.3g} the gradient grows at rate {rate:.3g}, "
        f"where convexity asks for at least {convexity:.3g}"
    )


def _lowest_neighbour(gradient: Gradient, x: Array, radius: float) -> Array:
    """Return a point near x, in the direction in which the curvature there is smallest as far as is seen."""
    at_x, reach = gradient(x), 0.1 * radius
    direction = np.random.default_rng(1).standard_normal(len(x))
    basis: list[Array] = []
    diagonal: list[float] = []
    off: list[float] = []
    for _ in range(min(_LANCZOS_STEPS, len(x))):
        basis.append(direction / np.linalg.norm(direction))
        change = (gradient(x + reach * basis[-1]) - at_x) / reach
        diagonal.append(float(basis[-1] @ change))
        known = np.array(basis)
        rest = change - known.T @ (known @ change)
        off.append(float(np.linalg.norm(rest)))
        if not off[-1] > 1e-12 * (1.0 + abs(diagonal[-1])):  # also stops at NaN
            break
        direction = rest
    if not np.isfinite(diagonal).all():
        return x + reach * basis[0]
    vectors = eigh_tridiagonal(np.array(diagonal), np.array(off[:-1]))[1]
    return x + reach * (vectors[:, 0] @ np.array(basis))
