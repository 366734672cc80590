"""A point with multipliers, and how far it is from a solution."""

from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array, norm
from tether.polyhedral import Duals, Pieces
from tether.qp.program import Point, Program
from tether.qp.units import Natural, Units


class Residual(NamedTuple):
    """What is left of the optimality conditions, each relative to the sizes of its terms."""

    feasibility: float
    stationarity: float
    gap: float

    @property
    def worst(self) -> float:
        """The largest; infinite where something is not a number."""
        largest = max(self)
        return largest if np.isfinite(largest) and all(np.isfinite(self)) else np.inf


class Yardstick:
    """Measures points of one program."""

    def __init__(self, program: Program, units: Units, natural: Natural) -> None:
        self._program, self._unit = program, natural.point * natural.slope
        self._floors = Units(
            *(natural.point * size for size in (units.variables, 1 / units.equations, 1 / units.rows))
        )
        self._slope = natural.slope / float(units.variables.max(initial=1.0))
        self._plane, self._matrix = lengths(program.plane[0]), lengths(program.polyhedral.matrix)

    def residual(self, point: Point) -> Residual:
        """Return how far a point is from a solution."""
        with np.errstate(all="ignore"):
            return Residual(self._feasibility(point.x), self._stationarity(point), self._gap(point))

    def _feasibility(self, x: Array) -> float:
        matrix, b = self._program.plane
        psi, length = self._program.polyhedral, norm(x)
        off, beyond = np.abs(matrix @ x - b), psi.coordinates.violation(x)
        found = [_relative(off, self._plane * length + np.abs(b) + self._floors.equations)]
        if beyond.any():
            found.append(_relative(beyond, _nearer(x, psi.coordinates) + self._floors.variables))
        if psi.couples:
            z = psi.matrix @ x
            found.append(
                _relative(
                    psi.rows.violation(z), self._matrix * length + _nearer(z, psi.rows) + self._floors.rows
                )
            )
        return max(found)

    def _stationarity(self, point: Point) -> float:
        psi = self._program.polyhedral
        terms = (
            self._program.curve(point.x), self._program.linear, point.s,
            psi.push(point.y), -(self._program.plane[0].T @ point.equalities),
        )  # fmt: skip
        size = max(self._slope, *(float(np.max(np.abs(term), initial=0.0)) for term in terms))
        return float(np.abs(sum(terms)).max(initial=0.0)) / size

    def _gap(self, point: Point) -> float:
        psi = self._program.polyhedral
        quadratic = 0.5 * float(point.x @ self._program.curve(point.x))
        linear = float(self._program.linear @ point.x)
        size = abs(quadratic) + abs(linear) + psi.value(point.x)
        misfit = psi.misfit(point.x, Duals(point.s, point.y))
        return misfit / max(size, self._unit) if misfit > 0.0 else 0.0


def _relative(errors: Array, sizes: Array) -> float:
    return float(np.max(errors / np.where(errors > 0.0, sizes, 1.0), initial=0.0))


def _nearer(z: Array, pieces: Pieces) -> Array:
    """Return the sizes of numbers and of those walls that are the nearer ones."""
    lower, upper = pieces.lower, pieces.upper
    wall = np.where(np.abs(z - lower) <= np.abs(upper - z), lower, upper)
    return np.abs(z) + np.where(np.isfinite(wall), np.abs(wall), 0.0)


def lengths(matrix: Any) -> Array:
    """Return the lengths of the rows of a matrix, or of a diagonal."""
    if matrix.ndim == 1:
        return np.abs(matrix)
    if isinstance(matrix, np.ndarray):
        return np.linalg.norm(matrix, axis=1)
    return np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
