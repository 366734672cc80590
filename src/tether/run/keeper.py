"""A run on disk: an .npz of arrays with a header that says which run it is.

States are named tuples of arrays, numbers and other named tuples, so writing one needs no pickle: each
leaf is stored under the path of its field.
"""

import json
import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tether.packing import flatten, restore
from tether.run.solution import Counts, History, Row

FORMAT = 3


class Identity(NamedTuple):
    """What tells one run from another: the method, and the problem as seen from one fixed point."""

    method: str
    seed: int
    n_samples: int
    dim: int
    workers: int
    value: float
    slope: float
    projection: float


def save(path: Path, identity: Identity, run: Any, rows: list[Row]) -> None:
    """Write a run, replacing an older checkpoint in one step."""
    arrays: dict[str, Any] = {}
    leaves = flatten("run", run, arrays)
    header = {"format": FORMAT, "identity": identity._asdict(), "leaves": leaves}
    arrays["header"] = np.array(json.dumps(header))
    table = [row[:-1] for row in rows]
    arrays["history"] = np.array(table, dtype=np.float64).reshape(len(rows), len(Row._fields) - 1)
    reports = History(rows).workers
    if reports:
        arrays["workers"] = np.stack(list(reports.values()), axis=-1)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(path: Path, identity: Identity, template: Any) -> tuple[Any, list[Row]]:
    """Read a run back; refuse a file that belongs to another one."""
    with _reading(path):
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = dict(file)
        header = json.loads(str(arrays["header"]))
        if header["format"] != FORMAT:
            raise ValueError(f"format {header['format']}, readable is {FORMAT}")
        found = Identity(**header["identity"])
    _check_identity(path, found, identity)
    with _reading(path):
        run = restore("run", header["leaves"], arrays, template, type(template))
        return run, _rows(arrays["history"], arrays.get("workers"))


def _rows(table: Any, reports: Any) -> list[Row]:
    """Rebuild the history; counts are whole numbers."""
    counts, rows = len(Counts._fields), []
    for place, line in enumerate(table):
        numbers: list[Any] = [int(v) for v in line[:counts]] + [float(v) for v in line[counts:]]
        report = None if reports is None or np.isnan(reports[place]).all() else reports[place]
        rows.append(Row(*numbers)._replace(workers=report))
    return rows


def as_path(checkpoint: Any) -> Path:
    """Return the path of a checkpoint; refuse one that could not be written later."""
    if not isinstance(checkpoint, str | os.PathLike):
        raise TypeError(f"checkpoint must be the path of a file, got {checkpoint!r}.")
    path = Path(checkpoint)
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ValueError(
            f"checkpoint {str(path)!r} cannot be written: name a file in an existing, writable folder."
        )
    return path


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Say of a file that is cut off, damaged or foreign that it is, however its reading failed."""
    try:
        yield
    except Exception as error:
        raise ValueError(
            f"checkpoint {str(path)!r} is not a readable checkpoint of tether "
            f"({str(error) or type(error).__name__}); delete it or choose another path."
        ) from error


def _check_identity(path: Path, found: Identity, wanted: Identity) -> None:
    for name in Identity._fields:
        there, here = getattr(found, name), getattr(wanted, name)
        same = math.isclose(there, here, rel_tol=1e-6) if isinstance(here, float) else there == here
        if same:
            continue
        what = {"method": "another method", "seed": "another seed"}.get(name, "another problem")
        raise ValueError(
            f"checkpoint {str(path)!r} belongs to {what} ({name} {there!r} there, {here!r} here); "
            "delete it or choose another path."
        )
