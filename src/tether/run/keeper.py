"""A run on disk: a sealed file of arrays with a header that says which run it is.

Its identity is a digest of the data, of the constraint and of all settings.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tether import sealed
from tether.packing import flatten, restore
from tether.run.history import History, Row
from tether.run.turn import Run

log = logging.getLogger("tether")

FORMAT = 9
WORDS = {
    "method": "another method",
    "seed": "another seed",
    "workers": "another number of workers (ranks)",
    "objective": "other data or another objective",
    "constraint": "another constraint",
}


class Identity(NamedTuple):
    """What tells one run from another."""

    seed: int
    workers: int
    n_samples: int
    dim: int
    objective: str  # digests
    constraint: str
    method: str  # with all its settings


class Kept(NamedTuple):
    """A run as it was read: its history as a table and what workers reported."""

    run: Run
    table: np.ndarray
    reports: np.ndarray | None
    found: bool  # there was a file


class Keeper:
    """Writes a run to its checkpoint, at most as often as the engine says."""

    def __init__(self, place: str, identity: Identity | None, pause: float) -> None:
        self._path, self._identity, self._pause = Path(place) if place else None, identity, pause
        self._saved = time.monotonic()

    @property
    def keeps(self) -> bool:
        """Whether there is a place to write to."""
        return self._path is not None

    def read(self, run: Run) -> Kept:
        """Return the run on disk, or the given run if there is none; sweep up after runs that were killed."""
        if self._path is None or self._identity is None:
            return unkept(run)
        sealed.sweep(self._path)
        return load(self._path, self._identity, run) if self._path.exists() else unkept(run)

    def is_due(self) -> bool:
        """Say whether the last checkpoint is old enough."""
        return self._path is not None and time.monotonic() - self._saved >= self._pause

    def write(self, run: Run, rows: list[Row]) -> None:
        """Write a run down."""
        if self._path is None or self._identity is None:
            return
        try:
            save(self._path, self._identity, run, rows)
        except OSError as error:  # a full disk must not cost the run
            log.warning("checkpoint %s could not be written: %s.", self._path, error)
        self._saved = time.monotonic()


def unkept(run: Run) -> Kept:
    """Return a run that begins."""
    return Kept(run, np.zeros((0, len(Row._fields) - 1)), None, False)


def save(path: Path, identity: Identity, run: Any, rows: list[Row]) -> None:
    """Write a run, replacing an older checkpoint in one step."""
    arrays: dict[str, Any] = {}
    leaves, history = flatten("run", run, arrays), History(rows)
    arrays["history"], reports = history.table, history.reports
    if reports is not None:
        arrays["workers"] = reports
    sealed.write(path, {"format": FORMAT, "identity": identity._asdict(), "leaves": leaves}, arrays)


def load(path: Path, identity: Identity, template: Run) -> Kept:
    """Read a run back; refuse a file that belongs to another one or was changed."""
    _require_no_solution(path)
    with _reading(path):
        header, arrays = sealed.read(path, FORMAT)
        found = Identity(**header["identity"])
    _check_identity(path, found, identity)
    with _reading(path):
        run = restore("run", header["leaves"], arrays, template, type(template))
    return Kept(run, arrays["history"], arrays.get("workers"), True)


def as_path(checkpoint: Any) -> Path | None:
    """Return the path of a checkpoint; refuse one that could not be written later."""
    return None if checkpoint is None else sealed.writable("checkpoint", checkpoint)


def _require_no_solution(path: Path) -> None:
    """Refuse a saved solution in words that do not have it deleted."""
    try:
        saved = "kind" in sealed.header_of(path)
    except Exception:  # what cannot be read is refused when it is
        saved = False
    if saved:
        raise ValueError(
            f"checkpoint {str(path)!r} is a saved solution, not the checkpoint of a run; choose another path."
        )


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
        if there != here:
            what = WORDS.get(name, "another problem")
            raise ValueError(
                f"checkpoint {str(path)!r} belongs to {what} ({name} {there!r} there, {here!r} here); "
                "delete it or choose another path."
            )
