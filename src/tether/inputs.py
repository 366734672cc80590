"""What users hand in: turned into arrays once, or refused in one sentence that names the argument."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from tether.arrays import Array

_REAL_KINDS = "biuf"  # booleans, integers, unsigned integers, floats
_BLOCK = 1 << 20  # numbers looked at together, so that checking a memory map does not load it


def numbers(name: str, value: Any) -> NDArray[Any]:
    """Return the value as a real NumPy array without copying one, or refuse it."""
    if sparse.issparse(value):
        raise ValueError(f"{name} must be a dense array, got a sparse one; pass {name}.toarray().")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(
            f"{name} must be a rectangular array of numbers, got rows of unequal length."
        ) from error
    _require_real(name, array.dtype)
    return array


def vector(name: str, value: Any) -> Array:
    """Return the value as a finite one-dimensional float64 array, or refuse it."""
    array = numbers(name, value)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}; try {name}.ravel().")
    array = np.ascontiguousarray(array, dtype=np.float64)
    _require_finite(name, array)
    return array


def matrix(name: str, value: Any) -> NDArray[Any] | sparse.csr_array:
    """Return the value as a C-contiguous or CSR float matrix, untouched where it already is one."""
    if sparse.issparse(value):
        return _sparse_matrix(name, value)
    array = numbers(name, value)
    _require_rows_and_columns(name, array.shape)
    array = np.ascontiguousarray(array, dtype=_float_type(array.dtype))
    step = max(1, _BLOCK // array.shape[1])
    for start in range(0, len(array), step):
        _require_finite(name, array[start : start + step])
    return array


def nonnegative(name: str, value: Any) -> float:
    """Return the value as a finite float >= 0, or refuse it."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a number >= 0, got {value!r}.") from error
    if not (math.isfinite(number) and number >= 0.0):
        raise ValueError(f"{name} must be a finite number >= 0, got {number}.")
    return number


def positive_integer(name: str, value: Any) -> int:
    """Return the value as an int >= 1, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} must be a whole number >= 1, got {value!r}.")
    return int(value)


def _sparse_matrix(name: str, value: Any) -> sparse.csr_array:
    _require_real(name, value.dtype)
    _require_rows_and_columns(name, value.shape)
    rows = sparse.csr_array(value)
    if rows.dtype != _float_type(rows.dtype):
        rows = rows.astype(np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()  # the caller's matrix keeps its duplicates
        rows.sum_duplicates()
    _require_finite(name, rows.data)
    return rows


def _float_type(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    return np.float32 if dtype == np.float32 else np.float64


def _require_real(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in _REAL_KINDS:
        raise ValueError(f"{name} must hold real numbers, got dtype {dtype}; convert it to float first.")


def _require_rows_and_columns(name: str, shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"{name} must be two-dimensional, got shape {shape}; {name}.reshape(-1, 1) makes it one column."
        )
    if 0 in shape:
        raise ValueError(f"{name} must have at least one row and one column, got shape {shape}.")


def _require_finite(name: str, array: NDArray[Any]) -> None:
    finite = np.isfinite(array)
    if not finite.all():
        count = finite.size - int(np.count_nonzero(finite))
        raise ValueError(f"{name} must be finite, got {count} NaN or infinite entries; impute or drop them.")


def real_matrix(matrix: Any, name: str) -> Any:
    """Return a fresh float64 ndarray or csr_array with two axes, or the LinearOperator itself."""
    if isinstance(matrix, LinearOperator):
        _require_real_type(matrix.dtype, name)
        _require_columns(matrix.shape, name)
        return matrix
    dense = not sparse.issparse(matrix)
    table: Any = as_array(matrix, name) if dense else matrix
    _require_real_type(table.dtype, name)
    if table.ndim == 1:
        table = table.reshape(1, -1)
    if table.ndim != 2:
        raise ValueError(f"{name} has {table.ndim} axes; it needs 2, one row for each constraint.")
    _require_columns(table.shape, name)
    if dense:
        table = np.array(table, dtype=np.float64, order="C")
        _require_finite_entries(table, name)
    else:
        table = _as_csr(table)
        _require_finite_entries(table.data, name)
    return table


def real_vector(vector: Any, length: int, name: str) -> Array:
    """Return a fresh float64 vector of a given length; a number stands for a vector of length 1."""
    values = np.atleast_1d(as_array(vector, name))
    _require_real_type(values.dtype, name)
    if values.shape != (length,):
        raise ValueError(f"{name} has shape {values.shape}; it needs shape ({length},).")
    values = np.array(values, dtype=np.float64)
    _require_finite_entries(values, name)
    return values


def as_array(values: Any, name: str) -> np.ndarray:
    """Return the values as an array, or refuse rows of different lengths."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers: its rows have different lengths.") from error


def _as_csr(matrix: Any) -> sparse.csr_array:
    matrix = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _require_real_type(dtype: Any, name: str) -> None:
    kind = np.dtype(dtype).kind
    if kind == "c":
        raise ValueError(f"{name} is complex; give real numbers, e.g. stack real and imaginary parts.")
    if kind not in "biuf":
        raise ValueError(f"{name} has dtype {dtype}; it needs real numbers.")


def _require_columns(shape: tuple[int, ...], name: str) -> None:
    if shape[-1] == 0:
        raise ValueError(f"{name} has no columns, shape {shape}; it needs one for each variable.")


def _require_finite_entries(values: Array, name: str) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        place = "" if name != "b" and values.ndim == 1 else f", first at {tuple(bad[0].tolist())}"
        raise ValueError(
            f"{name} has {len(bad)} entries that are NaN or infinite{place}; all must be finite."
        )
