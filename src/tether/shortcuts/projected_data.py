"""Project the data once: a linear model whose equations leave few directions becomes a narrow one.

Let Z be an orthonormal basis of the directions that keep A x = b, and c the shortest solution. With
B = [Z, c/||c||] every feasible x is B v with ||v|| = ||x||. Steps and passes over X B cost the share of
columns that is left, projections cost nothing, and the curvature of directions that no feasible point can
take does not limit the step.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from tether.arrays import Array
from tether.constraints import Constraint, Range
from tether.methods.first import FEW_SAMPLES
from tether.objectives import GLM
from tether.objectives.design import BLOCK, COMPILE_FROM, Design
from tether.problem import Facts
from tether.shortcuts.narrowed import (
    Narrowed,
    is_at_hand,
    is_dense,
    narrowed,
    shortest_solution,
    stored,
    tangents,
)
from tether.shortcuts.way import Way
from tether.threads import one_blas_thread, share

MEMORY_SHARE = 0.3  # of the data's memory that X B and the making of B may take beside it
# Making X B takes about r/10 passes, whatever the share r/p. Measured for logistic and huber, p = 200 to
# 2,000, N = 10^4 to 5 10^4, r = 10 and 60 and tol = 1e-6: runs without it took 0.97 to 31 times as long where
# the data is ill-conditioned (median 4.2) and 1.0 to 3.2 times where it is not and 5 to 10 passes are enough
# (median 2.0). At r = 100 half of the latter lost time, at r = 200 most.
COLUMN_LIMIT = 75
WIDTH_LIMIT = 2_000  # variables up to which directions may be projected one by one
SPARE_DIRECTIONS = 4  # random directions more than there should be tangent ones
ROUNDED_LENGTH = 1e-7  # of a random direction's length: a projection this short is rounding


@dataclass(frozen=True, kw_only=True)
class ProjectedData(Narrowed):
    """The way through the coordinates of all feasible points."""

    basis: Array  # B, one column a coordinate

    def coordinates(self, x: Array) -> Array:
        """Return B^T x."""
        return self.basis.T @ x

    def combination(self, v: Array) -> Array:
        """Return B v."""
        return self.basis @ v

    def convexity(self, facts: Facts) -> float:
        """Return mu among feasible points, less what the rounding of X B may have added to it."""
        wide, narrow = self.wide, self.narrow
        if not wide.convex:
            return 0.0
        ridge = narrow.ridge.smallest
        learned = facts.smoothness.convexity - ridge
        if learned <= 0.0:
            return ridge
        norms = wide.design.squared_norms()
        length = math.sqrt(np.average(norms, weights=wide.weights))
        (p, r), storage = self.basis.shape, stored(wide.design).dtype
        rounding = p * math.sqrt(r) * np.finfo(np.float64).eps + np.finfo(storage).eps
        return ridge + max(0.0, math.sqrt(learned) - float(rounding) * length) ** 2


def with_projected_data(way: Way, warm: bool) -> ProjectedData | None:
    """Return the way through fewer variables; None where it cannot be had or would not pay."""
    objective, constraint = way.problem[:2]
    if not isinstance(objective, GLM) or not _is_suitable(objective):
        return None
    with one_blas_thread():
        found = _basis(constraint, objective.dim, _most_columns(objective))
        if found is None:
            return None
        basis, length = found
        data = _product(objective.design, basis)
    narrow = objective.with_rows(data)  # labels are prepared already
    narrow.compile()
    return ProjectedData(**narrowed(way, narrow, length, "equations leave few directions"), basis=basis)


def _is_suitable(objective: GLM) -> bool:
    """Say whether the data is dense, in memory and large, and no linear system solves the problem."""
    return (
        is_at_hand(objective)
        and objective.ridge.uniform
        and objective.n_outputs == 1
        and objective.n_samples >= FEW_SAMPLES
        and stored(objective.design).size >= COMPILE_FROM
        and objective.hessian() is None
    )


def _most_columns(objective: GLM) -> int:
    """Return how many columns B may have."""
    n, p = objective.n_samples, objective.dim
    return min(COLUMN_LIMIT, int(MEMORY_SHARE * n * p / (n + 4 * p)))


def _basis(constraint: Constraint, dim: int, most: int) -> tuple[Array, float] | None:
    """Return B and ||c||, or None where B would have too many columns or cost too much."""
    free = _free_directions(constraint, dim)
    if free is None or free > most or (dim > WIDTH_LIMIT and not is_dense(constraint)):
        return None
    basis = _tangent_basis(constraint, dim, free, most)
    if basis is None:
        return None
    nearest, length = shortest_solution(constraint, dim)
    if length:
        nearest = nearest - basis @ (basis.T @ nearest)  # orthogonal but for rounding
        basis = np.column_stack([basis, nearest / np.linalg.norm(nearest)])
    return (basis, length) if basis.shape[1] <= most else None


def _free_directions(constraint: Constraint, dim: int) -> int | None:
    """Return the dimension of the tangent space, if no row or column says what others say; None: unknown."""
    if isinstance(constraint, Range):
        return constraint.shape[1]
    return None if constraint.equations is None else max(0, dim - constraint.equations[0].shape[0])


def _tangent_basis(constraint: Constraint, dim: int, free: int, most: int) -> Array | None:
    """Return Z: the tangent parts of random directions span the tangent space once they are dependent."""
    rng = np.random.default_rng(0)
    for count in (min(free + SPARE_DIRECTIONS, most + 1), most + 1):
        some = tangents(constraint, rng.standard_normal((dim, count)))
        q, r, _ = qr(some, mode="economic", pivoting=True, overwrite_a=True, check_finite=False)
        rank = int(np.sum(np.abs(np.diag(r)) > ROUNDED_LENGTH * math.sqrt(dim)))
        if rank < count:
            return np.asarray(q[:, :rank], dtype=np.float64) if rank else None
    return None


def _product(design: Design, basis: Array) -> NDArray[Any]:
    """Return X B in the precision of X, made block by block."""
    product = np.empty((design.n_samples, basis.shape[1]), dtype=stored(design).dtype)
    step = max(1, BLOCK // design.width)

    def work(part: int, begin: int, end: int) -> None:
        for first in range(begin, end, step):
            rows = slice(first, min(first + step, end))
            product[rows] = design.block(rows) @ basis

    share(work, design.n_samples)
    return product
