"""An independent solution: F from its formulas in extended precision, and a damped Newton in the null space.

Nothing here comes from the library. F is a sum of parts (one for each worker); feasible points are
x = origin + Z t, so two of them are compared in t, where no rounding leads off the plane.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import null_space

from .formulas import Formula

LONG = np.longdouble
DEPENDENT = 1e-10  # singular values below this share of the largest are rounding


@dataclass(frozen=True)
class Part:
    """sum_i share_i loss(<a_i, x>, y_i) + x'Hx/2 + g'x + r, as one worker adds it to F."""

    X: np.ndarray
    y: np.ndarray
    shares: np.ndarray
    formula: Formula | None
    outputs: int
    hessian: np.ndarray
    linear: np.ndarray
    constant: float
    unit: float  # how much rounding to grant, relative to the size of the terms

    @cached_property
    def rows(self):
        return self.X.astype(LONG)

    def shaped(self, x):
        return x if self.outputs == 1 else x.reshape(-1, self.outputs)

    def value(self, x):
        rest = x @ self.hessian @ x / 2 + self.linear @ x + self.constant
        if self.formula is None:
            return rest
        return self.shares @ self.formula.values(self.rows @ self.shaped(x), self.y) + rest

    def gradient(self, x):
        rest = self.hessian @ x + self.linear
        if self.formula is None:
            return rest
        slopes = self.formula.slopes(self.rows @ self.shaped(x), self.y)
        return (self.rows.T @ _times(self.shares, slopes)).ravel() + rest

    def second_derivative(self, x):
        if self.formula is None:
            return self.hessian
        x = x.astype(np.float64)
        bends = _times(self.shares, self.formula.curvatures(self.X @ self.shaped(x), self.y))
        if self.outputs == 1:
            return (self.X.T * bends) @ self.X + self.hessian
        size = len(x)
        blocks = np.einsum("ia,ikl,ib->akbl", self.X, bends, self.X, optimize=True)
        return blocks.reshape(size, size) + self.hessian

    def rounding(self, x):
        """Return what the rounding of predictions and sums may do to the value, generously."""
        size = np.abs(x)
        total = size @ np.abs(self.hessian) @ size + np.abs(self.linear) @ size + abs(self.constant)
        if self.formula is not None:
            z, moved = self._moved(x)
            slopes = np.abs(self.formula.slopes(z, self.y))
            errors = slopes * moved if slopes.ndim == 1 else (slopes * moved).sum(axis=1)
            bends = _largest(self.formula.curvatures(z, self.y))
            squares = self.unit * bends * np.square(_largest(moved))
            total += self.shares @ (self.formula.magnitudes(z, self.y) + errors + squares)
        return self.unit * float(total)

    def noise(self, x):
        """Return what rounding may do to the gradient, generously, in norm."""
        size = np.abs(x)
        total = np.linalg.norm(np.abs(self.hessian) @ size) + np.linalg.norm(self.linear)
        if self.formula is not None:
            z, moved = self._moved(x)
            slopes = _largest(np.abs(self.formula.slopes(z, self.y)))
            bends = _largest(self.formula.curvatures(z, self.y))
            lengths = np.linalg.norm(self.X, axis=1)
            total += self.shares @ ((1 + slopes + bends * _largest(moved)) * lengths)
        return self.unit * float(total)

    def _moved(self, x):
        """Return the predictions and the size of the terms that they are sums of."""
        x = x.astype(np.float64)
        sizes = np.abs(self.X) @ np.abs(self.shaped(x))
        return self.X @ self.shaped(x), sizes + np.abs(self.y if self.outputs == 1 else 0.0)


@dataclass(frozen=True)
class Sum:
    """F, the sum of its parts."""

    parts: tuple[Part, ...]

    def value(self, x):
        x = np.asarray(x, dtype=LONG)
        return sum(part.value(x) for part in self.parts)

    def gradient(self, x):
        x = np.asarray(x, dtype=LONG)
        return sum(part.gradient(x) for part in self.parts)

    def second_derivative(self, x):
        return sum(part.second_derivative(np.asarray(x)) for part in self.parts)

    def rounding(self, x):
        return sum(part.rounding(x) for part in self.parts)

    def noise(self, x):
        return sum(part.noise(x) for part in self.parts)

    def usual_size(self, x):
        """Return the lower median over workers of |f_k|, each as it counts in the mean."""
        values = sorted(abs(float(part.value(x.astype(LONG)))) for part in self.parts)
        return len(values) * values[(len(values) - 1) // 2]


@dataclass(frozen=True)
class Plane:
    """The points of A x = b: rows at unit length, a point of the plane, and its directions."""

    A: np.ndarray
    b: np.ndarray

    @cached_property
    def unit_rows(self):
        lengths = np.linalg.norm(self.A, axis=1)
        lengths[lengths == 0] = 1
        return self.A / lengths[:, None], self.b / lengths

    @cached_property
    def directions(self):
        rows = self.unit_rows[0]
        return null_space(rows, rcond=DEPENDENT) if len(rows) else np.eye(self.A.shape[1])

    @cached_property
    def origin(self):
        rows, b = self.unit_rows
        return np.linalg.lstsq(rows, b, rcond=DEPENDENT)[0] if len(rows) else np.zeros(self.A.shape[1])

    def misses(self, x):
        rows, b = self.unit_rows
        return float(np.linalg.norm(rows @ x - b))

    def tangent(self, v):
        return self.directions @ (self.directions.T @ v)

    def coordinates(self, x):
        return self.directions.T @ (np.asarray(x, dtype=LONG) - self.origin)

    def point(self, t):
        return self.origin + self.directions @ t

    def nearest(self, x):
        return self.point(self.coordinates(x))


def minimum(total, plane, start):
    """Return the lowest feasible point that Newton's method finds, from the origin or from a better start."""
    t = min(
        (plane.coordinates(plane.origin), plane.coordinates(start)), key=lambda t: total.value(plane.point(t))
    )
    value = total.value(plane.point(t))
    for _ in range(200):
        step, decrement = _newton_step(total, plane, t)
        if not decrement > 1e-19 * max(1, abs(value)):
            break
        lower = _downhill(lambda t: total.value(plane.point(t)), t, value, step, decrement)
        if lower is None:
            break
        t, value = lower
    return plane.point(t), value


def _newton_step(total, plane, t):
    x, Z = plane.point(t), plane.directions
    slope = Z.T @ total.gradient(x)
    if not len(slope):
        return slope, 0.0
    bends, axes = np.linalg.eigh(Z.T @ total.second_derivative(x) @ Z)
    bends = np.maximum(bends, max(1e-15 * bends[-1], 1e-300))
    step = -(axes @ ((axes.T @ slope) / bends))
    return step, -(slope @ step)


def _downhill(function, t, value, step, decrement):
    """Return a lower point along a step and the value there; None where rounding hides it."""
    length = LONG(1)
    for _ in range(60):
        there = t + length * step
        with np.errstate(over="ignore", invalid="ignore"):
            found = function(there)
        if found < value - 1e-4 * length * decrement:
            return there, found
        length /= 2
    return None


def _times(shares, numbers):
    return shares.reshape(-1, *[1] * (numbers.ndim - 1)) * numbers


def _largest(numbers):
    """Return one number a sample."""
    return numbers.reshape(len(numbers), -1).max(axis=1) if numbers.ndim > 1 else numbers
