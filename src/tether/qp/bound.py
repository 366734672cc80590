"""A lower bound on the value of a program, from multipliers: its dual objective.

For any x, lambda, s, y and r = P x + q + s + K'y - A'lambda, every feasible u has

    value(u)  >=  -x'Px/2 + b'lambda - g*(s) - r*(y) + r'u.

Where u_j has walls, or P is a diagonal, r_j joins s_j or x_j, which makes the bound rigorous but for rounding
errors of the sum. Elsewhere u_j is taken to be no larger than REACH times x_j, and only if r is rounding.
"""

import numpy as np

from tether.arrays import Array
from tether.qp.program import Point, Program

TRUSTED = 1e-9  # a larger residual, relative to the terms of the gradient, says nothing
REACH = 10.0


def lower_bound(program: Program, point: Point) -> float:
    """Return the dual objective; -inf where it cannot be trusted."""
    psi, (matrix, b) = program.polyhedral, program.plane
    x, gradient = point.x, program.gradient(point.x)
    rest = gradient + psi.push(point.y) - matrix.T @ point.equalities
    # the multipliers that leave no residual, as far as walls allow it
    s = np.clip(-rest, *_finite(program))
    left = rest + s
    if program.hessian.ndim == 1:
        moved = (program.hessian > 0.0) & (left != 0.0)
        x = np.where(moved, x - left / np.where(moved, program.hessian, 1.0), x)
        left = np.where(moved, 0.0, left)
    size = float(np.abs(gradient).max(initial=0.0) + np.abs(s).max(initial=0.0))
    if not float(np.abs(left).max(initial=0.0)) <= TRUSTED * size:
        return -np.inf
    value = -0.5 * float(x @ program.curve(x)) + float(b @ point.equalities)
    value -= float(psi.coordinates.conjugate(s).sum()) + float(psi.rows.conjugate(point.y).sum())
    value -= REACH * float(np.abs(left) @ (np.abs(point.x) + np.abs(point.x).mean()))
    return value if np.isfinite(value) else -np.inf


def _finite(program: Program) -> tuple[Array, Array]:
    """Return between which slopes the conjugates of the g_j are finite."""
    pieces = program.polyhedral.coordinates
    low = np.where(np.isfinite(pieces.lower), -np.inf, -pieces.left)
    high = np.where(np.isfinite(pieces.upper), np.inf, pieces.right)
    return low, high
