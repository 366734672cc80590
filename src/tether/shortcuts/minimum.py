"""The minimum of a quadratic on a set, by one factorisation that then also says how good a point is.

With P_H g, the tangent direction u with u^T H v = g^T v for all tangent v, the minimum of
x^T H x / 2 + g^T x is x - P_H (H x + g) from any feasible x, and the gap at any feasible point with the
gradient g is <g, P_H g> / 2: no constant of strong convexity is needed, only that H is positive on the set.
Two ways to P_H:

- the set in the metric H, where H is diagonal, of small blocks, or dense and small: the Schur complement
  A H^-1 A^T is as large as there are equations, on a network a weighted Laplacian;
- the optimality system [[H, A^T], [A, 0]] otherwise, where H is sparse or not positive by itself.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from tether.arrays import Array, norm
from tether.constraints import Constraint, Flow
from tether.constraints.algebra.factor import work_of_factorising
from tether.constraints.algebra.sparse import FACTORISED_ROWS
from tether.constraints.in_metric import MetricTangent
from tether.elimination import SPEED, is_thin
from tether.lazy import lazy
from tether.metric import Metric
from tether.metric.blocks import blocks_of
from tether.metric.diagonal import DiagonalMetric
from tether.metric.full import FullMetric
from tether.objectives.symmetric import diagonal_of

Map = Callable[[Array], Array]
Form = Callable[[Array], float]

SMALL_SIZE = 60  # variables up to which a dense factorisation takes less time than to look for blocks
MEDIUM_SIZE = 300  # variables from which on a sparse factorisation of a thin matrix is quicker
DENSE_SIZE = 1_500  # variables up to which a dense factorisation is quick
REFINEMENTS = 4
REFINED_SHARE = 1e-7  # of a point, of which a step may be the last one: the next would be rounding
RESIDUAL_LIMIT = 1e-12  # of its size: with a larger residual F has no minimum, or none that can be told
ROUNDED_SLOPE = 1e-15  # relative error of a projected gradient, about
PROBES = 6  # power iterations for the norm of P_H ...
PROBE_MARGIN = 4.0  # ... which they may fall short of by this


@dataclass(frozen=True)
class Minimum:
    """Where a quadratic is least on a set, and the map that says so."""

    point: Array
    normal: Array  # the gradient there, a combination of rows
    square: Form  # <g, P_H g> of a gradient
    find_stretch: Callable[[], float]  # the norm of P_H from above, as probes tell
    multipliers: Array | None = None  # of the rows of the set's equations, where they are worth to be kept
    error: float = 1e-6  # relative, of decrements, about
    wide_stretch: float = math.inf  # a bound on that norm which is at hand; infinite: there is none

    @lazy
    def stretch(self) -> float:
        """The norm of P_H from above, as probes tell; infinite: H may not be positive on the set."""
        return self.find_stretch()

    @property
    def ready_stretch(self) -> float:
        """A wider bound where that is at hand, else the same."""
        return self.wide_stretch if math.isfinite(self.wide_stretch) else self.stretch

    def gap(self, gradient: Array, scale: float) -> float:
        """Return a bound on F - F* where the tangent gradient is this and ||grad F|| the scale; NaN: none."""
        if not math.isfinite(self.stretch):
            return math.nan
        decrement = max(0.0, self.square(gradient))
        hidden = ROUNDED_SLOPE * scale * math.sqrt(self.stretch)
        return 0.5 * ((1.0 + self.error) * math.sqrt(decrement) + hidden) ** 2


def minimum_in_metric(matrix: Any, linear: Array, constraint: Constraint, seconds: float) -> Minimum | None:
    """Return the minimum by way of the set in the metric H; None for other H and what takes too long."""
    metric = metric_of_matrix(matrix)
    if metric is None or (math.isfinite(seconds) and _seconds_for(constraint, metric) > seconds):
        return None
    diagonal = diagonal_of(matrix) if isinstance(metric, DiagonalMetric) else None
    if diagonal is not None and diagonal.min() == diagonal.max():
        return _nearest_point(float(diagonal[0]), linear, constraint)
    within = constraint.in_metric(metric)
    if not within.exact:
        return None
    point, multipliers = _minimum(matrix, linear, within, constraint)
    if not np.isfinite(point).all():
        return None
    normal = matrix @ point + linear
    unique = isinstance(constraint, Flow) or constraint.independent
    multipliers = (within.multipliers(normal) if multipliers is None else multipliers) if unique else None
    probed = partial(_stretch, within, len(linear))
    error, bound = within.metric.error, within.metric.inverse_norm()
    return Minimum(point, normal, within.decrement, probed, multipliers, error, bound)


def _minimum(
    matrix: Any, linear: Array, within: MetricTangent, constraint: Constraint
) -> tuple[Array, Array | None]:
    """Return the minimum, refined where that is more than rounding, and its multipliers if it was not."""
    equations = constraint.equations
    found = None if equations is None else within.minimum(linear, equations[1])
    point, multipliers = (constraint.project(np.zeros(len(linear))), None) if found is None else found
    if multipliers is not None and equations is not None:
        rest = matrix @ point + linear - equations[0].T @ multipliers
        if within.is_settled(point, rest):
            return point, multipliers
    for _ in range(REFINEMENTS):
        step = within.direction(matrix @ point + linear)
        point = point - step
        if norm(step) <= REFINED_SHARE * norm(point):
            break
    return point, None


def _nearest_point(curvature: float, linear: Array, constraint: Constraint) -> Minimum:
    """Return the minimum where H is a multiple of the identity: the set's own projections find it."""
    point = constraint.project(-linear / curvature)
    normal = curvature * point + linear

    def square(gradient: Array) -> float:
        return float(np.square(constraint.tangent(gradient)).sum()) / curvature

    return Minimum(point, normal, square, lambda: 1.0 / curvature)


def metric_of_matrix(matrix: Any) -> Metric | None:
    """Return a matrix as a metric that is quickly factorised; None for others, or if it is not positive."""
    diagonal = diagonal_of(matrix)
    if diagonal is not None:
        metric = DiagonalMetric(diagonal)
        if metric.exact:
            return metric
    elif sparse.issparse(matrix) and matrix.shape[0] > SMALL_SIZE:
        blocks = blocks_of(matrix)
        if blocks is not None:
            return blocks
    if matrix.shape[0] > (MEDIUM_SIZE if sparse.issparse(matrix) and is_thin(matrix) else DENSE_SIZE):
        return None
    return FullMetric(matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix, dtype=float))


def _stretch(within: MetricTangent, dim: int) -> float:
    """Return the norm of P_H from above: Frobenius's norm, where that exceeds it by no more than a margin."""
    if within.metric.keeps_sparse:
        return 1.0 / within.smallest
    if dim <= PROBE_MARGIN**2:
        return norm(within.direction(np.eye(dim)).ravel())
    return norm_of(within.direction, dim)


def norm_of(image: Map, dim: int) -> float:
    """Return the norm of a positive map, from above unless power iterations miss it by more than a margin."""
    v = np.random.default_rng(0).standard_normal(dim)
    size, length = 0.0, norm(v)
    for _ in range(PROBES):
        if length == 0.0:
            return 0.0
        v = image(v / length)
        size = length = norm(v)
    return PROBE_MARGIN * size


def _seconds_for(constraint: Constraint, metric: Metric) -> float:
    """Return about the seconds that the set takes to be factorised; 0 where that is quick."""
    equations = constraint.equations
    if equations is None or not sparse.issparse(equations[0]) or equations[0].shape[0] <= FACTORISED_ROWS:
        return 0.0
    return work_of_factorising(metric.rows(equations[0])) / SPEED
