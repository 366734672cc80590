"""Ranks go in lockstep: they check in before everything they do together, so that none waits in vain.

A collective of MPI waits for ever for a rank that does not come. So every act begins with a check-in: one
small Allgather in which each rank says what it is about to do, a digest of what must be equal everywhere,
whether its own part went wrong, and a few numbers. All see the same table, so all conclude the same, and a
disagreement is an error and not a hang.
"""

import builtins
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import IntEnum
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from tether.arrays import Array
from tether.engines.mpi.buffers import broadcast, gather_everywhere
from tether.engines.mpi.settings import VectorSummary, difference, digest, ranks_in_words, summary
from tether.packing import from_bytes, to_bytes

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

T = TypeVar("T")

ACTS = {
    "prepare": "begin a run",
    "facts": "compare constants",
    "digest": "identify the run",
    "exchange": "work on a request",
    "agree": "hear what rank 0 decides",
    "collect": "write a checkpoint",
    "leave": "end the run",
}
INTERRUPTIBLE = ("prepare", "facts", "digest", "exchange", "agree")
REPORTED_NUMBERS = 7  # room for what a rank reports of its work


class Outcome(IntEnum):
    """How a rank's own part went."""

    DONE = 0
    FAILED = 1
    INTERRUPTED = 2

    @classmethod
    def of(cls, failure: BaseException | None) -> "Outcome":
        """Return the outcome that an error means."""
        if failure is None:
            return cls.DONE
        return cls.INTERRUPTED if isinstance(failure, KeyboardInterrupt) else cls.FAILED


class Account(NamedTuple):
    """What a rank tells the others when a check-in went wrong."""

    act: str
    failure: str
    names: tuple[str, ...]  # of its settings
    settings: tuple[VectorSummary | float | int | str | None, ...]


class Raised(NamedTuple):
    """An error of rank 0 on its way to the others."""

    kind: str
    text: str

    def error(self) -> BaseException:
        """Return the error if it is one of Python's own, else a RuntimeError that names it."""
        cls = getattr(builtins, self.kind, None)
        if isinstance(cls, type) and issubclass(cls, BaseException):
            with suppress(TypeError):  # some take more than a text
                error = cls(self.text)
                if str(error) == self.text:
                    return error
        return RuntimeError(f"rank 0: {self.kind}: {self.text}")


class Lockstep:
    """The ranks of a communicator, which agree on what comes next before they do it."""

    def __init__(self, comm: "Intracomm") -> None:
        self._comm = comm
        self._alone = False  # rank 0 does something that the others wait for
        self._parted = ""  # why the ranks are at different places; they cannot check in any more
        self._interrupt: KeyboardInterrupt | None = None  # held back for the next check-in
        self._stopped = False  # by an interrupt that all know of; those of other ranks may come later

    def begin(self) -> None:
        """Begin a new run, whatever became of the last."""
        self._parted = ""

    @contextmanager
    def holding_back_interrupts(self) -> Iterator[None]:
        """Keep the first interrupt (Ctrl-C) for the next check-in, so that all ranks stop together."""
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(before):
            yield
            return

        def hold_back(number: int, frame: FrameType | None) -> None:
            self._interrupt = KeyboardInterrupt()
            signal.signal(signal.SIGINT, before)  # a second one acts at once

        self._interrupt, self._stopped = None, False
        signal.signal(signal.SIGINT, hold_back)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def check_in(
        self,
        act: str,
        *,
        settings: Mapping[str, Any] | None = None,
        numbers: Sequence[float] = (),
        failure: BaseException | None = None,
    ) -> Array:
        """Return the numbers of all ranks, a row a rank; raise on all if one has failed or differs."""
        self._check_possible()
        settings = settings or {}
        if act in INTERRUPTIBLE and not self._stopped:
            failure = failure or self._interrupt
        mine = np.zeros(3 + REPORTED_NUMBERS)
        mine[:3] = list(ACTS).index(act), Outcome.of(failure), digest(settings)
        mine[3 : 3 + len(numbers)] = numbers
        table = np.empty((self._comm.size, len(mine)))
        self._comm.Allgather(mine, table)
        if table[:, 1].any() or (table[:, :3] != table[0, :3]).any():
            self._raise_what_is_wrong(act, table, settings, failure)
        return table[:, 3:]

    def hear_leader(self, decide: Callable[[], T], like: Any) -> T:
        """Have rank 0 decide; return on all ranks what it decided, or raise on all what it raised."""
        packed, failure = None, None
        if self._comm.rank == 0:
            self._alone = True
            packed, failure = attempt(lambda: to_bytes(decide()))
            self._alone = False
            if failure is not None:
                packed = to_bytes(Raised(type(failure).__name__, str(failure)))
        packed, failed = broadcast(self._comm, packed, mark=failure is not None)
        if failed:
            error = from_bytes(packed, Raised).error()
            if failure is not None and type(error) is type(failure):
                raise failure
            raise error from failure
        value: T = from_bytes(packed, like)
        return value

    def leave(self, failure: BaseException | None) -> None:
        """End the run on this rank; if others go on, they hear of it at their next check-in."""
        if not self._parted:
            self.check_in("leave", failure=failure)

    def _check_possible(self) -> None:
        if self._alone:
            raise RuntimeError(
                "rank 0 cannot use the engine while the other ranks wait for it (in a callback)."
            )
        if self._parted:
            raise RuntimeError(self._parted)

    def _raise_what_is_wrong(
        self, act: str, table: Array, settings: Mapping[str, Any], failure: BaseException | None
    ) -> None:
        """Find out what is wrong and raise it in the same words on all ranks; rounding is not wrong."""
        parted = bool((table[:, 0] != table[0, 0]).any())
        if (table[:, 1] == Outcome.INTERRUPTED).any():
            self._stopped = True
            self._parted = "another rank was interrupted." if parted else ""
            raise KeyboardInterrupt
        told = "" if failure is None else f"{type(failure).__name__}: {failure}"
        parts = summary(settings)
        mine = Account(act, told, tuple(parts), tuple(parts.values()))
        accounts: tuple[Account, ...] = gather_everywhere(self._comm, to_bytes(mine), Account)
        failures = [f"{who}: {text}" for text, who in _grouped([one.failure for one in accounts]) if text]
        if parted or failures:
            message = "; ".join(failures) or _parting([one.act for one in accounts])
            self._parted = message if parted else ""
            raise RuntimeError(message) from failure
        found = difference([dict(zip(one.names, one.settings, strict=True)) for one in accounts])
        if found:
            raise ValueError(found)


def attempt(action: Callable[[], T]) -> tuple[T | None, BaseException | None]:
    """Return what an action returns or raises."""
    try:
        return action(), None
    except BaseException as error:  # the other ranks have to hear of an interrupt too
        return None, error


def _grouped(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return each distinct text with the ranks it came from, in words."""
    places = {text: [k for k, other in enumerate(texts) if other == text] for text in texts}
    return [(text, ranks_in_words(numbers)) for text, numbers in places.items()]


def _parting(acts: Sequence[str]) -> str:
    plans = ", ".join(f"{who} to {ACTS[act]}" for act, who in _grouped(acts))
    return f"the ranks are no longer in step ({plans}); give every rank the same arguments of tether.solve."
