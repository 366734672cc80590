"""Parquet, through pyarrow."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array
from tether.io.columns import Choice, chosen_columns
from tether.io.data import Data
from tether.io.opening import WHOLE, Share


def read_parquet(path: Path, choice: Choice, share: Share = WHOLE) -> Data:
    """Return a share of the rows of a table, some columns set aside."""
    with _opened(path) as file:
        names = tuple(file.schema_arrow.names)
        kept = chosen_columns(path, names, choice)
        first, last = share.of(file.metadata.num_rows)
        if first == last:
            raise ValueError(f"{path} has no rows{'' if share.size == 1 else ' for every process'}.")
        table = _rows(file, [names[j] for j in kept.used + kept.aside], first, last)
    used = [_numbers(path, table, names[j], first) for j in kept.used]
    aside = {names[j]: _aside(path, table, names[j], first) for j in kept.aside}
    return Data(np.column_stack(used), None, tuple(names[j] for j in kept.used), aside)


def parquet_names(path: Path) -> tuple[str, ...]:
    """Return the names of the columns of a table."""
    with _opened(path) as file:
        return tuple(file.schema_arrow.names)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise ValueError(f"{path} is Parquet, which needs pyarrow: pip install 'tether[parquet]'.") from error
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet; it is damaged or not complete.") from error


def _rows(file: Any, columns: list[str], first: int, last: int) -> Any:
    """Return some rows of some columns; only the groups of rows that hold them are read."""
    groups, skipped = list[int](), 0
    for number, (start, end) in enumerate(_groups(file)):
        if start < last and end > first:
            groups.append(number)
            skipped = skipped if len(groups) > 1 else first - start
    table = file.read_row_groups(groups, columns=columns)
    return table.slice(skipped, last - first)


def _groups(file: Any) -> Iterator[tuple[int, int]]:
    start = 0
    for number in range(file.metadata.num_row_groups):
        end = start + file.metadata.row_group(number).num_rows
        yield start, end
        start = end


def _numbers(path: Path, table: Any, name: str, first: int) -> Array:
    values = _column(path, table, name, first)
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"{path}: column {name!r} holds {table.schema.field(name).type}, not numbers; encode or "
            "leave out the column."
        )
    return _finite(path, values.astype(float), name, first)


def _aside(path: Path, table: Any, name: str, first: int) -> NDArray[Any]:
    values = _column(path, table, name, first)
    return _finite(path, values, name, first) if values.dtype.kind == "f" else np.asarray(values)


def _column(path: Path, table: Any, name: str, first: int) -> NDArray[Any]:
    column = table.column(name)
    if column.null_count:
        row = first + int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise ValueError(
            f"{path}: column {name!r} has no value in row {row}; impute it, or leave out the row or "
            "the column."
        )
    values = np.asarray(column.to_numpy())
    return values.astype(str) if values.dtype.kind == "O" else values


def _finite(path: Path, values: Array, name: str, first: int) -> Array:
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise ValueError(
            f"{path}: column {name!r} holds {values[wrong[0]]} in row {first + wrong[0]}; impute it, or "
            "leave out the row or the column."
        )
    return values
