"""Where the work is done."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from tether.arrays import Array
from tether.engines.local_work import Memory, without_caches
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

    What a run depends on goes in and comes out: what workers remember is the memory of `exchange`. An engine
    itself keeps connections, and otherwise only what a run can do without.
    """

    #: Seconds between two checkpoints of a run.
    save_every: float = 3.0

    #: What methods cannot ask of it, and why.
    lacks: Mapping[Need, str] = {}

    #: Whether all data is in this process and in one piece, so that shortcuts may look at it.
    local: bool = False

    #: Whether this process prints and writes files; of several that run the same conversation one does.
    leads: bool = True

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
        return problem.constraint.project(x)

    def blank(self, problem: Problem) -> Any:
        """Return the memory of workers that have not worked yet."""
        return Memory()

    @abstractmethod
    def exchange(self, problem: Problem, request: Request, memory: Any) -> tuple[Reply, Any]:
        """Have a request worked on where the data lives, project what comes back, and reply."""

    def agree(self, decide: Callable[[], T], like: T | type[T]) -> T:
        """Have the leader decide and everybody hear it, an error included.

        What is decided is a named tuple; ``like`` is one of its kind, or the kind itself.
        """
        return decide()

    def digest(self, problem: Problem) -> str:
        """Return a digest of all data and of the objective's settings."""
        return problem.objective.digest()

    def collect(self, memory: Any) -> Any:
        """Return the memory of all workers for a checkpoint, without what can be computed again."""
        return without_caches(memory)

    def hand_out(self, memory: Any) -> Any:
        """Return from a checkpoint's memory what belongs in this process."""
        return memory
