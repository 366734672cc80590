"""What happens beside the data: the local half of every request.

A worker does the work (`work`), hands over the vectors that have to be projected (`report`), and once it
hears the result settles its private memory (`settle`). The functions are pure: memory goes in and comes out.
"""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tether.arrays import Array, Indices, norm, same
from tether.engines.sampling import Pass, Stream, batches
from tether.engines.uploads import Upload, check_form
from tether.objectives.base import Evaluation, Objective, some_of
from tether.objectives.shares import Shares
from tether.objectives.walk import Averaging, Walk
from tether.polyhedral import Pieces
from tether.requests import Curvature, Descend, Dual, Gradient, Request, price_of
from tether.threads import all_blas_threads, all_taken


class Memory(NamedTuple):
    """What a worker keeps to itself between requests; it lives in the complement of the feasible set."""

    duals: Array | None = None  # remembered h, newest last, one a row
    total: Array | None = None  # running weighted sum of iterates
    weight: float = 0.0
    since: int = 0  # the clock at which the sum began
    anchor: Array | None = None  # where `evaluation` was made
    evaluation: Evaluation | None = None  # a cache: rebuilt from the anchor when missing
    curved: Array | None = None  # where second derivatives were last taken
    above: bool = False  # instead of them, those of a model above F
    samples: Pass | None = None  # a cache: the pass over the data that is under way


class Local(NamedTuple):
    """Raw results of local work, before any projection."""

    points: tuple[Array, ...] = ()  # to be projected with Pi
    direction: Array | None = None  # to be projected with P
    evaluation: Evaluation | None = None
    dual: Array | None = None  # the h that took part
    steps: int = 0
    gradients: int = 0
    curvature: Array | None = None  # second derivatives, to be averaged
    slopes: Array | None = None  # that single variables have of their own


class Done(NamedTuple):
    """What a worker has after its part of a request."""

    local: Local
    memory: Memory
    upload: Upload


class Worker(NamedTuple):
    """A worker's place: its number, its data and the seed all workers share."""

    objective: Objective
    seed: int
    number: int = 0


def carry_out(
    worker: Worker, request: Request, memory: Memory, protect: Callable[[Local], Local] = lambda local: local
) -> Done:
    """Do the local part of a request against the clock, and get the upload ready.

    ``protect`` changes what the others may see. Vectors that do not fit the request are refused, numbers that
    overflow are for the loop to judge.
    """
    began = time.perf_counter()
    with np.errstate(over="ignore", invalid="ignore"):
        local, memory = work(worker, request, memory)
        local = protect(local)
    upload = report(local, time.perf_counter() - began)
    check_form(worker.number, request, upload)
    return Done(local, memory, upload)


def work(worker: Worker, request: Request, memory: Memory) -> tuple[Local, Memory]:
    """Do the local part of a request."""
    if worker.objective.uses_blas and not all_taken():
        with all_blas_threads():
            return _worked(worker, request, memory)
    return _worked(worker, request, memory)


def _worked(worker: Worker, request: Request, memory: Memory) -> tuple[Local, Memory]:
    if isinstance(request, Gradient):
        return _measure(worker, request, memory)
    return _walk(worker, request, memory)


def settle(request: Request, local: Local, projected: tuple[Array, ...], memory: Memory) -> Memory:
    """Learn the dual variable from what the projection did to the end of the walk, or to the gradient."""
    if request.dual is None or not (request.dual.seed or isinstance(request, Descend)):
        return memory
    if isinstance(request, Gradient):
        assert local.direction is not None
        h = local.direction - projected[0]
    elif request.dual.own:
        h = request.dual.rate * (request.start - local.points[0])
        h = h if local.dual is None else h + local.dual
        h = h if request.shift is None else h - request.shift
    else:
        moved = projected[0] - local.points[0]
        if request.dual.prox:
            h = moved / metric_of(request.dual)
            h = h + projected[-1] if request.dual.inside else h
        else:
            h = request.dual.rate * moved if local.dual is None else local.dual + request.dual.rate * moved
    past = [] if memory.duals is None else list(memory.duals[:-1] if request.dual.renew else memory.duals)
    return memory._replace(duals=np.stack([*past, h][-request.dual.keep :]))


def report(local: Local, seconds: float = 0.0) -> Upload:
    """Return what leaves the worker."""
    evaluation = local.evaluation
    if evaluation is None:
        return Upload(local.points, None, steps=local.steps, gradients=local.gradients, seconds=seconds)
    gradient = evaluation.gradient
    misfit = gradient if local.dual is None else gradient - local.dual
    misfit = misfit if local.slopes is None else misfit + local.slopes
    square = float(misfit.dot(misfit))
    scale = math.sqrt(square) if misfit is gradient else norm(gradient)
    return Upload(
        (), local.direction, evaluation.value, square, scale, 0, local.gradients, seconds, local.curvature
    )


def without_caches(memory: Memory) -> Memory:
    """Return a memory without what can be computed again."""
    return memory._replace(evaluation=None, samples=None)


def dual_of(dual: Dual | None, memory: Memory) -> Array | None:
    """Return the h that a request stands for; None means zero."""
    if dual is None or memory.duals is None:
        return None
    if dual.weights is None:
        return memory.duals[-1]
    used = dual.weights != 0  # a dual with no weight may belong to a walk that overflowed
    return np.einsum("i,ij->j", dual.weights[used], memory.duals[-len(dual.weights) :][used])


def _measure(worker: Worker, request: Gradient, memory: Memory) -> tuple[Local, Memory]:
    memory, spent = _at_anchor(worker.objective, request.point, memory)
    evaluation = memory.evaluation
    assert evaluation is not None
    direction = evaluation.gradient if request.tangent else None
    h = dual_of(request.dual, memory)
    slopes = None if request.pieces is None else _slopes(request.pieces, evaluation, h, request.point)
    local = Local((), direction, evaluation, h, gradients=spent, slopes=slopes)
    return (local, memory) if request.metric is None else _bend(worker, request.metric, local, memory)


def _slopes(pieces: Pieces, evaluation: Evaluation, h: Array | None, x: Array) -> Array:
    """Return the slopes that hold single variables at x as well as they can, given h."""
    pull = evaluation.gradient if h is None else evaluation.gradient - h
    return pieces.nearest(-pull, x)


def _bend(worker: Worker, asked: Curvature, local: Local, memory: Memory) -> tuple[Local, Memory]:
    """Take second derivatives; a resumed run that asks for them again has paid for them before."""
    objective = worker.objective
    if asked.above:
        objective = objective.majorised or objective
    curvature, cost = _second_derivatives(worker, objective, asked)
    if same(memory.curved, asked.point) and memory.above == asked.above:
        return local._replace(curvature=curvature), memory
    local = local._replace(curvature=curvature, gradients=local.gradients + math.ceil(cost))
    return local, memory._replace(curved=asked.point, above=asked.above)


def _second_derivatives(worker: Worker, objective: Objective, asked: Curvature) -> tuple[Array, float]:
    """Return second derivatives of all samples or some, the same ones always, and what they cost."""
    x, price = asked.point, price_of(asked, objective.second_order)
    if asked.among is not None:
        rng = np.random.default_rng([worker.seed, worker.number])
        batch = some_of(objective.n_samples, asked.share, rng) if asked.share < 1.0 else None
        count = objective.n_samples if batch is None else len(batch)
        return objective.curvature_among(x, asked.among, batch), count * price
    if asked.share < 1.0:
        return objective.curvature_of_some(x, asked.form, asked.share, [worker.seed, worker.number])
    return objective.curvature(x, asked.form), objective.n_samples * price


def _walk(worker: Worker, request: Descend, memory: Memory) -> tuple[Local, Memory]:
    spent = 0
    if request.anchor is not None:
        memory, spent = _at_anchor(worker.objective, request.anchor, memory)
    h = dual_of(request.dual, memory)
    drawn, shares = None, None
    if request.batch_size is not None:
        shares = worker.objective.shares if request.shares else None
        drawn, memory = _draw(worker, request, shares, memory)
    walk = _plan(request, memory, h, drawn)
    if request.from_anchor:
        walk = _first_step_at_anchor(walk)
    walked = (worker.objective if shares is None else shares.walker).descend(walk)
    points: tuple[Array, ...] = (_without_momentum(request, walked.end),)
    if request.dual is not None and request.dual.prox:
        points = (_before_prox(request, request.dual, memory, h, points[0]),)
    if walked.averaging is not None and request.average is not None:
        total, weight = walked.averaging.total, walked.averaging.weight
        memory = memory._replace(total=total, weight=weight, since=request.average.since)
        if request.average.collect:
            points = (*points, total / weight)
    return Local(points, None, None, h, request.steps, spent + walked.gradients), memory


def _before_prox(request: Descend, dual: Dual, memory: Memory, h: Array | None, w: Array) -> Array:
    """Return w + t (s - h), whose prox leaves w where it is if s and h hold it there."""
    force = np.zeros_like(w) if h is None else -h
    if request.pieces is not None and memory.evaluation is not None:
        force = force + _slopes(request.pieces, memory.evaluation, h, w)
    return w + metric_of(dual) * force


def metric_of(dual: Dual) -> Array | float:
    """Return t, in whose metric the end of a walk is projected."""
    return 1.0 / dual.rate if dual.metric is None else dual.metric


def _at_anchor(objective: Objective, anchor: Array, memory: Memory) -> tuple[Memory, int]:
    """Make sure that the full pass at a point is remembered; return what it cost."""
    if same(memory.anchor, anchor):
        if memory.evaluation is None:  # a resumed run: the pass was paid for before
            memory = memory._replace(evaluation=objective.evaluate(anchor))
        return memory, 0
    return memory._replace(anchor=anchor, evaluation=objective.evaluate(anchor)), objective.n_samples


def _draw(worker: Worker, request: Descend, shares: Shares | None, memory: Memory) -> tuple[Indices, Memory]:
    """Draw the samples of a walk, or shares of them; the next walk is likely to be in the same pass."""
    assert request.batch_size is not None
    count = worker.objective.n_samples if shares is None else len(shares.order)
    stream = Stream(worker.seed, worker.number, count, request.replacement)
    drawn, samples = batches(
        stream, clock=request.clock, steps=request.steps, batch_size=request.batch_size, known=memory.samples
    )
    return drawn if shares is None else shares.order[drawn], memory._replace(samples=samples)


def _plan(request: Descend, memory: Memory, h: Array | None, drawn: Indices | None) -> Walk:
    shift, slopes = request.shift, None
    if request.anchor is not None and memory.evaluation is not None:
        slopes = memory.evaluation.slopes
        shift = memory.evaluation.gradient if shift is None else shift
    if h is not None:
        shift = -h if shift is None else shift - h
    if request.pull is not None:
        back = -request.pull.strength * request.pull.center
        shift = back if shift is None else shift + back
    return Walk(
        start=_with_momentum(request),
        steps=request.steps,
        step_size=request.step_size,
        batches=drawn,
        shift=shift,
        anchor=request.anchor,
        slopes=slopes,
        ridge=0.0 if request.pull is None else request.pull.strength,
        decay=request.decay,
        clock=request.clock,
        averaging=_sum_so_far(request, memory),
        pieces=request.pieces,
    )


def _sum_so_far(request: Descend, memory: Memory) -> Averaging | None:
    """Return the running sum; a new one where it begins, also for a worker that was away when it began."""
    average = request.average
    if average is None:
        return None
    begins = average.since == request.clock
    if memory.total is None or begins or average.since != memory.since:
        return Averaging(np.zeros_like(request.start), 0.0, average.convexity, average.after)
    return Averaging(memory.total, memory.weight, average.convexity, average.after)


def _with_momentum(request: Descend) -> Array:
    """Return x = anchor + theta (u - anchor): it steps by eta g when u steps by (eta/theta) g."""
    if request.momentum == 1.0 or request.anchor is None:
        return request.start
    if request.pieces is not None:
        raise ValueError(
            f"momentum must be 1 in a walk with pieces, which act on x and not on u; got {request.momentum}."
        )
    return request.anchor + request.momentum * (request.start - request.anchor)


def _without_momentum(request: Descend, x: Array) -> Array:
    """Return the u that belongs to x."""
    if request.momentum == 1.0 or request.anchor is None:
        return x
    return request.anchor + (x - request.anchor) / request.momentum


def _first_step_at_anchor(walk: Walk) -> Walk:
    """Take the step whose gradient is the anchor's, where the stochastic part vanishes."""
    assert walk.anchor is not None and walk.shift is not None
    x = walk.start - walk.step_size * (walk.shift + walk.ridge * walk.anchor)
    x = x if walk.pieces is None else walk.pieces.prox(x, walk.step_size)
    averaging = walk.averaging
    if averaging is not None:
        averaging = averaging.add(x if averaging.after else walk.anchor, walk.step_size)
    rest = None if walk.batches is None else walk.batches[1:]
    return walk._replace(
        start=x, steps=walk.steps - 1, batches=rest, clock=walk.clock + 1, averaging=averaging
    )
