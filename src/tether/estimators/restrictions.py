"""What coefficients must satisfy: everything that a user may write, in one form.

Matrices, expressions, SciPy's and Tether's constraints all become rows (`rows`) and bounds. A row knows what
to call itself, so that multipliers have names and contradictions can be told.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint

from tether.arrays import Array
from tether.constraints import Affine, NonNegative, Simplex
from tether.estimators.rows import Block, equations, expressed, linear_rows, repeated, vector_of
from tether.estimators.variables import Variables
from tether.expressions import Expressed
from tether.expressions.tokens import quoted
from tether.inputs import InfeasibleError, shown

DENSE_SIZE = 1_000_000  # entries up to which rows are a dense matrix
DENSE_SHARE = 0.3  # of entries that are not zero: then too


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
        parts = [repeated(block, self.variables) for block in self.blocks]
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
        return restrictions.with_block(linear_rows(variables, argument, item))
    if isinstance(item, Affine):
        matrix, right = item.equations or (None, None)
        if matrix is not None:
            return restrictions.with_block(equations(variables, (argument, argument), matrix, right))
    if isinstance(item, Bounds):
        count = len(variables.columns)
        sides = (vector_of(f"{side} of {argument}", getattr(item, side), count) for side in ("lb", "ub"))
        return restrictions.within(*sides)
    if isinstance(item, NonNegative):
        return restrictions.within(0.0, np.inf)
    if isinstance(item, Simplex):
        return restrictions.within(0.0, np.inf).summing_to(item.total)
    raise TypeError(
        f"{argument} must be an expression such as 'x1 + x2 == 1', SciPy's LinearConstraint or Bounds, or "
        f"tether.Affine, NonNegative or Simplex, got {shown(item)}."
    )


def _distinct(labels: Sequence[str]) -> tuple[str, ...]:
    """Return labels of which none comes twice."""
    seen, found = dict[str, int](), list[str]()
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        found.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return tuple(found)


def _bound_in_words(name: str, lower: float, upper: float) -> str:
    if np.isfinite(lower) and np.isfinite(upper):
        return (
            f"{quoted(name)} == {lower:g}" if lower == upper else f"{lower:g} <= {quoted(name)} <= {upper:g}"
        )
    return f"{quoted(name)} >= {lower:g}" if np.isfinite(lower) else f"{quoted(name)} <= {upper:g}"


def _is_dense(matrix: sparse.csr_array) -> bool:
    return int(np.prod(matrix.shape)) <= DENSE_SIZE or matrix.nnz > DENSE_SHARE * np.prod(matrix.shape)
