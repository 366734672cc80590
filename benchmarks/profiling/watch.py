"""The clock of one run: it stands still while a point is judged, and ends the run at target or limit."""

import time
from dataclasses import dataclass, field

import numpy as np

from profiling.pieces import FEASIBLE, Pieces


@dataclass(frozen=True)
class Goal:
    """Which points are good enough: F(x) - F* <= gap and the equations hold."""

    pieces: Pieces
    value: float  # F*
    gap: float

    def excess(self, x: np.ndarray) -> float:
        """Return |F(x) - F*| by NumPy; infinite where the equations do not hold."""
        if not np.isfinite(x).all() or self.pieces.violation(x) > FEASIBLE:
            return float("inf")
        return abs(self.pieces.value(x) - self.value)


class Over(Exception):  # noqa: N818
    """Ends a run from inside a solver that has no other way to be ended."""


@dataclass
class Watch:
    """Measures one run; see it after every iteration."""

    goal: Goal
    limit: float
    least: int = 0  # looks before the limit counts
    seconds: float = 0.0
    cpu: float = 0.0  # seconds of all threads together
    reached: bool = False
    late: bool = False
    counts: dict[str, float] = field(default_factory=dict)  # when the target was reached
    iterations: int = 0
    _began: float = 0.0
    _began_cpu: float = 0.0

    def start(self) -> None:
        """Start the clock."""
        self._began, self._began_cpu = time.perf_counter(), time.process_time()

    def see(self, x: np.ndarray, value: float | None = None, **counts: float) -> bool:
        """Return whether to stop. A value that the solver knows anyway saves judging hopeless points."""
        self.pause()
        self.iterations += 1
        hopeless = value is not None and not value - self.goal.value <= 2.0 * self.goal.gap
        if not hopeless and not self.reached:
            self.judge(x, **counts)
        self.late = self.late or (self.spent > self.limit and self.iterations >= self.least)
        self.start()
        return self.reached or self.late

    def pause(self) -> None:
        """Stop the clock."""
        self.seconds += time.perf_counter() - self._began
        self.cpu += time.process_time() - self._began_cpu

    @property
    def spent(self) -> float:
        """What counts for the limit: not the time in which the machine did something else."""
        return min(self.seconds, self.cpu)

    def judge(self, x: np.ndarray, **counts: float) -> float:
        """Look at a point while the clock stands; return its gap."""
        excess = self.goal.excess(np.asarray(x, dtype=float))
        if excess <= self.goal.gap:
            self.reached = True
            self.counts = dict(counts)
        return excess
