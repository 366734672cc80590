"""What x must satisfy beyond equations, and what it pays for: a plane with a polyhedral function psi on it.

A projection is then a prox: project(z) = argmin psi(x) + ||x - z||^2 / 2 in a metric, on the plane. It
returns the point and the subgradient that belongs to it, and that pair is the certificate: with s + K^T y a
subgradient of psi at x, P (grad F + s + K^T y) is to F + psi what P grad F is to F alone.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tether.arrays import Array, Indices, norm
from tether.digest import digest_of
from tether.feasible import Feasible, contradiction
from tether.inputs import InfeasibleError
from tether.lazy import lazy
from tether.polyhedral import Duals, Pieces, Polyhedral
from tether.prox import Infeasible, Prox, Proximal
from tether.qp import Answer, Program, Status, solve_program
from tether.qp.yardstick import lengths
from tether.requests import Fenchel, Hold

AT_WALL = 1e-9  # relative to its size: a row that is nearer to a wall or a kink counts as there
LAST_DIGITS = 1e-14  # of a bound: a variable that is nearer to it is there
INSIDE = 1e-13  # of 1 + ||x||: a smaller residual is rounding
BEYOND_WALLS = 1e-9  # of 1 + ||x||: what is farther out is outside
UNSOUND = 1e-6  # of 1 + ||x||: a larger residual is no rounding
LARGEST_SHRINKAGE = 0.5  # of a dual point; where it had to be shrunk more, it is far off
FENCHEL_ERROR = 1e-14  # of the sizes of all terms, which rounding may hide
SWEEPS = 4  # for subgradients that nobody has hinted at
FIRST_RIDGE, RIDGE_GROWTH, LARGEST_RIDGE = 1e-8, 100.0, 1e8


class Held(NamedTuple):
    """A point with subgradients of psi."""

    residual: Array  # grad F + s + K^T y
    duals: Duals
    slack: float  # what they lack of being subgradients there, in units of F


class Region:
    """A plane and psi.

    Parameters
    ----------
    feasible : Feasible
        The plane and psi, as users gave them.
    """

    def __init__(self, feasible: Feasible) -> None:
        assert feasible.polyhedral is not None
        self.feasible, self.constraint, self.polyhedral = feasible, feasible.plane, feasible.polyhedral

    @lazy
    def _prox(self) -> Prox:
        """The prox of psi on the plane."""
        return Prox(self.constraint, self.polyhedral)

    @lazy
    def _nearest(self) -> Prox:
        """The projection: psi without its slopes."""
        psi = self.polyhedral
        walls = (Pieces.of(part.size, part.lower, part.upper) for part in (psi.coordinates, psi.rows))
        coordinates, rows = walls
        kept = np.isfinite(rows.lower) | np.isfinite(rows.upper)
        return Prox(
            self.constraint, Polyhedral(coordinates, psi.matrix[np.flatnonzero(kept)], rows.some(kept))
        )

    def project(self, x: Array) -> Array:
        """Return the nearest point of the region; a point that is there stays exactly where it is."""
        if self._is_inside(x):
            return x
        _require_finite(x)
        if not self.polyhedral.bounded:
            return self.constraint.project(x)
        return self._sound(lambda: self._nearest.at(np.asarray(x, dtype=float), np.ones(len(x)))).point

    def prox(self, z: Array, t: Array, hold: Hold | None = None) -> Proximal:
        """Return argmin psi(x) + sum_j (x_j - z_j)^2 / (2 t_j) on the plane, given what may hold it there."""
        start = None
        if hold is not None:
            duals, nu = Duals(hold.coordinates, hold.rows), self.constraint.multipliers(hold.normal)
            start = Proximal(z, hold.normal, duals, nu, 0)
        _require_finite(z)
        return self._sound(lambda: self._prox.at(z, t, start))

    @property
    def lost(self) -> Proximal:
        """What stands for a prox that cannot be computed: it is not a number."""
        psi = self.polyhedral
        nowhere, rows = np.full(psi.dim, np.nan), np.full(psi.rows.size, np.nan)
        return Proximal(nowhere, nowhere, Duals(nowhere, rows), None, 0)

    def _sound(self, compute: Callable[[], Proximal]) -> Proximal:
        """Return a point of the region, or say that there is none, or none that was found."""
        try:
            found = compute()
        except Infeasible as error:
            raise InfeasibleError(self.contradiction()) from error
        beyond = np.hypot(self._off_plane(found.point), self._beyond_walls(found.point))
        if beyond > UNSOUND * (1.0 + float(np.linalg.norm(found.point))):
            raise ArithmeticError(
                "the projection missed the constraint: rows or bounds may be nearly contradictory or badly "
                "scaled; rescale or relax them."
            )
        return found

    def _is_inside(self, x: Array) -> bool:
        """Say whether x keeps to bounds exactly, and to rows and equations to rounding."""
        beyond = self.polyhedral.coordinates.violation(x).any()
        return not beyond and self.residual(x) <= INSIDE * (1.0 + float(np.linalg.norm(x)))

    def price(self, x: Array) -> float:
        """Return psi(x); infinite beyond walls, by more than rounding."""
        beyond = self._beyond_walls(x) > BEYOND_WALLS * (1.0 + norm(x))
        return np.inf if beyond else self.polyhedral.value(x)

    def _beyond_walls(self, x: Array) -> float:
        """Return how far x is beyond walls, those of long rows in units of their lengths."""
        psi = self.polyhedral
        beyond = norm(psi.coordinates.violation(x)) if self._walled else 0.0
        if not psi.couples:
            return beyond
        return math.hypot(beyond, norm(psi.rows.violation(psi.matrix @ x) / self._lengths))

    def _off_plane(self, x: Array) -> float:
        """Return how far x is off the equations, those with long rows in units of their lengths."""
        if self.constraint.equations is None:
            return self.constraint.residual(x)
        matrix, b = self.constraint.equations
        return float(np.linalg.norm((matrix @ x - b) / self._lengths_of_equations))

    @lazy
    def _walled(self) -> bool:
        """Whether single variables have walls."""
        lower, upper = self.polyhedral.coordinates[:2]
        return bool(np.isfinite(lower).any() or np.isfinite(upper).any())

    @lazy
    def _lengths(self) -> Array:
        """The lengths of the rows of K, 1 at least: what they sum up is rounded in proportion."""
        return np.maximum(1.0, lengths(self.polyhedral.matrix))

    @lazy
    def _lengths_of_equations(self) -> Array:
        """The lengths of the rows of A, 1 at least."""
        assert self.constraint.equations is not None
        return np.maximum(1.0, lengths(self.constraint.equations[0]))

    def residual(self, x: Array) -> float:
        """Return how far x is from satisfying all rows and bounds."""
        off, psi = self.constraint.residual(x), self.polyhedral
        return math.hypot(off, psi.violation(x)) if self._walled or psi.couples else off

    def held(self, x: Array, gradient: Array, normal: Array | None, rows: Array | None) -> Held:
        """Return subgradients of psi at x that go well with a gradient, given a guess at A^T l and y."""
        psi = self.polyhedral
        y = np.zeros(psi.rows.size) if rows is None else rows
        y = self._rows_at(x, y)
        pull = gradient + psi.matrix.T @ y if psi.couples else gradient
        if normal is None:
            normal = self._normal(pull, x)
        place = _at_walls(x, psi.coordinates) if self._walled else x
        s = psi.coordinates.nearest(normal - pull, place)
        duals = Duals(s, y)
        return Held(pull + s, duals, psi.misfit(x, duals))

    def _normal(self, pull: Array, x: Array) -> Array:
        """Guess at A^T l by alternating between the plane and the slopes that variables allow."""
        equations = self.constraint.equations
        if equations is not None and len(equations[1]) == 0:
            return np.zeros_like(pull)
        normal = pull - self.constraint.tangent(pull)
        for _ in range(SWEEPS):
            residual = pull + self.polyhedral.coordinates.nearest(normal - pull, x)
            normal = residual - self.constraint.tangent(residual)
        return normal

    def _rows_at(self, x: Array, y: Array) -> Array:
        """Return the slopes of rows at x that are nearest to a guess."""
        psi = self.polyhedral
        if not psi.couples:
            return y
        return psi.rows.nearest(y, self._snapped(psi.matrix @ x))

    def _snapped(self, z: Array) -> Array:
        """Return the values of rows, at a wall or a kink exactly where they are next to it."""
        rows = self.polyhedral.rows
        for wall in (rows.lower, rows.upper, np.zeros(len(z))):
            reach = np.where(np.isfinite(wall), AT_WALL * np.maximum(1.0, np.abs(wall)), -1.0)
            z = np.where(np.abs(z - wall) <= reach, wall, z)
        return z

    def least(self, hessian: Array, x: Array, gradient: Array, hold: Hold | None) -> Proximal | None:
        """Return the minimum of <g, d> + <d, H d>/2 + psi(x + d) on the plane; None where there is none."""
        if hessian.ndim == 1 and bool((hessian > 0.0).all()):
            return self.prox(x - gradient / hessian, 1.0 / hessian, hold)
        program = Program(hessian, gradient, self.constraint.equations, self.polyhedral)
        answer = _minimum(program, x, None if hold is None else self._answer(x, hold))
        if answer is None:
            return None
        normal = self._normal_of(answer.equalities, len(x))
        return Proximal(answer.x, normal, answer.duals, None, answer.iterations)

    def least_among(
        self, chosen: Indices, hessian: Array, x: Array, gradient: Array, hold: Hold | None
    ) -> Proximal | None:
        """Return the same minimum with all variables still but some, whose second derivatives are given."""
        psi, equations, start = self.polyhedral.coordinates, self.constraint.equations, None
        if hold is not None:
            start = self._answer(x, hold)._replace(
                x=x[chosen], duals=Duals(hold.coordinates[chosen], np.zeros(0))
            )
        if equations is not None:
            matrix, b = equations
            some = matrix[:, chosen]
            equations = some, b - matrix @ x + some @ x[chosen]
        program = Program(hessian, gradient[chosen], equations, Polyhedral.separable(psi.some(chosen)))
        answer = _minimum(program, x[chosen], start)
        if answer is None:
            return None
        point, normal = x.copy(), self._normal_of(answer.equalities, len(x))
        point[chosen] = answer.x
        slopes = psi.nearest(normal - gradient, point)
        slopes[chosen] = answer.duals.coordinates
        return Proximal(point, normal, Duals(slopes, np.zeros(0)), None, answer.iterations)

    def _normal_of(self, equalities: Array, dim: int) -> Array:
        equations = self.constraint.equations
        return np.zeros(dim) if equations is None else equations[0].T @ equalities

    def _answer(self, x: Array, hold: Hold) -> Answer:
        """Return what is known of a program's solution from a point near it and what holds that."""
        equalities = self.constraint.multipliers(hold.normal)
        duals = Duals(hold.coordinates, hold.rows)
        return Answer(x, equalities, duals, Status.SOLVED, 0, -np.inf)

    def fenchel(self, x: Array, value: float, gradient: Array, hold: Hold) -> Fenchel | None:
        """Return the gap between F + psi at x and their dual at a multiple c of grad F; None if none is near.

        F*(grad F(x)) = <grad F(x), x> - F(x), and F*(c u) <= c F*(u) - (1 - c) m where F is nowhere below m,
        so that no conjugate of F is needed. c is as near to 1 as the slopes of psi allow.
        """
        psi = self.polyhedral
        v = hold.normal - gradient - (psi.matrix.T @ hold.rows if psi.couples else 0.0)
        c = psi.coordinates.shrinkage(v)
        if not c > LARGEST_SHRINKAGE:
            return None
        conjugates = psi.coordinates.conjugate(c * v).sum() + psi.rows.conjugate(c * hold.rows).sum()
        terms = np.array(
            [(1.0 - c) * value, psi.value(x), c * (gradient @ x), -c * (hold.normal @ x), conjugates]
        )
        error = FENCHEL_ERROR * float(np.abs(terms).sum() + c * (np.abs(gradient) @ np.abs(x)))
        total = float(terms.sum()) + error
        return Fenchel(total, 1.0 - c) if np.isfinite(total) else None

    def fall(self, x: Array, gradient: Array, point: Array) -> float:
        """Return by how much F + psi is lower at another point, to first order."""
        psi = self.polyhedral
        return psi.value(x) - psi.value(point) - float(gradient @ (point - x))

    def held_rows(self, x: Array) -> Any:
        """Return the rows along which nothing may move: equations, and what is at a wall or on a kink."""
        psi, (matrix, _) = self.polyhedral, self.constraint.equations or (np.zeros((0, len(x))), None)
        still = np.flatnonzero(psi.coordinates.settled(x))
        rows = psi.rows.settled(self._snapped(psi.matrix @ x))
        units = sparse.csr_array((np.ones(len(still)), (np.arange(len(still)), still)), (len(still), len(x)))
        return sparse.vstack([sparse.csr_array(matrix), units, sparse.csr_array(psi.matrix[rows])])

    def recedes(self, d: Array) -> bool:
        """Say whether from every point of the region one may go along d for ever, and psi does not rise."""
        psi = self.polyhedral
        flat = abs(psi.matrix) @ np.abs(d)
        return psi.coordinates.open_along(d, np.abs(d).max()) and psi.rows.open_along(psi.matrix @ d, flat)

    def contradiction(self) -> str:
        """Say which rows and bounds contradict each other."""
        found = contradiction(self.feasible)
        return found or "the constraints contradict each other, if only by a little; relax or drop some."

    def digest(self) -> str:
        """Return a digest of the plane and of psi."""
        return digest_of("Region", self.constraint.digest(), self.polyhedral.digest())


def _at_walls(x: Array, pieces: Pieces) -> Array:
    """Return x exactly at a wall where only rounding keeps it off, so that the wall can hold it."""
    for wall in (pieces.lower, pieces.upper):
        x = np.where(np.isfinite(wall) & (np.abs(x - wall) <= LAST_DIGITS * np.abs(wall)), wall, x)
    return x


def _require_finite(z: Array) -> None:
    if not np.isfinite(z).all():
        raise ArithmeticError(
            "what is projected must be finite, got infinite numbers or NaN; rescale the data."
        )


def _minimum(program: Program, x: Array, start: Answer | None) -> Answer | None:
    """Return the minimum of a model around x, whose gradient is the linear part, with a ridge if need be."""
    hessian, gradient, ridge = program.hessian, program.linear, 0.0
    while ridge <= LARGEST_RIDGE:
        shifted = hessian if ridge == 0.0 else _ridged(hessian, ridge)
        with np.errstate(over="ignore", invalid="ignore"):
            linear = gradient - (shifted * x if shifted.ndim == 1 else shifted @ x)
        if not np.isfinite(linear).all():  # so far out that the model overflows
            return None
        answer = solve_program(program._replace(hessian=shifted, linear=linear), start=start)
        if answer.status is Status.SOLVED:
            return answer
        ridge = max(FIRST_RIDGE, RIDGE_GROWTH * ridge)
    return None


def _ridged(hessian: Array, share: float) -> Array:
    """Return a matrix with a share of its diagonal added, where that is positive."""
    diagonal = hessian if hessian.ndim == 1 else np.diag(hessian)
    added = share * np.maximum(diagonal, float(np.max(diagonal, initial=0.0)) * 1e-3 or 1.0)
    return hessian + (added if hessian.ndim == 1 else np.diag(added))
