"""A round, seen from the middle: what workers sent goes in, the projected mean comes out.

The feasible set is "all workers hold the same x, and x satisfies the constraint", so a projection is the mean
over workers followed by the constraint's own. Which engine carried the vectors does not matter here, nor how
many workers there are: one machine alone is the case of one.
"""

import math
from collections.abc import Sequence

import numpy as np

from tether.arrays import Array, norm
from tether.constraints.base import Constraint
from tether.engines.centre import Projector
from tether.engines.local_work import metric_of
from tether.engines.uploads import Upload, check_losses, mean
from tether.region import Region
from tether.requests import Arrived, Descend, Gradient, Hold, Measured, Reply, Request, Work

SMALL_SHARE = 1e-5  # of a direction: if less than this is left, its projection has lost too many digits


def combine(
    projector: Projector, request: Request, uploads: Sequence[Upload], names: Sequence[int], n_workers: int
) -> tuple[Reply, tuple[Array, ...]]:
    """Return the reply of a federation to a request, and the projected vectors that go back to the workers.

    ``names`` are the numbers of the workers that the uploads came from.
    """
    check_losses(request, uploads, names)
    reply, projected = form_reply(projector, request, uploads)
    report = np.full((n_workers, 4), np.nan)
    report[list(names)] = [(up.value, up.scale, up.seconds, up.size) for up in uploads]
    work = reply.work._replace(
        sent=sum(upload.size for upload in uploads),
        received=sum(vector.nbytes for vector in projected) * len(uploads),
        workers=report,
    )
    if isinstance(reply, Arrived):
        reply = reply._replace(share=len(uploads) / n_workers)
    return reply._replace(work=work), projected


def form_reply(
    projector: Projector, request: Request, uploads: Sequence[Upload]
) -> tuple[Reply, tuple[Array, ...]]:
    """Average and project what was sent; return the reply and the projected vectors.

    A step that all workers take together counts once.
    """
    gradients = sum([up.gradients for up in uploads])
    if isinstance(request, Gradient):
        return _measured(projector, request, uploads, gradients)
    points = [mean(column) for column in zip(*(upload.points for upload in uploads), strict=True)]
    work = Work(max([up.steps for up in uploads]), gradients, rounds=1, projections=len(points))
    if projector.region is not None:
        return _pulled_back(projector.region, request, points, work)
    projected = tuple(projector.constraint.project(point) for point in points)
    average = projected[1] if len(projected) > 1 else None
    return Arrived(projected[0], average, work), projected


def _pulled_back(
    region: Region, request: Descend, points: Sequence[Array], work: Work
) -> tuple[Arrived, tuple[Array, ...]]:
    """Reply to a walk beyond equations: its end goes through the prox, its average is projected.

    A walk that led where no projection can be computed has diverged: its end is not a number.
    """
    try:
        found = region.prox(points[0], _stretch(request), request.hold)
        average = region.project(points[1]) if len(points) > 1 else None
    except ArithmeticError:
        found = region.lost
        average = found.point if len(points) > 1 else None
    hold = Hold(found.normal, *found.duals)
    sent = (found.point,) if average is None else (found.point, average)
    inside = request.dual is not None and request.dual.inside
    return Arrived(found.point, average, work, hold=hold), (*sent, hold.coordinates) if inside else sent


def _stretch(request: Descend) -> Array:
    """Return t, the metric of the prox: that of the dual, or as far as the walk could go."""
    if request.dual is not None and request.dual.prox:
        return np.broadcast_to(metric_of(request.dual), request.start.shape)
    ages = 1.0 + request.decay * (request.clock + np.arange(request.steps))
    return np.full(request.start.shape, request.step_size * float(np.sum(1.0 / ages)))


def tangent_part(constraint: Constraint, direction: Array) -> tuple[Array, float, int]:
    """Project a direction, twice where so little is left that rounding would lead off the constraint.

    Return what is left, its square and how often it was projected.
    """
    tangent = constraint.tangent(direction)
    square = float(tangent.dot(tangent))
    if square > SMALL_SHARE**2 * float(direction.dot(direction)):
        return tangent, square, 1
    tangent = constraint.tangent(tangent)
    return tangent, float(tangent.dot(tangent)), 2


def lower_median(values: Sequence[float]) -> float:
    """Return the middle value, the lower of two: one worker alone cannot choose it."""
    return values[0] if len(values) == 1 else float(np.sort(values)[(len(values) - 1) // 2])


def _measured(
    projector: Projector, request: Gradient, uploads: Sequence[Upload], gradients: int
) -> tuple[Measured, tuple[Array, ...]]:
    """Reply to a gradient: with its projection, or with the certificate of the duals that stand for one."""
    beyond = 0.0 if projector.region is None else projector.region.price(request.point)
    values = [upload.value for upload in uploads]
    value = sum(values) / len(values) + beyond
    size = lower_median([abs(one + beyond) for one in values])
    directions = [upload.direction for upload in uploads if upload.direction is not None]
    if not directions:
        # P takes means over workers, P h = 0: ||P grad F||^2 is at most the mean of ||grad f_k - h_k||^2.
        certificate = float(np.mean([upload.misfit for upload in uploads]))
        scale = lower_median([upload.scale for upload in uploads])
        bends = [upload.curvature for upload in uploads if upload.curvature is not None]
        work = Work(gradients=gradients)
        reply = Measured(request.point, value, certificate, scale, None, None, work, size=size)
        return reply._replace(diagonal=mean(bends) if bends else None), ()
    full = mean(directions)
    held = projector.held(request, full)
    pull = full if held is None else held.residual
    tangent, certificate, vectors = tangent_part(projector.constraint, pull)
    scale = norm(full)
    if not math.isfinite(scale):  # nothing is known of what is left of it
        certificate = math.inf
    work = Work(0, gradients, 1, vectors)
    curved = projector.curved(request, full, tangent)
    normal, target = pull - tangent, projector.target(request, full)
    numbers = (request.point, value, certificate, scale, tangent, normal, work)
    reply = Measured(*numbers, size=size, curved=curved, target=target)
    if held is not None:
        hold = Hold(normal, *held.duals)
        bound = projector.fenchel(request.point, value, full, hold)
        reply = reply._replace(hold=hold, slack=held.slack, fenchel=bound)
    return reply, (tangent,)
