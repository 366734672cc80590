"""What an algorithm is: open settings, which a problem's constants turn into half of a conversation.

A `Method` is what users write; some of its settings may be open. `Method.prepare` fills them and returns an
`Algorithm`, which talks to the loop: ``ask`` says what local work comes next, ``tell`` folds the answer into
the state.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

from tether.arrays import Array
from tether.needs import Need
from tether.problem import Facts
from tether.requests import Gradient, Reply, Request


class State(Protocol):
    """A named tuple of arrays, numbers and other states, so that a checkpoint is a file of arrays."""

    @property
    def stage(self) -> int:
        """Stages finished so far."""
        ...


S = TypeVar("S", bound=State)


class Choice(NamedTuple):
    """What was chosen to run, and what spoke for it."""

    words: str
    reason: str


class Method(ABC):
    """The settings of an algorithm as a frozen dataclass; None stands for a setting that was left open."""

    #: Whether the loop may look for a way around itself before it starts the method.
    takes_shortcuts: ClassVar[bool] = False

    @property
    def needs(self) -> frozenset[Need]:
        """What the method cannot do without."""
        return frozenset({Need.PLANE, Need.GRADIENTS})

    @abstractmethod
    def prepare(self, facts: Facts) -> "Algorithm[Any]":
        """Return the algorithm for a problem, with every setting that was left open filled in."""

    def choice(self, facts: Facts) -> Choice | None:
        """Return which algorithm `prepare` chooses for a problem; None where there is nothing to choose."""
        return None


class StageWise(Method):
    """A method whose stages map a few feasible vectors to better ones, so that stages can be extrapolated."""

    @abstractmethod
    def prepare(self, facts: Facts) -> "StageWiseAlgorithm[Any]":
        """Return the algorithm for a problem."""


@dataclass(frozen=True, repr=False)
class Algorithm(ABC, Generic[S]):
    """An algorithm as one half of a conversation.

    It neither loops nor sees the data, and nothing is kept on the object: settings are frozen, the state is
    passed around.
    """

    #: The name of the method that it was prepared from.
    name: ClassVar[str]

    #: What one of its stages is called.
    unit: ClassVar[str] = "stage"

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in _shown_settings(type(self)))
        return f"{self.name}({', '.join(shown)})"

    @property
    def title(self) -> str:
        """The name as the progress line shows it."""
        return self.name

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return self.title

    def account(self, state: S) -> str:
        """Say what ran, and how long."""
        return f"{self.words}, {state.stage:,} {self.unit}{'' if state.stage == 1 else 's'}"

    def choice(self, state: S) -> Choice | None:
        """Return what was chosen to run next, by an algorithm that chooses on the way; None: it does not."""
        return None

    @abstractmethod
    def start(self, x: Array, clock: int = 0) -> S:
        """Return the first state, from a feasible point; ``clock`` steps were drawn in the run before."""

    def warm(self, state: S) -> S:
        """Return the first state for a starting point that the user thinks is good."""
        return state

    @abstractmethod
    def ask(self, state: S) -> Request:
        """Say what work comes next."""

    @abstractmethod
    def tell(self, state: S, reply: Reply) -> S:
        """Return the state after the reply to `ask`.

        The last walk before a budget ends a run may have taken fewer steps than it was asked for:
        ``reply.work.steps`` counts. What follows from it is answered with but not kept in checkpoints.
        """

    @abstractmethod
    def estimate(self, state: S) -> Array:
        """Return the feasible point that the algorithm would answer with now."""

    def inspect(self, state: S) -> Gradient:
        """Return the request that certifies the current estimate."""
        return Gradient(self.estimate(state))

    def describe(self, state: S) -> str:
        """Say in a few words what was chosen on the way, if anything was."""
        return ""

    def recovers(self, state: S) -> bool:
        """Say whether a rise of F is mended here, so that the loop need not stop the run."""
        return False

    def settled(self, state: S) -> bool:
        """Say whether a stage that does not move the estimate shows that none will."""
        return True

    def exhausted(self, state: S) -> bool:
        """Say whether floating-point arithmetic allows no further progress."""
        return False

    def clock(self, state: S) -> int:
        """Return the steps drawn so far, from which the samples of the next ones follow; 0: none are."""
        return 0

    def remedy(self) -> str:
        """Say what to change after a divergence."""
        return "start from another x0 or rescale the data"


@cache
def _shown_settings(kind: type[Algorithm[Any]]) -> tuple[str, ...]:
    """Return the names of the settings that are worth to be read."""
    return tuple(setting.name for setting in fields(kind) if setting.repr)


class StageWiseAlgorithm(Algorithm[S]):
    """An algorithm whose stages can be extrapolated."""

    @abstractmethod
    def coordinates(self, state: S) -> tuple[Array, ...] | None:
        """Return the feasible vectors that a stage starts from, leading one first; None inside a stage."""

    @abstractmethod
    def move(self, state: S, coordinates: tuple[Array, ...], weights: Array | None) -> S:
        """Return the state with a stage's start replaced.

        ``weights`` tells algorithms with private duals which mix of their last ones belongs to the new start.
        """

    def starts_anew(self, state: S) -> bool:
        """Say whether the stage about to run has nothing to do with the stages before it."""
        return False

    def crosses(self, state: S) -> bool:
        """Say whether the last stage went to another face of the region, which no stage before knows."""
        return False

    def admitted(self, mix: Array, images: Array) -> Array | None:
        """Return a mix of images, one vector a row, as a stage may begin with it; None: with none of it."""
        return mix

    def remembering(self, memory: int) -> Self:
        """Return this algorithm with room for the duals of that many stages; most keep none."""
        return self

    @abstractmethod
    def shorten(self, state: S, factor: float) -> S:
        """Return the state with shorter walks, or with its step size multiplied by a factor."""
