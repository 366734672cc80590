"""Rows of a table without quotes: all fields found at once, all numbers read at once."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array, Indices
from tether.io.columns import Chosen
from tether.io.numbers import numbers_in

BLANK, NEWLINE = ord(" "), ord("\n")


class Part(NamedTuple):
    """Some rows: the columns that are used, and those set aside."""

    used: Array
    aside: NDArray[Any]  # of texts


class Fields(NamedTuple):
    """Where the fields of rows begin and end, a row for each."""

    start: Indices
    end: Indices


def plain_rows(text: bytes, delimiter: str, width: int, kept: Chosen) -> Part | None:
    """Return rows of as many fields, each line with its end; None if something is wrong with them."""
    letters = np.frombuffer(text, dtype=np.uint8)
    fields = _fields(letters, ord(delimiter), width)
    if fields is None:
        return None
    count, others = len(fields.start), [j for j in range(width) if j not in set(kept.used)]
    bare = _blanked(letters, fields, others).tobytes() if others else text
    numbers = numbers_in(bare, delimiter.encode())
    if numbers is None or len(numbers) != count * len(kept.used) or not np.isfinite(numbers).all():
        return None
    aside = _texts(text, fields, kept.aside)
    return None if aside is None else Part(numbers.reshape(count, -1), aside)


def _fields(letters: NDArray[np.uint8], delimiter: int, width: int) -> Fields | None:
    """Return where fields are; None if some line has another number of them."""
    ends = np.flatnonzero((letters == delimiter) | (letters == NEWLINE))
    if len(ends) % width:
        return None
    table = ends.reshape(-1, width)
    last = letters[table] == NEWLINE
    if not last[:, -1].all() or last[:, :-1].any():
        return None
    starts = np.concatenate([[0], ends[:-1] + 1]).reshape(-1, width)
    return Fields(starts, table)


def _blanked(letters: NDArray[np.uint8], fields: Fields, columns: list[int]) -> NDArray[np.uint8]:
    """Return a text with nothing in some columns."""
    change = np.zeros(len(letters) + 1, dtype=np.int8)
    np.add.at(change, fields.start[:, columns].ravel(), 1)
    np.subtract.at(change, fields.end[:, columns].ravel(), 1)
    return np.where(np.cumsum(change[:-1], dtype=np.int8) > 0, np.uint8(BLANK), letters)


def _texts(text: bytes, fields: Fields, columns: list[int]) -> NDArray[Any] | None:
    found = []
    try:
        for j in columns:
            ends = zip(fields.start[:, j].tolist(), fields.end[:, j].tolist(), strict=True)
            found.append([text[start:end].decode().strip() for start, end in ends])
    except UnicodeDecodeError:
        return None
    return np.array(found).T if found else np.empty((len(fields.start), 0))
