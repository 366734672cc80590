"""Measured points as Markdown tables."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any

from benchmark_utils.problem import FEASIBLE

GAPS = (1e-2, 1e-4, 1e-6, 1e-8)
CHOICE, YARDSTICK = "tether auto", "tether lbfgs"
PACKAGES = (
    "tether numpy scipy numba scikit-learn cvxpy scs clarabel osqp piqp proxsuite jax jaxopt copt benchopt"
)


def machine() -> str:
    """Say what the numbers were measured on and with."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES.split())
    return f"{_processor()}, {cores} cores, Python {platform.python_version()}; {versions}.\n"


def report(results: dict[str, Any], after_setup: bool = False) -> str:
    """Return one table a problem."""
    return "".join(
        f"\n### {problem}\n\n{_table(records, after_setup)}" for problem, records in results.items()
    )


def summary(results: dict[str, Any], gap: float = 1e-6) -> str:
    """Return one line a problem: Tether's choice, its L-BFGS, and the fastest of the others."""
    lines = [f"\n| problem, gap {gap:.0e} | {CHOICE} | {YARDSTICK} | fastest other |", "|---|---|---|---|"]
    for problem, records in results.items():
        others = {name: record for name, record in records.items() if not name.startswith("tether")}
        times = {name: _reached(record, gap, False) for name, record in others.items() if record["points"]}
        best = min(
            (name for name, time in times.items() if time), key=lambda name: times[name][0], default=""
        )
        yard = records.get(YARDSTICK)
        chosen = [records.get(name) for name in (CHOICE, YARDSTICK, best)]
        cells = [_cell(one, yard, gap, False) if one and one["points"] else "–" for one in chosen]
        lines.append(f"| {problem} | {cells[0]} | {cells[1]} | {best} {cells[2]} |")
    return "\n".join(lines) + "\n"


def _table(records: dict[str, Any], after_setup: bool) -> str:
    lines = ["| solver | set-up | " + " | ".join(f"gap {gap:.0e}" for gap in GAPS) + " |"]
    lines.append("|---|---:|" + "---|" * len(GAPS))
    yard = records.get(YARDSTICK)
    notes = []
    for name in sorted(records, key=lambda name: not name.startswith("tether")):
        record = records[name]
        if not record["points"]:
            notes.append(f"{name}: {record['reason'] or 'no answer'}")
            continue
        cells = [_cell(record, yard, gap, after_setup) for gap in GAPS]
        setup = _setup(record)
        lines.append(f"| {name} | {'' if setup is None else _seconds(setup)} | " + " | ".join(cells) + " |")
        if record["end"] in ("failed", "died"):
            notes.append(f"{name}: {record['reason']}")
    return "\n".join(lines) + "\n" + (f"\nNot run or not finished. {'; '.join(notes)}.\n" if notes else "")


def _cell(record: dict, yard: dict | None, gap: float, after_setup: bool) -> str:
    reached = _reached(record, gap, after_setup)
    if reached is None:
        hit = record["end"] == "limit" or any(p["seconds"] >= record["limit"] for p in record["points"])
        return f"> {record['limit']:g} s" if hit else "not reached"
    seconds, projections, passes = reached
    other = None if yard is None else _reached(yard, gap, after_setup)
    ratio = f" ({seconds / other[0]:.2g}x)" if other is not None and other[0] > 0 else ""
    counts = (
        f" · {_count(projections)} / {_count(passes)}"
        if projections == projections or passes == passes
        else ""
    )
    return _seconds(seconds) + ratio + counts


def _reached(record: dict, gap: float, after_setup: bool) -> tuple[float, float, float] | None:
    """Return the medians of seconds, projections and passes over the repetitions; None if most fell short."""
    setup = (_setup(record) or 0.0) if after_setup else 0.0
    firsts = []
    for points in _repetitions(record):
        good = [p for p in points if p["value"] <= gap and p["violation"] <= FEASIBLE]
        best = min(good, key=lambda p: p["seconds"], default=None)
        inf = float("inf")
        firsts.append(
            (inf, inf, inf)
            if best is None
            else (best["seconds"] - setup, best["projections"], best["passes"])
        )
    seconds, projections, passes = (median(column) for column in zip(*firsts, strict=True))
    return None if seconds == float("inf") else (seconds, projections, passes)


def _setup(record: dict) -> float | None:
    """Return when iterative solvers were first heard of; the others do not say."""
    first = [points[0] for points in _repetitions(record)]
    unheard = any(point["passes"] != point["passes"] for point in first)
    return None if unheard else median(point["seconds"] for point in first)


def _repetitions(record: dict) -> list[list[dict]]:
    groups: dict[int, list[dict]] = {}
    for point in record["points"]:
        groups.setdefault(point["repetition"], []).append(point)
    return list(groups.values())


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 99.95 else f"{seconds:.0f} s"


def _count(count: float) -> str:
    return "–" if count != count else f"{count:.0f}" if count >= 10 or count == int(count) else f"{count:.1f}"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
