"""What leaves a worker, and the checks it passes: one place for all engines that have several workers.

A walk sends the points it reached, a gradient its direction, both with a few numbers. Anything else is a
`BadUpload`, which names the worker: at its source, and where it arrives from another machine. Numbers of the
right form that are not finite are a case of their own (`overflow`): of workers in this process they show that
the run diverges, of machines elsewhere perhaps only that one of them is broken.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tether.arrays import Array
from tether.curvature import length_of
from tether.objectives.pool import Member
from tether.requests import Descend, Gradient, Request, price_of


class Upload(NamedTuple):
    """What leaves a worker: the vectors that have to be averaged and a few numbers, never data."""

    points: tuple[Array, ...]  # ends of a walk
    direction: Array | None  # a gradient that is to be projected
    value: float = math.nan  # f_k
    misfit: float = math.nan  # ||grad f_k - h_k||^2
    scale: float = math.nan  # ||grad f_k||
    steps: int = 0
    gradients: int = 0
    seconds: float = 0.0
    curvature: Array | None = None  # second derivatives

    @property
    def vectors(self) -> tuple[Array, ...]:
        """The vectors that have to be averaged."""
        return self.points if self.direction is None else (self.direction,)

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers beside the vectors."""
        return self.value, self.misfit, self.scale, self.steps, self.gradients, self.seconds

    @property
    def size(self) -> int:
        """Bytes of the vectors and numbers."""
        bends = 0 if self.curvature is None else self.curvature.nbytes
        return sum(vector.nbytes for vector in self.vectors) + bends + 8 * 6


class BadUpload(ValueError):  # noqa: N818
    """A worker sent what its request does not allow; the text names the worker."""


def check_form(worker: int, request: Request, upload: Upload) -> None:
    """Refuse vectors of another kind, number or length than asked for, and counts that cannot be."""
    _check_vectors(worker, request, upload)
    _check_curvature(worker, request, upload)
    asked = request.steps if isinstance(request, Descend) else 0
    if upload.steps != asked:
        raise BadUpload(f"worker {worker} reports {upload.steps} steps where {asked} were asked for.")
    for name in ("gradients", "seconds", "misfit", "scale"):
        value = getattr(upload, name)
        if value < 0:
            raise BadUpload(f"worker {worker} reports {name} = {value}, which cannot be below 0.")


def check_cost(worker: int, request: Request, upload: Upload, card: Member) -> None:
    """Refuse a count of component gradients that a worker with such a card cannot have needed."""
    steps, batch = (request.steps, request.batch_size or 0) if isinstance(request, Descend) else (0, 0)
    most: float = 2 * (steps + 1) * max(card.n_samples, batch)  # each sample of a step, at the anchor too
    if isinstance(request, Gradient) and request.metric is not None:
        most += 1 + card.n_samples * price_of(request.metric, card.second_order)
    if upload.gradients > most:
        raise BadUpload(
            f"worker {worker} reports {upload.gradients} component gradients where at most {most} can occur."
        )


def check_losses(request: Request, uploads: Sequence[Upload], workers: Sequence[int]) -> None:
    """Refuse a loss that is not a number at a finite point: a worker's data or its function is broken."""
    if not isinstance(request, Gradient) or not np.isfinite(request.point).all():
        return
    bad = [worker for worker, upload in zip(workers, uploads, strict=True) if math.isnan(upload.value)]
    if bad:
        who = f"worker {bad[0]} reports" if len(bad) == 1 else f"workers {', '.join(map(str, bad))} report"
        raise ValueError(f"{who} a loss that is not a number (NaN); check that worker's data and loss.")


def overflow(request: Request, upload: Upload) -> str:
    """Say which part of an upload is not finite, or too large to be squared; nothing if all is well."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = [float(vector @ vector) for vector in upload.vectors]
    if not all(map(math.isfinite, lengths)):
        return "a vector with entries that are NaN, infinite or too large"
    if upload.curvature is not None and not np.isfinite(upload.curvature).all():
        return "second derivatives that are NaN or infinite"
    if isinstance(request, Gradient):
        for name, words in {"value": "loss", "misfit": "misfit", "scale": "gradient norm"}.items():
            if not math.isfinite(getattr(upload, name)):
                return f"a {words} of {getattr(upload, name)}"
    return ""


def limited(request: Request, upload: Upload, bound: float) -> tuple[Upload, tuple[float, ...]]:
    """Return an upload with no change or gradient longer than a bound, and what its vectors were scaled by.

    Changes are those of a walk from its common start.
    """
    factors = tuple(_factor(vector - origin(request), bound) for vector in upload.vectors)
    vectors = tuple(scaled(request, *pair) for pair in zip(upload.vectors, factors, strict=True))
    if isinstance(request, Descend):
        return upload._replace(points=vectors), factors
    return upload._replace(direction=vectors[0] if vectors else None), factors


def scaled(request: Request, vector: Array, factor: float) -> Array:
    """Return a vector of an upload with its distance from where it began scaled."""
    return vector if factor == 1.0 else origin(request) + factor * (vector - origin(request))


def origin(request: Request) -> Array | float:
    """Return what vectors of an upload are compared with: the start of a walk, or zero for a gradient."""
    return request.start if isinstance(request, Descend) else 0.0


def _factor(change: Array, bound: float) -> float:
    length = float(np.linalg.norm(change))
    return bound / length if length > bound else 1.0


def _check_vectors(worker: int, request: Request, upload: Upload) -> None:
    wanted = _vectors_wanted(request)
    found = len(upload.points), 0 if upload.direction is None else 1
    if found != wanted:
        raise BadUpload(
            f"worker {worker} sent {found[0]} points and {found[1]} gradients where {wanted[0]} and "
            f"{wanted[1]} were asked for; check the program that answers for it."
        )
    dim = len(request.point if isinstance(request, Gradient) else request.start)
    for vector in upload.vectors:
        if vector.shape != (dim,) or vector.dtype.kind != "f":
            raise BadUpload(
                f"worker {worker} sent an array of shape {vector.shape} and type {vector.dtype} where a "
                f"vector of {dim} real numbers is needed; check its objective."
            )


def _vectors_wanted(request: Request) -> tuple[int, int]:
    """Return how many points and how many gradients answer a request."""
    if isinstance(request, Gradient):
        return 0, int(request.tangent)
    return 1 + (request.average is not None and request.average.collect), 0


def _check_curvature(worker: int, request: Request, upload: Upload) -> None:
    asked = curvature_length(request)
    found = 0 if upload.curvature is None else upload.curvature.size
    if found != asked:
        raise BadUpload(
            f"worker {worker} sent {found} second derivatives where {asked} were asked for; "
            "check its objective."
        )


def curvature_length(request: Request) -> int:
    """Return how many second derivatives answer a request."""
    if not isinstance(request, Gradient) or request.metric is None:
        return 0
    dim = len(request.point if request.metric.among is None else request.metric.among)
    return length_of(request.metric.form, dim, request.metric.outputs)


def mean(vectors: Sequence[Array]) -> Array:
    """Return the mean, added up in the order of the workers; of one vector, that vector itself."""
    if len(vectors) == 1:
        return vectors[0]
    total = vectors[0].copy()
    for vector in vectors[1:]:
        total += vector
    total /= len(vectors)
    return total
