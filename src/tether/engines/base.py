"""Where the work is done."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from tether.arrays import Array
from tether.engines.centre import Centre
from tether.engines.local_work import Memory, without_caches
from tether.lazy import lazy
from tether.needs import Need
from tether.problem import Facts, Problem
from tether.requests import Reply, Request

T = TypeVar("T")


class WorkerError(RuntimeError):
    """Workers did not do their part; what the run had reached is in its checkpoint."""


class MemoryLost(WorkerError):  # noqa: N818
    """A worker came back without its memory: the method has to start anew from where it got."""


class Engine(ABC):
    """Carries requests to the data and projected answers back.

    What workers remember goes in and comes out as memory, a `Memory` or a tuple of them; as long as all
    workers answer, replies depend on the problem, the request and the memory alone, so that a run goes on
    with a new engine where it was. An engine itself keeps how it reaches its workers, and during a run what
    it needs when something goes wrong: an interrupt not yet told to all, the last answer of a worker.
    """

    #: Seconds between two checkpoints of a run.
    save_every: float = 3.0

    #: What methods cannot ask of it, and why.
    lacks: Mapping[Need, str] = {}

    #: Whether all data is in this process and in one piece, so that shortcuts may look at it.
    local: bool = False

    #: Whether a request may be made whose answer is thrown away, to see how long it takes.
    rehearses: bool = True

    #: Whether this process prints and writes files; of several that run the same conversation one does.
    leads: bool = True

    @lazy
    def centre(self) -> Centre:
        """Where projections are made."""
        return Centre()

    def prepare(self, problem: Problem) -> Problem:
        """Return the problem as this engine's workers see it."""
        return problem

    def together(self) -> AbstractContextManager[None]:
        """Have the processes that run the same conversation hear when this one leaves it, and why."""
        return nullcontext()

    @abstractmethod
    def facts(self, problem: Problem) -> Facts:
        """Return what methods may know of the problem."""

    def project(self, problem: Problem, x: Array) -> Array:
        """Return the common feasible point nearest to x."""
        return problem.constraint.project(x) if problem.region is None else problem.region.project(x)

    def blank(self, problem: Problem) -> Any:
        """Return the memory of workers that have not worked yet."""
        return Memory()

    @abstractmethod
    def exchange(self, problem: Problem, request: Request, memory: Any) -> tuple[Reply, Any]:
        """Have a request worked on where the data lives, project what comes back, and reply."""

    def agree(self, decide: Callable[[], T], like: Any) -> T:
        """Have the leader decide; every process returns what it decided, or raises what it raised.

        A decision is a named tuple of arrays, numbers, strings, None and other such tuples, or one such
        leaf; ``like`` is a value of the same kind or the class, as `tether.packing.from_bytes` needs it.
        """
        return decide()

    def digest(self, problem: Problem) -> str:
        """Return a digest of all workers' data and of the objective's settings."""
        return problem.objective.digest()

    def collect(self, memory: Any) -> Any:
        """Return the memory of all workers for a checkpoint, without what can be computed again."""
        return without_caches(memory)

    def hand_out(self, memory: Any) -> Any:
        """Return from a checkpoint's memory what belongs in this process."""
        return memory
