"""Measure one solver on one problem: the time to a point whose true gap is small enough."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from profiling.contestants.base import Contestant
from profiling.pieces import Pieces
from profiling.watch import Goal, Watch

REPEATS = 5  # at most
FEW = 2  # at least, unless they take
LONG = 3.0  # seconds together
REPEATING = 0.5  # seconds: more than few of those that are over sooner
WARM = 8  # iterations of a solver that compiles before it is timed
COMPILING = 300.0  # seconds for a first run
BUSY = 5.0  # how much slower a busy machine may be
SMALL = 1e-3
PAUSE = 0.02  # threads that another solver left behind go to sleep


def goal_of(pieces: Pieces, best: dict[str, Any], target: float) -> Goal:
    """Ask for a gap of ``target`` times |F*|.

    |F*| is counted between a thousandth and the whole of the gap of the feasible point nearest to 0, so that
    neither a constant in F nor a perfect fit makes the target meaningless.
    """
    first = best["start"] - best["value"]
    return Goal(pieces, best["value"], target * float(np.clip(abs(best["value"]), SMALL * first, first)))


@dataclass(frozen=True)
class Terms:
    """How long a run may take and how often it is repeated."""

    limit: float  # seconds
    repeats: int = REPEATS
    allow: Callable[[float], None] = lambda seconds: None  # hears before every run how long it may take


def measured(solver: Contestant, goal: Goal, terms: Terms) -> dict[str, Any]:
    """Return seconds and counts of the quickest run to the target; or why there is none.

    A short run warms up, so that compilation is not timed. Then tolerances are tried from the largest on, and
    the first that suffices is repeated.
    """
    if reason := solver.refuses(goal.pieces):
        return {"end": "refused", "reason": reason}
    problem = solver.prepare(goal.pieces)

    def once(tolerance: float) -> dict[str, Any]:
        terms.allow(BUSY * terms.limit)
        return _once(solver, problem, tolerance, Watch(goal, terms.limit))

    if solver.compiles:
        terms.allow(COMPILING)
        _once(solver, problem, solver.tolerances[0], Watch(goal, 0.0, least=WARM))
    record: dict[str, Any] = {}
    for tolerance in solver.tolerances:
        record = once(tolerance)
        if record["end"] in ("reached", "late"):
            break
    if record["end"] == "reached":
        record = _repeated(once, record, terms.repeats)
    return record | {"limit": terms.limit}


def _repeated(once: Callable[[float], dict[str, Any]], record: dict[str, Any], most: int) -> dict[str, Any]:
    """Return the best of several runs; a few long ones, more of those that are over at once."""
    times = [record["seconds"]]
    while len(times) < most and (len(times) < FEW or sum(times) < REPEATING) and sum(times) < LONG:
        again = once(record["tolerance"])
        if again["end"] == "reached":
            record = _better(record, again)
        times.append(again["seconds"])
    return record | {"times": times}


def _better(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the quicker record, with the lesser of both processor times."""
    quicker = min(one, other, key=lambda record: record["seconds"])
    return quicker | {"cpu": min(one["cpu"], other["cpu"])}


def _once(solver: Contestant, problem: Any, tolerance: float, watch: Watch) -> dict[str, Any]:
    time.sleep(PAUSE)
    watch.start()
    goal = watch.goal
    answer = solver.run(problem, tolerance, watch)
    if not watch.reached:
        watch.pause()
        watch.late = watch.late or watch.spent > watch.limit
        excess = watch.judge(answer.x, **answer.counts)
    else:
        excess = goal.excess(answer.x)
    end = "late" if watch.late else "reached" if watch.reached else "missed"
    record = {"end": end, "seconds": watch.seconds, "cpu": watch.cpu, "tolerance": tolerance}
    return record | {"gap": excess / goal.gap, "iterations": watch.iterations, **watch.counts}
