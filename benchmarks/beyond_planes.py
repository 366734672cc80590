"""Measure bounds, inequalities and l1 terms against the libraries made for them, into a table.

    python benchmarks/beyond_planes.py text signals      (all of them if none is named)

Every group runs in this process, one solver after the other, once to warm up what compiles.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from beyond import inequalities, lassos, projections
from beyond.contest import Contest, Result, held, table
from threadpoolctl import threadpool_limits

GROUPS: dict[str, Callable[[], Iterator[Contest]]] = {
    "dense": lassos.dense,
    "text": lassos.text,
    "sum-to-zero": lassos.sum_to_zero,
    "signals": lassos.signals,
    "models": inequalities.models,
    "nonnegative": inequalities.nonnegative,
    "programs": inequalities.programs,
    "projections": projections.text,
    "others": projections.others,
    "prox": projections.large,
}


def main() -> None:
    """Measure what was asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="group", help=", ".join(GROUPS))
    parser.add_argument("--output", type=Path, help="also write the table to this file")
    words = parser.parse_args()
    unknown = set(words.groups) - set(GROUPS)
    if unknown:
        parser.error(f"unknown group {unknown.pop()!r}; there are {', '.join(GROUPS)}.")
    text = "\n\n".join(_measured(name) for name in words.groups or GROUPS)
    print(text)
    if words.output:
        words.output.write_text(text + "\n")


def _measured(name: str) -> str:
    results: list[Result] = []
    with threadpool_limits(2):
        for contest in GROUPS[name]():
            print(f"{contest.name} ...", file=sys.stderr, flush=True)
            results += held(contest)
    return table(_summed(results) if name == "programs" else results)


def _summed(results: list[Result]) -> list[Result]:
    """Return the programs one by one, and the sum of their times."""
    totals = []
    for solver in dict.fromkeys(result.name for result in results):
        own = [result.seconds for result in results if result.name == solver]
        totals.append(Result("all programs", solver, float(np.nansum(own)), 0.0))
    return [*results, *totals]


if __name__ == "__main__":
    main()
