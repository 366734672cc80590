"""What users hand in: turned into numbers and arrays once, or refused in a sentence that names the argument.

Single values: `number`, `nonnegative`, `positive`, `whole_number`, `positive_integer`, `dimension` and
`switch`.
Arrays, each built on the one before: `plain_array` (of anything), `numbers` (of real numbers), `vector` (a
float64 one) and `matrix` (data, used as it is where possible; `sized_matrix` with its size);
`fresh_matrix` is the caller's own copy.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether.arrays import Array

LARGEST_NUMBER = 1e120  # squares of larger numbers, and sums of these, come close to overflow
LARGEST_DATUM = 1e45  # the same for fourth powers: curvatures are squares of data, and lengths are squared
LARGEST_FLOAT32 = 1e30  # the same for products in single precision
SMALLEST_NUMBER = 1.0 / LARGEST_NUMBER
LARGEST_INTEGER = 2**63 - 1
LARGEST_DIMENSION = 2**40  # a vector of as many numbers takes 8 TiB

_REAL_KINDS = "biuf"  # booleans, integers, unsigned integers, floats
_BLOCK = 1 << 20  # numbers looked at together, so that checking a memory map does not load it
_FEW = 5_000  # numbers for which BLAS wakes no other thread
_LONGEST_TEXT = 60

Place = tuple[int, ...]


class InfeasibleError(ValueError):
    """What is asked for contradicts itself: no x satisfies all of it.

    Examples
    --------
    >>> import numpy as np, tether
    >>> try:
    ...     tether.solve(tether.Quadratic(matrix=np.eye(2)), ["x[0] >= 1", "x[0] <= 0"])
    ... except tether.InfeasibleError as error:
    ...     print(error)
    the constraints contradict each other: 'x[0] >= 1' and 'x[0] <= 0'; relax or drop one of them.
    """


class Limit(NamedTuple):
    """How large a number may be, and what to do about a larger one."""

    largest: float
    remedy: str


# --- single values ---------------------------------------------------------------------------------------


def number(
    name: str, value: Any, *, above: float = -math.inf, least: float = -math.inf, most: float = math.inf
) -> float:
    """Return the value as a finite float within its bounds, or refuse it."""
    found = _as_float(value)
    if found is None or not (math.isfinite(found) and found > above and found >= least):
        bound = f" > {above:g}" if above > -math.inf else f" >= {least:g}" if least > -math.inf else ""
        raise ValueError(f"{name} must be a finite number{bound}, got {shown(value)}.")
    if found > most:
        raise ValueError(f"{name} must be at most {most:g}, got {found:g}; choose a smaller number or unit.")
    return found


def nonnegative(name: str, value: Any) -> float:
    """Return the value as a float >= 0 whose square does not overflow, or refuse it."""
    return number(name, value, least=0.0, most=LARGEST_NUMBER)


def positive(name: str, value: Any) -> float:
    """Return the value as a float > 0 whose square neither overflows nor vanishes, or refuse it."""
    found = number(name, value, above=0.0, most=LARGEST_NUMBER)
    if found < SMALLEST_NUMBER:
        raise ValueError(
            f"{name} must be at least {SMALLEST_NUMBER:g}, got {found:g}; choose a larger number or unit."
        )
    return found


def whole_number(name: str, value: Any, least: int = 0) -> int:
    """Return the value as an int, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {shown(value)}.")
    return int(value)


def positive_integer(name: str, value: Any) -> int:
    """Return the value as an int from 1 to 2**63 - 1, or refuse it."""
    found = whole_number(name, value, least=1)
    if found > LARGEST_INTEGER:
        raise ValueError(f"{name} must be a whole number below 2**63, got {shown(value)}.")
    return found


def dimension(name: str, value: Any) -> int:
    """Return the value as the length of a vector, or refuse one that no memory holds."""
    found = positive_integer(name, value)
    if found > LARGEST_DIMENSION:
        raise ValueError(f"{name} must be at most 2**40, because vectors are kept in memory, got {found}.")
    return found


def switch(name: str, value: Any) -> bool:
    """Return the value as a bool, or refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {shown(value)}.")
    return bool(value)


def shown(value: Any) -> str:
    """Return what was got in a few words on one line, for an error."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= _LONGEST_TEXT and "\n" not in text else f"a {type(value).__name__}"


def _as_float(value: Any) -> float | None:
    """Return the number that a value stands for; None for texts, booleans, arrays and other things."""
    if isinstance(value, str | bytes | bytearray | bool):
        return None
    if isinstance(value, np.ndarray | np.generic) and (
        isinstance(value, np.ma.MaskedArray) or value.ndim != 0 or value.dtype.kind not in "iuf"
    ):
        return None
    try:
        return float(value)
    except OverflowError:  # an integer beyond all floats
        return math.inf
    except (TypeError, ValueError):
        return None


# --- arrays ----------------------------------------------------------------------------------------------


def plain_array(name: str, value: Any) -> NDArray[Any]:
    """Return the value as a NumPy array of any kind without copying one, or refuse it."""
    if sparse.issparse(value):
        raise ValueError(f"{name} must be a dense array, got a sparse one; pass {name}.toarray().")
    if _is_masked(value):
        raise ValueError(
            f"{name} must not be masked, because its mask would be lost; fill it with {name}.filled(...) or "
            "drop what is masked."
        )
    try:
        return np.asarray(value)
    except OverflowError as error:
        raise ValueError(f"{name} must hold numbers that fit into a float, got larger integers.") from error
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array, got rows of unequal length.") from error
    except (TypeError, RuntimeError) as error:
        raise ValueError(
            f"{name} must be an array, got a {type(value).__name__} that NumPy cannot read."
        ) from error


def has_missing(labels: NDArray[Any]) -> bool:
    """Say whether some labels are None, or not equal to themselves as NaN and NA are not."""
    return any(label is None or (label == label) is not True for label in labels.tolist())


def numbers(name: str, value: Any) -> NDArray[Any]:
    """Return the value as a real NumPy array without copying one, or refuse it."""
    array = plain_array(name, value)
    if array.ndim == 0 and array.dtype.kind not in _REAL_KINDS:
        raise ValueError(f"{name} must be an array of real numbers, got {shown(value)}.")
    _require_real(name, array.dtype)
    return array


def vector(name: str, value: Any, length: int | None = None, *, largest: float = LARGEST_DATUM) -> Array:
    """Return the value as a finite one-dimensional float64 array, or refuse it."""
    array = numbers(name, value)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}; try {name}.ravel().")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have shape ({length},), got shape {array.shape}.")
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        with np.errstate(over="ignore"):  # what becomes infinite is refused
            array = np.ascontiguousarray(array, dtype=np.float64)
    _require_moderate(name, array, Limit(largest, f"rescale {name}"), lambda k: (k,))
    return array


class Sized(NamedTuple):
    """A matrix, and a bound on the sum of the squares of its entries; infinite where none is known."""

    matrix: Any
    squares: float


def matrix(name: str, value: Any) -> NDArray[Any] | sparse.csr_array:
    """Return the value as a C-contiguous or CSR float matrix, untouched where it already is one."""
    return sized_matrix(name, value).matrix


def sized_matrix(name: str, value: Any) -> Sized:
    """Return the same, with what the look at its entries said of their size."""
    table = _real_table(name, value)
    if table.ndim != 2:
        raise ValueError(
            f"{name} must be two-dimensional, got shape {table.shape}; "
            f"{name}.reshape(-1, 1) makes it one column."
        )
    if 0 in table.shape:
        raise ValueError(f"{name} must have at least one row and one column, got shape {table.shape}.")
    dtype = np.dtype(np.float32 if table.dtype == np.float32 else np.float64)
    with np.errstate(over="ignore"):
        if not sparse.issparse(table):
            table = np.ascontiguousarray(table, dtype=dtype)
        else:
            table = sparse.csr_array(table).astype(dtype, copy=False)
            table = table if table.has_canonical_format else _summed(table.copy())
    largest = LARGEST_FLOAT32 if dtype == np.float32 else LARGEST_DATUM
    return Sized(table, _require_moderate_matrix(name, table, Limit(largest, "rescale the columns")))


def fresh_matrix(name: str, value: Any) -> NDArray[Any] | sparse.csr_array:
    """Return a float64 copy, C-contiguous or CSR without stored zeros, or refuse the value.

    A vector is one row; there may be no rows at all.
    """
    table = _real_table(name, value)
    table = table.reshape(1, -1) if table.ndim == 1 else table
    if table.ndim != 2:
        raise ValueError(f"{name} must have two axes, rows and columns, got shape {table.shape}.")
    if table.shape[1] == 0:
        raise ValueError(f"{name} must have at least one column, got shape {table.shape}.")
    with np.errstate(over="ignore"):
        if not sparse.issparse(table):
            table = np.array(table, dtype=np.float64, order="C")
        else:
            table = _summed(sparse.csr_array(table, dtype=np.float64, copy=True))
            table.eliminate_zeros()
    _require_moderate_matrix(name, table, Limit(LARGEST_NUMBER, "rescale the rows"))
    return table


def _real_table(name: str, value: Any) -> Any:
    if not sparse.issparse(value):
        return numbers(name, value)
    _require_real(name, value.dtype)
    return value


def _summed(rows: sparse.csr_array) -> sparse.csr_array:
    rows.sum_duplicates()
    return rows


def _is_masked(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_masked, value))
    return isinstance(value, np.ma.MaskedArray)


def _require_real(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise ValueError(
            f"{name} must hold real numbers, got complex ones; stack their real and imaginary parts."
        )
    if dtype.kind not in _REAL_KINDS:
        raise ValueError(f"{name} must hold real numbers, got dtype {dtype}; convert it to float first.")


def _require_moderate_matrix(name: str, table: Any, limit: Limit) -> float:
    """Refuse what `_require_moderate` does; return a bound on the sum of squares."""
    if sparse.issparse(table):
        return _require_moderate(name, table.data, limit, partial(_stored_place, table))
    width, squares = table.shape[1], 0.0
    step = max(1, _BLOCK // width)
    for start in range(0, len(table), step):
        place = partial(_dense_place, start, width)
        squares += _require_moderate(name, table[start : start + step], limit, place)
    return squares


def _dense_place(first_row: int, width: int, k: int) -> Place:
    row, column = divmod(k, width)
    return first_row + row, column


def _stored_place(table: sparse.csr_array, k: int) -> Place:
    return int(np.searchsorted(table.indptr, k, side="right")) - 1, int(table.indices[k])


def _sum_of_squares(array: NDArray[Any]) -> float:
    """Return it, which takes one look at the numbers; infinite where that is not known, NaN for NaN."""
    if array.dtype.kind != "f" or not array.flags.c_contiguous:
        return math.inf
    flat = array.reshape(-1)
    if array.dtype == np.float64 and array.size <= _FEW:
        return float(np.vdot(flat, flat))  # which may overflow
    return float(np.einsum("i,i->", flat, flat, dtype=np.float64))  # BLAS would wake its threads


def _require_moderate(name: str, array: NDArray[Any], limit: Limit, place: Callable[[int], Place]) -> float:
    """Refuse NaN, infinite numbers and those whose powers come close to overflow.

    Return a bound on the sum of squares.
    """
    (largest, remedy), squares = limit, _sum_of_squares(array)
    if squares <= largest * largest:  # false for NaN, and where squares overflow
        return squares
    if not array.size or (array.max() <= largest and array.min() >= -largest):
        return math.inf
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        where = ", ".join(map(str, place(int(wrong[0]))))
        raise ValueError(
            f"{name} must be finite, got {array.flat[wrong[0]]} at [{where}]; impute or drop such entries."
        )
    size = np.abs(array).max()
    raise ValueError(f"{name} must be at most {largest:g} in absolute value, got {size:.3g}; {remedy}.")
