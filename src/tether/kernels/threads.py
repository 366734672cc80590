"""All cores for one pass: kernels release the interpreter's lock, so plain threads do.

Work is cut into as many ranges as there are cores and results are added in a fixed order, so that the number
of cores, not their timing, decides the last bits.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ranges(length: int, parts: int = CORES) -> list[tuple[int, int]]:
    """Cut 0..length into that many ranges of about equal size."""
    edges = [length * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


def share(work: Callable[[int, int, int], Result], length: int, parts: int = CORES) -> list[Result]:
    """Do ``work(part, begin, end)`` for every range, each on a core of its own."""
    pieces = ranges(length, parts)
    if len(pieces) == 1:
        return [work(0, *pieces[0])]
    jobs = [_pool(os.getpid()).submit(work, part, *piece) for part, piece in enumerate(pieces[1:], 1)]
    return [work(0, *pieces[0]), *(job.result() for job in jobs)]


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    # Threads do not survive a fork: a child process gets a pool of its own.
    return ThreadPoolExecutor(max(1, CORES - 1), thread_name_prefix="tether")


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep BLAS on the calling thread: small products lose more by waking others than they gain."""
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
