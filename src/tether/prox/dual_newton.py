"""Scalar functions and equations: Newton's method on the multipliers of the equations.

The dual of the prox is concave in nu, with x(nu) = prox of z + t A^T nu, one variable at a time, as its
point, b - A x(nu) as its gradient and -A_f diag(t_f) A_f^T as its curvature, f the variables that are at no
wall and on no kink. It is made of quadratic pieces: a step on the right piece ends it. The line search
is exact, for it costs less than a product with A.
"""

from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.kernels.pieces import prox_all
from tether.polyhedral import Duals, Pieces
from tether.prox.base import Algorithm, NotConverged, Proximal
from tether.prox.equations import Equations, Mask, Solve, equations_of, factorised
from tether.prox.farkas import contradiction, refutes
from tether.prox.line import Line, root
from tether.threads import one_blas_thread

LONGEST = 120  # iterations before giving up
TOLERANCE = 1e-12  # of ||a_i|| ||x|| + |b_i|, by which an equation may be missed before it is polished
ROUNDED = 4e-15  # the same, of the numbers that x is the difference of
ROUNDING = 1e-15  # the same: nothing is left to polish
POLISHINGS = 3
DAMPING = 1e-6  # of the relative residual: what stands for curvature where there is none
LEAST_DAMPING = 1e-14
NOISE = 1e-16  # of a relative residual: damped, too, so that it is not amplified where the residual is
SMALL = 1e-7  # already
SMALLEST_DIAGONAL = 1e-8  # of what a row would have if all variables were free
LONG = 1e3  # times a Newton step: the dual may be unbounded
FEW_FLIPS = 0.5  # of the free variables: up to there a product is corrected instead of formed anew
WORTH_CORRECTING = 100_000  # entries of the free columns from which on that pays
SHRUNK = 1e-4  # of the largest a diagonal has been: below it a corrected product is too inexact


class Metric(NamedTuple):
    """Where the prox is taken."""

    z: Array
    t: Array


class Moment(NamedTuple):
    """What belongs to one nu."""

    nu: Array
    normal: Array  # A^T nu
    x: Array
    free: Mask
    residual: Array  # b - A x
    relative: float  # its largest entry, each over the size of its equation
    done: bool


class Product(NamedTuple):
    """A_f diag(t_f) A_f^T for some free variables f."""

    free: Mask
    matrix: Any
    peak: Array  # the largest its diagonal has been since it was formed


class DualNewton(Algorithm):
    """The prox of scalar functions among the solutions of A x = b.

    Parameters
    ----------
    matrix : ndarray or sparse matrix, shape (m, p)
        A; a dense one is not copied.
    b : ndarray, shape (m,)
        The right-hand side.
    pieces : Pieces
        One function for each variable.
    """

    def __init__(self, matrix: Any, b: Array, pieces: Pieces) -> None:
        self._rows: Equations = equations_of(matrix, b)
        self._pieces = pieces

    def at(self, z: Array, t: Array, start: Proximal | None) -> Proximal:
        """Return the prox of z, from the multipliers of an earlier one."""
        with one_blas_thread():
            return self._found(z, t, start)

    def _found(self, z: Array, t: Array, start: Proximal | None) -> Proximal:
        where = Metric(z, t)
        product = None
        if start is None or start.multipliers is None:
            moment = self._moment(where, np.zeros(self._rows.shape[0]), np.zeros(self._rows.shape[1]))
        else:
            moment = self._moment(where, start.multipliers, start.normal)
        for iteration in range(LONGEST):
            if moment.done:
                return self._closed(where, moment, product, iteration)
            product = self._product(where.t, moment.free, product)
            moment = self._step(where, moment, self._factor(where, product, _damping(moment.relative)))
        raise NotConverged(f"the dual Newton method did not end within {LONGEST} iterations.")

    def _moment(self, where: Metric, nu: Array, normal: Array) -> Moment:
        u = where.z + where.t * normal
        x, free = np.empty(len(u)), np.empty(len(u), dtype=np.bool_)
        prox_all(u, where.t, tuple(self._pieces), x, free)
        residual, relative = self._missed(x)
        sizes = np.abs(where.z[free]) + np.abs(u[free])  # and that of their difference is at most the sum
        rounding = ROUNDED * self._rows.lengths * float(np.linalg.norm(sizes))
        done = relative <= TOLERANCE or bool(np.all(np.abs(residual) <= rounding))
        return Moment(nu, normal, x, free, residual, relative, done)

    def _missed(self, x: Array) -> tuple[Array, float]:
        """Return b - A x, and its largest entry over the size of its equation."""
        residual = self._rows.b - self._rows.apply(x)
        size = self._rows.lengths * float(np.linalg.norm(x)) + np.abs(self._rows.b)
        share = np.abs(residual) / np.where(size > 0.0, size, 1.0)
        return residual, float(share.max(initial=0.0))

    def _product(self, t: Array, free: Mask, known: Product | None) -> Product:
        if known is not None and (corrected := self._corrected(t, free, known)) is not None:
            return corrected
        matrix = self._rows.product(t, np.flatnonzero(free))
        return Product(free, matrix, matrix.diagonal())

    def _corrected(self, t: Array, free: Mask, known: Product) -> Product | None:
        """Return a product that differs from a known one in few variables; None if it pays to begin anew."""
        count = int(np.count_nonzero(free))
        flips = np.flatnonzero(free != known.free)
        if count * len(self._rows.b) < WORTH_CORRECTING or len(flips) > FEW_FLIPS * count:
            return None
        added, dropped = flips[free[flips]], flips[~free[flips]]
        matrix = known.matrix + self._rows.product(t, added) - self._rows.product(t, dropped)
        peak = np.maximum(known.peak, matrix.diagonal())
        return Product(free, matrix, peak) if np.all(matrix.diagonal() >= SHRUNK * peak) else None

    def _factor(self, where: Metric, product: Product, damping: float) -> Solve:
        usual = np.square(self._rows.lengths) * float(where.t.mean())
        floor = SMALLEST_DIAGONAL * np.where(usual > 0.0, usual, 1.0)
        return factorised(product.matrix, floor, damping)

    def _step(self, where: Metric, moment: Moment, solve: Solve) -> Moment:
        direction = solve(moment.residual)
        q = self._rows.adjoint(direction)
        line = Line(where.z + where.t * moment.normal, where.t, q, self._pieces)
        alpha, reached = root(line, float(direction @ self._rows.b), 1.0)
        if alpha > LONG or not reached:
            self._refute(direction, q, moment.x)
        return self._moment(where, moment.nu + alpha * direction, moment.normal + alpha * q)

    def _refute(self, nu: Array, q: Array, x: Array) -> None:
        """Raise an error if a direction without an end proves that there is no solution."""
        if refutes(nu, q, self._rows.b, self._pieces, x):
            raise contradiction(self._purified(nu, q))

    def _purified(self, nu: Array, q: Array) -> Array:
        """Return nu without what it owes to variables that have no wall on the side they are drawn to."""
        pieces = self._pieces
        open_ended = np.isinf(np.where(q > 0.0, pieces.upper, pieces.lower)) & (q != 0.0)
        if not open_ended.any():
            return nu
        product = self._rows.product(np.ones(len(q)), np.flatnonzero(open_ended))
        floor = SMALLEST_DIAGONAL * np.maximum(np.square(self._rows.lengths), 1e-300)
        solve, pure = factorised(product, floor, LEAST_DAMPING), nu
        for _ in range(2):
            pure = pure - solve(self._rows.apply(np.where(open_ended, self._rows.adjoint(pure), 0.0)))
        return pure

    def _closed(self, where: Metric, moment: Moment, product: Product | None, iterations: int) -> Proximal:
        """Return the answer, after some more steps of length 1 if they lead closer."""
        for _ in range(POLISHINGS):
            if moment.relative <= ROUNDING or not moment.free.any():
                break
            product = self._product(where.t, moment.free, product)
            closer = self._closer(where, moment, self._factor(where, product, LEAST_DAMPING))
            if closer.relative > 0.5 * moment.relative:
                solve = self._factor(where, product, _damping(moment.relative))
                closer = self._closer(where, moment, solve)
            if closer.relative > 0.5 * moment.relative:
                break
            moment = closer
        normal = self._rows.adjoint(moment.nu)
        slopes = self._pieces.nearest(normal - (moment.x - where.z) / where.t, moment.x)
        return Proximal(moment.x, normal, Duals(slopes, np.zeros(0)), moment.nu, iterations)

    def _closer(self, where: Metric, moment: Moment, solve: Solve) -> Moment:
        """Return a step of length 1, or the same step without the rounding of what x is a difference of."""
        direction = solve(moment.residual)
        q = self._rows.adjoint(direction)
        step = self._moment(where, moment.nu + direction, moment.normal + q)
        if step.relative <= 0.5 * moment.relative or not np.array_equal(step.free, moment.free):
            return step
        x = np.where(moment.free, moment.x + where.t * q, step.x)
        if np.any(self._pieces.violation(x) > 0.0) or np.any(x * step.x < 0.0):
            return step
        residual, relative = self._missed(x)
        return step._replace(x=x, residual=residual, relative=relative)


def _damping(relative: float) -> float:
    """Return what to add to a singular matrix, given the relative residual."""
    noise = NOISE / max(relative, NOISE) if relative < SMALL else 0.0
    return max(noise, DAMPING * min(1.0, relative), LEAST_DAMPING)
