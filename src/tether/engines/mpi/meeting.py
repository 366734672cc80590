"""Ranks meet before everything they do together, so that a disagreement is an error and not a hang.

A collective of MPI waits for ever for a rank that does not come. So every act begins with a meeting: one
small Allgather in which each rank says what it is about to do, a digest of what must be equal everywhere,
whether its own part went wrong, and a few numbers. All see the same table, so all conclude the same.
"""

import builtins
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from tether.arrays import Array
from tether.engines.mpi.settings import difference, digest, ranks, sketch

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

T = TypeVar("T")

ACTS = {
    "prepare": "begin a run",
    "facts": "compare constants",
    "exchange": "work on a request",
    "lead": "hear from rank 0",
    "collect": "write a checkpoint",
    "leave": "end the run",
}
STOPPABLE = ("prepare", "facts", "exchange", "lead")  # what an interrupt may end
FINE, FAILED, INTERRUPTED = range(3)
NUMBERS = 7  # room for what a rank reports of its work


class Meeting:
    """The place where the ranks of a communicator agree on what comes next."""

    def __init__(self, comm: "Intracomm") -> None:
        self._comm = comm
        self._alone = False  # rank 0 does something that the others wait for
        self._parted = ""  # why the ranks are at different places; they cannot meet any more
        self._interrupt: KeyboardInterrupt | None = None  # held back for the next meeting
        self._stopped = False  # by an interrupt that all know of; those of other ranks may come later

    def open(self) -> None:
        """Begin a new run, whatever became of the last."""
        self._parted = ""

    @contextmanager
    def holding_back_interrupts(self) -> Iterator[None]:
        """Keep the first interrupt (Ctrl-C) for the next meeting, so that all ranks stop together."""
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

    def hold(
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
        if act in STOPPABLE and not self._stopped:
            failure = failure or self._interrupt
        mine = np.zeros(3 + NUMBERS)
        mine[:3] = list(ACTS).index(act), _state(failure), digest(settings)
        mine[3 : 3 + len(numbers)] = numbers
        table = np.empty((self._comm.size, len(mine)))
        self._comm.Allgather(mine, table)
        if table[:, 1].any() or (table[:, :3] != table[0, :3]).any():
            self._settle(act, table, settings, failure)
        return table[:, 3:]

    def from_leader(self, action: Callable[[], T]) -> T:
        """Have rank 0 act; return on all ranks what came of it, or raise on all what it raised."""
        value, packed, failure = None, None, None
        if self._comm.rank == 0:
            self._alone = True
            value, failure = attempt(action)
            self._alone = False
            if failure is None:
                packed, failure = attempt(lambda: pickle.dumps(value))
        packed, kind, text = self._comm.bcast((packed, type(failure).__name__, str(failure)))
        if failure is not None:
            raise failure
        if kind != "NoneType":
            raise _like(kind, text)
        return cast(T, value if self._comm.rank == 0 else pickle.loads(packed))

    def leave(self, failure: BaseException | None) -> None:
        """End the run on this rank; if others go on, they hear of it at their next meeting."""
        if not self._parted:
            self.hold("leave", failure=failure)

    def _check_possible(self) -> None:
        if self._alone:
            raise RuntimeError(
                "rank 0 cannot use the engine while the other ranks wait for it (in a callback)."
            )
        if self._parted:
            raise RuntimeError(self._parted)

    def _settle(
        self, act: str, table: Array, settings: Mapping[str, Any], failure: BaseException | None
    ) -> None:
        """Find out what is wrong, in the same words on all ranks."""
        parted = bool((table[:, 0] != table[0, 0]).any())
        if (table[:, 1] == INTERRUPTED).any():
            self._stopped = True
            self._parted = "another rank was interrupted." if parted else ""
            raise KeyboardInterrupt
        told = "" if failure is None else f"{type(failure).__name__}: {failure}"
        stories: list[tuple[str, str, dict[str, Any]]]
        stories = self._comm.allgather((act, told, sketch(settings)))
        failures = [f"{who}: {text}" for text, who in _grouped([text for _, text, _ in stories]) if text]
        if parted or failures:
            message = "; ".join(failures) or _parting([name for name, _, _ in stories])
            self._parted = message if parted else ""
            raise RuntimeError(message) from failure
        found = difference([parts for _, _, parts in stories])
        if found:
            raise ValueError(found)


def attempt(action: Callable[[], T]) -> tuple[T | None, BaseException | None]:
    """Return what an action returns or raises."""
    try:
        return action(), None
    except BaseException as error:  # the other ranks have to hear of an interrupt too
        return None, error


def _state(failure: BaseException | None) -> int:
    if failure is None:
        return FINE
    return INTERRUPTED if isinstance(failure, KeyboardInterrupt) else FAILED


def _like(kind: str, text: str) -> BaseException:
    """Return an error as rank 0 raised it, where that is one of Python's own."""
    cls = getattr(builtins, kind, None)
    if cls is KeyboardInterrupt:
        return KeyboardInterrupt()
    if cls in (ValueError, TypeError, RuntimeError, OSError, MemoryError, SystemExit):
        return cast(BaseException, cls(text))
    return RuntimeError(f"rank 0: {kind}: {text}")


def _grouped(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return each distinct text with the ranks it came from, in words."""
    return [
        (text, ranks([k for k, other in enumerate(texts) if other == text])) for text in dict.fromkeys(texts)
    ]


def _parting(acts: Sequence[str]) -> str:
    plans = ", ".join(f"{who} to {ACTS[act]}" for act, who in _grouped(acts))
    return f"the ranks are no longer in step ({plans}); give every rank the same arguments of tether.solve."
