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
from tether.digest import digest_of
from tether.engines import local_work
from tether.engines.averaging import combine
from tether.engines.base import Engine
from tether.engines.in_process import participants
from tether.engines.local_work import Done, Memory, Upload, Worker
from tether.engines.mpi.buffers import gather, gather_everywhere
from tether.engines.mpi.launch import check_launch, mpi
from tether.engines.mpi.lockstep import Lockstep, attempt
from tether.engines.mpi.settings import VectorSummary, difference, parts_of, ranks_in_words
from tether.engines.uploads import curvature_length
from tether.names import common_names, read_names, written
from tether.objectives.federation import Federation
from tether.objectives.pool import Card, Pool, check_kinds, shares_kernels, weighted, weights_of
from tether.packing import Bytes, to_bytes
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
        self._lockstep = Lockstep(self._comm)

    def prepare(self, problem: Problem) -> Problem:
        """Weigh the local objective by its share of the samples, if all ranks describe the same problem."""
        self._lockstep.begin()
        described: tuple[_Description, ...]
        described = self._compare("prepare", lambda: _Description.of(problem), _Description)
        _check_same_problem(described)
        local = problem.objective
        if shares_kernels(sum(one.n_samples for one in described), local.dim):
            local.compile()
        weight = float(weights_of([one.mass for one in described])[self._comm.rank])
        return problem._replace(objective=weighted(local, weight))

    def facts(self, problem: Problem) -> Facts:
        """Return the constants of all ranks together."""
        cards = self._compare("facts", lambda: Card.of(problem.objective.unweighted), Card)
        return Facts.of(Pool(cards), problem.seed)

    def exchange(self, problem: Problem, request: Request, memory: Memory) -> tuple[Reply, Memory]:
        """Work on this rank, average over the ranks that took part, settle on this rank."""
        rank, size = self._comm.rank, self._comm.size
        asked, names = self.centre.asked(problem, request), participants(request, size, problem.seed)
        done, failure = None, None
        if rank in names:
            worker = Worker(problem.objective, problem.seed, rank)
            done, failure = attempt(lambda: local_work.carry_out(worker, asked, memory))
        mine = () if done is None else done.upload.vectors
        numbers = () if done is None else (*done.upload.numbers, len(mine))
        table = self._lockstep.check_in(
            "exchange", settings=parts_of(request), numbers=numbers, failure=failure
        )
        vectors = self._gather(mine, table[:, -1].astype(int), problem.objective.dim)
        bends = self._gather_curvature(asked, done)

        def form() -> Reply:
            uploads = [_upload(request, table[name], vectors[name], bends[name]) for name in names]
            projector = self.centre.projector(problem, request, uploads)
            return combine(projector, request, uploads, names, size)[0]

        reply = self._hear_reply(request, form)
        self.centre.hear(problem, request, reply)
        if done is None:
            return reply, memory
        return reply, local_work.settle(request, done.local, _projected(request, reply), done.memory)

    def agree(self, decide: Callable[[], T], like: Any) -> T:
        """Have rank 0 decide; all ranks return what it decided, or raise what it raised."""
        self._lockstep.check_in("agree")
        return self._lockstep.hear_leader(decide, like)

    def digest(self, problem: Problem) -> str:
        """Return a digest of the data of all ranks."""
        return digest_of(*self._compare("digest", lambda: problem.objective.unweighted.digest(), str))

    def collect(self, memory: Memory) -> Memory | tuple[Memory, ...]:
        """Return the memory of all ranks on rank 0, and their own on the others."""
        mine = local_work.without_caches(memory)
        packed = self._packed("collect", lambda: mine)
        everybody = gather(self._comm, packed, Memory)
        return mine if everybody is None else everybody

    def hand_out(self, memory: tuple[Memory, ...]) -> Memory:
        """Return this rank's part of what `collect` returned on rank 0 and `agree` told everybody."""
        return memory[self._comm.rank]

    @contextmanager
    def together(self) -> Iterator[None]:
        """Tell the other ranks when this one leaves a run, and why."""
        self._lockstep.begin()
        try:
            with self._lockstep.holding_back_interrupts():
                yield
        except BaseException as error:
            with suppress(RuntimeError, KeyboardInterrupt):  # raised here is what went wrong here
                self._lockstep.leave(error)
            raise
        self._lockstep.leave(None)

    def _compare(self, act: str, describe: Callable[[], Any], kind: Any) -> tuple[Any, ...]:
        """Return what all ranks say of themselves."""
        return gather_everywhere(self._comm, self._packed(act, describe), kind)

    def _packed(self, act: str, describe: Callable[[], Any]) -> Bytes:
        """Check in with something packed; if that failed on one rank, raise on all."""
        packed, failure = attempt(lambda: to_bytes(describe()))
        self._lockstep.check_in(act, failure=failure)
        assert packed is not None
        return packed

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

    def _gather_curvature(self, asked: Request, done: Done | None) -> list[Array | None]:
        """Bring the second derivatives of all ranks to rank 0, where they were asked for."""
        size, length = self._comm.size, curvature_length(asked)
        if not length:
            return [None] * size
        assert done is not None and done.upload.curvature is not None
        rows = np.full(size, 1)
        return [
            block[0] if len(block) else None for block in self._gather([done.upload.curvature], rows, length)
        ]

    def _hear_reply(self, request: Request, form: Callable[[], Reply]) -> Reply:
        """Have rank 0 form a reply and everybody hold the same bits of it; all know the request's point."""

        def without_point() -> Reply:
            reply = form()
            return reply._replace(point=np.empty(0)) if isinstance(reply, Measured) else reply

        kind = Measured if isinstance(request, Gradient) else Arrived
        reply = self._lockstep.hear_leader(without_point, kind)
        if isinstance(reply, Measured) and isinstance(request, Gradient):
            return reply._replace(point=request.point)
        return reply


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


class _Description(NamedTuple):
    """What a rank says of its problem."""

    n_samples: int
    mass: float
    dim: int
    kind_names: tuple[str, ...]  # of what objectives must have in common
    kind_values: tuple[str | float | int | bool, ...]
    names: str  # of the variables, as `tether.names.written` writes them
    seed: int
    constraint: str
    projection: VectorSummary  # of one fixed point

    @classmethod
    def of(cls, problem: Problem) -> "_Description":
        """Describe a problem; refuse one that is not a rank's own."""
        objective, constraint = problem.objective, problem.constraint
        if isinstance(objective, Federation):
            raise TypeError(
                "engine MPI() takes each rank's own objective such as GLM(...), not a Federation."
            )
        kind = objective.kind()
        probe = np.random.default_rng(0).standard_normal(objective.dim)
        return cls(
            n_samples=objective.n_samples,
            mass=objective.mass,
            dim=objective.dim,
            kind_names=tuple(kind),
            kind_values=tuple(kind.values()),
            names=written(objective.names),
            seed=problem.seed,
            constraint=type(constraint).__name__,
            projection=VectorSummary.of(_pulled(problem, probe)),
        )


def _pulled(problem: Problem, x: Array) -> Array:
    """Return what the problem makes of a point."""
    if problem.region is None:
        return problem.constraint.project(x)
    return problem.region.prox(x, np.ones(len(x))).point


def _checked(comm: Any) -> mpi.Intracomm:
    if comm is None:
        return mpi.COMM_WORLD
    if not isinstance(comm, mpi.Intracomm):
        raise TypeError(f"comm must be a communicator such as mpi4py.MPI.COMM_WORLD, got {comm!r}.")
    return comm


def _check_same_problem(described: Sequence[_Description]) -> None:
    """Refuse ranks that do not describe the same problem."""
    empty = [rank for rank, one in enumerate(described) if one.n_samples < 1]
    if empty:
        who = ranks_in_words(empty)
        raise ValueError(f"{who} got no samples; use fewer ranks or give each some of the data.")
    kinds = [dict(zip(one.kind_names, one.kind_values, strict=True)) for one in described]
    check_kinds(kinds, worker="rank")
    common_names([read_names(one.names) for one in described], worker="rank")
    dim = described[0].dim
    for rank, one in enumerate(described):
        if one.dim != dim:
            raise ValueError(
                f"objectives must have one dimension: rank 0 has {dim} and rank {rank} has {one.dim}; "
                "give all the same columns, and n_classes if classes are missing."
            )
    found = difference(
        [{**one._asdict(), "n_samples": None, "mass": None, "names": None} for one in described]
    )
    if found:
        raise ValueError(found)


def _upload(request: Request, numbers: Array, vectors: Array, curvature: Array | None) -> Upload:
    """Put a rank's upload together again."""
    value, misfit, scale, steps, gradients, seconds, _ = map(float, numbers)
    numerals = (value, misfit, scale, int(steps), int(gradients), seconds)
    if isinstance(request, Gradient):
        return Upload((), vectors[0] if len(vectors) else None, *numerals, curvature)
    return Upload(tuple(vectors), None, *numerals)


def _projected(request: Request, reply: Reply) -> tuple[Array, ...]:
    """Return the vectors of a reply that workers settle with."""
    vectors = (reply.end, reply.average) if isinstance(reply, Arrived) else (reply.gradient,)
    inside = request.dual is not None and request.dual.inside and reply.hold is not None
    slopes = reply.hold.coordinates if inside and reply.hold is not None else None
    return tuple(vector for vector in (*vectors, slopes) if vector is not None)
