"""Second derivatives compared with differences of gradients, which know nothing of them."""

import math
from collections.abc import Callable

import numpy as np

from tether.arrays import Array

_STEPS = (1e-4, 1e-6)  # one of them agrees if no kink is near


def contradicting_rate(gradient: Callable[[Array], Array], x: Array, v: Array, said: Array) -> Array | None:
    """Return how the gradient changes along v if that is not what is said of it; None if it is.

    Nothing is concluded where gradients are not finite.
    """
    steep = float(np.abs(gradient(x)).max())
    closest, rate = math.inf, None
    for step in _STEPS:
        seen = (gradient(x + step * v) - gradient(x - step * v)) / (2.0 * step)
        slack = 1e-3 * float(np.abs(seen).max()) + 1e-13 * (1.0 + steep) / step
        error = float(np.abs(seen - said).max()) - slack
        if not error > 0.0:
            return None
        if error < closest:
            closest, rate = error, seen
    return rate
