"""What a user gave as constraints and penalties, read and checked, nothing worked out yet."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint

from tether.arrays import Array, Indices
from tether.constraints import (
    Affine,
    Consensus,
    Constraint,
    NonNegative,
    Simplex,
    as_constraint,
)
from tether.expressions import Expressed
from tether.feasible.stacking import as_sparse, identity
from tether.inputs import LARGEST_NUMBER, InfeasibleError, fresh_matrix, numbers, shown
from tether.names import PER_OUTPUT, Names, counted, decide, places
from tether.penalties import L1, Terms

INFINITE = 1e19  # from here on a number means that there is no bound: many write 1e20, or nearly that
NOWHERE = -1  # the item of a bound that nobody gave


class Label(NamedTuple):
    """How a row was written: what it says alone, and the expression that it comes from."""

    row: str
    text: str

    def __str__(self) -> str:
        return repr(self.row) if self.row == self.text else f"{self.row!r} of {self.text!r}"


class Plane(NamedTuple):
    """Equations, and which item of the list they are."""

    constraint: Constraint
    item: int
    whole: bool = True  # whether the item is nothing but these equations
    labels: tuple[Label, ...] = ()  # of each equation, where they were written as expressions


class Rows(NamedTuple):
    """lower <= G x <= upper, the rows of all LinearConstraints."""

    matrix: sparse.csr_array
    lower: Array
    upper: Array
    item: Indices  # of the list, to which a row belongs
    row: Indices  # which row of its item it is
    dense: NDArray[np.bool_]  # whether it was a row of a dense matrix
    label: NDArray[np.object_]  # its Label, where it was written as an expression, else None

    def at(self, chosen: NDArray[np.bool_]) -> "Rows":
        """Return some of them."""
        return Rows(*(part[chosen] for part in self))  # type: ignore[arg-type]


class Box(NamedTuple):
    """The narrowest bounds that were given, and by which items of the list."""

    lower: Array
    upper: Array
    lower_item: Indices
    upper_item: Indices

    @classmethod
    def whole_space(cls, dim: int) -> "Box":
        """Return no bounds."""
        nowhere = np.full(dim, NOWHERE)
        return cls(np.full(dim, -np.inf), np.full(dim, np.inf), nowhere, nowhere)

    def within(self, lower: Array, upper: Array, item: int) -> "Box":
        """Return the bounds that are left when others are added."""
        higher, smaller = lower > self.lower, upper < self.upper
        return Box(
            np.where(higher, lower, self.lower),
            np.where(smaller, upper, self.upper),
            np.where(higher, item, self.lower_item),
            np.where(smaller, item, self.upper_item),
        )


class Given(NamedTuple):
    """All constraints and penalties on vectors of ``dim`` variables."""

    dim: int
    names: Names | None
    listed: bool  # whether the constraints came in a list
    planes: tuple[Plane, ...]
    rows: Rows | None
    box: Box | None
    terms: Terms | None  # of all penalties; the matrix is sparse

    @property
    def bare(self) -> bool:
        """Whether there are planes only."""
        return self.rows is None and self.box is None and self.terms is None

    @property
    def plain(self) -> bool:
        """Whether there are equations only."""
        rows = self.rows
        equations = rows is None or bool((_is_free(rows) | (rows.lower == rows.upper)).all())
        return equations and self.box is None and self.terms is None

    def variable(self, j: int) -> str:
        """Return what a user calls a variable."""
        names = self.names
        return f"x[{j}]" if names is None or names == PER_OUTPUT or counted(names) else names[j]

    def called(self, item: int) -> str:
        """Return what a user calls an item."""
        return f"constraint[{item}]" if self.listed else "constraint"


def _is_free(rows: Rows) -> NDArray[np.bool_]:
    return np.isneginf(rows.lower) & np.isposinf(rows.upper)


def read(constraints: Any, penalty: Any, dim: int, names: Names | None) -> Given:
    """Return what was given, or refuse it in a sentence."""
    listed = isinstance(constraints, list | tuple)
    items = list(constraints) if listed else [] if constraints is None else [constraints]
    given = Given(dim, names, listed, (), None, None, _terms(penalty, dim, names))
    for k, item in enumerate(items):
        given = _with_item(given, item, k)
    _require_consensus_alone(given)
    try:
        return _with_rows_as_planes(given)
    except ValueError:
        if given.rows is None or not given.rows.label.any():
            raise
        return given  # what contradicts itself among rows is named by their texts


def _with_rows_as_planes(given: Given) -> Given:
    """Return expressions that are equations as planes, and where nothing but equations is left all rows.

    Rows without sides then are 0 x = 0, so that every row keeps its place among the multipliers.
    """
    rows = given.rows if given.rows is None or not given.plain else _emptied(given.rows)
    if rows is None:
        return given
    planes, equal = list(given.planes), rows.lower == rows.upper
    equal &= given.plain | np.array([label is not None for label in rows.label], dtype=bool)
    for k in np.unique(rows.item[equal]):
        own = np.flatnonzero(equal & (rows.item == k))
        matrix = rows.matrix[own].toarray() if rows.dense[own[0]] else rows.matrix[own]
        labels = tuple(rows.label[own]) if rows.label[own[0]] else ()
        planes.append(Plane(Affine(matrix, rows.lower[own]), int(k), labels=labels))
    rest = None if equal.all() else rows.at(~equal)
    return given._replace(planes=tuple(sorted(planes, key=lambda plane: plane.item)), rows=rest)


def _emptied(rows: Rows) -> Rows:
    """Return rows with those that have no sides as equations that say nothing."""
    free = _is_free(rows)
    sides = {"lower": np.where(free, 0.0, rows.lower), "upper": np.where(free, 0.0, rows.upper)}
    return rows._replace(matrix=sparse.csr_array(sparse.diags_array(1.0 - free) @ rows.matrix), **sides)


def _with_item(given: Given, item: Any, k: int) -> Given:
    dim = given.dim
    if isinstance(item, LinearConstraint):
        return given._replace(rows=_joined(given.rows, _rows(item, k, given)))
    if isinstance(item, Bounds):
        return given._replace(box=_box(given).within(*_bounds(item, k, given), k))
    if isinstance(item, NonNegative | Simplex):
        given = given._replace(box=_box(given).within(np.zeros(dim), np.full(dim, np.inf), k))
        if isinstance(item, NonNegative):
            return given
        total = Plane(Affine(np.ones((1, dim)), [item.total]), k, whole=False)
        return given._replace(planes=(*given.planes, total))
    if isinstance(item, Constraint):
        plane = Plane(as_constraint(item, dim, given.names), k)
        return given._replace(planes=(*given.planes, plane))
    if isinstance(item, L1):
        raise TypeError(f"{given.called(k)} is {item!r}, which is no constraint; pass it as penalty.")
    raise TypeError(
        f"{given.called(k)} must be tether.Affine, Range, Flow, Simplex or NonNegative, or SciPy's "
        "LinearConstraint or Bounds, or an expression such as 'x[0] + x[1] == 1', or a list of these, got "
        f"{shown(item)}."
    )


def _require_consensus_alone(given: Given) -> None:
    """Refuse consensus beside anything else."""
    alone = len(given.planes) == 1 and given.rows is None and given.box is None and given.terms is None
    for plane in given.planes:
        if isinstance(plane.constraint, Consensus) and not alone:
            raise ValueError(
                f"{given.called(plane.item)} is Consensus, which stands alone; with workers, as in "
                "tether.Federation, consensus is already there: drop it from the constraints."
            )


def _box(given: Given) -> Box:
    return Box.whole_space(given.dim) if given.box is None else given.box


def _rows(constraint: LinearConstraint, k: int, given: Given) -> Rows:
    name = given.called(k)
    matrix = as_sparse(fresh_matrix(f"A of {name}", constraint.A))
    labels = np.full(matrix.shape[0], None, dtype=object)
    if isinstance(constraint, Expressed):
        matrix = _aligned(matrix, constraint.names, given)
        labels[:] = list(map(Label, constraint.labels, constraint.texts))
    count = matrix.shape[0]
    if matrix.shape[1] != given.dim:
        raise ValueError(
            f"A of {name} must have one column for each of the {given.dim} variables, got shape "
            f"{matrix.shape}; a model with an intercept has one variable more than its data has columns."
        )
    lower, upper = (
        _walls(constraint.lb, f"lb of {name}", count),
        _walls(constraint.ub, f"ub of {name}", count),
    )
    crossed = _crossed(lower, upper)
    if crossed is not None:
        _refuse_crossed(f"row {crossed} of {name}", lower[crossed], upper[crossed])
    dense = np.full(count, not sparse.issparse(constraint.A))
    return Rows(matrix, lower, upper, np.full(count, k), np.arange(count), dense, labels)


def _aligned(matrix: sparse.csr_array, own: Names, given: Given) -> sparse.csr_array:
    """Return rows for the variables of the objective, by name where it has names too."""
    if given.names is None or given.names == PER_OUTPUT or not decide(own, given.names):
        return matrix
    used = np.unique(matrix.indices)
    place = np.zeros(len(own), dtype=np.int64)
    place[used] = places("an expression", "variable", tuple(own[j] for j in used), given.names)
    moved = (matrix.data, place[matrix.indices], matrix.indptr)
    return as_sparse(sparse.csr_array(moved, shape=(matrix.shape[0], given.dim)))


def _joined(above: Rows | None, below: Rows) -> Rows:
    if above is None:
        return below
    matrix = sparse.csr_array(sparse.vstack([above.matrix, below.matrix]))
    return Rows(matrix, *(np.concatenate(pair) for pair in zip(above[1:], below[1:], strict=True)))


def _bounds(bounds: Bounds, k: int, given: Given) -> tuple[Array, Array]:
    name = given.called(k)
    lower, upper = (
        _walls(side, f"{end} of {name}", given.dim) for side, end in ((bounds.lb, "lb"), (bounds.ub, "ub"))
    )
    crossed = _crossed(lower, upper)
    if crossed is not None:
        _refuse_crossed(f"{given.variable(crossed)} in {name}", lower[crossed], upper[crossed])
    return lower, upper


def _walls(value: Any, name: str, count: int) -> Array:
    """Return one number for each, which may be infinite."""
    found = numbers(name, value).astype(float)
    if found.ndim > 1 or found.size not in (1, count):
        raise ValueError(f"{name} must be a number or have {count} entries, got shape {found.shape}.")
    wrong = np.isnan(found) | (np.isfinite(found) & (np.abs(found) > LARGEST_NUMBER))
    if wrong.any():
        raise ValueError(
            f"{name} must hold numbers up to {LARGEST_NUMBER:g}, or infinite ones where there is no bound, "
            f"got {found[wrong][0]}."
        )
    found = np.where(np.abs(found) >= INFINITE, np.copysign(np.inf, found), found)
    return np.broadcast_to(found, (count,)).copy()


def _crossed(lower: Array, upper: Array) -> int | None:
    """Return the first place where no number is between the two."""
    crossed = np.flatnonzero((lower > upper) | np.isposinf(lower) | np.isneginf(upper))
    return int(crossed[0]) if len(crossed) else None


def _refuse_crossed(which: str, lower: float, upper: float) -> None:
    raise InfeasibleError(
        f"{which} has lb = {lower:g} and ub = {upper:g}, between which there is no number; lb must be at "
        "most ub."
    )


def _terms(penalty: Any, dim: int, names: Names | None) -> Terms | None:
    """Return the terms of all penalties, one below the other."""
    given = list(penalty) if isinstance(penalty, list | tuple) else [] if penalty is None else [penalty]
    for item in given:
        if not isinstance(item, L1):
            raise TypeError(f"penalty must be tether.L1(lam, D) or a list of such, got {shown(item)}.")
    if not given:
        return None
    each = [item.terms(dim, names) for item in given]
    each = [part._replace(matrix=identity(dim)) if part.matrix is None else part for part in each]
    if len(each) == 1:
        return each[0]._replace(matrix=as_sparse(each[0].matrix))  # which is nobody else's, or has no zeros
    matrix = as_sparse(sparse.vstack([sparse.csr_array(part.matrix) for part in each]))
    left, right = (np.concatenate([getattr(part, side) for part in each]) for side in ("left", "right"))
    return Terms(matrix, left, right)
