"""Projection times: every E steps, or any increasing set, the end of a stage always included."""

from bisect import bisect_right
from collections.abc import Sequence

Interval = int | Sequence[int]


def check_interval(interval: Interval | None) -> None:
    """Refuse intervals below one and sets of times that do not increase."""
    if interval is None:
        return
    if isinstance(interval, int):
        if interval < 1:
            raise ValueError(f"interval must be at least 1, got {interval}: 1 projects after every step.")
        return
    times = list(interval)
    increasing = all(earlier < later for earlier, later in zip(times, times[1:], strict=False))
    if not times or times[0] < 1 or not increasing:
        raise ValueError(
            f"interval must be a whole number or an increasing set of step numbers from 1 on, got {times[:6]}."
        )


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
    return max(later - earlier for earlier, later in zip(times, times[1:], strict=False))
