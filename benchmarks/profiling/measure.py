"""Measure one solver on one problem: the time to a point whose true gap is small enough."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from profiling.contestants.base import Contestant
from profiling.pieces import Pieces
from profiling.watch import Goal, Watch

REPEATS = 7  # at most, within
REPEATING = 1.0  # seconds, and at least two unless they take
LONG = 3.0  # seconds
COMPILING = 30.0  # seconds more for a first run
BUSY = 4.0  # how much slower a busy machine may be
SMALL = 1e-3
PAUSE = 0.05  # threads that another solver left behind go to sleep


def goal_of(pieces: Pieces, best: dict[str, Any], target: float) -> Goal:
    """Ask for a gap of ``target`` times |F*|.

    |F*| is counted between a thousandth and the whole of the gap of the feasible point nearest to 0, so that
    neither a constant in F nor a perfect fit makes the target meaningless.
    """
    first = best["start"] - best["value"]
    return Goal(pieces, best["value"], target * float(np.clip(abs(best["value"]), SMALL * first, first)))


def measured(
    solver: Contestant, goal: Goal, limit: float, allow: Callable[[float], None] = lambda seconds: None
) -> dict[str, Any]:
    """Return seconds and counts of the quickest run to the target; or why there is none.

    Tolerances are tried from the largest on. Those runs warm up, so that compilation is not timed; what
    counts is the best of those after them. ``allow`` hears before every run how long it may take.
    """
    if reason := solver.refuses(goal.pieces):
        return {"end": "refused", "reason": reason}
    problem = solver.prepare(goal.pieces)
    record: dict[str, Any] = {}

    def once(tolerance: float) -> dict[str, Any]:
        allow(BUSY * limit + COMPILING)
        return _once(solver, problem, goal, tolerance, limit)

    for attempt, tolerance in enumerate(solver.tolerances):
        record = once(tolerance)
        if record["end"] == "late" and attempt == 0:  # it may have been compiling
            record = once(tolerance)
        if record["end"] in ("reached", "late"):
            break
    if record["end"] != "reached":
        return record | {"limit": limit}
    return _repeated(once, record, limit) | {"limit": limit}


def _repeated(
    once: Callable[[float], dict[str, Any]], record: dict[str, Any], limit: float
) -> dict[str, Any]:
    times: list[float] = []
    while len(times) < 2 or (sum(times) < REPEATING and len(times) < REPEATS):
        again = once(record["tolerance"])
        if again["end"] != "reached":
            break
        record = _better(record, again) if times else again
        times.append(again["seconds"])
        if sum(times) > LONG:
            break
    return record | {"times": times}


def _better(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the quicker record, with the lesser of both processor times."""
    quicker = min(one, other, key=lambda record: record["seconds"])
    return quicker | {"cpu": min(one["cpu"], other["cpu"])}


def _once(solver: Contestant, problem: Any, goal: Goal, tolerance: float, limit: float) -> dict[str, Any]:
    time.sleep(PAUSE)
    watch = Watch(goal, limit)
    answer = solver.run(problem, tolerance, watch)
    if not watch.reached:
        watch.pause()
        watch.late = watch.late or watch.spent > limit
        excess = watch.judge(answer.x, **answer.counts)
    else:
        excess = goal.excess(answer.x)
    end = "late" if watch.late else "reached" if watch.reached else "missed"
    record = {"end": end, "seconds": watch.seconds, "cpu": watch.cpu, "tolerance": tolerance}
    return record | {"gap": excess / goal.gap, "iterations": watch.iterations, **watch.counts}
