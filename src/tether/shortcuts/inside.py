"""A start that satisfies the equations inside the domain of F.

The feasible point nearest to x0 may lie where F is infinite. Then Newton's method from x0, which is inside
but need not be feasible, looks for the feasible point with the smallest divergence from x0,

    sum_j  (x - l) log((x - l)/(x0 - l)) + (u - x) log((u - x)/(u - x0))

with the ends l and u of the domain that there are, and a square for variables that have none. Steps are cut
short of the edge; after the first whole step the equations hold, and that is all that is wanted.
"""

import math
from typing import Any

import numpy as np
from scipy import sparse

from tether.arrays import Array
from tether.constraints import Affine, Constraint
from tether.objectives.domain import Domain
from tether.problem import Problem

ITERATIONS = 60
LONGEST_SHARE = 0.9  # of the way to the edge
SMALLEST_STEP = 1e-6  # shorter ones lead nowhere


def started_inside(problem: Problem, x: Array) -> Array:
    """Return x if its projection is inside the domain of F, else another start; or refuse the problem."""
    objective, constraint = problem[:2]
    domain = objective.domain
    if domain is None or domain.holds_inside(constraint.project(x)):
        return x
    home = x if domain.holds_inside(x) or objective.initial is None else objective.initial
    found = _feasible_inside(constraint, domain, domain.inward(home))
    if found is not None:
        return found
    nearest = constraint.project(x)
    if domain.holds(nearest):  # at the edge, but F is finite there
        return x
    j = int(np.flatnonzero(domain.misses(nearest))[0])
    raise ValueError(
        "x0 must lead to a point that satisfies the equations inside the domain of F, but its projection has "
        f"x[{j}] = {nearest[j]:.3g} and no other was found; give such an x0, and leave out variables that "
        "the equations push to an end of the domain."
    )


def _feasible_inside(constraint: Constraint, domain: Domain, home: Array) -> Array | None:
    """Return a feasible point inside the domain; None if there is none, or none that is found."""
    if constraint.equations is None:
        return None
    rows, b = constraint.equations
    x = home
    for _ in range(ITERATIONS):
        slopes, curvatures = _divergence(domain, home, x)
        move = _newton_point(rows, b, curvatures, slopes - curvatures * x) - x
        share = min(1.0, LONGEST_SHARE * _reach(domain, x, move))
        x = x + share * move
        if not share >= SMALLEST_STEP:  # NaN included
            return None
        if share == 1.0:
            end = constraint.project(x)  # rounding
            return end if domain.holds_inside(end) else None
    return None


def _divergence(domain: Domain, home: Array, x: Array) -> tuple[Array, Array]:
    """Return the first and second derivatives of the divergence from home."""
    slopes, curvatures = np.zeros_like(x), np.zeros_like(x)
    with np.errstate(invalid="ignore"):
        for end, sign in ((domain.lower, 1.0), (domain.upper, -1.0)):
            now, then = sign * (x - end), sign * (home - end)
            finite = np.isfinite(now)
            slopes += np.where(finite, sign * np.log(now / then), 0.0)
            curvatures += np.where(finite, 1.0 / now, 0.0)
    free = curvatures == 0.0
    scale = 1.0 / (1.0 + np.abs(home))
    return np.where(free, scale * (x - home), slopes), np.where(free, scale, curvatures)


def _newton_point(rows: Any, b: Array, diagonal: Array, linear: Array) -> Array:
    """Return the feasible minimiser of sum_j diagonal_j x_j^2 / 2 + linear_j x_j, by a projection."""
    scale = 1.0 / np.sqrt(diagonal)
    scaled = sparse.csr_array(rows @ sparse.diags_array(scale)) if sparse.issparse(rows) else rows * scale
    return scale * Affine(scaled, b).project(-scale * linear)


def _reach(domain: Domain, x: Array, move: Array) -> float:
    """Return the length at which x + length * move meets the edge."""
    with np.errstate(divide="ignore", invalid="ignore"):
        down = np.where(move < 0, (domain.lower - x) / move, math.inf)
        up = np.where(move > 0, (domain.upper - x) / move, math.inf)
    return float(min(down.min(), up.min()))
