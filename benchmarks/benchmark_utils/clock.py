"""A callback that times a run and judges its points, with the judging off the clock."""

import time
from collections.abc import Callable
from typing import Any

from benchmark_utils.solver import TARGET, Iterative


class Clock:
    """Stops at the target or the limit.

    A point is judged when the run has gone on for half as long as judging takes, so that methods with short
    rounds are not drowned in it; their times are late by at most that long.
    """

    def __init__(self, solver: Iterative, judge: Callable[..., dict[str, Any]], note: Callable[[dict], None]):
        self.solver, self.judge, self.note = solver, judge, note
        self.seconds, self.judged, self.limit = 0.0, -1.0, float("inf")
        self.stopped = False
        self.cost = float("inf")  # of judging: the least so far, because the first time is slow

    def run(self, limit: float) -> None:
        """Run the solver from its arrays to the target or the limit."""
        self.limit, self.began = limit, time.perf_counter()
        self.solver.run(self)
        if not self.stopped:  # the solver came to an end by itself
            self.seconds += time.perf_counter() - self.began
            self._judge()

    def __call__(self) -> bool:
        """Return whether to go on."""
        self.seconds += time.perf_counter() - self.began
        over = self.seconds >= self.limit
        if over or self.judged <= 0 or self.seconds - self.judged >= 0.5 * self.cost:
            over = self._judge() or over
        self.stopped, self.began = over, time.perf_counter()
        return not over

    def _judge(self) -> bool:
        began = time.perf_counter()
        point = self.judge(**self.solver.get_result())
        self.judged, self.cost = self.seconds, min(self.cost, time.perf_counter() - began)
        self.note({"seconds": self.seconds, **point})
        return point["value"] <= TARGET
