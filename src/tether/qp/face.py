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
from tether.qp.seats import Face, Seating, Seats
from tether.qp.units import Natural, Units

MOST_REFINEMENTS, PROGRESS = 30, 0.8
ROUNDING = float(np.finfo(float).eps)
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
        self.program = program
        psi = program.polyhedral
        self.coordinates, self.rows = Seating.of(psi.coordinates), Seating.of(psi.rows)
        self.units = Units.of(program)
        self.natural = Natural.of(program, self.units)
        D, A, K = self.units
        matrix, _ = program.plane
        self._hessian, self._plane, self._matrix = (
            _scaled_hessian(program.hessian, D), _scaled(matrix, A, D), _scaled(psi.matrix, K, D),
        )  # fmt: skip

    def nearest(self, point: Point, boldness: float = 1.0) -> Face:
        """Return the face that a point with inexact multipliers is on; the bolder, the more is held."""
        D, _, K = self.units
        z = self.program.polyhedral.matrix @ point.x
        large, steep = self._sizes(point, z)
        t = boldness * large / steep
        return Face(
            self.coordinates.nearest(point.x, point.s, t * D**2), self.rows.nearest(z, point.y, t / K**2)
        )

    def _sizes(self, point: Point, z: Array) -> tuple[float, float]:
        """Return how large numbers and slopes are, in units."""
        D, _, K = self.units
        return (
            max(_largest(point.x / D), _largest(z * K), self.natural.point),
            max(_largest(point.s * D), _largest(point.y / K), self.natural.slope),
        )

    def possible(self, face: Face) -> Face:
        """Return the nearest face of this program."""
        return Face(self.coordinates.possible(face.coordinates), self.rows.possible(face.rows))

    def solution(self, face: Face, near: Point) -> Point:
        """Return the solution on a face that is nearest to a point, where it is not unique."""
        system = _System(self, face)
        point, worst, stale = system.placed(near), np.inf, 0
        best = point
        for _ in range(MOST_REFINEMENTS):
            f, g, error = system.residuals(point)
            stale = 0 if error < PROGRESS * worst else stale + 1
            if error < worst:
                best, worst = point, error
            if error <= 2.0 * ROUNDING or stale == 2:
                break
            point = system.corrected(point, f, g)
        return system.completed(best)

    def moves(self, face: Face, point: Point) -> Moves:
        """Return who has to move."""
        D, _, K = self.units
        z = self.program.polyhedral.matrix @ point.x
        large, steep = (SLACK * size for size in self._sizes(point, z))
        return Moves(
            _directions(self.coordinates, face.coordinates, point.x, point.s, large * D, steep / D),
            _directions(self.rows, face.rows, z, point.y, large / K, steep * K),
        )

    def moved(self, face: Face, moves: Moves) -> Face:
        """Return the face after these moves."""
        return Face(
            self.coordinates.moved(face.coordinates, moves.coordinates),
            self.rows.moved(face.rows, moves.rows),
        )

    def inside(self, face: Face, point: Point) -> Point:
        """Return the point with x between its walls and multipliers among the slopes of seats, exactly."""
        return point._replace(
            x=np.clip(point.x, *self.coordinates.room(face.coordinates)),
            s=np.clip(point.s, *self.coordinates.interval(face.coordinates)),
            y=np.clip(point.y, *self.rows.interval(face.rows)),
        )


class _System:
    """The linear system of one face."""

    def __init__(self, faces: Faces, face: Face) -> None:
        self._program, self._units, self._natural = faces.program, faces.units, faces.natural
        self._held = faces.coordinates.held(face.coordinates)
        self._free, self._rows = np.flatnonzero(~self._held), np.flatnonzero(faces.rows.held(face.rows))
        self._places = faces.coordinates.targets(face.coordinates)
        self._slopes = faces.coordinates.slopes(face.coordinates)
        self._targets = faces.rows.targets(face.rows)[self._rows]
        self._row_slopes = faces.rows.slopes(face.rows)
        free, hessian = self._free, faces._hessian
        H = hessian[free] if hessian.ndim == 1 else _among(hessian, free)
        C = _stacked(faces._plane, faces._matrix, self._rows)
        self._factor = factorised(H, C if len(free) == self._program.dim else C[:, free])

    def placed(self, point: Point) -> Point:
        """Return a point with what is held where it is held, and free rows with their slopes."""
        y = self._row_slopes.copy()
        y[self._rows] = point.y[self._rows]
        x = np.where(self._held, self._places, point.x)
        return Point(x, point.equalities.copy(), np.where(self._held, point.s, self._slopes), y)

    def residuals(self, point: Point) -> tuple[Array, Array, float]:
        """Return the right-hand sides in units, and their size relative to their terms."""
        D, A, K = self._units
        curve = self._program.curve(point.x)
        f = -(D * self._pull(point, curve))[self._free]
        matrix, b = self._program.plane
        z = self._program.polyhedral.matrix @ point.x
        g = np.concatenate([A * (b - matrix @ point.x), K[self._rows] * (self._targets - z[self._rows])])
        steep = max(_largest(D * part) for part in (curve, self._program.linear, point.s))
        large = max(_largest(point.x / D), _largest(A * b), self._natural.point)
        error = max(_largest(f) / max(steep, self._natural.slope), _largest(g) / large)
        return f, g, error if np.isfinite(error) else np.inf

    def _pull(self, point: Point, curve: Array) -> Array:
        psi = self._program.polyhedral
        forces = curve + self._program.linear + np.where(self._held, 0.0, self._slopes)
        return forces + psi.matrix.T @ point.y - self._program.plane[0].T @ point.equalities

    def corrected(self, point: Point, f: Array, g: Array) -> Point:
        """Return the next point."""
        D, A, K = self._units
        u, v = self._factor.solve(f, g)
        x, y, m = point.x.copy(), point.y.copy(), len(A)
        x[self._free] += D[self._free] * u
        y[self._rows] += K[self._rows] * v[m:]
        return point._replace(x=x, y=y, equalities=point.equalities - A * v[:m])

    def completed(self, point: Point) -> Point:
        """Return the point with s: the slopes of what is free, and what holds the rest."""
        pull = self._pull(point, self._program.curve(point.x))
        return point._replace(s=np.where(self._held, -pull, self._slopes))


def _directions(seating: Seating, seats: Seats, z: Array, s: Array, large: Array, steep: Array) -> Any:
    held = seating.held(seats)
    low, high = seating.room(seats)
    least, most = seating.interval(seats)
    left = np.where(held, s < least - steep, z < low - large)
    right = np.where(held, s > most + steep, z > high + large)
    return right.astype(np.int8) - left.astype(np.int8)


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
