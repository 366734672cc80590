"""Linear equations, A x = b, for a dense matrix, a sparse matrix or an operator.

The set is a point, the shortest solution of A x = b, plus the tangent space ker(A): projecting a point is
projecting it as a direction and adding that shortest solution.
"""

import logging
from copy import copy
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from tether.arrays import Array, Indices, norm
from tether.constraints.algebra.consistency import listed, require_consistent
from tether.constraints.algebra.dense import DenseRows
from tether.constraints.algebra.operator import operator_rows
from tether.constraints.algebra.placed import PlacedRows, placed_columns
from tether.constraints.algebra.rows import Fit, Rows
from tether.constraints.algebra.sparse import sparse_rows
from tether.constraints.algebra.subspace import Kernel, OperatorKernel, Subspace
from tether.constraints.base import Constraint, counted_rows
from tether.digest import answers_of, digest_of
from tether.inputs import LARGEST_NUMBER, fresh_matrix, numbers, vector
from tether.lazy import lazy
from tether.names import Labels, Names, aligned_vector, column_names, counted, decide, places, row_names

log = logging.getLogger("tether")


class Affine(Constraint):
    """The set of solutions of linear equations, {x : A x = b}.

    Points are projected by Pi(x) = x - A^+ (A x - b), directions by P v = v - A^+ A v. Rows that the others
    imply are dropped; rows that contradict each other are an error that names them.

    Parameters
    ----------
    A : array_like, sparse matrix or LinearOperator, shape (m, p)
        One row for each equation; a vector is one row. The columns of a data frame name the variables: where
        the objective names its own, each column goes to the variable of its name, in whatever order they
        come, and variables without a column are free. Dense matrices are factorised orthogonally, with
        pivoting where rows nearly depend, and so are small sparse ones; large sparse ones by a sparse
        factorisation or, where that would fill in, not at all; an operator is only applied.
    b : array_like, shape (m,), optional
        The right-hand side; zeros by default.

    Attributes
    ----------
    dim : int
        p, the length of the vectors it acts on.
    shape : tuple of int
        (m, p).
    b : ndarray, shape (m,)
        The right-hand side.
    names : tuple of str or None
        The names of the variables, where A has them.
    row_names : tuple of str or None
        The names of the equations, where A or b has them.
    rank : int or None
        The rank of A where it is known, which is for dense and for small A.
    redundant : tuple of int
        The rows of a dense or small A that were dropped because the others imply them.

    Examples
    --------
    >>> from tether.constraints import Affine
    >>> budget = Affine([1.0, 1.0, 1.0], 6.0)
    >>> budget
    Affine(1 x 3, dense, rank 1)
    >>> budget.project([1.0, 2.0, 0.0]).round(12).tolist()
    [2.0, 3.0, 1.0]
    >>> budget.tangent([5.0, 1.0, 0.0]).round(12).tolist()
    [3.0, -1.0, -2.0]

    References
    ----------
    Li & Zhang, "Delayed Projection Techniques for Linearly Constrained Problems"; the rows of A here are
    the columns of A there.
    """

    dim: int

    def __init__(self, A: Any, b: Any = None) -> None:
        self._matrix = None if isinstance(A, LinearOperator) else fresh_matrix("A", A)
        self._rows = operator_rows(A) if self._matrix is None else _rows_of(self._matrix)
        self.shape = self._rows.shape
        self.dim = self.shape[1]
        self.names, self.row_names = column_names(A), _names_of_rows(A, b)
        self._place: Indices | None = None  # of the columns of the matrix among the variables, once aligned
        self.b = np.zeros(self.shape[0]) if b is None else _right_hand_side(b, A, self.shape[0])
        self.independent = self._rows.independent
        if not self.independent:
            require_consistent(self._rows, self.b, self._fit)
        self.rank = self._rows.rank
        self.redundant = self._rows.redundant
        self.work = self._rows.work
        if self.redundant:
            log.info("%r: dropped redundant rows %s.", self, _few(self.redundant))

    @property
    def equations(self) -> tuple[Any, Array] | None:
        """A and b, unless A is an operator."""
        return self._equations

    @lazy
    def _equations(self) -> tuple[Any, Array] | None:
        if self._matrix is None or self._place is None:
            return None if self._matrix is None else (self._matrix, self.b)
        return placed_columns(self._matrix, self._place, self.dim), self.b

    @lazy
    def _fit(self) -> Fit:
        """The shortest solution."""
        return self._rows.fit(self.b) if self.b.any() else Fit(np.zeros(self.dim), np.zeros(self.shape[0]))

    def project(self, x: Array) -> Array:
        """Return the nearest solution of A x = b."""
        x = np.asarray(x, dtype=float)
        if x.shape == (self.dim,) and not x.any():
            return self._fit.point.copy()
        return self._rows.projected(x, self.b, self._fit.point)

    def tangent(self, v: Array) -> Array:
        """Return the part of a direction in ker(A)."""
        return self._rows.tangent(np.asarray(v, dtype=float))

    def residual(self, x: Array) -> float:
        """Return ||A x - b||."""
        return norm(self._rows.apply(x) - self.b)

    def multipliers(self, gradient: Array) -> Array:
        """Return the least-squares lambda of A^T lambda = gradient."""
        return self._rows.multipliers(gradient)

    def parts(self, v: Array) -> tuple[Array, Array]:
        """Return the part of a direction in ker(A), and multipliers of the other, A^T lambda."""
        return self._rows.parts(np.asarray(v, dtype=float))

    def tangent_space(self, dim: int) -> Subspace:
        """Return ker(A)."""
        return self._kernel

    @lazy
    def _kernel(self) -> Subspace:
        return OperatorKernel(self._rows) if self.equations is None else Kernel(self.equations[0])

    def aligned(self, names: Names) -> "Affine":
        """Return the same equations for variables with these names; those that A leaves out are free."""
        if self.names is None or not decide(self.names, names):
            return self
        place = places("A", "column", self.names, names)
        twin = copy(self)
        twin.names, twin.dim, twin.shape = names, len(names), (self.shape[0], len(names))
        twin._rows = PlacedRows(self._rows, place, twin.dim)
        twin._place = place if self._place is None else place[self._place]
        for name in ("_equations", "_fit", "_kernel"):
            twin.__dict__.pop(name, None)
        return twin

    @property
    def words(self) -> str:
        """How many equations there are."""
        return counted_rows(self.shape[0])

    def labels(self, dim: int) -> Labels:
        """Return the names of the equations, or their numbers."""
        return Labels("equation", self.shape[0], self.row_names)

    def digest(self) -> str:
        """Return a digest of A and b; an operator counts by its products with two fixed vectors."""
        if self.equations is None:
            return digest_of("Affine", self.shape, answers_of(self._rows.apply, self.dim), self.b)
        return digest_of("Affine", *self.equations)

    def __repr__(self) -> str:
        rank = "" if self._rows.rank is None else f", rank {self._rows.rank}"
        return f"Affine({self.shape[0]} x {self.shape[1]}, {self._rows.kind}{rank})"


def _right_hand_side(b: Any, A: Any, length: int) -> Array:
    """Return b as a fresh vector, in the order of A's rows if both name them; a number is one entry."""
    rows = row_names(A) if getattr(A, "ndim", 0) == 2 else None
    ordered = aligned_vector(b, rows, "b", "row of A")
    return vector("b", np.atleast_1d(numbers("b", ordered)), length, largest=LARGEST_NUMBER).copy()


def _names_of_rows(A: Any, b: Any) -> Names | None:
    """Return the names that a table A, or else a series b, has for the equations; numbers are none."""
    own = (row_names(table) for table, axes in ((A, 2), (b, 1)) if getattr(table, "ndim", 0) == axes)
    return next((names for names in own if names is not None and not counted(names)), None)


def _rows_of(matrix: Any) -> Rows:
    return DenseRows(matrix) if isinstance(matrix, np.ndarray) else sparse_rows(matrix)


def _few(rows: tuple[int, ...]) -> str:
    return listed(rows[:10], max(0, len(rows) - 10))
