"""NumPy's .npz and .npy.

Data in .npz: ``X``, or what `scipy.sparse.save_npz` writes; beside it ``y`` and, by any name, other columns;
``names`` are the names of the columns of X.
"""

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether.io.columns import Choice, chosen_columns
from tether.io.data import Data, require_finite
from tether.io.opening import WHOLE, Share
from tether.names import few

SPARSE_KEYS = {"format", "shape", "data"}
NAMES, TARGET, MATRIX = "names", "y", "X"
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, NotImplementedError)


def read_npz(path: Path, choice: Choice, share: Share = WHOLE) -> Data:
    """Return a share of the rows of an archive."""
    arrays = archive(path)
    X = matrix_in(path, arrays, MATRIX)
    first, last = share.of(X.shape[0])
    used: Sequence[int] = range(X.shape[1])
    names = None
    columns = {name: _column(path, arrays, name, X.shape[0])[first:last] for name in choice.aside}
    if NAMES in arrays:
        names = _names(path, arrays[NAMES], X.shape[1])
        kept = chosen_columns(path, names, choice._replace(aside=()))
        used, names = kept.used, tuple(names[j] for j in kept.used)
    elif choice.used or choice.left_out:
        raise ValueError(f"{path} has no {NAMES}, so that columns cannot be chosen by name; add them to it.")
    y = _column(path, arrays, TARGET, X.shape[0])[first:last] if TARGET in arrays else None
    return Data(_rows(X[first:last], used), y, names, columns)


def read_npy(path: Path, share: Share = WHOLE) -> Data:
    """Return a share of the rows of an array."""
    X = array(path, map_memory=True)
    if X.ndim != 2:
        raise ValueError(f"{path} must hold a matrix, got an array of shape {X.shape}.")
    first, last = share.of(len(X))
    rows = np.array(X[first:last])
    require_finite(path, rows)
    return Data(rows, None)


def archive(path: Path) -> dict[str, NDArray[Any]]:
    """Return all arrays of an archive."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except _BROKEN as error:
        raise ValueError(f"{path} {_broken(error)}") from error


def arrays_in(path: Path) -> tuple[str, ...]:
    """Return the names of the arrays of an archive, without reading them."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as found:
            return tuple(found.files)
    except _BROKEN as error:
        raise ValueError(f"{path} {_broken(error)}") from error


def array(path: Path, *, map_memory: bool = False) -> NDArray[Any]:
    """Return the array of a file."""
    try:
        found = np.load(path, mmap_mode="r" if map_memory else None, allow_pickle=False)
    except _BROKEN as error:
        raise ValueError(f"{path} {_broken(error)}") from error
    _require_numbers(path, "it", found)
    return np.asarray(found) if not map_memory else found


def matrix_in(path: Path, arrays: dict[str, NDArray[Any]], name: str) -> Any:
    """Return the matrix of an archive: under a name, sparse, or the only array there is."""
    if name in arrays:
        found = arrays[name]
    elif arrays.keys() >= SPARSE_KEYS:
        return _sparse(path)
    elif len(arrays) == 1:
        (found,) = arrays.values()
    else:
        held = f"it holds {few(tuple(arrays))}" if arrays else "it is empty"
        raise ValueError(f"{path} has no array {name!r} and is not of scipy.sparse.save_npz; {held}.")
    _require_numbers(path, name, found)
    if found.ndim != 2:
        raise ValueError(f"{path}: {name} must be a matrix, got an array of shape {found.shape}.")
    require_finite(path, found)
    return found


def _sparse(path: Path) -> sparse.csr_array:
    try:
        found = sparse.csr_array(sparse.load_npz(path))
    except _BROKEN as error:
        raise ValueError(f"{path} is no sparse matrix as scipy.sparse.save_npz writes one.") from error
    _require_numbers(path, "it", found)
    require_finite(path, found)
    return found


def _column(path: Path, arrays: dict[str, NDArray[Any]], name: str, rows: int) -> NDArray[Any]:
    if name not in arrays:
        raise ValueError(f"{path} has no array {name!r}; it has {few(tuple(arrays))}.")
    found = arrays[name]
    if found.shape not in ((rows,), (rows, 1)):
        raise ValueError(
            f"{path}: {name} must have {rows} entries, one for each row of X, got shape {found.shape}."
        )
    return found.ravel()


def _names(path: Path, names: NDArray[Any], width: int) -> tuple[str, ...]:
    if names.shape != (width,) or names.dtype.kind not in "US":
        raise ValueError(
            f"{path}: {NAMES} must be {width} texts, one for each column of X, got {names.dtype} of "
            f"shape {names.shape}."
        )
    return tuple(map(str, names.astype(str)))


def _rows(X: Any, used: Sequence[int]) -> Any:
    return X if len(used) == X.shape[1] else X[:, used]


def _require_numbers(path: Path, name: str, found: Any) -> None:
    if found.dtype.kind not in "biuf":
        raise ValueError(f"{path}: {name} must hold real numbers, got dtype {found.dtype}.")


def _broken(error: Exception) -> str:
    if "allow_pickle" in str(error):
        return "holds Python objects, which are not read; write numbers."
    return "cannot be read; it is damaged or not complete."
