"""Plain Newton in the null space, in NumPy: a yardstick for small problems, a second opinion on optima."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq

from profiling.null_space import NullSpace

ITERATIONS = 200
SMALLEST_STEP = 1e-12


def newton(
    space: NullSpace, see: Callable[[np.ndarray, float], bool], accuracy: float = 1e-16
) -> tuple[np.ndarray, float]:
    """Return the minimiser in v and half of the squared decrement there; ``see`` may stop the run."""
    v = np.zeros(space.dim)
    value, gradient = space.evaluate(v)
    decrement = np.inf
    for _ in range(ITERATIONS):
        step = -_solved(space.hessian(v), gradient)
        decrement = -float(gradient @ step) / 2.0
        if decrement <= accuracy * max(abs(value), 1e-300):
            break
        length, (ahead, slope) = 1.0, space.evaluate(v + step)
        while not ahead <= value - 1e-4 * length * 2.0 * decrement and length > SMALLEST_STEP:
            length /= 2.0
            ahead, slope = space.evaluate(v + length * step)
        if not ahead < value:  # rounding allows no more
            break
        v, value, gradient = v + length * step, ahead, slope
        if see(v, value):
            break
    return v, decrement


def _solved(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    try:
        return cho_solve(cho_factor(H), g)
    except LinAlgError:  # singular, or nearly so: the shortest solution
        return lstsq(H, g)[0]
