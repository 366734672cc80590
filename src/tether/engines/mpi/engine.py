"""A cluster: every rank runs the same conversation beside its own data, and a round is a mean over ranks.

    mpiexec -n 4 python -m mpi4py train.py

There is no second loop: all ranks take the same turns. Rank 0 forms the means in the order of the ranks and
sends them out, so that all hold the same bits.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from tether.arrays import Array, Indices
from tether.engines import local_work
from tether.engines.averaging import check_losses, combine
from tether.engines.base import Engine
from tether.engines.in_process import participants
from tether.engines.local_work import Memory, Upload, Worker
from tether.engines.mpi.launch import check_launch, mpi
from tether.engines.mpi.meeting import Meeting, attempt
from tether.engines.mpi.settings import Sketch, difference, leaves, ranks, sketch_of
from tether.objectives.federation import Federation
from tether.objectives.pool import Card, Pool, shares_kernels, weighted, weights_of
from tether.problem import Facts, Problem
from tether.requests import Arrived, Gradient, Measured, Reply, Request
from tether.splits import iid

__all__ = ["MPI", "shard"]

T = TypeVar("T")


@final
class MPI(Engine):
    """The ranks of an MPI job, each with its own part of the data.

    Every rank calls `tether.solve` with its local objective and the same other arguments, and gets the same
    solution. The result is that of `tether.Federation` with the ranks' objectives as workers. Rank 0 prints,
    calls back and keeps the checkpoint. A loop over `tether.iterate` goes into ``with engine.together():``:
    outside of it the others would wait for ever for a rank that raises between two steps.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm, optional
        The ranks that take part. Default: all of them.
    size : int, optional
        How many ranks there must be. Without it the launcher's own word is compared.

    Examples
    --------
    >>> import numpy as np, tether  # train.py, started by: mpiexec -n 4 python -m mpi4py train.py
    >>> from tether.engines.mpi import MPI, shard
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((90, 3)), rng.standard_normal(90)
    >>> mine = shard(90)
    >>> local = tether.GLM(X[mine], y[mine], "squared", l2=0.1)
    >>> tether.solve(local, method="dp-svrg", tol=1e-8, engine=MPI()).success
    True
    """

    def __init__(self, comm: mpi.Intracomm | None = None, size: int | None = None) -> None:
        self._comm = _checked(comm)
        check_launch(self._comm, size)
        self.leads = self._comm.rank == 0
        self._meeting = Meeting(self._comm)

    def prepare(self, problem: Problem) -> Problem:
        """Weigh the local objective by its share of the samples, if all ranks describe the same problem."""
        self._meeting.open()
        mine, failure = attempt(lambda: _outline(problem))
        self._meeting.hold("prepare", failure=failure)
        outlines = self._comm.allgather(mine)
        _check_outlines(outlines)
        local = problem.objective
        if shares_kernels(sum(outline.n_samples for outline in outlines), local.dim):
            local.compile()
        weight = float(weights_of([outline.mass for outline in outlines])[self._comm.rank])
        return problem._replace(objective=weighted(local, weight))

    def facts(self, problem: Problem) -> Facts:
        """Return the constants of all ranks together."""
        mine, failure = attempt(lambda: Card.of(problem.objective.unweighted))
        self._meeting.hold("facts", failure=failure)
        return Facts.of(Pool(self._comm.allgather(mine)), problem.seed)

    def exchange(self, problem: Problem, request: Request, memory: Memory) -> tuple[Reply, Memory]:
        """Work on this rank, average over the ranks that took part, settle on this rank."""
        rank, size = self._comm.rank, self._comm.size
        names = participants(request, size, problem.seed)
        desk = Worker(problem.objective, problem.seed, rank)
        done, failure = None, None
        if rank in names:
            done, failure = attempt(lambda: local_work.carry_out(desk, request, memory))
        mine = () if done is None else done.upload.vectors
        numbers = () if done is None else (*done.upload[2:], len(mine))
        table = self._meeting.hold("exchange", settings=leaves(request), numbers=numbers, failure=failure)
        vectors = self._gather(mine, table[:, -1].astype(int), problem.objective.dim)
        uploads = [_upload(request, table[name], vectors[name]) for name in names]
        check_losses(request, uploads, names)
        reply = self._spread(request, lambda: combine(problem.constraint, request, uploads, names, size)[0])
        if done is None:
            return reply, memory
        return reply, local_work.settle(request, done.local, _projected(reply), done.memory)

    def lead(self, action: Callable[[], T]) -> T:
        """Have rank 0 act and everybody hear what came of it, an error included."""
        self._meeting.hold("lead")
        return self._meeting.from_leader(action)

    def collect(self, memory: Memory) -> Memory | tuple[Memory, ...]:
        """Return the memory of all ranks on rank 0, and their own on the others."""
        self._meeting.hold("collect")
        mine = local_work.without_caches(memory)
        everybody = self._comm.gather(mine)
        return mine if everybody is None else tuple(everybody)

    def hand_out(self, memory: tuple[Memory, ...]) -> Memory:
        """Return this rank's part of what `collect` returned on rank 0 and `lead` told everybody."""
        return memory[self._comm.rank]

    @contextmanager
    def together(self) -> Iterator[None]:
        """Tell the other ranks when this one leaves a run, and why."""
        self._meeting.open()
        try:
            with self._meeting.holding_back_interrupts():
                yield
        except BaseException as error:
            with suppress(RuntimeError, KeyboardInterrupt):  # raised here is what went wrong here
                self._meeting.leave(error)
            raise
        self._meeting.leave(None)

    def _gather(self, mine: Sequence[Array], rows: Indices, dim: int) -> list[Array]:
        """Bring the vectors of all ranks to rank 0; elsewhere nothing arrives."""
        sent = np.ascontiguousarray(mine, dtype=np.float64)
        if not self.leads:
            if rows.any():
                self._comm.Gatherv(sent, None)
            return [sent[:0]] * len(rows)
        arrived = np.empty((rows.sum(), dim))
        if rows.any():
            self._comm.Gatherv(sent, [arrived, rows * dim])
        return np.split(arrived, np.cumsum(rows)[:-1])

    def _spread(self, request: Request, form: Callable[[], Reply]) -> Reply:
        """Have rank 0 form a reply and everybody hold the same bits of it."""
        arrays: dict[str, Array] = {}

        def without_arrays() -> tuple[Reply, list[str]]:
            reply, found = _stripped(form())
            arrays.update(found)
            return reply, list(found)

        bare, names = self._meeting.from_leader(without_arrays)
        if names:
            dim = len(request.point if isinstance(request, Gradient) else request.start)
            stack = np.stack(list(arrays.values())) if self.leads else np.empty((len(names), dim))
            self._comm.Bcast(stack)
            arrays = dict(zip(names, stack, strict=True))
        if isinstance(request, Gradient):
            arrays["point"] = request.point
        return bare._replace(**arrays)  # type: ignore[arg-type]


def shard(n_samples: int, comm: mpi.Intracomm | None = None, seed: int = 0) -> Indices:
    """Return this rank's share of the samples: dealt out at random, sizes differ by at most one.

    Parameters
    ----------
    n_samples : int
        N, at least the number of ranks.
    comm : mpi4py.MPI.Intracomm, optional
        The ranks that take part. Default: all of them.
    seed : int
        Seed of the shuffle, the same on all ranks.

    Examples
    --------
    >>> X = np.arange(10.0)
    >>> X[shard(len(X))].shape  # of a single rank
    (10,)
    """
    comm = _checked(comm)
    return iid(n_samples, comm.size, seed)[comm.rank]


class _Outline(NamedTuple):
    """What a rank knows of the problem."""

    n_samples: int
    mass: float
    dim: int
    seed: int
    constraint: str
    projection: Sketch  # of one fixed point


def _checked(comm: Any) -> mpi.Intracomm:
    if comm is None:
        return mpi.COMM_WORLD
    if not isinstance(comm, mpi.Intracomm):
        raise TypeError(f"comm must be a communicator such as mpi4py.MPI.COMM_WORLD, got {comm!r}.")
    return comm


def _outline(problem: Problem) -> _Outline:
    objective, constraint = problem.objective, problem.constraint
    if isinstance(objective, Federation):
        raise TypeError("engine MPI() takes each rank's own objective such as GLM(...), not a Federation.")
    probe = np.random.default_rng(0).standard_normal(objective.dim)
    projection = sketch_of(constraint.project(probe))
    return _Outline(
        objective.n_samples,
        objective.mass,
        objective.dim,
        problem.seed,
        type(constraint).__name__,
        projection,
    )


def _check_outlines(outlines: Sequence[_Outline]) -> None:
    """Refuse ranks that do not describe the same problem."""
    empty = [rank for rank, outline in enumerate(outlines) if outline.n_samples < 1]
    if empty:
        raise ValueError(f"{ranks(empty)} got no samples; use fewer ranks or give each some of the data.")
    dim = outlines[0].dim
    for rank, outline in enumerate(outlines):
        if outline.dim != dim:
            raise ValueError(
                f"objectives must have one dimension: rank 0 has {dim} and rank {rank} has {outline.dim}; "
                "give all the same columns, and Multinomial(n_classes) if classes are missing."
            )
    shared = [{**outline._asdict(), "n_samples": None, "mass": None} for outline in outlines]
    found = difference(shared)
    if found:
        raise ValueError(found)


def _upload(request: Request, numbers: Array, vectors: Array) -> Upload:
    """Put a rank's upload together again."""
    value, misfit, scale, steps, gradients, seconds, _ = map(float, numbers)
    numerals = (value, misfit, scale, int(steps), int(gradients), seconds)
    if isinstance(request, Gradient):
        return Upload((), vectors[0] if len(vectors) else None, *numerals)
    return Upload(tuple(vectors), None, *numerals)


def _stripped(reply: Reply) -> tuple[Reply, dict[str, Array]]:
    """Return a reply without its vectors, and those that were formed for it by name."""
    if isinstance(reply, Measured):
        found = {"gradient": reply.gradient, "normal": reply.normal}
        reply = reply._replace(point=np.empty(0), gradient=None, normal=None)
    else:
        found = {"end": reply.end, "average": reply.average}
        reply = reply._replace(end=np.empty(0), average=None)
    return reply, {name: array for name, array in found.items() if array is not None}


def _projected(reply: Reply) -> tuple[Array, ...]:
    """Return the vectors of a reply that workers settle with."""
    both = (reply.end, reply.average) if isinstance(reply, Arrived) else (reply.gradient,)
    return tuple(vector for vector in both if vector is not None)
