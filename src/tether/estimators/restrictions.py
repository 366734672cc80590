"""What coefficients must satisfy, as rows with words: everything that a user may write, in one form.

Matrices, expressions, SciPy's and Tether's constraints all become rows over the columns of the data and the
intercept. A row knows what to call itself, so that multipliers have names and contradictions can be told.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint

from tether.arrays import Array
from tether.constraints import Affine, NonNegative, Simplex
from tether.expressions import Expressed
from tether.expressions.lookup import Lookup
from tether.expressions.statement import Row, rows_of
from tether.expressions.tokens import quoted
from tether.inputs import InfeasibleError, fresh_matrix, numbers, shown
from tether.names import INTERCEPT, Names, column_names, nearest, row_names


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


class Variables(NamedTuple):
    """The coefficients of a model: those of columns, one or several each, and the intercepts."""

    columns: Names
    intercept: bool
    classes: Names = ()  # of several outputs

    @property
    def names(self) -> Names:
        """The columns and, where there is one, the intercept."""
        return (*self.columns, INTERCEPT) if self.intercept else self.columns

    @property
    def width(self) -> int:
        """How many names there are."""
        return len(self.columns) + self.intercept

    @property
    def outputs(self) -> int:
        """How many coefficients share a name."""
        return max(1, len(self.classes))

    @property
    def full_names(self) -> Names:
        """A name for each coefficient, as they lie in W.ravel()."""
        if not self.classes:
            return self.names
        return tuple(f"{name}[{label}]" for name in self.names for label in self.classes)

    def rows(self, argument: str, matrix: Any) -> sparse.csr_array:
        """Return a matrix over columns as one over all names; columns of a data frame are found by name."""
        checked = sparse.csr_array(fresh_matrix(argument, matrix))
        own = column_names(matrix)
        if own is not None and not _is_counted(own):
            places = [self.place(argument, name) for name in own]
        elif checked.shape[1] == len(self.columns):
            places = list(range(len(self.columns)))
        else:
            raise ValueError(
                f"{argument} must have one column for each of the {len(self.columns)} columns of X, got "
                f"shape {checked.shape}; name its columns in a data frame to leave some out."
            )
        columns = sparse.csr_array(
            (np.ones(len(places)), (np.arange(len(places)), places)), shape=(len(places), self.width)
        )
        return sparse.csr_array(checked @ columns)

    def place(self, argument: str, name: str) -> int:
        """Return where a name is, or refuse it and say which is nearest."""
        if name not in self.names:
            raise ValueError(
                f"{argument} has the name {name!r}, which is no column of X; {nearest(name, self.names)}."
            )
        return self.names.index(name)


class Restrictions(NamedTuple):
    """All rows and bounds."""

    variables: Variables
    blocks: tuple[Block, ...] = ()
    lower: Array | None = None  # of the coefficients of columns
    upper: Array | None = None

    def with_block(self, block: Block) -> "Restrictions":
        """Return them and some rows more."""
        return self._replace(blocks=(*self.blocks, block)) if len(block.labels) else self

    def within(self, lower: Any, upper: Any) -> "Restrictions":
        """Return them and bounds of the columns' coefficients, of which the narrowest count."""
        count = len(self.variables.columns)
        low = np.maximum(-np.inf if self.lower is None else self.lower, lower)
        high = np.minimum(np.inf if self.upper is None else self.upper, upper)
        low, high = np.broadcast_to(low, count), np.broadcast_to(high, count)
        crossed = np.flatnonzero(low > high)
        if len(crossed):
            k = int(crossed[0])
            raise InfeasibleError(
                f"the bounds contradict each other: {self.variables.columns[k]} >= {low[k]:g} and "
                f"{self.variables.columns[k]} <= {high[k]:g}; relax or drop one of them."
            )
        return self._replace(lower=low, upper=high)

    def summing_to(self, total: float) -> "Restrictions":
        """Return them and the sum of the columns' coefficients."""
        ones = np.ones((1, len(self.variables.columns)))
        block = equations(self.variables, ("total", "total"), ones, total)
        return self.with_block(block._replace(labels=(f"sum == {total:g}",)))

    @property
    def rows(self) -> Block | None:
        """All rows, for every class where there are several."""
        if not self.blocks:
            return None
        parts = [_repeated(block, self.variables) for block in self.blocks]
        return Block(
            matrix=sparse.csr_array(sparse.vstack([part.matrix for part in parts])),
            lower=np.concatenate([part.lower for part in parts]),
            upper=np.concatenate([part.upper for part in parts]),
            labels=_distinct([label for part in parts for label in part.labels]),
        )

    @property
    def box(self) -> tuple[Array, Array] | None:
        """Bounds of all coefficients, intercepts free."""
        if self.lower is None or self.upper is None:
            return None
        outputs, free = self.variables.outputs, [np.inf] * self.variables.intercept
        return np.repeat([*self.lower, *np.negative(free)], outputs), np.repeat([*self.upper, *free], outputs)

    @property
    def plain(self) -> bool:
        """Whether there are equations only."""
        return self.lower is None and all(bool(block.equations.all()) for block in self.blocks)

    def for_solve(self) -> list[Any]:
        """Return constraints as `tether.solve` takes them: the rows, then the bounds."""
        rows, box, found = self.rows, self.box, list[Any]()
        if rows is not None:
            names = self.variables.full_names
            matrix = rows.matrix.toarray() if _is_dense(rows.matrix) else rows.matrix
            found.append(Expressed.labelled(matrix, (rows.lower, rows.upper), rows.labels, names))
        return found if box is None else [*found, Bounds(*box)]

    def bound_labels(self) -> dict[int, str]:
        """Return what the bounds of coefficients say, by their places."""
        box, names = self.box, self.variables.full_names
        if box is None:
            return {}
        bounded = np.flatnonzero(np.isfinite(box[0]) | np.isfinite(box[1]))
        return {int(j): _bound_in_words(names[j], box[0][j], box[1][j]) for j in bounded}


def equations(variables: Variables, names: tuple[str, str], matrix: Any, right: Any) -> Block:
    """Return the rows of A x = b, with the names of the two arguments."""
    block = inequalities(variables, names, matrix, right)
    return block._replace(lower=block.upper)


def inequalities(variables: Variables, names: tuple[str, str], matrix: Any, right: Any) -> Block:
    """Return the rows of A x <= b."""
    rows = variables.rows(names[0], np.atleast_2d(matrix) if _is_vector(matrix) else matrix)
    upper = _vector_of(names[1], 0.0 if right is None else right, rows.shape[0])
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


def restricted(restrictions: Restrictions, constraints: Any, argument: str = "constraints") -> Restrictions:
    """Return restrictions with a list of expressions and constraints among them."""
    listed = isinstance(constraints, list | tuple)
    items = constraints if listed else [] if constraints is None else [constraints]
    for k, item in enumerate(items):
        restrictions = _with_item(restrictions, f"{argument}[{k}]" if listed else argument, item)
    return restrictions


def _with_item(restrictions: Restrictions, argument: str, item: Any) -> Restrictions:
    variables = restrictions.variables
    if isinstance(item, str):
        return restrictions.with_block(expressed(variables, argument, item))
    if isinstance(item, LinearConstraint):
        return restrictions.with_block(_linear(variables, argument, item))
    if isinstance(item, Affine):
        matrix, right = item.equations or (None, None)
        if matrix is not None:
            return restrictions.with_block(equations(variables, (argument, argument), matrix, right))
    if isinstance(item, Bounds):
        count = len(variables.columns)
        sides = (_vector_of(f"{side} of {argument}", getattr(item, side), count) for side in ("lb", "ub"))
        return restrictions.within(*sides)
    if isinstance(item, NonNegative):
        return restrictions.within(0.0, np.inf)
    if isinstance(item, Simplex):
        return restrictions.within(0.0, np.inf).summing_to(item.total)
    raise TypeError(
        f"{argument} must be an expression such as 'x1 + x2 == 1', SciPy's LinearConstraint or Bounds, or "
        f"tether.Affine, NonNegative or Simplex, got {shown(item)}."
    )


def _linear(variables: Variables, argument: str, item: LinearConstraint) -> Block:
    if isinstance(item, Expressed) and len(item.names) == variables.width and item.names != variables.names:
        raise ValueError(
            f"{argument} names other variables than the columns of X; write the expressions themselves."
        )
    whole = isinstance(item, Expressed) and item.names == variables.names
    rows = sparse.csr_array(item.A) if whole else variables.rows(argument, item.A)
    count = rows.shape[0]
    lower, upper = (_vector_of(f"{side} of {argument}", getattr(item, side), count) for side in ("lb", "ub"))
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


def _repeated(block: Block, variables: Variables) -> Block:
    """Return rows over names as rows over all coefficients: once for every class."""
    k = variables.outputs
    if k == 1 or block.matrix.shape[1] == len(variables.full_names):
        return block
    matrix = sparse.csr_array(sparse.kron(block.matrix, sparse.eye_array(k)))
    labels = tuple(f"{label} [{own}]" for label in block.labels for own in variables.classes)
    return Block(matrix, np.repeat(block.lower, k), np.repeat(block.upper, k), labels)


def _distinct(labels: Sequence[str]) -> tuple[str, ...]:
    """Return labels of which none comes twice."""
    seen, found = dict[str, int](), list[str]()
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        found.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return tuple(found)


def _row_labels(argument: str, matrix: Any, count: int) -> tuple[str, ...]:
    own = row_names(matrix) if getattr(matrix, "ndim", 0) > 1 else None
    if own is not None and not _is_counted(own):
        return own
    return (argument,) if count == 1 else tuple(f"{argument}[{k}]" for k in range(count))


def _vector_of(name: str, value: Any, count: int) -> Array:
    found = numbers(name, value).astype(float)
    if np.isnan(found).any() or found.ndim > 1 or found.size not in (1, count):
        got = "NaN" if np.isnan(found).any() else f"shape {found.shape}"
        raise ValueError(f"{name} must be a number or have {count} entries without NaN, got {got}.")
    return np.broadcast_to(found, (count,)).copy()


def _bound_in_words(name: str, lower: float, upper: float) -> str:
    if np.isfinite(lower) and np.isfinite(upper):
        return (
            f"{quoted(name)} == {lower:g}" if lower == upper else f"{lower:g} <= {quoted(name)} <= {upper:g}"
        )
    return f"{quoted(name)} >= {lower:g}" if np.isfinite(lower) else f"{quoted(name)} <= {upper:g}"


def _is_counted(names: Names) -> bool:
    return names == tuple(map(str, range(len(names))))


def _is_vector(matrix: Any) -> bool:
    return not sparse.issparse(matrix) and np.ndim(matrix) == 1


def _is_dense(matrix: sparse.csr_array) -> bool:
    return matrix.shape[0] * matrix.shape[1] <= 1_000_000 or matrix.nnz > 0.3 * np.prod(matrix.shape)
