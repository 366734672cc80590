"""Faces of a program: the seats of all variables and rows, and the solution when they are kept.

On a face the objective is quadratic and what is held is an equation, so that the solution is that of one
linear system. It solves the program if everything that is free has room and everything that is held pushes
against its wall or stays on its kink.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether.arrays import Array
from tether.qp.kkt import factorised
from tether.qp.program import Point, Program
from tether.qp.seats import Face, Seated, Seating
from tether.qp.units import Natural, Units

MOST_REFINEMENTS, PROGRESS = 30, 0.8
CLOSE = 4.0 * float(np.finfo(float).eps)  # what no refinement improves
SLACK = 1e-12  # relative to the largest number of a kind: what is further outside has to move


class Moves(NamedTuple):
    """Who has to leave its seat, and in which direction."""

    coordinates: NDArray[np.int8]
    rows: NDArray[np.int8]

    @property
    def many(self) -> int:
        """How many have to."""
        return int(np.count_nonzero(self.coordinates) + np.count_nonzero(self.rows))


class Faces:
    """All faces of a program."""

    def __init__(self, program: Program) -> None:
        self.program, self.plane = program, program.plane
        psi = program.polyhedral
        self.coordinates, self.rows = Seating.of(psi.coordinates), Seating.of(psi.rows)
        self.units = Units.of(program)
        self.natural = Natural.of(program, self.units)
        D, A, K = self.units
        self.hessian, self.equations, self.matrix = (
            _scaled_hessian(program.hessian, D), _scaled(self.plane[0], A, D), _scaled(psi.matrix, K, D),
        )  # fmt: skip
        self.force = _largest(D * program.linear)
        self.right = max(_largest(A * self.plane[1]), self.natural.point)

    def nearest(self, point: Point, boldness: float = 1.0) -> Face:
        """Return the face that a point with inexact multipliers is on; the bolder, the more is held."""
        D, _, K = self.units
        z = self.program.polyhedral.image(point.x)
        large, steep = self.sizes(point, z)
        t = boldness * large / steep
        return Face(
            self.coordinates.nearest(point.x, point.s, t * D**2), self.rows.nearest(z, point.y, t / K**2)
        )

    def sizes(self, point: Point, z: Array) -> tuple[float, float]:
        """Return how large numbers and slopes are, in units, given K x."""
        D, _, K = self.units
        return (
            max(_largest(point.x / D), _largest(z * K), self.natural.point),
            max(_largest(point.s * D), _largest(point.y / K), self.natural.slope),
        )

    def possible(self, face: Face) -> Face:
        """Return the nearest face of this program."""
        return Face(self.coordinates.possible(face.coordinates), self.rows.possible(face.rows))

    def taken(self, face: Face) -> "Taken":
        """Return what holds on a face."""
        return Taken(self, face)

    def moved(self, face: Face, moves: Moves) -> Face:
        """Return the face after these moves."""
        return Face(
            self.coordinates.moved(face.coordinates, moves.coordinates),
            self.rows.moved(face.rows, moves.rows),
        )


class Taken:
    """A face with everything in its seat.

    Parameters
    ----------
    faces : Faces
        Those of the program.
    face : Face
        The seats.
    """

    def __init__(self, faces: Faces, face: Face) -> None:
        self.faces, self.face = faces, face
        self.coordinates = Seated(faces.coordinates, face.coordinates)
        self.rows = Seated(faces.rows, face.rows)

    def solution(self, near: Point) -> Point:
        """Return the solution on the face that is nearest to a point, where it is not unique."""
        system = _System(self)
        point, worst, stale = system.placed(near), np.inf, 0
        best = point
        for _ in range(MOST_REFINEMENTS):
            f, g, error = system.residuals(point)
            stale = 0 if error < PROGRESS * worst else stale + 1
            if error < worst:
                best, worst = point, error
            if error <= CLOSE or stale == 2:
                break
            point = system.corrected(point, f, g)
        return system.completed(best)

    def moves(self, point: Point) -> Moves:
        """Return who has to move."""
        D, _, K = self.faces.units
        z = self.faces.program.polyhedral.image(point.x)
        large, steep = (SLACK * size for size in self.faces.sizes(point, z))
        return Moves(
            self.coordinates.directions(point.x, point.s, large * D, steep / D),
            self.rows.directions(z, point.y, large / K, steep * K),
        )

    def inside(self, point: Point) -> Point:
        """Return the point with x between its walls and multipliers among the slopes of seats, exactly."""
        return point._replace(
            x=_between(point.x, *self.coordinates.room),
            s=_between(point.s, *self.coordinates.interval),
            y=_between(point.y, *self.rows.interval),
        )


class _System:
    """The linear system of one face."""

    def __init__(self, taken: Taken) -> None:
        faces, coordinates = taken.faces, taken.coordinates
        self._faces, self._program, self._units = faces, faces.program, faces.units
        self._held, self._places, self._slopes = coordinates.held, coordinates.targets, coordinates.slopes
        self._free, self._rows = np.flatnonzero(~self._held), np.flatnonzero(taken.rows.held)
        self._targets, self._row_slopes = taken.rows.targets[self._rows], taken.rows.slopes
        self._forces = faces.program.linear + np.where(self._held, 0.0, self._slopes)
        self._free_units = faces.units.variables[self._free]
        H = faces.hessian[self._free] if faces.hessian.ndim == 1 else _among(faces.hessian, self._free)
        C = _stacked(faces.equations, faces.matrix, self._rows)
        whole = len(self._free) == faces.program.dim
        self._factor = factorised(H, C if whole else C[:, self._free])

    def placed(self, point: Point) -> Point:
        """Return a point with what is held where it is held, and free rows with their slopes."""
        y = self._row_slopes.copy()
        y[self._rows] = point.y[self._rows]
        x = np.where(self._held, self._places, point.x)
        return Point(x, point.equalities.copy(), np.where(self._held, point.s, self._slopes), y)

    def residuals(self, point: Point) -> tuple[Array, Array, float]:
        """Return the right-hand sides in units, and their size relative to their terms."""
        (D, A, K), faces, rows = self._units, self._faces, self._rows
        curve = self._program.curve(point.x)
        f = -self._free_units * self._pull(point, curve)[self._free]
        matrix, b = faces.plane
        g = A * (b - matrix @ point.x)
        if len(rows):
            z = self._program.polyhedral.image(point.x)
            g = np.concatenate([g, K[rows] * (self._targets - z[rows])])
        steep = max(_largest(D * curve), _largest(D * point.s), faces.force, faces.natural.slope)
        large = max(_largest(point.x / D), faces.right)
        error = max(_largest(f) / steep, _largest(g) / large)
        return f, g, error if np.isfinite(error) else np.inf

    def _pull(self, point: Point, curve: Array) -> Array:
        rows = self._program.polyhedral.push(point.y)
        return curve + self._forces + rows - self._faces.plane[0].T @ point.equalities

    def corrected(self, point: Point, f: Array, g: Array) -> Point:
        """Return the next point."""
        _, A, K = self._units
        u, v = self._factor.solve(f, g)
        x, y, m = point.x.copy(), point.y.copy(), len(A)
        x[self._free] += self._free_units * u
        y[self._rows] += K[self._rows] * v[m:]
        return Point(x, point.equalities - A * v[:m], point.s, y)

    def completed(self, point: Point) -> Point:
        """Return the point with s: the slopes of what is free, and what holds the rest."""
        pull = self._pull(point, self._program.curve(point.x))
        return point._replace(s=np.where(self._held, -pull, self._slopes))


def _between(values: Array, low: Array, high: Array) -> Array:
    return np.minimum(np.maximum(values, low), high)


def _largest(v: Array) -> float:
    return float(np.abs(v).max(initial=0.0))


def _scaled_hessian(hessian: Any, D: Array) -> Any:
    return hessian * D**2 if hessian.ndim == 1 else _scaled(hessian, D, D)


def _scaled(matrix: Any, left: Array, right: Array) -> Any:
    if isinstance(matrix, np.ndarray):
        return left[:, None] * matrix * right
    return sparse.csr_array(sparse.diags_array(left) @ matrix @ sparse.diags_array(right))


def _among(matrix: Any, free: NDArray[np.intp]) -> Any:
    if len(free) == matrix.shape[0]:
        return matrix
    return matrix[np.ix_(free, free)] if isinstance(matrix, np.ndarray) else matrix[free][:, free]


def _stacked(plane: Any, matrix: Any, rows: NDArray[np.intp]) -> Any:
    some = matrix[rows]
    if not len(rows):
        return plane
    if not plane.shape[0]:
        return some
    if isinstance(plane, np.ndarray) and isinstance(some, np.ndarray):
        return np.vstack([plane, some])
    return sparse.vstack([sparse.csr_array(plane), sparse.csr_array(some)], format="csr")
