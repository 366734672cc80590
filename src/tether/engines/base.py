"""Where the work is done."""

from abc import ABC, abstractmethod
from typing import NamedTuple

from tether.constraints.base import Constraint
from tether.conversation import Array, Facts, Reply, Request
from tether.engines.worker import Memory
from tether.objectives.base import Objective


class Problem(NamedTuple):
    """Minimise F subject to a constraint; the seed fixes which samples the steps see."""

    objective: Objective
    constraint: Constraint
    seed: int = 0


class Engine(ABC):
    """Carries requests to the data and projected answers back.

    An engine holds no state of a run: what workers remember goes in and comes out as `Memory`.
    """

    @abstractmethod
    def facts(self, problem: Problem) -> Facts:
        """Return what methods may know of the problem."""

    @abstractmethod
    def project(self, problem: Problem, x: Array) -> Array:
        """Return the common feasible point nearest to x."""

    @abstractmethod
    def exchange(self, problem: Problem, request: Request, memory: Memory) -> tuple[Reply, Memory]:
        """Have a request worked on where the data lives, project what comes back, and reply."""
