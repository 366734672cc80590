"""Where projections are made: the constraint, and the metric that second derivatives have made of it.

A metric is a cache. A gradient names the curvature that it is to be measured with; if the centre does not
hold it, because it was never asked for or because a run goes on elsewhere, workers are asked for it together
with the gradient. So states stay small, and checkpoints hold no matrix.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tether.arrays import Array
from tether.constraints.base import Constraint
from tether.constraints.in_metric import MetricTangent
from tether.engines.uploads import Upload, mean
from tether.metric import NotFinite, metric_of
from tether.problem import Problem
from tether.requests import Curvature, Curved, Gradient, Measured, Reply, Request


class Projector(NamedTuple):
    """Projects onto a constraint, and in a metric where there is one."""

    constraint: Constraint
    metric: MetricTangent | None = None
    asked: Curvature | None = None  # what the metric was made of

    def curved(self, request: Gradient, tangent: Array) -> Curved | None:
        """Return what the metric says of a point, given P grad F: P_M g and P_M P g are the same."""
        if self.metric is None or self.asked is None:
            return None
        try:
            image, images = self.metric.tangent(tangent), self._images(request.beside)
        except NotFinite:
            return None
        decrement = float(tangent @ image)
        if decrement < 0.0:
            return None
        exact = self.metric.exact and self.asked.share >= 1.0
        concordance = self.asked.concordance if exact else math.inf
        smallest = self.metric.smallest if math.isfinite(concordance) and self.asked.spectrum else 0.0
        distance = float(np.linalg.norm(request.point - self.asked.point))
        return Curved(image, images, decrement, distance, smallest, concordance, self.metric.metric.error)

    def _images(self, vectors: Array | None) -> Array | None:
        if vectors is None or self.metric is None:
            return None
        return np.array([self.metric.tangent(vector) for vector in vectors]).reshape(vectors.shape)


class Centre:
    """Keeps the metric that was asked for last.

    All processes of a job have one; only the leader's has the matrix, and all know which it is.
    """

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._asked: Curvature | None = None
        self._metric: MetricTangent | None = None
        self._new: MetricTangent | None = None  # of the reply under way

    def asked(self, problem: Problem, request: Request) -> Request:
        """Return a request as workers hear it: without second derivatives that are here already."""
        if not isinstance(request, Gradient) or request.metric is None:
            return request
        metric = None if self._holds(problem, request) else request.metric
        return request._replace(metric=metric, beside=None)

    def projector(self, problem: Problem, request: Request, uploads: Sequence[Upload]) -> Projector:
        """Return what projects the answers to a request; a new metric is made of what workers sent."""
        if not isinstance(request, Gradient) or request.metric is None:
            return Projector(problem.constraint)
        self._new = self._metric
        if not self._holds(problem, request):
            self._new = _metric(problem, request.metric, uploads)
        return Projector(problem.constraint, self._new, request.metric)

    def hear(self, problem: Problem, request: Request, reply: Reply) -> None:
        """Remember which metric is here; the one before, if the reply shows that a new one made no sense."""
        if isinstance(request, Gradient) and isinstance(reply, Measured) and reply.curved is not None:
            self._problem, self._asked, self._metric = problem, request.metric, self._new

    def _holds(self, problem: Problem, request: Gradient) -> bool:
        same = self._problem is not None and all(
            one is other for one, other in zip(self._problem[:2], problem[:2], strict=True)
        )
        return same and self._asked is not None and _alike(self._asked, request.metric)


def _metric(problem: Problem, asked: Curvature, uploads: Sequence[Upload]) -> MetricTangent | None:
    """Average second derivatives and factorise them; None where they are not finite."""
    sent = [upload.curvature for upload in uploads if upload.curvature is not None]
    if len(sent) < len(uploads):
        return None
    try:
        metric = metric_of(asked.form, mean(sent), len(asked.point), asked.outputs)
        return problem.constraint.in_metric(metric)
    except NotFinite:
        return None


def _alike(one: Curvature, other: Curvature | None) -> bool:
    return other is not None and one[1:] == other[1:] and np.array_equal(one.point, other.point)
