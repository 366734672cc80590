"""A program as interior point methods want it: equations, two-sided rows and bounds, without kinks.

A kink inside the walls, left max(-z, 0) + right max(z, 0), is right z + (left + right) m with one more
variable m >= 0 and one more row z + m >= 0. Where zero is at a wall or beyond, only one of the slopes is ever
met and joins the linear term. Variables between walls that touch are fixed and leave the program; rows
between such walls are equations.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether.arrays import Array
from tether.qp.program import Point, Program
from tether.qp.seats import Seating


class Solved(NamedTuple):
    """What a backend says of a standard form."""

    x: Array
    equations: Array  # multipliers, gradient + equations' y + rows' z + bounds = 0
    rows: Array  # upper minus lower
    bounds: Array  # upper minus lower
    converged: bool
    hopeless: bool  # the backend believes that there is no solution
    iterations: int


class Standard(NamedTuple):
    """minimise v'Hv/2 + c'v  subject to  E v = e,  low <= G v <= high,  lower <= v <= upper."""

    hessian: Any
    linear: Array
    equations: Any
    targets: Array
    rows: Any
    low: Array
    high: Array
    lower: Array
    upper: Array
    dense: bool


class Form(NamedTuple):
    """A standard form with the way back."""

    program: Program
    coordinates: Seating
    rows: Seating
    free: NDArray[np.intp]  # the variables that are left
    base: Array  # x with fixed variables where they are and zero elsewhere
    standard: Standard

    @classmethod
    def of(cls, program: Program) -> "Form":
        """Translate a program."""
        psi = program.polyhedral
        coordinates, rows = Seating.of(psi.coordinates), Seating.of(psi.rows)
        free = np.flatnonzero(~coordinates.fixed)
        base = np.where(coordinates.fixed, psi.coordinates.lower, 0.0)
        standard = _Writer(program, coordinates, rows, free, base).standard()
        return cls(program, coordinates, rows, free, base, standard)

    def back(self, solved: Solved) -> Point:
        """Return the point of the program that a point of the standard form stands for."""
        x = self.base.copy()
        x[self.free] = solved.x[: len(self.free)]
        mine, theirs = self.program.plane[1].size, np.flatnonzero(self.rows.fixed)
        y = np.where(self.rows.fixed, 0.0, self.rows.slope)
        y[theirs] += solved.equations[mine:]
        where = _sections(
            np.flatnonzero(self.coordinates.kinked[self.free]),
            np.flatnonzero(self.rows.kinked & ~self.rows.fixed),
            np.flatnonzero(self.rows.walled),
        )
        y[np.flatnonzero(self.rows.kinked & ~self.rows.fixed)] += solved.rows[where[1]]
        y[np.flatnonzero(self.rows.walled)] += solved.rows[where[2]]
        lam = -solved.equations[:mine]
        psi = self.program.polyhedral
        s = self.program.plane[0].T @ lam - self.program.gradient(x) - psi.matrix.T @ y
        return Point(x, lam, s, y)


def _sections(*parts: NDArray[np.intp]) -> list[slice]:
    """Return where parts are when they stand one after another."""
    ends = np.cumsum([0, *(len(part) for part in parts)])
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


class _Writer:
    """Writes a standard form, in dense matrices where P is one."""

    def __init__(
        self, program: Program, coordinates: Seating, rows: Seating, free: NDArray[np.intp], base: Array
    ) -> None:
        self._program, self._free, self._base = program, free, base
        self._coordinates, self._rows = coordinates, rows
        self._blocks = _Dense() if _is_dense(program) else _Sparse()
        self._kinked = np.flatnonzero(coordinates.kinked[free])
        self._kinked_rows = np.flatnonzero(rows.kinked & ~rows.fixed)
        self._walled_rows = np.flatnonzero(rows.walled)
        self._extra = len(self._kinked) + len(self._kinked_rows)
        self._plane = self._columns(program.plane[0])
        self._matrix = self._columns(program.polyhedral.matrix)

    def _columns(self, matrix: Any) -> Any:
        """Return the columns of variables that are left."""
        whole = len(self._free) == self._program.dim
        written = self._blocks.written(matrix)
        return written if whole else written[:, self._free]

    def standard(self) -> Standard:
        """Return the standard form."""
        walls = self._program.polyhedral.coordinates.some(self._free)
        equations, targets = self._equations()
        rows, low, high = self._all_rows()
        return Standard(
            self._hessian(), self._linear(), equations, targets, rows, low, high,
            np.concatenate([walls.lower, np.zeros(self._extra)]),
            np.concatenate([walls.upper, np.full(self._extra, np.inf)]),
            isinstance(self._blocks, _Dense),
        )  # fmt: skip

    def _hessian(self) -> Any:
        P, more = self._program.hessian, self._blocks.zeros(self._extra, self._extra)
        if P.ndim == 1:
            part = self._blocks.diagonal(P[self._free])
        else:
            whole = len(self._free) == self._program.dim
            part = self._blocks.written(P) if whole else self._columns(P)[self._free]
        return self._blocks.square(part, more)

    def _linear(self) -> Array:
        psi = self._program.polyhedral
        smooth = self._program.gradient(self._base)[self._free] + self._coordinates.slope[self._free]
        smooth = smooth + self._matrix.T @ np.where(self._rows.fixed, 0.0, self._rows.slope)
        variables = psi.coordinates.some(self._free[self._kinked])
        rows = psi.rows.some(self._kinked_rows)
        return np.concatenate([smooth, variables.left + variables.right, rows.left + rows.right])

    def _equations(self) -> tuple[Any, Array]:
        matrix, b = self._program.plane
        psi, fixed = self._program.polyhedral, np.flatnonzero(self._rows.fixed)
        targets = [b - matrix @ self._base, psi.rows.lower[fixed] - (psi.matrix @ self._base)[fixed]]
        both = self._blocks.above(self._plane, self._matrix[fixed])
        return self._blocks.beside(both, self._blocks.zeros(both.shape[0], self._extra)), np.concatenate(
            targets
        )

    def _all_rows(self) -> tuple[Any, Array, Array]:
        """Return a row for each kink, of variables and of rows, and for each row with walls."""
        rows, shift = self._program.polyhedral.rows, self._program.polyhedral.matrix @ self._base
        first, second = len(self._kinked), len(self._kinked_rows)
        units = self._blocks.units(self._kinked, len(self._free))
        matrix = self._blocks.beside(
            self._blocks.above(units, self._matrix[self._kinked_rows], self._matrix[self._walled_rows]),
            self._blocks.above(
                self._blocks.diagonal(np.ones(self._extra)),
                self._blocks.zeros(len(self._walled_rows), self._extra),
            ),
        )
        walls = self._walled_rows
        low = np.concatenate([np.zeros(first), -shift[self._kinked_rows], (rows.lower - shift)[walls]])
        return matrix, low, np.concatenate([np.full(first + second, np.inf), (rows.upper - shift)[walls]])


def _is_dense(program: Program) -> bool:
    return program.hessian.ndim == 2 and isinstance(program.hessian, np.ndarray)


class _Dense:
    """Matrices of NumPy."""

    def written(self, matrix: Any) -> Any:
        return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()

    def zeros(self, m: int, n: int) -> Any:
        return np.zeros((m, n))

    def diagonal(self, values: Array) -> Any:
        return np.diag(values)

    def units(self, chosen: NDArray[np.intp], n: int) -> Any:
        rows = np.zeros((len(chosen), n))
        rows[np.arange(len(chosen)), chosen] = 1.0
        return rows

    def above(self, *parts: Any) -> Any:
        return np.vstack(parts)

    def beside(self, *parts: Any) -> Any:
        return np.hstack(parts)

    def square(self, first: Any, second: Any) -> Any:
        n, m = len(first), len(second)
        return np.block([[first, np.zeros((n, m))], [np.zeros((m, n)), second]]) if m else first


class _Sparse:
    """Matrices of SciPy."""

    def written(self, matrix: Any) -> Any:
        return sparse.csr_array(matrix)

    def zeros(self, m: int, n: int) -> Any:
        return sparse.csr_array((m, n))

    def diagonal(self, values: Array) -> Any:
        return sparse.csr_array(sparse.diags_array(values, shape=(len(values),) * 2))

    def units(self, chosen: NDArray[np.intp], n: int) -> Any:
        many = len(chosen)
        return sparse.csr_array((np.ones(many), (np.arange(many), chosen)), shape=(many, n))

    def above(self, *parts: Any) -> Any:
        return sparse.vstack(parts, format="csr")

    def beside(self, *parts: Any) -> Any:
        return sparse.hstack(parts, format="csr")

    def square(self, first: Any, second: Any) -> Any:
        return sparse.block_diag([first, second], format="csr") if second.shape[0] else first
