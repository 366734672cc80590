"""Tables with a header: CSV with commas, semicolons or tabs."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array
from tether.io.columns import Choice, Chosen, chosen_columns
from tether.io.data import Data
from tether.io.opening import WHOLE, Block, Share, blocks, line_number, opened, without_empty_lines
from tether.io.plain_rows import Part, plain_rows
from tether.names import Names

DELIMITERS = ",;\t"
MISSING = ("", "na", "n/a", "null", "none", "nan", ".", "?", "-")


class Header(NamedTuple):
    """The first line: names of the columns, what stands between them, and where it ends."""

    names: Names
    delimiter: str
    end: int


def read_csv(path: Path, choice: Choice, share: Share = WHOLE) -> Data:
    """Return a share of the rows of a table, some columns set aside."""
    header = read_header(path)
    kept = chosen_columns(path, header.names, choice)
    parts = [
        part for block in blocks(path, share, skip=header.end) for part in _parts(path, block, header, kept)
    ]
    if not parts:
        raise ValueError(f"{path} has a header but no rows{'' if share.size == 1 else ' for every process'}.")
    aside = np.concatenate([part.aside for part in parts])
    columns = {header.names[j]: aside[:, k] for k, j in enumerate(kept.aside)}
    names = tuple(header.names[j] for j in kept.used)
    return Data(np.concatenate([part.used for part in parts]), None, names, columns)


def _parts(path: Path, block: Block, header: Header, kept: Chosen) -> Iterator[Part]:
    """Yield the rows of a block, if it has any: at once where they are plain, else field by field."""
    text = without_empty_lines(block.text)
    if not text:
        return
    part = None if b'"' in text else plain_rows(text, header.delimiter, len(header.names), kept)
    if part is None:
        lines = _lines(path, block)
        used = _numbers(path, block, header, kept.used)
        part = Part(used, _parsed(lines, header, kept.aside, str) if kept.aside else np.empty((len(used), 0)))
    yield part


def read_header(path: Path) -> Header:
    """Return what the first line says."""
    with opened(path) as file:
        line = file.readline()
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}, line 1: the names are not written in UTF-8; save it as UTF-8.") from error
    counts = Counter(re.sub('"[^"]*"', "", text))
    delimiter = max(DELIMITERS, key=lambda sign: counts[sign])
    names = tuple(name.strip() for name in next(csv.reader([text], delimiter=delimiter), []))
    if names and all(_is_number(name) for name in names):
        raise ValueError(
            f"{path}, line 1: there is no header, but numbers; put the names of the columns above."
        )
    return Header(names, delimiter, len(line))


def _lines(path: Path, block: Block) -> list[str]:
    try:
        text = block.text.decode("utf-8")
    except UnicodeDecodeError as error:
        number = line_number(path, block.start + error.start)
        raise ValueError(f"{path}, line {number}: not written in UTF-8; save it as UTF-8.") from error
    return [line for line in text.splitlines() if line.strip()]


def _numbers(path: Path, block: Block, header: Header, used: Sequence[int]) -> Array:
    """Return the rows of a block as finite numbers, or say which is none."""
    try:
        found = _parsed(_lines(path, block), header, used, float)
    except ValueError:
        raise _explained(path, block, header, used) from None
    if not np.isfinite(found).all() or _is_ragged(block, header):
        raise _explained(path, block, header, used)
    return found


def _parsed(lines: list[str], header: Header, used: Sequence[int], dtype: Any) -> NDArray[Any]:
    return np.loadtxt(
        lines,
        dtype=dtype,
        delimiter=header.delimiter,
        usecols=tuple(used),
        comments=None,
        quotechar='"',
        ndmin=2,
    )


def _is_ragged(block: Block, header: Header) -> bool:
    """Say whether some line may have another number of fields; quotes hide some."""
    sign = header.delimiter.encode()
    if b'"' in block.text:
        return any(len(row) != len(header.names) for row in _rows(block, header))
    lines = [line for line in block.text.split(b"\n") if line.strip()]
    return any(line.count(sign) != len(header.names) - 1 for line in lines)


def _rows(block: Block, header: Header) -> Iterator[list[str]]:
    lines = block.text.decode("utf-8").splitlines()
    return (row for row in csv.reader(lines, delimiter=header.delimiter) if row)


def _explained(path: Path, block: Block, header: Header, used: Sequence[int]) -> ValueError:
    """Return what is wrong with the first row that is."""
    lines = block.text.decode("utf-8").splitlines()
    reader = csv.reader(lines, delimiter=header.delimiter)
    for row in reader:
        if not row or not "".join(row).strip():
            continue
        problem = _problem(row, header, used)
        if problem:
            number = line_number(path, block.start) + reader.line_num - 1
            return ValueError(f"{path}, line {number}: {problem}")
    return ValueError(f"{path} cannot be read as a table of numbers.")


def _problem(row: list[str], header: Header, used: Sequence[int]) -> str:
    if len(row) != len(header.names):
        return f"there are {len(row)} fields, but the header names {len(header.names)} columns."
    for j in used:
        text, name = row[j].strip(), header.names[j]
        if text.lower() in MISSING:
            return f"column {name!r} has no value; impute it, or leave out the row or the column."
        if not _is_number(text):
            if _is_number(text.replace(",", ".")):
                return f"column {name!r} holds {text!r}; write numbers with a point."
            return f"column {name!r} holds {text[:40]!r}, which is no number; encode or leave out the column."
        if not np.isfinite(float(text)):
            return f"column {name!r} holds {text!r}, which is not finite; impute it or leave out the row."
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
