"""Algorithms that let others take turns: whichever runs does the asking and the answering."""

from abc import abstractmethod
from typing import Any, TypeVar

from tether.arrays import Array
from tether.methods.base import Algorithm, Choice
from tether.requests import Gradient, Request

S = TypeVar("S", bound=Any)


class SwitchingAlgorithm(Algorithm[S]):
    """An algorithm of which another one does the work for now; its state holds theirs."""

    name = "Auto"

    @abstractmethod
    def running(self, state: S) -> tuple[Algorithm[Any], Any]:
        """Return the algorithm that runs, and its state."""

    @abstractmethod
    def choice(self, state: S) -> Choice:
        """Return which algorithm runs, and why."""

    def ask(self, state: S) -> Request:
        """Ask what the running algorithm asks."""
        algorithm, inner = self.running(state)
        return algorithm.ask(inner)

    def estimate(self, state: S) -> Array:
        """Return the running algorithm's estimate."""
        algorithm, inner = self.running(state)
        return algorithm.estimate(inner)

    def inspect(self, state: S) -> Gradient:
        """Certify as the running algorithm does."""
        algorithm, inner = self.running(state)
        return algorithm.inspect(inner)

    def recovers(self, state: S) -> bool:
        """Say whether the running algorithm does."""
        algorithm, inner = self.running(state)
        return algorithm.recovers(inner)

    def exhausted(self, state: S) -> bool:
        """Say whether the running algorithm can do no more."""
        algorithm, inner = self.running(state)
        return algorithm.exhausted(inner)

    def account(self, state: S) -> str:
        """Say what the running algorithm says."""
        algorithm, inner = self.running(state)
        return algorithm.account(inner)

    def describe(self, state: S) -> str:
        """Say which algorithm runs and why."""
        chosen = self.choice(state)
        return f"auto chose {chosen.words} ({chosen.reason})"
