"""Units in which the largest entries of P, A and K are near 1: Ruiz's equilibration of the whole system.

Variables are measured in `variables`, so that x / variables is of size 1 where A is; rows of A and K are
multiplied with `equations` and `rows`.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tether.arrays import Array
from tether.qp.program import Program

ROUNDS = 6
NEAR = 1e-2  # of 1


class Units(NamedTuple):
    """The scale of everything."""

    variables: Array
    equations: Array
    rows: Array

    @classmethod
    def of(cls, program: Program) -> "Units":
        """Balance a program."""
        sizes = [_sizes(program.hessian), _sizes(program.plane[0]), _sizes(program.polyhedral.matrix)]
        units = cls(*(np.ones(n) for n in (program.dim, program.plane[1].size, program.polyhedral.rows.size)))
        for _ in range(ROUNDS):
            found = units._sizes(*sizes)
            units = cls(*(unit / np.sqrt(size) for unit, size in zip(units, found, strict=True)))
            if all(np.abs(size - 1.0).max(initial=0.0) <= NEAR for size in found):
                break
        return units

    def _sizes(self, hessian: Any, plane: Any, matrix: Any) -> tuple[Array, Array, Array]:
        """Return the largest entries of columns and rows; 1 where all are zero."""
        columns = hessian.columns(self.variables)
        equations, rows = np.zeros(len(self.equations)), np.zeros(len(self.rows))
        if len(equations):
            equations, first = plane.largest(self.equations, self.variables)
            columns = np.maximum(columns, first)
        if len(rows):
            rows, second = matrix.largest(self.rows, self.variables)
            columns = np.maximum(columns, second)
        found = (np.where(size > 0.0, size, 1.0) for size in (columns, equations, rows))
        return next(found), next(found), next(found)


class Natural(NamedTuple):
    """How large numbers are, in units, by what the program says: a floor where a solution is zero."""

    point: float
    slope: float

    @classmethod
    def of(cls, program: Program, units: Units) -> "Natural":
        """Look at the right-hand sides, the walls and the slopes."""
        D, A, K = units
        psi, curved = program.polyhedral, bool(abs(program.hessian).max()) if program.dim else False
        force = _largest(D * program.linear)
        walls = [
            _largest((wall * unit)[np.isfinite(wall)])
            for part, unit in ((psi.coordinates, 1.0 / D), (psi.rows, K))
            for wall in (part.lower, part.upper)
        ]
        points = _smallest([_largest(A * program.plane[1]), force * curved, *walls])
        kinks = [D * psi.coordinates.left, D * psi.coordinates.right, psi.rows.left / K, psi.rows.right / K]
        slopes = _smallest([force, points * curved, *(_largest(kink) for kink in kinks)])
        return cls(points, slopes)


def _largest(v: Array) -> float:
    return float(np.abs(v).max(initial=0.0))


def _smallest(sizes: list[float]) -> float:
    """Return the smallest size that is not zero, 1 at most."""
    return min([1.0, *(size for size in sizes if size > 0.0)])


class _Dense:
    def __init__(self, matrix: Array) -> None:
        self._sizes = np.abs(matrix)

    def columns(self, unit: Array) -> Array:
        """Return the largest sizes of columns of diag(unit) M diag(unit), M symmetric."""
        return (self._sizes * unit).max(axis=1, initial=0.0) * unit

    def largest(self, left: Array, right: Array) -> tuple[Array, Array]:
        """Return the largest sizes of rows and of columns of diag(left) M diag(right)."""
        by_row = (self._sizes * right).max(axis=1, initial=0.0) * left
        return by_row, (self._sizes * left[:, None]).max(axis=0, initial=0.0) * right


class _Sparse:
    def __init__(self, matrix: Any) -> None:
        entries = sparse.coo_array(matrix)
        self._shape, self._sizes = entries.shape, np.abs(entries.data)
        self._i, self._j = entries.coords

    def columns(self, unit: Array) -> Array:
        """Return the largest sizes of columns of diag(unit) M diag(unit)."""
        return self.largest(unit, unit)[1]

    def largest(self, left: Array, right: Array) -> tuple[Array, Array]:
        """Return the largest sizes of rows and of columns of diag(left) M diag(right)."""
        sizes = self._sizes * left[self._i] * right[self._j]
        rows, columns = np.zeros(self._shape[0]), np.zeros(self._shape[1])
        np.maximum.at(rows, self._i, sizes)
        np.maximum.at(columns, self._j, sizes)
        return rows, columns


class _Diagonal:
    def __init__(self, diagonal: Array) -> None:
        self._sizes = np.abs(diagonal)

    def columns(self, unit: Array) -> Array:
        """Return the sizes."""
        return self._sizes * unit * unit


def _sizes(matrix: Any) -> Any:
    if matrix.ndim == 1:
        return _Diagonal(matrix)
    return _Dense(matrix) if isinstance(matrix, np.ndarray) else _Sparse(matrix)
