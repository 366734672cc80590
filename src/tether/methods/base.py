"""What an algorithm is: settings, a state, and three functions between them."""

from abc import ABC, abstractmethod
from typing import Generic, Protocol, Self, TypeVar

from tether.arrays import Array
from tether.problem import Facts
from tether.requests import Gradient, Reply, Request


class State(Protocol):
    """A named tuple of arrays, numbers and other states, so that a checkpoint is a file of arrays."""

    @property
    def stage(self) -> int:
        """Stages finished so far."""
        ...


S = TypeVar("S", bound=State)


class Method(ABC, Generic[S]):
    needs = frozenset()
    takes_shortcuts = False

    @property
    def name(self):
        return type(self).__name__

    def clock(self, state):
        return getattr(state, "clock", 0)

    def remedy(self):
        return "try step_size=1 or a smaller interval"

    """An algorithm as one half of a conversation.

    ``ask`` says what local work comes next, ``tell`` folds the answer into the state. Neither loops, neither
    sees the data, and nothing is kept on the object: settings are frozen, the state is passed around.
    """

    @abstractmethod
    def prepare(self, facts: Facts) -> Self:
        """Return this method with every setting that was left open filled in."""

    @abstractmethod
    def start(self, x: Array) -> S:
        """Return the first state, from a feasible point."""

    def warm(self, state: S) -> S:
        """Return the first state for a starting point that the user thinks is good."""
        return state

    @abstractmethod
    def ask(self, state: S) -> Request:
        """Say what work comes next."""

    @abstractmethod
    def tell(self, state: S, reply: Reply) -> S:
        """Return the state after the reply to `ask`."""

    @abstractmethod
    def estimate(self, state: S) -> Array:
        """Return the feasible point that the method would answer with now."""

    def inspect(self, state: S) -> Gradient:
        """Return the request that certifies the current estimate."""
        return Gradient(self.estimate(state))

    def describe(self, state: S) -> str:
        """Say in a few words what was chosen on the way, if anything was."""
        return ""

    def recovers(self, state: S) -> bool:
        """Say whether the method mends a rise of F by itself, so that the loop need not stop it."""
        return False

    def exhausted(self, state: S) -> bool:
        """Say whether floating-point arithmetic allows no further progress."""
        return False


class StageWise(Method[S]):
    """A method whose stages map a few feasible vectors to better ones, so that stages can be extrapolated."""

    @abstractmethod
    def coordinates(self, state: S) -> tuple[Array, ...] | None:
        """Return the feasible vectors that a stage starts from, leading one first; None inside a stage."""

    @abstractmethod
    def move(self, state: S, coordinates: tuple[Array, ...], weights: Array | None) -> S:
        """Return the state with a stage's start replaced.

        ``weights`` tells methods with private duals which mix of their last ones belongs to the new start.
        """

    def starts_anew(self, state: S) -> bool:
        """Say whether the stage about to run has nothing to do with the stages before it."""
        return False

    def remember(self, memory: int) -> Self:
        """Return this method with room for the duals of that many stages; most keep none."""
        return self

    @abstractmethod
    def shorten(self, state: S, factor: float) -> S:
        """Return the state with shorter walks, or with its step size multiplied by a factor."""
