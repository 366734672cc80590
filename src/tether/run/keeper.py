"""A run on disk: an .npz of arrays with a header that says which run it is.

A checkpoint is written beside its place and then moved there, so that a kill leaves the old one or the new
one. Its identity is a digest of the data, of the constraint and of all settings; a seal over everything in it
tells a file that was changed by hand or by a failing disk.
"""

import json
import logging
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tether.digest import digest_of
from tether.packing import flatten, restore
from tether.run.solution import Counts, History, Row
from tether.run.turn import Run

log = logging.getLogger("tether")

FORMAT = 5
LONGEST_NAME = 255  # bytes that file systems take
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
        _sweep(self._path)
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
    leaves = flatten("run", run, arrays)
    table = [row[:-1] for row in rows]
    arrays["history"] = np.array(table, dtype=np.float64).reshape(len(rows), len(Row._fields) - 1)
    reports = History(rows).workers
    if reports:
        arrays["workers"] = np.stack(list(reports.values()), axis=-1)
    header = {"format": FORMAT, "identity": identity._asdict(), "leaves": leaves}
    header["seal"] = _seal(header, arrays)
    arrays["header"] = np.array(json.dumps(header))
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(path: Path, identity: Identity, template: Run) -> Kept:
    """Read a run back; refuse a file that belongs to another one or was changed."""
    with _reading(path):
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = dict(file)
        header = json.loads(str(arrays.pop("header")))
        if header["format"] != FORMAT:
            raise ValueError(f"format {header['format']}, readable is {FORMAT}")
        found = Identity(**header["identity"])
        if header.pop("seal") != _seal(header, arrays):
            raise ValueError("it was changed after it was written")
    _check_identity(path, found, identity)
    with _reading(path):
        run = restore("run", header["leaves"], arrays, template, type(template))
    return Kept(run, arrays["history"], arrays.get("workers"), True)


def rows_of(kept: Kept) -> list[Row]:
    """Rebuild the history; counts are whole numbers."""
    counts, rows = len(Counts._fields), []
    for place, line in enumerate(kept.table):
        numbers: list[Any] = [int(v) for v in line[:counts]] + [float(v) for v in line[counts:]]
        report = None if kept.reports is None else kept.reports[place]
        report = None if report is None or np.isnan(report).all() else report
        rows.append(Row(*numbers)._replace(workers=report))
    return rows


def as_path(checkpoint: Any) -> Path | None:
    """Return the path of a checkpoint; refuse one that could not be written later."""
    if checkpoint is None:
        return None
    if not isinstance(checkpoint, str | os.PathLike):
        raise TypeError(f"checkpoint must be the path of a file, got {checkpoint!r}.")
    path = Path(checkpoint)
    _check_place(path)
    return path


def _check_place(path: Path) -> None:
    if any(0xD800 <= ord(letter) <= 0xDFFF for letter in path.name):
        raise ValueError(f"checkpoint {str(path)!r} has letters that no file name can have; name another.")
    if "\0" in str(path):
        raise ValueError(f"checkpoint {str(path)!r} has a NUL in it, which no file name can; name another.")
    spare = LONGEST_NAME - len(".12345678.part")
    if len(os.fsencode(path.name)) > spare:
        raise ValueError(
            f"checkpoint {path.name[:20] + '...'!r} has a name of {len(os.fsencode(path.name))} bytes; "
            f"use at most {spare}."
        )
    try:
        fits = not path.is_dir() and path.parent.is_dir() and os.access(path.parent, os.W_OK)
    except OSError:
        fits = False
    if not fits:
        raise ValueError(
            f"checkpoint {str(path)!r} cannot be written: name a file in an existing, writable folder."
        )


def _sweep(path: Path) -> None:
    """Remove what runs that were killed while they wrote this checkpoint have left."""
    mark = re.compile(re.escape(path.name) + r"\.\w{8}\.part")
    for part in path.parent.iterdir():
        if mark.fullmatch(part.name):
            part.unlink(missing_ok=True)


def _seal(header: dict[str, Any], arrays: dict[str, Any]) -> str:
    names = sorted(arrays)
    plain = json.dumps({name: header[name] for name in ("format", "identity", "leaves")}, sort_keys=True)
    return digest_of(plain, *names, *(np.asarray(arrays[name]) for name in names))


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
