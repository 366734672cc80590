"""Projection times: every E steps, or any increasing set, the end of a stage always included."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

Interval = int | Sequence[int]


def as_interval(interval: Any) -> int | tuple[int, ...]:
    """Return a number of steps as an int and a set of projection times as a tuple; refuse all else."""
    if isinstance(interval, Integral) and not isinstance(interval, bool):
        if interval < 1:
            raise ValueError(f"interval must be at least 1, got {interval}: 1 projects after every step.")
        return int(interval)
    try:
        times = tuple(interval)
        valid = all(isinstance(time, Integral) for time in times) and times[0] >= 1
        valid = valid and all(earlier < later for earlier, later in pairwise(times))
    except (TypeError, IndexError):
        valid = False
    if not valid:
        raise ValueError(
            f"interval must be a whole number or increasing step numbers from 1 on, got {interval!r}."
        )
    return tuple(int(time) for time in times)


def next_projection(interval: Interval, step: int, end: int) -> int:
    """Return the first projection time after ``step`` in a stage of ``end`` steps."""
    if isinstance(interval, int):
        return min((step // interval + 1) * interval, end)
    position = bisect_right(interval, step)
    return min(interval[position], end) if position < len(interval) else end


def largest_gap(interval: Interval, end: int) -> int:
    """Return E, the longest run of steps without a projection."""
    if isinstance(interval, int):
        return min(interval, end)
    times = [0, *(time for time in interval if time < end), end]
    return max(later - earlier for earlier, later in pairwise(times))
