"""All cores for one pass: kernels release the interpreter's lock, so plain threads do.

Work is cut into as many ranges as there are cores and results are added in a fixed order, so that the number
of cores, not their timing, decides the last bits.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, Protocol, TypeVar

from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")
_here = threading.local()  # of each thread: whether it shares work, how often it asked for one BLAS thread

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Lock(Protocol):
    """What can be held."""

    def acquire(self) -> Any:
        """Take it."""

    def release(self) -> Any:
        """Give it back."""


def release_in_children(lock: Lock) -> None:
    """Let forks wait until nobody holds a lock.

    A child process has only the thread that forked: a lock that another one held would stay locked there.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


#: Held while parts of Tether are imported during a run: a child would wait for an import begun elsewhere.
importing = threading.RLock()
release_in_children(importing)


def ranges(length: int, parts: int = CORES) -> list[tuple[int, int]]:
    """Cut 0..length into that many ranges of about equal size."""
    edges = [length * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


def share(work: Callable[[int, int, int], Result], length: int, parts: int = CORES) -> list[Result]:
    """Do ``work(part, begin, end)`` for every range, each on a core of its own.

    Inside shared work all cores are taken: there the ranges come one after the other, with the same result.
    """
    pieces = ranges(length, parts)
    if len(pieces) == 1 or all_taken():
        return [work(part, *piece) for part, piece in enumerate(pieces)]

    def alone(part: int, begin: int, end: int) -> Result:
        _here.sharing = True
        try:
            return work(part, begin, end)
        finally:
            _here.sharing = False

    jobs = [_pool(os.getpid()).submit(alone, part, *piece) for part, piece in enumerate(pieces[1:], 1)]
    return [alone(0, *pieces[0]), *(job.result() for job in jobs)]


def all_taken() -> bool:
    """Say whether this is inside shared work, where no core is left for more threads."""
    return getattr(_here, "sharing", False)


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    # Threads do not survive a fork: a child process gets a pool of its own.
    return ThreadPoolExecutor(max(1, CORES - 1), thread_name_prefix="tether")


class one_blas_thread:  # noqa: N801, because it is used as a function
    """Keep BLAS on the calling thread.

    Products of a few million numbers lose more by waking other threads than they gain, and lose badly when
    the cores are busy, and its threads go on spinning for a while; ours do not. Changing the number takes
    longer than a small product, so a run does it once.
    """

    def __enter__(self) -> None:
        depth = getattr(_here, "depth", 0)
        if depth == 0:
            _blas.enter()
        _here.depth = depth + 1

    def __exit__(self, *_: object) -> None:
        _here.depth = max(0, _here.depth - 1)
        if _here.depth == 0:
            _blas.leave()


@contextmanager
def all_blas_threads() -> Iterator[None]:
    """Give BLAS its threads back for a while, for the user's own objectives and for large products."""
    depth = getattr(_here, "depth", 0)
    if depth == 0:
        yield
        return
    try:
        _blas.leave()
        _here.depth = 0
        yield
    finally:  # in an order that an interrupt in between does not upset for good
        _here.depth = depth
        _blas.enter()


class _Blas:
    """The BLAS of this process. Its number of threads is one for all, so those who want one are counted."""

    def __init__(self) -> None:
        self._libraries: list[Any] | None = None
        self._before: list[int] | None = None  # what to go back to; None: nobody went down
        self._users = 0
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._lock.acquire, after_in_parent=self._lock.release, after_in_child=self._be_born
            )

    def enter(self) -> None:
        """Go down to one thread if nobody else has."""
        with self._lock:
            self._users += 1
            if self._libraries is None:
                self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
            if self._users == 1:
                if self._before is None:
                    self._before = [library.get_num_threads() for library in self._libraries]
                self._set([1] * len(self._libraries))

    def leave(self) -> None:
        """Go back to the threads there were if nobody else is left."""
        with self._lock:
            self._users = max(0, self._users - 1)
            if self._users == 0 and self._before is not None:
                self._set(self._before)
                self._before = None

    def _be_born(self) -> None:
        """Forget, in a forked child, the users whose threads stayed with the parent.

        The next to leave gives BLAS its threads back: the middle of a fork is no place to start any.
        """
        self._users = 1 if getattr(_here, "depth", 0) else 0
        self._lock.release()

    def _set(self, numbers: list[int]) -> None:
        """Set the threads of libraries that have several."""
        libraries, before = self._libraries or [], self._before or []
        for library, number, most in zip(libraries, numbers, before, strict=True):
            if most > 1:
                library.set_num_threads(number)


_blas = _Blas()
