"""What users hand in, turned into float64 arrays or refused with one sentence."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from tether.constraints.base import Array


def real_matrix(matrix: Any, name: str) -> Any:
    """Return a fresh float64 ndarray or csr_array with two axes, or the LinearOperator itself."""
    if isinstance(matrix, LinearOperator):
        _require_real(matrix.dtype, name)
        _require_columns(matrix.shape, name)
        return matrix
    dense = not sp.issparse(matrix)
    table: Any = as_array(matrix, name) if dense else matrix
    _require_real(table.dtype, name)
    if table.ndim == 1:
        table = table.reshape(1, -1)
    if table.ndim != 2:
        raise ValueError(f"{name} has {table.ndim} axes; it needs 2, one row for each constraint.")
    _require_columns(table.shape, name)
    if dense:
        table = np.array(table, dtype=np.float64, order="C")
        _require_finite(table, name)
    else:
        table = _as_csr(table)
        _require_finite(table.data, name)
    return table


def real_vector(vector: Any, length: int, name: str) -> Array:
    """Return a fresh float64 vector of a given length; a number stands for a vector of length 1."""
    values = np.atleast_1d(as_array(vector, name))
    _require_real(values.dtype, name)
    if values.shape != (length,):
        raise ValueError(f"{name} has shape {values.shape}; it needs shape ({length},).")
    values = np.array(values, dtype=np.float64)
    _require_finite(values, name)
    return values


def as_array(values: Any, name: str) -> np.ndarray:
    """Return the values as an array, or refuse rows of different lengths."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers: its rows have different lengths.") from error


def _as_csr(matrix: Any) -> sp.csr_array:
    matrix = sp.csr_array(matrix, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _require_real(dtype: Any, name: str) -> None:
    kind = np.dtype(dtype).kind
    if kind == "c":
        raise ValueError(f"{name} is complex; give real numbers, e.g. stack real and imaginary parts.")
    if kind not in "biuf":
        raise ValueError(f"{name} has dtype {dtype}; it needs real numbers.")


def _require_columns(shape: tuple[int, ...], name: str) -> None:
    if shape[-1] == 0:
        raise ValueError(f"{name} has no columns, shape {shape}; it needs one for each variable.")


def _require_finite(values: Array, name: str) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        place = "" if name != "b" and values.ndim == 1 else f", first at {tuple(bad[0].tolist())}"
        raise ValueError(
            f"{name} has {len(bad)} entries that are NaN or infinite{place}; all must be finite."
        )
