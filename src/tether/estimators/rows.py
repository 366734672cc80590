"""Rows over the coefficients of columns and the intercept, each with what it says."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import LinearConstraint

from tether.arrays import Array
from tether.estimators.variables import Variables, is_counted
from tether.expressions import Expressed
from tether.expressions.lookup import Lookup
from tether.expressions.statement import Row, rows_of
from tether.inputs import numbers
from tether.names import Names, aligned_vector, row_names


class Block(NamedTuple):
    """Rows lower <= A x <= upper over columns and intercept, and what each of them says."""

    matrix: sparse.csr_array
    lower: Array
    upper: Array
    labels: tuple[str, ...]

    @property
    def equations(self) -> Any:
        """Which rows are equations."""
        return self.lower == self.upper


def equations(variables: Variables, names: tuple[str, str], matrix: Any, right: Any) -> Block:
    """Return the rows of A x = b, with the names of the two arguments."""
    block = inequalities(variables, names, matrix, right)
    return block._replace(lower=block.upper)


def inequalities(variables: Variables, names: tuple[str, str], matrix: Any, right: Any) -> Block:
    """Return the rows of A x <= b."""
    rows = variables.rows(names[0], matrix)
    right = 0.0 if right is None else aligned_vector(right, _own_rows(matrix), names[1], f"row of {names[0]}")
    upper = vector_of(names[1], right, rows.shape[0])
    return Block(rows, np.full(len(upper), -np.inf), upper, _row_labels(names[0], matrix, len(upper)))


def expressed(variables: Variables, argument: str, text: str) -> Block:
    """Return the rows of an expression: for every class alike, or of single classes by age[class]."""
    try:
        return _of_rows(rows_of(text, Lookup(variables.names)), variables.width)
    except ValueError as error:
        if not variables.classes or "[" not in text:
            raise type(error)(f"{argument}: {error}") from None
    try:
        return _of_rows(rows_of(text, Lookup(variables.full_names)), len(variables.full_names))
    except ValueError as error:
        raise type(error)(f"{argument}: {error}") from None


def linear_rows(variables: Variables, argument: str, item: LinearConstraint) -> Block:
    """Return the rows of SciPy's LinearConstraint."""
    if isinstance(item, Expressed) and len(item.names) == variables.width and item.names != variables.names:
        raise ValueError(
            f"{argument} names other variables than the columns of X; write the expressions themselves."
        )
    whole = isinstance(item, Expressed) and item.names == variables.names
    rows = sparse.csr_array(item.A) if whole else variables.rows(argument, item.A)
    count = rows.shape[0]
    lower, upper = (vector_of(f"{side} of {argument}", getattr(item, side), count) for side in ("lb", "ub"))
    labels = item.labels if isinstance(item, Expressed) else _row_labels(argument, item.A, count)
    return Block(rows, lower, upper, labels)


def _of_rows(rows: Sequence[Row], width: int) -> Block:
    places = [(k, j, entry) for k, row in enumerate(rows) for j, entry in row.terms.items()]
    k, j, entries = zip(*places, strict=True) if places else ((), (), ())
    matrix = sparse.csr_array((np.array(entries, dtype=float), (k, j)), shape=(len(rows), width))
    lower, upper = (
        np.array([getattr(row, side) for row in rows], dtype=float) for side in ("lower", "upper")
    )
    return Block(matrix, lower, upper, tuple(row.label for row in rows))


def repeated(block: Block, variables: Variables) -> Block:
    """Return rows over names as rows over all coefficients: once for every class."""
    k = variables.outputs
    if k == 1 or block.matrix.shape[1] == len(variables.full_names):
        return block
    matrix = sparse.csr_array(sparse.kron(block.matrix, sparse.eye_array(k)))
    labels = tuple(f"{label} [{own}]" for label in block.labels for own in variables.classes)
    return Block(matrix, np.repeat(block.lower, k), np.repeat(block.upper, k), labels)


def _row_labels(argument: str, matrix: Any, count: int) -> tuple[str, ...]:
    return _own_rows(matrix) or (
        (argument,) if count == 1 else tuple(f"{argument}[{k}]" for k in range(count))
    )


def _own_rows(matrix: Any) -> Names | None:
    """Return the names that somebody gave to rows."""
    own = row_names(matrix) if getattr(matrix, "ndim", 0) > 1 else None
    return None if own is None or is_counted(own) else own


def vector_of(name: str, value: Any, count: int) -> Array:
    """Return one number for each of some rows or columns, which may be infinite."""
    found = numbers(name, value).astype(float)
    if np.isnan(found).any() or found.ndim > 1 or found.size not in (1, count):
        got = "NaN" if np.isnan(found).any() else f"shape {found.shape}"
        raise ValueError(f"{name} must be a number or have {count} entries without NaN, got {got}.")
    return np.broadcast_to(found, (count,)).copy()
