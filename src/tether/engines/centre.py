"""Where projections are made: the constraint, and the metric that second derivatives have made of it.

A metric is a cache. A gradient names the curvature that it is to be measured with; if the centre does not
hold it, because it was never asked for or because a run goes on elsewhere, workers are asked for it together
with the gradient. So states stay small, and checkpoints hold no matrix.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tether.arrays import Array, norm, same
from tether.constraints.base import Constraint
from tether.constraints.in_metric import MetricTangent
from tether.curvature import unpacked
from tether.engines.uploads import Upload, mean
from tether.metric import NotFinite, metric_of
from tether.metric.full import FullMetric
from tether.objectives import Objective
from tether.problem import Problem
from tether.region import Held, Region
from tether.requests import (
    UNSOUGHT,
    Curvature,
    Curved,
    Fenchel,
    Gradient,
    Hold,
    Measured,
    Reply,
    Request,
    Target,
)

EASY = 0.03  # of the decrement: terms of a bound that nobody needs to make smaller
SLIGHT = 0.1  # of the logarithm of a Hessian: a fall that costs a bound little
ROUNDING = 1e-15  # relative error of a projected gradient, about


class Projector(NamedTuple):
    """Projects onto a constraint, and in a metric where there is one."""

    constraint: Constraint
    metric: MetricTangent | None = None
    asked: Curvature | None = None  # what the metric was made of
    region: Region | None = None  # what there is beyond equations
    block: Array | None = None  # second derivatives of some variables
    alone: Objective | None = None  # the only one that there is, with its data

    def curved(self, request: Gradient, gradient: Array, tangent: Array) -> Curved | None:
        """Return what the metric says of a point, given P grad F: P_M g and P_M P g are the same."""
        if self.metric is None or self.asked is None:
            return None
        try:
            (image, decrement), images = self.metric.along(tangent), self._images(request.beside)
        except NotFinite:
            return None
        if float(tangent.dot(image)) < 0.0:  # rounding has spoilt the direction
            return None
        exact = self.metric.exact and self.asked.share >= 1.0
        concordance = self.asked.concordance if exact else math.inf
        shift = self._fall(concordance, request.point - self.asked.point)
        if SLIGHT < shift < math.inf and self.alone is not None:
            shift = min(shift, self.alone.fall(request.point - self.asked.point))
        error, mu = self.metric.metric.error, self.asked.convexity
        if mu > 0.0 and _is_as_good(mu, concordance, shift, math.sqrt(decrement), norm(gradient)):
            return Curved(image, images, decrement, shift, mu, concordance, error)
        smallest = self._smallest(concordance, shift, self._fall(concordance, image))
        steepness = math.inf
        reach = None if self.alone is None else self.alone.reach
        if reach is not None and smallest > 0.0 and concordance > 0.0:
            steepness = self.metric.steepness(reach)
        return Curved(image, images, decrement, shift, smallest, concordance, error, steepness)

    def _fall(self, concordance: float, way: Array) -> float:
        """Return at most by what the logarithm of the Hessian falls on a way."""
        if concordance == 0.0 or not math.isfinite(concordance):
            return concordance
        plain = concordance * norm(way)
        reach = None if self.alone is None else self.alone.reach
        return plain if reach is None else min(plain, float(reach @ np.abs(way)))

    def target(self, request: Gradient, gradient: Array) -> Target | None:
        """Return the minimum of the quadratic model on the region, from where the point is; None: none."""
        if self.region is None or not request.model or self.asked is None:
            return None
        x, found = request.point, None
        if self.block is not None and self.asked.among is not None:
            found = self.region.least_among(self.asked.among, self.block, x, gradient, request.hold)
        elif self.metric is not None:
            found = self.region.least(self.metric.metric.matrix, x, gradient, request.hold)
        if found is None:
            return None
        fall = self.region.fall(x, gradient, found.point)
        return Target(found.point, Hold(found.normal, *found.duals), fall)

    def held(self, request: Gradient, gradient: Array) -> Held | None:
        """Return subgradients that may hold a point, by the request's hint; None on a plane."""
        if self.region is None:
            return None
        hold = request.hold
        normal, rows = (None, None) if hold is None else (hold.normal, hold.rows)
        return self.region.held(request.point, gradient, normal, rows)

    def fenchel(self, x: Array, value: float, gradient: Array, hold: Hold) -> Fenchel | None:
        """Return what the conjugates of F and psi say of the gap, given F + psi."""
        if self.region is None or not math.isfinite(value):
            return None
        return self.region.fenchel(x, value - self.region.polyhedral.value(x), gradient, hold)

    def _smallest(self, concordance: float, shift: float, ahead: float) -> float:
        """Return a bound on the eigenvalues of the metric, where a gap may be bounded by it.

        The smallest m is at most <u, M u> / ||u||^2 of u = P_M grad F, the decrement over its length squared.
        So k l is at least R ||u||, or <r, |u|>, in the bound of `tether.run.seen`, which wants it below the
        exponential of what the Hessian's logarithm fell by.
        """
        assert self.metric is not None and self.asked is not None
        if not math.isfinite(concordance) or not self.asked.spectrum:
            return 0.0
        if ahead >= math.exp(-shift):
            return UNSOUGHT
        return self.metric.smallest

    def _images(self, vectors: Array | None) -> Array | None:
        if vectors is None or self.metric is None:
            return None
        return self.metric.images(vectors)


def _is_as_good(mu: float, concordance: float, shift: float, decrement: float, scale: float) -> bool:
    """Say whether a gap bounded with mu is about as small as with the smallest eigenvalue of the Hessian.

    So it is where the bound of `tether.run.seen` is about half the square of the decrement l: k l with
    k = R / sqrt(mu) is small, and so is what rounding hides of l.
    """
    root = math.sqrt(mu)
    near = shift <= 1.0 and concordance * decrement * math.exp(shift) <= EASY * root
    return near and ROUNDING * scale <= EASY * root * decrement


class Centre:
    """Keeps the metric that was asked for last.

    All processes of a job have one; only the leader's has the matrix, and all know which it is.
    """

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._asked: Curvature | None = None
        self._metric: MetricTangent | None = None
        self._new: MetricTangent | None = None  # of the reply under way
        self._block: Array | None = None  # second derivatives of some variables, in place of a metric
        self._new_block: Array | None = None

    def asked(self, problem: Problem, request: Request) -> Request:
        """Return a request as workers hear it: without second derivatives that are here already."""
        if problem.region is not None and request.dual is not None and request.dual.inside:
            request = request._replace(pieces=problem.region.polyhedral.coordinates)
        request = request if request.hold is None else request._replace(hold=None)
        if not isinstance(request, Gradient) or request.metric is None or not request.tangent:
            return request
        metric = None if self._holds(problem, request) else request.metric
        return request._replace(metric=metric, beside=None, hold=None, model=False)

    def projector(self, problem: Problem, request: Request, uploads: Sequence[Upload]) -> Projector:
        """Return what projects the answers to a request; a new metric is made of what workers sent."""
        if not isinstance(request, Gradient) or request.metric is None or not request.tangent:
            return Projector(problem.constraint, region=problem.region)
        self._new, self._new_block = self._metric, self._block
        if not self._holds(problem, request):
            among = request.metric.among is not None
            self._new = None if among else _metric(problem, request.metric, uploads)
            self._new_block = _block(uploads) if among else None
        alone = len(uploads) == 1 and math.isfinite(request.metric.concordance)
        parts = problem.constraint, self._new, request.metric, problem.region, self._new_block
        return Projector(*parts, problem.objective if alone else None)

    def hear(self, problem: Problem, request: Request, reply: Reply) -> None:
        """Remember which metric is here; the one before, if the reply shows that a new one made no sense."""
        if not isinstance(request, Gradient) or not isinstance(reply, Measured):
            return
        if reply.curved is not None or reply.target is not None:
            self._problem, self._asked, self._metric = problem, request.metric, self._new
            self._block = self._new_block

    def know(self, problem: Problem, request: Request, hessian: Array) -> None:
        """Take the second derivatives that a request names from whoever has them."""
        assert isinstance(request, Gradient) and request.metric is not None
        try:
            self._metric = problem.constraint.in_metric(FullMetric(hessian))
        except NotFinite:
            return
        self._problem, self._asked = problem, request.metric

    def _holds(self, problem: Problem, request: Gradient) -> bool:
        known, asked = self._problem, self._asked
        if known is None or asked is None:
            return False
        here = known.objective is problem.objective and known.constraint is problem.constraint
        return here and _alike(asked, request.metric)


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


def _block(uploads: Sequence[Upload]) -> Array | None:
    """Average second derivatives of some variables; None where they are not finite."""
    sent = [upload.curvature for upload in uploads if upload.curvature is not None]
    if len(sent) < len(uploads):
        return None
    block = unpacked(mean(sent))
    return block if np.isfinite(block).all() else None


def _alike(one: Curvature, other: Curvature | None) -> bool:
    if other is None or not same(one.point, other.point):
        return False
    if one[1:-1] != other[1:-1] or (one.among is None) != (other.among is None):
        return False
    return one.among is None or other.among is None or same(one.among, other.among)
