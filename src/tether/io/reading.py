"""Data, matrices and vectors, from files of whatever format."""

from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether.io.columns import Choice
from tether.io.csv_table import read_csv, read_header
from tether.io.data import Data
from tether.io.formats import Format, format_of
from tether.io.matrix_market import read_matrix_market
from tether.io.numpy_files import archive, array, arrays_in, matrix_in, read_npy, read_npz
from tether.io.opening import WHOLE, Share, blocks, line_number
from tether.io.parquet import parquet_names, read_parquet
from tether.io.svmlight import read_svmlight
from tether.names import Names

EVERYTHING = Choice()


class Matrix(NamedTuple):
    """A matrix and the names of its columns, where the file has any."""

    entries: Any
    names: Names | None


def read_data(path: str | PathLike[str], choice: Choice = EVERYTHING, share: Share = WHOLE) -> Data:
    """Return the rows of a file, or one process's share of them.

    Parameters
    ----------
    path : path
        svmlight, .npz (``X`` and ``y``, or what `scipy.sparse.save_npz` writes with ``y`` beside it), .npy,
        Matrix Market, CSV with a header, or Parquet; svmlight, CSV and Matrix Market may be compressed.
    choice : Choice, optional
        Which columns of a table are set aside, used and left out.
    share : Share, optional
        Which part of the rows is read. Files that can be read in parts are; of the others all is read and the
        part is kept. Where there are several shares, `Data.among` is to be called with the facts of all.

    Returns
    -------
    Data
        The rows.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tether.io import Choice, read_data
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = path.write_text("age,income,y\\n30,2.5,1\\n40,3.5,0\\n")
    >>> data = read_data(path, Choice(aside=("y",)))
    >>> data.names, data.X.tolist(), data.columns["y"].tolist()
    (('age', 'income'), [[30.0, 2.5], [40.0, 3.5]], [1.0, 0.0])
    """
    place = Path(path)
    data = _data(place, format_of(place), choice, share)
    return data.among([data.facts]) if share.size == 1 else data


def columns_in(path: str | PathLike[str]) -> Names:
    """Return the names of the columns that can be set aside: of a table, or the arrays of an .npz."""
    place = Path(path)
    kind = format_of(place)
    if kind is Format.CSV:
        return read_header(place).names
    if kind is Format.PARQUET:
        return parquet_names(place)
    return arrays_in(place) if kind is Format.NPZ else ()


def _data(path: Path, kind: Format, choice: Choice, share: Share) -> Data:
    if kind is Format.CSV:
        return read_csv(path, choice, share)
    if kind is Format.PARQUET:
        return read_parquet(path, choice, share)
    if kind is Format.NPZ:
        return read_npz(path, choice, share)
    if choice != EVERYTHING:
        named = (*choice.aside, *choice.used, *choice.left_out)[0]
        raise ValueError(f"{path} is {kind.value}, whose columns have no names; {named!r} cannot be chosen.")
    if kind is Format.SVMLIGHT:
        return read_svmlight(path, share)
    if kind is Format.NPY:
        return read_npy(path, share)
    X = _numbers(path) if kind is Format.TEXT else read_matrix_market(path)
    first, last = share.of(X.shape[0])
    return Data(X[first:last], None)


def read_matrix(path: str | PathLike[str], name: str = "A") -> Matrix:
    """Return a matrix: Matrix Market, .npz, .npy, CSV with a header, or lines of numbers.

    ``name`` is that of the array in an .npz that holds several.
    """
    place = Path(path)
    kind = format_of(place)
    if kind is Format.NPZ:
        return Matrix(matrix_in(place, archive(place), name), None)
    if kind in (Format.CSV, Format.PARQUET, Format.SVMLIGHT):
        data = read_data(place)
        return Matrix(data.X, data.names)
    found = read_data(place).X
    return Matrix(found, None)


def read_vector(path: str | PathLike[str], name: str = "b", *, texts: bool = False) -> NDArray[Any]:
    """Return a vector: a number a line, .npy, .npz, Matrix Market, or a table of one column.

    ``name`` is that of the array in an .npz that holds several; with ``texts`` lines that are no numbers are
    kept as texts. Numbers may be infinite.
    """
    place = Path(path)
    kind = format_of(place)
    if kind is Format.NPZ:
        found = _only(place, archive(place), name)
    elif kind is Format.NPY:
        found = array(place)
    elif kind is Format.MATRIX_MARKET:
        found = read_matrix_market(place)
        found = found.toarray() if sparse.issparse(found) else found
    elif kind in (Format.CSV, Format.PARQUET) and place.suffix:
        found = read_data(place).X
    else:
        found = _lines(place, texts)
    if found.ndim > 2 or (found.ndim == 2 and min(found.shape) != 1):
        raise ValueError(f"{place} must hold one number a row, got shape {found.shape}.")
    return found.ravel()


def _only(path: Path, arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name in arrays:
        return arrays[name]
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    raise ValueError(f"{path} holds several arrays and none is called {name!r}.")


def _lines(path: Path, texts: bool) -> NDArray[Any]:
    """Return the number, or the text, of each line."""
    words = [line.strip() for block in blocks(path) for line in block.text.splitlines() if line.strip()]
    try:
        return np.array(list(map(float, words)))
    except ValueError:
        if texts:
            return np.array([word.decode("utf-8", errors="replace") for word in words])
        raise ValueError(_explained(path)) from None


def _numbers(path: Path) -> NDArray[Any]:
    """Return lines of numbers with blanks between them as a matrix."""
    rows = [line.split() for block in blocks(path) for line in block.text.splitlines() if line.strip()]
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        raise ValueError(
            f"{path} has lines with {min(widths)} and with {max(widths)} numbers; all must have as many."
        )
    try:
        return np.array([list(map(float, row)) for row in rows])
    except ValueError:
        raise ValueError(_explained(path)) from None


def _explained(path: Path) -> str:
    """Return which line holds something else than numbers."""
    for block in blocks(path):
        place = block.start
        for line in block.text.split(b"\n"):
            for word in line.split():
                try:
                    float(word)
                except ValueError:
                    number, shown = line_number(path, place), word[:40].decode("utf-8", errors="replace")
                    return f"{path}, line {number}: {shown!r} is no number."
            place += len(line) + 1
    return f"{path} holds something else than numbers."
