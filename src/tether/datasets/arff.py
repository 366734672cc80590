"""Tables in the ARFF format, as OpenML stores them: numbers and categories, dense or sparse rows."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from tether.arrays import Array

NUMERIC = ("numeric", "real", "integer")
MISSING = "nan"
_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\S+)\s+(.+)", re.IGNORECASE)


class Column(NamedTuple):
    """A column of numbers, or of places in a list of categories."""

    name: str
    categories: tuple[str, ...] | None  # None: numbers


class Table(NamedTuple):
    """Columns and their numbers, a row a sample; nan where a value is missing."""

    columns: tuple[Column, ...]
    numbers: Array


def read(lines: Iterable[str]) -> Table:
    """Return the table of a file."""
    lines = iter(lines)
    columns = tuple(_columns(lines))
    coded = [place for place, column in enumerate(columns) if column.categories is not None]
    rows = [_row(line.strip(), columns, coded) for line in lines if line.strip() and line[0] != "%"]
    return Table(columns, np.array(rows).reshape(len(rows), len(columns)))


def _columns(lines: Iterator[str]) -> Iterator[Column]:
    """Yield the columns that are declared before the line that says @data."""
    for line in lines:
        if line.strip().lower().startswith("@data"):
            return
        found = _ATTRIBUTE.match(line.strip())
        if found:
            name, kind = found[1].strip("'\""), found[2].strip()
            yield Column(name, _categories(name, kind))
    raise ValueError("the file has no @data line, so it is no ARFF file.")


def _categories(name: str, kind: str) -> tuple[str, ...] | None:
    if kind.lower() in NUMERIC:
        return None
    if kind.startswith("{"):
        return tuple(name.strip() for name in _fields(kind.strip("{}")))
    raise ValueError(f"column {name!r} holds {kind}s; only numbers and categories can be read.")


def _fields(line: str) -> list[str]:
    if "'" not in line and '"' not in line:
        return line.split(",")
    quote = '"' if '"' in line else "'"
    return next(csv.reader([line], quotechar=quote, skipinitialspace=True))


def _row(line: str, columns: tuple[Column, ...], coded: list[int]) -> Array:
    """Return a row as numbers; ``coded`` are the columns of categories."""
    cells = _sparse_cells(line, columns) if line.startswith("{") else _fields(line)
    if len(cells) != len(columns):
        raise ValueError(f"a row has {len(cells)} cells and should have {len(columns)}: {line[:60]!r}.")
    for place in coded:
        cells[place] = _place_of(cells[place].strip(), columns[place])
    if "?" in line:
        cells = [MISSING if cell.strip() == "?" else cell for cell in cells]
    return np.array(cells, dtype=float)


def _place_of(cell: str, column: Column) -> str:
    assert column.categories is not None
    if cell == "?":
        return cell
    if cell not in column.categories:
        raise ValueError(f"column {column.name!r} has the value {cell!r}, which is none of its categories.")
    return str(column.categories.index(cell))


def _sparse_cells(line: str, columns: tuple[Column, ...]) -> list[str]:
    """Return the cells of a row such as {2 5, 7 1}: others are zero, or the first category."""
    cells = ["0" if column.categories is None else column.categories[0] for column in columns]
    for entry in _fields(line.strip("{}")):
        place, _, value = entry.strip().partition(" ")
        cells[int(place)] = value.strip("'\" ")
    return cells
