"""A point that is known from elsewhere: it is measured, and that is all."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

from tether.arrays import Array
from tether.methods.base import Algorithm, Method
from tether.needs import Need
from tether.problem import Facts
from tether.requests import Gradient, Hold, Reply


class ConfirmedState(NamedTuple):
    """The point, and whether it was measured."""

    x: Array
    stage: int = 0


@final
@dataclass(frozen=True)
class Confirmed(Method):
    """Confirm the point where the run starts.

    Parameters
    ----------
    hold : Hold, optional
        The multipliers that are known with it.
    """

    hold: Hold | None = None

    @property
    def needs(self) -> frozenset[Need]:
        """One gradient."""
        return frozenset({Need.GRADIENTS})

    def prepare(self, facts: Facts) -> "ConfirmedAlgorithm":
        """Nothing is open."""
        return ConfirmedAlgorithm(self.hold)


@final
@dataclass(frozen=True, repr=False)
class ConfirmedAlgorithm(Algorithm[ConfirmedState]):
    """Measures one point."""

    name: ClassVar[str] = "Confirmed"

    hold: Hold | None

    def __repr__(self) -> str:
        return "Confirmed()"

    def start(self, x: Array, clock: int = 0) -> ConfirmedState:
        """Begin with what is known."""
        return ConfirmedState(x)

    def ask(self, state: ConfirmedState) -> Gradient:
        """Ask for the gradient there."""
        return Gradient(state.x, hold=self.hold)

    def tell(self, state: ConfirmedState, reply: Reply) -> ConfirmedState:
        """Count it."""
        return state._replace(stage=state.stage + 1)

    def estimate(self, state: ConfirmedState) -> Array:
        """Return the point."""
        return state.x

    def inspect(self, state: ConfirmedState) -> Gradient:
        """Certify with what is known."""
        return self.ask(state)

    def account(self, state: ConfirmedState) -> str:
        """Say nothing: what found the point is to be named."""
        return ""

    def exhausted(self, state: ConfirmedState) -> bool:
        """Say that one look is all there is."""
        return state.stage > 0
