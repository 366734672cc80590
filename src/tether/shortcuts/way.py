"""A problem to run instead of the user's, and the way back to the user's variables."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from tether.arrays import Array
from tether.methods import Method
from tether.methods.base import Choice
from tether.problem import Facts, Problem
from tether.requests import Work
from tether.tolerance import Tolerance


@dataclass(frozen=True, kw_only=True)
class Way:
    """The straight way: the problem as it is."""

    problem: Problem  # to run
    original: Problem  # the user's
    method: Method
    asked: Tolerance  # in the user's variables
    start: Array | None = None  # where to start unless the user says it
    note: str = ""  # what was done, for the user to read
    choice: Choice | None = None  # the same, and why
    direct: bool = False  # the start is the solution: a method only confirms it
    ray: Array | None = None  # a direction along which F falls for ever, where that is known
    seconds: float = math.inf  # for which there is time; what is thought to take longer is no shortcut

    @property
    def exact(self) -> bool:
        """Whether the start is the solution, as far as rounding allows."""
        return False

    @property
    def inner(self) -> Tolerance:
        """The accuracy to ask of the run."""
        return self.asked

    @property
    def beforehand(self) -> Tolerance:
        """The accuracy to ask of steps before it."""
        return self.inner

    @property
    def residual(self) -> Callable[[Array], float] | None:
        """How far points of the run are from what the user asks for; None: they are in other variables."""
        return self.original.residual if self.problem is self.original else None

    def lower(self, x: Array) -> Array:
        """Return the variables of the run that belong to x."""
        return x

    def lift(self, x: Array) -> Array:
        """Return the user's variables that belong to those of the run."""
        return x

    def facts(self, facts: Facts) -> Facts:
        """Return what methods may know of the problem to run."""
        return facts

    def convexity(self, facts: Facts) -> float:
        """Return a bound from below on mu among the user's feasible points, given what the run knows."""
        return facts.smoothness.convexity

    def gap(self, x: Array, normal: Array, scale: float) -> float:
        """Return a bound on the gap at a point, from what is known beyond strong convexity; NaN: nothing.

        Given are grad F - P grad F and ||grad F|| there.
        """
        return math.nan

    @property
    def coarseness(self) -> float:
        """How much coarser the user's products are than those of the run."""
        return 1.0

    def hidden(self, x: Array) -> tuple[float, Work]:
        """Return by how much the least F of the run may be above the user's, and what it took to know.

        Given is a point of the run near its minimum.
        """
        return 0.0, Work()
