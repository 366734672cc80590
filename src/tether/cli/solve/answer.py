"""What came of it: a file, a page, a text for people or an object for machines."""

import argparse
import csv
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from tether.cli import codes
from tether.cli.solve.model import Model
from tether.extras import extra
from tether.feasible import Active, Multipliers
from tether.run.solution import Solution

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
        if path.is_dir() or not path.parent.is_dir():
            raise ValueError(f"--{name} {path} cannot be written: there is no folder {str(path.parent)!r}.")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise ValueError(f"--{name} {path} cannot be written: it is protected.")


def write(solution: Solution, options: argparse.Namespace, model: Model) -> None:
    """Write the files that were asked for."""
    try:
        _write(solution, options, model)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ValueError(f"the solution cannot be written: {reason}; it is printed above.") from error


def _write(solution: Solution, options: argparse.Namespace, model: Model) -> None:
    if options.out is not None and options.out.suffix.lower() == ".csv":
        _write_csv(solution, options.out, model)
    elif options.out is not None:
        solution.save(options.out)
    if options.report is not None:
        solution.report(options.report)


def tell(solution: Solution, options: argparse.Namespace, model: Model) -> None:
    """Print the result."""
    if options.json:
        print(json.dumps(as_object(solution, model), allow_nan=False))
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
