"""Rows that are only solved with approximately: the error is projected again until it is rounding.

A solver for A A^T y = r that is off by some digits (a regularised factorisation, conjugate gradients) still
gives projections to working accuracy when  v <- v - A^T y,  A A^T y ~ A v,  is repeated.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsmr

from tether.arrays import Array
from tether.constraints.algebra.conjugate import Products, norm
from tether.constraints.algebra.rows import Fit, Rows

ROUNDING = float(np.finfo(float).eps)
REPEAT_LIMIT = 6

#: Takes r and the size below which a remainder of r is rounding, returns y with A A^T y ~ r.
Solver = Callable[[Array, float], Array]


class UnitRows(NamedTuple):
    """A matrix through its two products, and the factors that give its rows unit length."""

    shape: tuple[int, int]
    forward: Callable[[Array], Array]  # A x
    backward: Callable[[Array], Array]  # A^T y
    scale: Array
    gain: float  # a bound on how much |A|, rows at unit length, can stretch a vector

    def products(self) -> Products:
        """Return the products with the matrix whose rows have unit length."""
        return Products(
            lambda x: self.scale * self.forward(x), lambda y: self.backward(np.multiply(self.scale, y))
        )


class RefinedRows(Rows):
    """The rows of a matrix known by its products and by an approximate solver for A A^T."""

    def __init__(self, unit: UnitRows, solver: Solver, kind: str) -> None:
        self.shape = unit.shape
        self.scale = unit.scale
        self.kind = kind
        self._unit = unit
        self._products = unit.products()
        self._solve = solver

    def apply(self, x: Array) -> Array:
        """Return A x."""
        return self._unit.forward(x)

    def adjoint(self, y: Array) -> Array:
        """Return A^T y."""
        return self._unit.backward(y)

    def tangent(self, v: Array) -> Array:
        """Return v less its part in the span of the rows; exactly 0 when nothing but rounding is left."""
        return self.parts(v)[0]

    def component(self, v: Array) -> Array:
        """Return the part of v in the span of the rows."""
        return v - self.tangent(v)

    def multipliers(self, gradient: Array) -> Array:
        """Return a least-squares lambda of A^T lambda = gradient."""
        return self.parts(gradient)[1]

    def parts(self, v: Array) -> tuple[Array, Array]:
        """Return the tangent part of v and multipliers for the other, which are found together."""
        t, y = self._meet(v, None)
        if norm(t) <= 8 * ROUNDING * self._unit.gain * norm(v):
            t = np.zeros_like(t)
        return t, self.scale * y

    def fit(self, b: Array) -> Fit:
        """Return the shortest least-squares solution of A x = b and what it misses."""
        target = self.scale * b
        point = self._meet(np.zeros(self.shape[1]), target)[0]
        misfit = target - self._products.forward(point)
        if self._is_met(point, misfit, target):
            return Fit(point, misfit)
        # What is left is a contradiction between the rows, blurred by the solver; LSMR makes it sharp.
        operator = LinearOperator(self.shape, self._products.forward, self._products.backward, dtype=float)
        point = point + lsmr(operator, misfit, atol=1e-14, btol=1e-14, conlim=0.0, maxiter=2000)[0]
        return Fit(point, target - self._products.forward(point))

    def projected(self, v: Array, b: Array, shortest: Array) -> Array:
        """Return the solution of A x = b nearest to v: the nearer that is, the sooner it is found."""
        return self._meet(v, self.scale * b)[0]

    def nearest(self, v: Array, b: Array) -> tuple[Array, Array | None]:
        """Return the solution x = v + A^T l of A x = b nearest to v and l, or what is nearest to one."""
        target = self.scale * b
        point, y = self._meet(v, target)
        if self._is_met(point, self._missing(point, target), target):
            return point, -self.scale * y
        return super().nearest(v, b)

    def roughness(self) -> float:
        """Return how far random directions are from tangent once projected; at most 1 is rounding."""
        worst = 0.0
        for v in np.random.default_rng(0).standard_normal((2, self.shape[1])):
            rest = norm(self._products.forward(self._meet(v, None)[0]))
            worst = max(worst, rest / (32 * ROUNDING * self._unit.gain * norm(v)))
        return worst

    def _meet(self, x: Array, target: Array | None) -> tuple[Array, Array]:
        """Return x - A^T y with A (x - A^T y) = target (None: 0), and y."""
        y = np.zeros(self.shape[0])
        x = np.array(x, dtype=float)
        r = self._missing(x, target)
        size, length = norm(r), norm(x)
        wanted = 0.0 if target is None else norm(target)
        for _ in range(REPEAT_LIMIT):
            floor = ROUNDING * (self._unit.gain * length + wanted)
            if size <= floor:
                break
            step = self._solve(r, floor)
            trial = x - self._products.backward(step)
            r = self._missing(trial, target)
            before, size, length = size, norm(r), max(length, norm(trial))
            if not size < before:
                break
            x, y = trial, y + step
            if size > 0.5 * before:
                break
        return x, y

    def _is_met(self, point: Array, misfit: Array, target: Array) -> bool:
        """Say whether what a point misses is rounding."""
        return norm(misfit) <= 1e-13 * (norm(target) + self._unit.gain * norm(point))

    def _missing(self, x: Array, target: Array | None) -> Array:
        ax = self._products.forward(x)
        return ax if target is None else ax - target
