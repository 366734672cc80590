"""A set in the metric of second derivatives: the direction to the minimum of a quadratic model on the set.

P_M g = M^-1 (g - A^T l) with (A M^-1 A^T) l = A M^-1 g is R P R^T g, where M^-1 = R R^T and P is the
orthogonal projector on { w : R w is tangent }. It is factorised once and applied to many gradients.
"""

import numpy as np

from tether.arrays import Array
from tether.constraints.algebra.subspace import Map, Subspace
from tether.lazy import lazy
from tether.metric.base import Metric, NotFinite
from tether.metric.diagonal import DiagonalMetric

# Of a direction's length in the metric, by which the set's own projection may change it: more is the rounding
# of its largest entries, spread over variables that bear less of it.
ROUNDED_SHARE = 1e-9


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

    def tangent(self, gradient: Array) -> Array:
        """Return P_M g, the tangent direction u with u^T M v = g^T v for all tangent v."""
        w = self._within(self.metric.whiten(np.asarray(gradient, dtype=float)))
        direction = self.metric.colour(self._within(w))  # a second time: the first leaves roundings of g
        if not np.isfinite(direction).all():
            raise NotFinite("a direction in the metric of second derivatives is infinite or not a number.")
        closer = self._own(direction)
        change = np.linalg.norm(self.metric.uncolour(closer - direction))
        if change <= ROUNDED_SHARE * np.linalg.norm(w) or self.metric.scale is None:
            return closer
        within, units = self._balanced
        return units.colour(within(units.uncolour(direction)))

    @lazy
    def smallest(self) -> float:
        """A bound from below on the eigenvalues of M on the tangent space."""
        return self.metric.smallest(self.tangent, self._space.normal)

    @lazy
    def _balanced(self) -> tuple[Map, Metric]:
        """The projector in units in which the variables are alike, and these units."""
        assert self.metric.scale is not None
        if self.metric.keeps_sparse:
            return self._within, self.metric
        units = DiagonalMetric(self.metric.scale**2)
        return self._space.within(units), units
