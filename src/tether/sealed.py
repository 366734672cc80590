"""Arrays in a file with a header: an .npz without pickle, written in one step and sealed against change.

A file is written beside its place and then moved there, so that a kill leaves the old one or the new one. A
digest of everything in it, its seal, tells a file that was changed by hand or by a failing disk.
"""

import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tether.digest import digest_of

LONGEST_NAME = 255  # bytes that file systems take
ARCHIVE = b"PK"  # what archives begin with
PART = ".12345678.part"  # what the name of a file under way ends in


class Unreadable(ValueError):  # noqa: N818
    """What is wrong with a file, in words that go on a sentence."""


class Sealed(NamedTuple):
    """What is in a file."""

    header: dict[str, Any]
    arrays: dict[str, Any]


def write(path: Path, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write a file, replacing an older one in one step."""
    header = {**header, "seal": _seal(header, arrays)}
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            np.savez(file, header=np.array(json.dumps(header)), **arrays)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def header_of(path: Path) -> dict[str, Any]:
    """Read the header of a file, whatever its format; raise an error of whatever kind if it has none."""
    with _opened(path) as file:
        header = json.loads(str(file["header"]))
    if not isinstance(header, dict):
        raise Unreadable("its header is none of tether's")
    return header


def read(path: Path, format: int) -> Sealed:
    """Read a file of a format back; raise an error of whatever kind if it is none or was changed."""
    with _opened(path) as file:
        arrays = dict(file)
    header = json.loads(str(arrays.pop("header")))
    if header["format"] != format:
        raise Unreadable(f"format {header['format']}, readable is {format}")
    if header.pop("seal") != _seal(header, arrays):
        raise Unreadable("it was changed after it was written")
    return Sealed(header, arrays)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open an .npz without trust."""
    with path.open("rb") as raw:
        if raw.read(len(ARCHIVE)) != ARCHIVE:
            raise Unreadable("it is no .npz file")
        raw.seek(0)
        with np.load(raw, allow_pickle=False) as file:
            yield file


def sweep(path: Path) -> None:
    """Remove what processes that were killed while they wrote this file have left."""
    mark = re.compile(re.escape(path.name) + r"\.\w{8}\.part")
    for part in path.parent.iterdir():
        if mark.fullmatch(part.name):
            part.unlink(missing_ok=True)


def readable(name: str, place: Any) -> Path:
    """Return the path of a file that is there, or refuse it."""
    path = _path(name, place)
    try:
        found = path.is_file()
    except OSError:
        found = False
    if not found:
        raise ValueError(f"{name} {str(path)!r} is no file; name one that is there.")
    return path


def _path(name: str, place: Any) -> Path:
    if not isinstance(place, str | os.PathLike) or isinstance(os.fspath(place), bytes):
        raise TypeError(f"{name} must be the path of a file, got {place!r}.")
    path = Path(place)
    if any(0xD800 <= ord(letter) <= 0xDFFF for letter in path.name):
        raise ValueError(f"{name} {str(path)!r} has letters that no file name can have; name another.")
    if "\0" in str(path):
        raise ValueError(f"{name} {str(path)!r} has a NUL in it, which no file name can; name another.")
    return path


def writable(name: str, place: Any) -> Path:
    """Return the path of a file; refuse one that could not be written later."""
    path = _path(name, place)
    spare = LONGEST_NAME - len(PART)
    if len(os.fsencode(path.name)) > spare:
        raise ValueError(
            f"{name} {path.name[:20] + '...'!r} has a name of {len(os.fsencode(path.name))} bytes; "
            f"use at most {spare}."
        )
    if not _fits(path):
        raise ValueError(
            f"{name} {str(path)!r} cannot be written: name a file in an existing, writable folder."
        )
    return path


def _fits(path: Path) -> bool:
    try:
        return not path.is_dir() and path.parent.is_dir() and os.access(path.parent, os.W_OK)
    except OSError:
        return False


def _seal(header: dict[str, Any], arrays: dict[str, Any]) -> str:
    names = sorted(arrays)
    plain = json.dumps(header, sort_keys=True)
    return digest_of(plain, *names, *(np.asarray(arrays[name]) for name in names))
