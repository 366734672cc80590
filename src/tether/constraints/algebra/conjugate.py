"""Conjugate gradients for A A^T y = r: all that is needed of A are its two products.

The curvature along p is computed as ||A^T p||^2 (Craig's form), which keeps the accuracy of A rather than
that of its square.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tether.arrays import Array

Map = Callable[[Array], Array]


class Products(NamedTuple):
    """The two products with a matrix whose rows have about unit length."""

    forward: Map  # A x
    backward: Map  # A^T y


class Solved(NamedTuple):
    """Where conjugate gradients came to rest."""

    y: Array
    iterations: int
    converged: bool


def dot(a: Array, b: Array) -> float:
    """Return <a, b> without BLAS, which would wake its threads for every long vector.

    Where the cores are shared, with other ranks or workers, waiting for those threads costs far more than
    the sum itself.
    """
    return float(np.einsum("i,i->", a, b))


def norm(a: Array) -> float:
    """Return ||a||."""
    return math.sqrt(dot(a, a))


def conjugate_gradients(
    products: Products, r: Array, floor: float, limit: int, precondition: Map | None = None
) -> Solved:
    """Solve A A^T y = r until the residual is at most ``floor`` or ``limit`` iterations have passed."""
    y, best, best_size = np.zeros_like(r), np.zeros_like(r), norm(r)
    z = r if precondition is None else precondition(r)
    p, rho = z.copy(), dot(r, z)
    for iteration in range(limit):
        if best_size <= floor:
            return Solved(best, iteration, True)
        q = products.backward(p)
        curvature = dot(q, q)
        # Along a vector of the null space of A^T there is nothing left to gain: r is not in range(A).
        if rho <= 0.0 or curvature <= 1e-28 * dot(p, p):
            return Solved(best, iteration, False)
        alpha = rho / curvature
        y = y + alpha * p
        r = r - alpha * products.forward(q)
        size = norm(r)
        if size < best_size:
            best, best_size = y, size
        z = r if precondition is None else precondition(r)
        rho, previous = dot(r, z), rho
        p = z + (rho / previous) * p
    return Solved(best, limit, best_size <= floor)
