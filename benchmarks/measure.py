"""Measure one solver on one problem, in a process of its own; called by table.py.

    python measure.py PROBLEM SOLVER REPETITIONS LIMIT

Writes one JSON object a line: every judged point as it comes, so that nothing is lost when the run has to be
killed, and before every part of the work how long it may take.
"""

import json
import os
import resource
import sys
import time
import traceback
from typing import Any

from benchmark_utils.catalogue import catalogue
from benchmark_utils.clock import Clock
from benchmark_utils.solver import TARGET, Iterative
from objective import Objective
from threadpoolctl import threadpool_limits

TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
LOADING = 3600.0  # seconds for reading data and, the first time, for the reference optimum


def main() -> None:
    """Load, warm up, repeat."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a solver prints goes to the error stream

    def tell(event: str, **fields: Any) -> None:
        print(json.dumps({"event": event, **fields}), file=channel, flush=True)

    _limit_memory()
    try:
        _measure(tell, sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    except MemoryError:
        tell("failed", reason="out of memory")
    except Exception as error:
        traceback.print_exc()
        tell("failed", reason=f"{type(error).__name__}: {error}"[:200])


def _limit_memory() -> None:
    """Fail with MemoryError rather than bring the machine down."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    resource.setrlimit(resource.RLIMIT_AS, (int(0.85 * physical), resource.RLIM_INFINITY))


def _measure(tell: Any, problem: str, name: str, repetitions: int, limit: float) -> None:
    solver = catalogue("solvers", "Solver")[0][name]
    dataset = catalogue("datasets", "Dataset")[0][problem]
    tell("allow", seconds=LOADING)
    data, objective = dataset.get_data(), Objective.get_instance()
    skip, reason = objective.skip(**data)
    if not skip:
        skip, reason = solver.skip(problem=data["problem"])
    if skip:
        return tell("skip", reason=reason)
    objective.set_data(**data)
    solver.set_objective(objective.problem)
    tell("allow", seconds=2 * limit + 60)
    solver.warm_up()
    run = _iterate if isinstance(solver, Iterative) else _answer
    for repetition in range(repetitions):
        if not run(tell, solver, objective, repetition, limit):
            break
    return tell("done")


def _iterate(tell: Any, solver: Any, objective: Objective, repetition: int, limit: float) -> bool:
    """Let a solver show its iterates; return whether it kept within the limit."""
    tell("allow", seconds=4 * limit + 60)  # judging is off the clock, not off the wall
    solver.set_objective(objective.problem)
    solver.seed = repetition
    clock = Clock(
        solver, objective.evaluate_result, lambda point: tell("point", repetition=repetition, **point)
    )
    with threadpool_limits(1, user_api="blas"):  # its threads go on spinning beside ours
        clock.run(limit)
    return clock.seconds < limit


def _answer(tell: Any, solver: Any, objective: Objective, repetition: int, limit: float) -> bool:
    """Ask a solver for smaller and smaller tolerances, each from scratch."""
    for tolerance in TOLERANCES[-1:] if solver.exact else TOLERANCES:
        tell("allow", seconds=limit)
        began = time.perf_counter()
        solver.run(tolerance)
        seconds = time.perf_counter() - began
        tell("allow", seconds=limit)
        point = objective.evaluate_result(**solver.get_result())
        tell("point", repetition=repetition, seconds=seconds, **point)
        if point["value"] <= TARGET:
            return True
    return True


if __name__ == "__main__":
    main()
    os._exit(0)  # threads and arrays need no farewell
