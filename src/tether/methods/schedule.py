"""Projection times: every E steps, or any increasing set.

Within a stage the set begins anew with the stage, whose end is always a projection time. Where there are no
such ends the set runs on, and repeats after its last time: (3, 5, 20) is 3, 5, 20, 23, 25, 40, ...
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise
from numbers import Integral
from typing import Any

from tether.inputs import LARGEST_INTEGER, shown

Interval = int | Sequence[int]  # as users write it
Times = int | tuple[int, ...]


def as_interval(interval: Any) -> Times:
    """Return a number of steps as an int and a set of projection times as a tuple; refuse all else."""
    if isinstance(interval, Integral) and not isinstance(interval, bool):
        if not 1 <= int(interval) <= LARGEST_INTEGER:
            raise ValueError(
                f"interval must be at least 1 and below 2**63, got {shown(interval)}: 1 projects every step."
            )
        return int(interval)
    try:
        times = () if isinstance(interval, Set | Mapping) else tuple(interval)  # those have no order
        valid = all(isinstance(time, Integral) and not isinstance(time, bool) for time in times)
        valid = valid and times[0] >= 1
        valid = valid and all(earlier < later for earlier, later in pairwise(times))
    except (TypeError, IndexError):
        valid = False
    if not valid:
        raise ValueError(
            f"interval must be a whole number or increasing step numbers from 1 on, got {interval!r}."
        )
    return tuple(int(time) for time in times)


def next_projection(interval: Times, step: int, end: int | None = None) -> int:
    """Return the first projection time after ``step`` in a stage of ``end`` steps; None: without end."""
    if isinstance(interval, int):
        time = (step // interval + 1) * interval
        return time if end is None else min(time, end)
    if end is None:
        begun, within = divmod(step, interval[-1])
        return begun * interval[-1] + interval[bisect_right(interval, within)]
    position = bisect_right(interval, step)
    return min(interval[position], end) if position < len(interval) else end


def largest_gap(interval: Times, end: int | None = None) -> int:
    """Return E, the longest run of steps without a projection, in a stage of ``end`` steps or without end."""
    if isinstance(interval, int):
        return interval if end is None else min(interval, end)
    times = [0, *interval] if end is None else [0, *(time for time in interval if time < end), end]
    return max(later - earlier for earlier, later in pairwise(times))
