"""A round of a federation, seen from the middle: uploads in, the projected mean out.

The feasible set is "all workers hold the same x, and x satisfies the constraint", so a projection is the mean
over workers followed by the constraint's own. Which engine carried the uploads does not matter here.
"""

import math
from collections.abc import Sequence

import numpy as np

from tether.arrays import Array
from tether.constraints.base import Constraint
from tether.engines.local_work import Upload
from tether.requests import Arrived, Gradient, Measured, Reply, Request, Work

LITTLE = 1e-5  # the share of a direction below which its projection has lost too many digits


def tangent_part(constraint: Constraint, direction: Array) -> tuple[Array, int]:
    """Project a direction, twice where so little is left that rounding would lead off the constraint."""
    tangent = constraint.tangent(direction)
    if float(tangent @ tangent) > LITTLE**2 * float(direction @ direction):
        return tangent, 1
    return constraint.tangent(tangent), 2


def combine(
    constraint: Constraint, request: Request, uploads: Sequence[Upload], names: Sequence[int], n_workers: int
) -> tuple[Reply, tuple[Array, ...]]:
    """Return the reply to a request, and the projected vectors that go back to the workers.

    ``names`` are the numbers of the workers that the uploads came from.
    """
    check_losses(request, uploads, names)
    if isinstance(request, Gradient):
        return _measured(constraint, request, uploads)
    return _arrived(constraint, uploads, names, n_workers)


def check_losses(request: Request, uploads: Sequence[Upload], names: Sequence[int]) -> None:
    """Refuse a loss that is not a number at a finite point: a worker's data or its function is broken."""
    if not isinstance(request, Gradient) or not np.isfinite(request.point).all():
        return
    bad = [name for name, upload in zip(names, uploads, strict=True) if math.isnan(upload.value)]
    if bad:
        who = f"worker {bad[0]} reports" if len(bad) == 1 else f"workers {', '.join(map(str, bad))} report"
        raise ValueError(f"{who} a loss that is not a number (NaN); check that worker's data and loss.")


def mean(vectors: Sequence[Array]) -> Array:
    """Return the mean, added up in the order of the workers."""
    total = vectors[0].copy()
    for vector in vectors[1:]:
        total += vector
    total /= len(vectors)
    return total


def _measured(
    constraint: Constraint, request: Gradient, uploads: Sequence[Upload]
) -> tuple[Measured, tuple[Array, ...]]:
    value = float(np.mean([upload.value for upload in uploads]))
    projected: tuple[Array, ...] = ()
    if request.tangent:
        full = mean([upload.direction for upload in uploads if upload.direction is not None])
        tangent, vectors = tangent_part(constraint, full)
        projected, normal = (tangent,), full - tangent
        certificate, scale = float(tangent @ tangent), float(np.linalg.norm(full))
        work = _work(uploads, projected)._replace(rounds=1, projections=vectors)
        return Measured(request.point, value, certificate, scale, tangent, normal, work), projected
    # P takes means over workers and P h = 0, so ||P grad F||^2 is at most the mean of ||grad f_k - h_k||^2.
    certificate = float(np.mean([upload.misfit for upload in uploads]))
    scale = math.sqrt(float(np.mean([upload.scale**2 for upload in uploads])))
    work = _work(uploads, projected)
    return Measured(request.point, value, certificate, scale, None, None, work), projected


def _arrived(
    constraint: Constraint, uploads: Sequence[Upload], names: Sequence[int], n_workers: int
) -> tuple[Arrived, tuple[Array, ...]]:
    columns = zip(*(upload.points for upload in uploads), strict=True)
    projected = tuple(constraint.project(mean(points)) for points in columns)
    average = projected[1] if len(projected) > 1 else None
    work = _work(uploads, projected)._replace(rounds=1, projections=len(projected))
    report = np.full((n_workers, 4), np.nan)
    report[list(names)] = work.workers
    work = work._replace(workers=report)
    return Arrived(projected[0], average, work, share=len(uploads) / n_workers), projected


def _work(uploads: Sequence[Upload], projected: tuple[Array, ...]) -> Work:
    """Add up what workers did; a step that all take together counts once."""
    back = sum(vector.nbytes for vector in projected)
    return Work(
        steps=max(upload.steps for upload in uploads),
        gradients=sum(upload.gradients for upload in uploads),
        sent=sum(upload.size for upload in uploads),
        received=back * len(uploads),
        workers=np.array([(up.value, up.scale, up.seconds, up.size) for up in uploads]),
    )
