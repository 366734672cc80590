"""What a quadratic program is, and what is known of it when it is solved.

    minimise  x'Px/2 + q'x + psi(x)    subject to    A x = b

At a solution P x + q + s + K'y = A'lambda with s and y subgradients of the pieces of psi.
"""

from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.polyhedral import Duals, Polyhedral
from tether.qp.seats import Face

SMALL_SIZE = 200
EASY_SIZE, FEW_ROWS = 200, 500


class Status(Enum):
    """How a program ended."""

    SOLVED = "solved to the tolerance"
    INACCURATE = "not solved to the tolerance: this is the best point that was found"
    INFEASIBLE = "no point keeps to all equations and walls: `equalities` and `duals` prove it"
    UNBOUNDED = "values fall without end along `ray`"
    BUDGET = "the time is used up"


class Program(NamedTuple):
    """A convex quadratic program."""

    hessian: Any  # P: an ndarray, a sparse.csc_array, or the diagonal alone; positive semidefinite
    linear: Array  # q
    equations: tuple[Any, Array] | None  # A, dense or sparse, and b
    polyhedral: Polyhedral

    @property
    def dim(self) -> int:
        """The number of variables."""
        return len(self.linear)

    @property
    def plane(self) -> tuple[Any, Array]:
        """A and b, without rows where there are no equations."""
        if self.equations is None:
            return np.zeros((0, self.dim)), np.zeros(0)
        return self.equations

    @property
    def easy(self) -> bool:
        """Whether faces are small systems: curvature that is dense or a positive diagonal, and few rows."""
        few = len(self.plane[1]) + self.polyhedral.rows.size <= min(FEW_ROWS, self.dim // 2)
        if bool((self.polyhedral.coordinates.lower == self.polyhedral.coordinates.upper).all()):
            return True  # all variables are fixed
        kinks = int(np.count_nonzero(self.polyhedral.coordinates.left + self.polyhedral.coordinates.right))
        if self.dim + kinks < EASY_SIZE or not few:  # interior points see twice a variable with a kink
            return False
        return (
            bool((self.hessian > 0.0).all())
            if self.hessian.ndim == 1
            else isinstance(self.hessian, np.ndarray)
        )

    @property
    def small(self) -> bool:
        """Whether all its matrices are small and dense."""
        return self._size <= SMALL_SIZE and isinstance(self.hessian, np.ndarray) and self.hessian.ndim > 1

    @property
    def _size(self) -> int:
        return self.dim + self.polyhedral.rows.size + len(self.plane[1])

    def handy(self) -> "Program":
        """Return a small program in dense matrices: sparse ones would take longer to make than to use."""
        if self._size > SMALL_SIZE:
            return self
        psi = self.polyhedral
        equations = None if self.equations is None else (_dense(self.equations[0]), self.equations[1])
        hessian = np.diag(self.hessian) if self.hessian.ndim == 1 else _dense(self.hessian)
        return Program(hessian, self.linear, equations, psi._replace(matrix=_dense(psi.matrix)))

    def curve(self, x: Array) -> Array:
        """Return P x."""
        return self.hessian * x if self.hessian.ndim == 1 else self.hessian @ x

    def gradient(self, x: Array) -> Array:
        """Return P x + q."""
        return self.curve(x) + self.linear

    def value(self, x: Array) -> float:
        """Return the objective with psi, walls aside."""
        return float(x @ (0.5 * self.curve(x) + self.linear)) + self.polyhedral.value(x)


class Point(NamedTuple):
    """x with lambda, s and y."""

    x: Array
    equalities: Array
    s: Array
    y: Array


class Answer(NamedTuple):
    """A point with its multipliers, and how good they are."""

    x: Array
    equalities: Array  # lambda
    duals: Duals  # s and y
    status: Status
    iterations: int  # of the interior point method and of the active set together
    lower: float  # the dual objective: no feasible point has a smaller value; -inf where it cannot be trusted
    residual: float = np.inf  # the largest violation of the optimality conditions, relative
    face: Face | None = None  # the seats of variables and rows: who is at a wall or on a kink
    ray: Array | None = None  # UNBOUNDED: a direction along which values fall without end

    @property
    def point(self) -> Point:
        """x with all multipliers."""
        return Point(self.x, self.equalities, *self.duals)


def check(program: Program) -> None:
    """Refuse numbers that make no program."""
    psi, (matrix, b) = program.polyhedral, program.plane
    numbers = {
        "hessian": _entries(program.hessian),
        "linear": program.linear,
        "equations": _entries(matrix),
        "b": b,
    }
    for name, values in numbers.items():
        if not np.isfinite(values).all():
            raise ValueError(
                f"{name} must be finite, got infinite numbers or NaN; check the data it comes from."
            )
    for name, part in (("coordinates", psi.coordinates), ("rows", psi.rows)):
        wrong = np.flatnonzero(~(part.lower <= part.upper) | (part.lower == np.inf) | (part.upper == -np.inf))
        if wrong.size:
            j = wrong[0]
            raise ValueError(
                f"{name} must have lower <= upper, got {part.lower[j]} and {part.upper[j]} at {j}; "
                "widen the walls."
            )


def _dense(matrix: Any) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _entries(matrix: Any) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else matrix.data
