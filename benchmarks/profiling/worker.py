"""Measures what it is told to in a process of its own: a solver that hangs or crashes takes nothing with it.

Reads one JSON object a line: problem, solver, limit, repeats, target. Writes one a line: "allow", "done". Its
argument is the number of cores to use, empty for all.
"""

import json
import os
import sys
import traceback
from typing import Any

if __name__ == "__main__" and sys.argv[1]:  # before anything counts the cores
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[1])])

from collection import record_of

from profiling.contestants import contestants
from profiling.measure import Terms, goal_of, measured
from profiling.optimum import optimum
from profiling.pieces import Pieces

LOADING = 1800.0  # seconds for building a problem and, the first time, for its optimum


def main() -> None:
    """Serve until the input ends."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a solver prints goes to the error stream

    def tell(event: str, **fields: Any) -> None:
        print(json.dumps({"event": event, **fields}), file=channel, flush=True)

    solvers, _ = contestants()
    current: tuple[str, Any] = ("", None)
    for line in sys.stdin:
        order = json.loads(line)
        tell("allow", seconds=LOADING)
        try:
            if current[0] != order["problem"]:
                current = (order["problem"], None)  # let go of the last one first
                current = (order["problem"], _loaded(order["problem"]))
            pieces, facts = current[1]
            goal = goal_of(pieces, facts["optimum"], order["target"] or facts["target"])
            record: dict[str, Any] = {}
            if order["solver"]:
                terms = Terms(
                    order["limit"], order["repeats"], lambda seconds: tell("allow", seconds=seconds)
                )
                record = measured(solvers[order["solver"]], goal, terms)
            tell("done", facts=facts, record=record)
        except FileNotFoundError as error:
            tell("done", facts={"missing": str(error)}, record={"end": "refused", "reason": str(error)})
        except Exception as error:
            traceback.print_exc()
            reason = f"{type(error).__name__}: {error}"[:300]
            tell("done", facts=None, record={"end": "failed", "reason": reason})


def _loaded(name: str) -> tuple[Pieces, dict[str, Any]]:
    """Build a problem; return it with what the report says of it."""
    record = record_of(name)
    pieces = record.build()
    best = optimum(name, pieces)
    relative = goal_of(pieces, best, 1.0).gap / (best["start"] - best["value"])
    facts = {
        "half": record.half,
        "loss": pieces.loss,
        "sparse": pieces.is_sparse,
        "samples": pieces.n_samples,
        "dim": pieces.dim,
        "equations": len(pieces.equations[1]),
        "l2": pieces.l2,
        "target": record.target,
        "doubt": best["doubt"] / relative / record.target,  # of F*, in gaps that are asked for
        "optimum": best,
    }
    return pieces, facts


if __name__ == "__main__":
    main()
    os._exit(0)  # threads and arrays need no farewell
