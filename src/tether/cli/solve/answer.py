"""What came of it: a file, a page, a text for people or an object for machines."""

import argparse
import csv
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tether.cli import codes
from tether.cli.solve.model import Model
from tether.extras import extra
from tether.feasible import Active, Multipliers
from tether.run.solution import Solution

INPUTS = (
    "data", "target", "weights", "offset", "names", "expr_file", "constraints", "rhs", "inequalities",
    "at_least", "at_most", "lower", "upper",
)  # fmt: skip
OUTPUTS = "out", "report", "checkpoint"
REFUSALS = {codes.BAD_INPUT: "bad_input", codes.NO_ANSWER: "infeasible", codes.STOPPED: "stopped"}
ENDINGS = {"out": (".npz", ".csv"), "report": (".html", ".htm")}


def require_writable(options: argparse.Namespace) -> None:
    """Refuse files that could not be written, before anything is computed."""
    if options.report is not None:
        extra("report", "tether.report")
    for name, endings in ENDINGS.items():
        path: Path | None = getattr(options, name)
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            raise ValueError(f"--{name} must end in {' or '.join(endings)}, got {str(path)!r}.")
        if path.is_dir():
            raise ValueError(f"--{name} {path} cannot be written: it is a folder; name a file.")
        if not path.parent.is_dir():
            raise ValueError(f"--{name} {path} cannot be written: there is no folder {str(path.parent)!r}.")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise ValueError(f"--{name} {path} cannot be written: it is protected.")
    _require_own_files(options)


def _require_own_files(options: argparse.Namespace) -> None:
    """Refuse to write over a file that is read, or to write two things into one."""
    given = {name: _file(options, name) for name in reversed(INPUTS)}
    taken = {path: name for name, path in given.items() if path is not None and path.is_file()}
    for name in OUTPUTS:
        path = _file(options, name)
        if path is None:
            continue
        if path in taken:
            other = taken[path].replace("_", "-")
            raise ValueError(
                f"--{name} {getattr(options, name)} would overwrite --{other}; name another file."
            )
        taken[path] = name


def _file(options: argparse.Namespace, name: str) -> Path | None:
    """Return where a file is, links followed."""
    named = getattr(options, name)
    return None if named is None else Path(named).resolve()


def write(solution: Solution, options: argparse.Namespace, model: Model) -> None:
    """Write the files that were asked for."""
    if options.out is not None and options.out.suffix.lower() == ".csv":
        _write_csv(solution, options.out, model)
    elif options.out is not None:
        solution.save(options.out)
    if options.report is not None:
        solution.report(options.report)


def tell_refusal(words: str, code: int, options: argparse.Namespace) -> None:
    """Say why there is no result: to people, and to machines where they listen."""
    print(f"tether solve: {words}", file=sys.stderr)
    if options.json:
        said = {"status": REFUSALS[code], "exit_code": code, "success": False, "message": words}
        print(json.dumps(said))


def tell(solution: Solution, options: argparse.Namespace, model: Model, code: int) -> None:
    """Print the result."""
    if options.json:
        print(json.dumps(as_object(solution, model) | {"exit_code": code}, allow_nan=False))
        return
    print(solution)
    if model.classes is not None:
        print(f"\nclasses: {', '.join(model.classes.labels)}")


def as_object(solution: Solution, model: Model) -> dict[str, Any]:
    """Return everything that machines need of a solution."""
    return {
        "status": solution.status.name.lower(),
        "exit_code": codes.code_of(solution.status),
        "success": solution.success,
        "message": solution.message,
        "fun": _plain(solution.fun),
        "gap": _plain(solution.gap),
        "residual": _plain(solution.residual),
        "names": list(model.labels),
        "x": _plain(solution.x),
        "multipliers": _parts(solution.multipliers),
        "active": _parts(solution.active),
        "rows": _row_names(solution),
        "classes": None if model.classes is None else list(model.classes.values),
        "n_samples": model.rows,
        "counts": solution.counts._asdict(),
        "seconds": solution.seconds,
        "method": solution.method,
        "solver": solution.solver,
        "settings": None if solution.problem is None else dict(solution.problem.settings),
        "versions": None if solution.problem is None else dict(solution.problem.versions),
    }


def _row_names(solution: Solution) -> dict[str, list[str]] | None:
    """Return what the rows are called that multipliers belong to."""
    problem = solution.problem
    if problem is None:
        return None
    groups = {"equalities": problem.equations, "inequalities": problem.inequalities}
    return {
        kind: [block.at(k) for block in blocks for k in range(block.size)] for kind, blocks in groups.items()
    }


def _parts(found: Multipliers | Active | np.ndarray | None) -> dict[str, Any] | None:
    """Return numbers by what they belong to; those of equations alone are equalities."""
    if found is None:
        return None
    if isinstance(found, np.ndarray):
        return {"equalities": _plain(found)}
    return {name: _plain(part) for name, part in found._asdict().items()}


def _plain(value: Any) -> Any:
    """Return numbers as JSON has them: None for those that are not finite."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, np.ndarray):
        return [_plain(entry) for entry in value.tolist()]
    return value


def _write_csv(solution: Solution, path: Path, model: Model) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "value"])
        rows.writerows(zip(model.labels, map(repr, solution.x.tolist()), strict=True))
