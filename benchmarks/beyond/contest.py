"""What is measured: contestants on one problem, judged by the value that they reach."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Contestant(NamedTuple):
    """A library on a problem."""

    name: str
    run: Callable[[], Any]  # returns x, or a tether.Solution
    repetitions: int = 3


class Contest(NamedTuple):
    """One problem."""

    name: str
    value: Callable[[np.ndarray], float]  # what is minimised, measured alike for all
    contestants: list[Contestant]


class Result(NamedTuple):
    """How a contestant did."""

    contest: str
    name: str
    seconds: float  # the best of its runs
    value: float
    note: str = ""


def held(contest: Contest) -> list[Result]:
    """Run all contestants, one after the other."""
    return [_result(contest, contestant) for contestant in contest.contestants]


def _result(contest: Contest, contestant: Contestant) -> Result:
    seconds, found = np.inf, None
    for _ in range(contestant.repetitions):
        began = time.perf_counter()
        try:
            found = contestant.run()
        except Exception as error:
            return Result(
                contest.name, contestant.name, np.nan, np.nan, f"{type(error).__name__}: {error}"[:60]
            )
        seconds = min(seconds, time.perf_counter() - began)
    x, note = getattr(found, "x", found), ""
    if hasattr(found, "counts"):
        gap = "none" if found.gap is None else f"{found.gap:.0e}"
        note = f"{found.counts.rounds} projections, gap {gap}, {found.status.name.lower()}"
    return Result(contest.name, contestant.name, seconds, contest.value(np.asarray(x)), note)


def table(results: list[Result]) -> str:
    """Return a table in Markdown: seconds, times tether's, and how far above the best value."""
    lines = [
        "| problem | solver | seconds | times tether | above the best | |",
        "|---|---|---:|---:|---:|---|",
    ]
    for contest in dict.fromkeys(result.contest for result in results):
        own = [result for result in results if result.contest == contest]
        best = np.nanmin([result.value for result in own])
        first = next((result.seconds for result in own if result.name == "tether"), np.nan)
        for result in own:
            above = (result.value - best) / max(abs(best), 1e-300)
            lines.append(
                f"| {contest} | {result.name} | {result.seconds:.3f} | {result.seconds / first:.2f} | "
                f"{above:.0e} | {result.note} |"
            )
    return "\n".join(lines)
