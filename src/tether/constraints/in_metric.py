"""A set in the metric of second derivatives: the direction to the minimum of a quadratic model on the set.

P_M g = M^-1 (g - A^T l) with (A M^-1 A^T) l = A M^-1 g is R P R^T g, where M^-1 = R R^T and P is the
orthogonal projector on { w : R w is tangent }. It is factorised once and applied to many gradients.
"""

import numpy as np

from tether.arrays import Array, norm
from tether.constraints.algebra.subspace import Map, Subspace
from tether.lazy import lazy
from tether.metric.base import Metric, NotFinite
from tether.metric.diagonal import DiagonalMetric

# Of a direction's length in the metric, by which the set's own projection may change it: more is the rounding
# of its largest entries, spread over variables that bear less of it.
ROUNDED_SHARE = 1e-9
SETTLED_SHARE = 1e-15  # of a point's length in the metric: by less than this nothing is worth to be moved
TANGENT_ERROR = 1e-15  # by which a direction may miss the tangent space, relative to its length
ROUNDING = 2.0 * float(np.finfo(float).eps)  # of a projection, beside the condition of rows


class MetricTangent:
    """The tangent space of a set, with the projection P_M in a metric.

    Parameters
    ----------
    metric : Metric
        M.
    space : Subspace
        The directions that the set allows.
    tangent : callable
        The set's own projection of directions, P.

    Attributes
    ----------
    exact : bool
        Nothing was added to M that a tangent direction could see.
    smallest : float
        A bound from below on the eigenvalues of M on the tangent space; 0 where none is known. Found when
        first asked for.
    """

    def __init__(self, metric: Metric, space: Subspace, tangent: Map) -> None:
        self.metric = metric.among(space.normal)
        self.exact = self.metric.exact
        self._space, self._own = space, tangent
        self._within = space.within(self.metric)
        self._steepness: float | None = None

    def minimum(self, linear: Array, b: Array) -> tuple[Array, Array | None] | None:
        """Return the least x^T M x / 2 + g^T x with A x = b, and where they come along its multipliers.

        None where the set is not given by rows.
        """
        rows = self._within.rows
        if rows is None:
            return None
        point, multipliers = rows.nearest(-self.metric.whiten(linear), b)
        return self.metric.colour(point), multipliers

    def is_settled(self, point: Array, rest: Array) -> bool:
        """Say whether M x + g - A^T l is so small at a point that the minimum is there but for rounding."""
        return norm(self.metric.whiten(rest)) <= SETTLED_SHARE * norm(self.metric.uncolour(point))

    def multipliers(self, gradient: Array) -> Array | None:
        """Return the l for which A^T l is nearest to a gradient in M^-1; None where there are no rows."""
        rows = self._within.rows
        return None if rows is None else rows.multipliers(self.metric.whiten(gradient))

    def tangent(self, gradient: Array) -> Array:
        """Return P_M g, the tangent direction u with u^T M v = g^T v for all tangent v."""
        return self.along(gradient)[0]

    def along(self, gradient: Array) -> tuple[Array, float]:
        """Return P_M g, and <g, P_M g> as `decrement` has it."""
        whole = self.metric.whiten(np.asarray(gradient, dtype=float))
        whitened = self._onto(whole)
        return self._tangent(whitened), self._square(whole, whitened)

    def decrement(self, gradient: Array) -> float:
        """Return <g, P_M g>, with what rounding may hide of it.

        It is a square, that of P R^T g. As a product with g it would lose twice as many digits where units
        differ, because R^T g then may be much longer than its projection.
        """
        whole = self.metric.whiten(np.asarray(gradient, dtype=float))
        return self._square(whole, self._onto(whole))

    def _square(self, whole: Array, whitened: Array) -> float:
        rows = self._within.rows
        hidden = ROUNDING * norm(whole) * (1.0 if rows is None else rows.condition)
        return (norm(whitened) + hidden) ** 2

    def _tangent(self, whitened: Array) -> Array:
        """Return the direction R w, and see to it that it is tangent."""
        direction = self.metric.colour(whitened if self._refines else self._within.onto(whitened))
        if self._space.miss(direction) <= TANGENT_ERROR:
            return direction
        closer = self._own(direction)
        if self.metric.scale is None:
            return closer
        length, change = (np.linalg.norm(self.metric.uncolour(v)) for v in (direction, closer - direction))
        if change <= ROUNDED_SHARE * length:
            return closer
        onto, units = self._balanced
        return units.colour(onto(units.uncolour(direction)))

    def images(self, gradients: Array) -> Array:
        """Return P_M g for every row g; all at once where reading rows takes the time."""
        if not len(gradients) or not self._refines:
            return np.array([self.tangent(gradient) for gradient in gradients]).reshape(gradients.shape)
        directions = self.metric.colour(self._whitened(gradients.T))
        return np.array([self._own(direction) for direction in directions.T])

    @property
    def _refines(self) -> bool:
        """Whether projections in the metric remove what rounding has left by themselves."""
        rows = self._within.rows
        return rows is not None and rows.refines

    def direction(self, gradient: Array) -> Array:
        """Return P_M g, tangent but for the rounding of g."""
        return self.metric.colour(self._whitened(gradient))

    def _whitened(self, gradient: Array) -> Array:
        """Return R^-1 P_M g; what rounding of g leaves in it is gone when it is projected once more."""
        return self._onto(self.metric.whiten(np.asarray(gradient, dtype=float)))

    def _onto(self, whole: Array) -> Array:
        w = self._within.onto(whole)
        if not np.isfinite(w).all():
            raise NotFinite("a direction in the metric of second derivatives is infinite or not a number.")
        return w

    @lazy
    def smallest(self) -> float:
        """A bound from below on the eigenvalues of M on the tangent space; 0 where M is singular there."""
        try:
            return self.metric.smallest(self.direction, self._space.normal)
        except NotFinite:
            return 0.0

    def steepness(self, reach: Array) -> float:
        """Return k with <r, |v|> <= k sqrt(v^T M v) for tangent v, found when first asked for."""
        if self._steepness is None:
            self._steepness = self.metric.steepness(reach)
        return self._steepness

    @lazy
    def _balanced(self) -> tuple[Map, Metric]:
        """The projector in units in which the variables are alike, and these units."""
        assert self.metric.scale is not None
        if self.metric.keeps_sparse:
            return self._within.onto, self.metric
        units = DiagonalMetric(self.metric.scale**2)
        return self._space.within(units).onto, units
