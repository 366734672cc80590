"""Projection times: every E steps, or any increasing set, the end of a stage always included."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeGuard

import numpy as np

Interval = int | Sequence[int]


def is_number(interval: Interval) -> TypeGuard[int]:
    """Tell a number of steps from a set of projection times."""
    return isinstance(interval, int | np.integer)


def check_interval(interval: Interval | None) -> None:
    """Refuse intervals below one and sets of times that do not increase."""
    if interval is None:
        return
    if is_number(interval):
        if interval < 1:
            raise ValueError(f"interval must be at least 1, got {interval}: 1 projects after every step.")
        return
    times = list(interval)
    increasing = all(earlier < later for earlier, later in pairwise(times))
    if not times or times[0] < 1 or not increasing:
        raise ValueError(
            f"interval must be a whole number or increasing step numbers from 1 on, got {times[:6]}."
        )


def next_projection(interval: Interval, step: int, end: int) -> int:
    """Return the first projection time after ``step`` in a stage of ``end`` steps."""
    if is_number(interval):
        return min((step // interval + 1) * interval, end)
    position = bisect_right(interval, step)
    return min(interval[position], end) if position < len(interval) else end


def largest_gap(interval: Interval, end: int) -> int:
    """Return E, the longest run of steps without a projection."""
    if is_number(interval):
        return min(interval, end)
    times = [0, *(time for time in interval if time < end), end]
    return max(later - earlier for earlier, later in pairwise(times))
