"""The processes that solve a problem together: one, or the ranks of an MPI job.

What one of them cannot do, none does: `all_do` raises on every rank what was raised on the first that
failed, so that none waits for another in vain.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from tether.engines.launchers import announced_size
from tether.inputs import InfeasibleError
from tether.io import Share

T = TypeVar("T")


class Ranks(ABC):
    """This process among those that take part."""

    share: Share
    engine: Any  # for `tether.solve`

    @property
    def leads(self) -> bool:
        """Whether this process prints and writes."""
        return self.share.number == 0

    @abstractmethod
    def hear(self, word: Any) -> list[Any]:
        """Return what every process says, in their order; words are what JSON can write."""

    def all_do(self, act: Callable[[], T]) -> T:
        """Return what an act returns here, if it goes well everywhere."""
        found, failure = None, None
        try:
            found = act()
        except (ValueError, TypeError, OSError, ImportError, MemoryError, ArithmeticError) as error:
            failure = error
        failures = self.hear(
            None if failure is None else [isinstance(failure, InfeasibleError), _said(failure)]
        )
        first = next((failed for failed in failures if failed is not None), None)
        if first is not None:
            raise (InfeasibleError if first[0] else ValueError)(first[1]) from failure
        return found  # type: ignore[return-value]


class Alone(Ranks):
    """One process."""

    share, engine = Share(), None

    def hear(self, word: Any) -> list[Any]:
        """Return what this one says."""
        return [word]


class Job(Ranks):
    """A rank of an MPI job."""

    def __init__(self) -> None:
        from mpi4py.MPI import COMM_WORLD

        from tether.engines.mpi import MPI

        self.engine = MPI()
        self._comm = COMM_WORLD
        self.share = Share(COMM_WORLD.rank, COMM_WORLD.size)

    def hear(self, word: Any) -> list[Any]:
        """Return what every rank says, by buffers."""
        from tether.engines.mpi.buffers import gather_everywhere
        from tether.packing import to_bytes

        said = gather_everywhere(self._comm, to_bytes(_Word(json.dumps(word))), _Word)
        return [json.loads(one.text) for one in said]


class _Word(NamedTuple):
    text: str


def processes() -> Ranks:
    """Return this process among the others that a launcher announces."""
    if announced_size()[1] <= 1:
        return Alone()
    try:
        return Job()
    except (ImportError, RuntimeError) as error:
        raise ValueError(str(error)) from error


def _said(error: BaseException) -> str:
    return "there is not enough memory." if isinstance(error, MemoryError) else str(error)
