"""Functions on the whole line."""

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import final

import numpy as np

from tether.arrays import Array
from tether.objectives.scalars.base import (
    PerVariable,
    ScalarFunction,
    largest_size,
    ratio_to_size,
    smallest_size,
)

SMALLEST_SHARE = 1e-9  # of the largest |x|: below it an infinite curvature is cut off


@final
@dataclass(frozen=True)
class Square(ScalarFunction):
    """(x - c)^2 / 2: linear resistors, least-squares adjustments.

    Examples
    --------
    >>> from tether.objectives.scalars import Square
    >>> Square(center=1.0).values_and_slopes(np.array([3.0]))
    (array([2.]), array([2.]))
    """

    name = "quadratic"

    center: PerVariable = 0.0

    def values_and_slopes(self, x: Array) -> tuple[Array, Array]:
        """Return (x - c)^2 / 2 and x - c."""
        away = x - self.center
        return 0.5 * away * away, away

    def curvatures(self, x: Array) -> Array:
        """Return 1."""
        return np.ones_like(x)

    def spread(self, lower: PerVariable, upper: PerVariable) -> tuple[PerVariable, PerVariable]:
        """Return 1 and 1."""
        return 1.0, 1.0

    def start(self) -> PerVariable:
        """Return c, the minimiser."""
        return self.center

    def concordance(self, lower: PerVariable, upper: PerVariable) -> float:
        """Return 0."""
        return 0.0


@final
@dataclass(frozen=True)
class Power(ScalarFunction):
    """|x|^q / q with q > 1: head losses of water and gas networks.

    Examples
    --------
    >>> from tether.objectives.scalars import Power
    >>> Power(exponent=3.0).values_and_slopes(np.array([-2.0]))
    (array([2.66666667]), array([-4.]))
    """

    name = "power"
    limits = MappingProxyType({"exponent": {"above": 1.0}})

    exponent: PerVariable

    def values_and_slopes(self, x: Array) -> tuple[Array, Array]:
        """Return |x|^q / q and sign(x) |x|^(q - 1)."""
        size = np.abs(x)
        slopes = size ** (self.exponent - 1.0)
        return size * slopes / self.exponent, np.copysign(slopes, x)

    def curvatures(self, x: Array) -> Array:
        """Return (q - 1) |x|^(q - 2); for q < 2 no |x| counts as less than a billionth of the largest."""
        size = np.abs(x)
        floor = SMALLEST_SHARE * (float(size.max(initial=0.0)) or 1.0)
        steep = np.less(self.exponent, 2.0)
        return (self.exponent - 1.0) * np.where(steep, np.maximum(size, floor), size) ** (self.exponent - 2.0)

    def spread(self, lower: PerVariable, upper: PerVariable) -> tuple[PerVariable, PerVariable]:
        """Return the extremes, which are at the smallest and at the largest |x|."""
        with np.errstate(divide="ignore"):
            ends = [
                (self.exponent - 1.0) * size ** (self.exponent - 2.0)
                for size in (smallest_size(lower, upper), largest_size(lower, upper))
            ]
        return np.minimum(*ends), np.maximum(*ends)

    def start(self) -> PerVariable:
        """Return 0."""
        return 0.0

    def concordance(self, lower: PerVariable, upper: PerVariable) -> float:
        """Return max |q - 2| / |x|, which is finite away from 0, and 0 for q = 2."""
        return ratio_to_size(np.abs(np.subtract(self.exponent, 2.0)), lower, upper)


@final
@dataclass(frozen=True)
class LogCosh(ScalarFunction):
    """log cosh(s (x - c)): quadratic near c and linear far away.

    Examples
    --------
    >>> from tether.objectives.scalars import LogCosh
    >>> LogCosh(scale=2.0).values_and_slopes(np.array([0.0, 1e9]))
    (array([0.e+00, 2.e+09]), array([0., 2.]))
    """

    name = "logcosh"
    limits = MappingProxyType({"scale": {"above": 0.0}})

    center: PerVariable = 0.0
    scale: PerVariable = 1.0

    def values_and_slopes(self, x: Array) -> tuple[Array, Array]:
        """Return log cosh u and s tanh u, u = s (x - c), without overflow."""
        u = self.scale * (x - self.center)
        size = np.abs(u)
        # Near 0 the sum below would lose all digits: log cosh u = log1p(2 sinh^2(u/2)).
        near = np.log1p(2.0 * np.sinh(0.5 * np.minimum(size, 1.0)) ** 2)
        far = size - math.log(2.0) + np.log1p(np.exp(-2.0 * size))
        return np.where(size < 1.0, near, far), self.scale * np.tanh(u)

    def curvatures(self, x: Array) -> Array:
        """Return s^2 / cosh^2 u."""
        decayed = np.exp(-np.abs(self.scale * (x - self.center)))
        return self.scale**2 * (2.0 * decayed / (1.0 + decayed * decayed)) ** 2

    def spread(self, lower: PerVariable, upper: PerVariable) -> tuple[PerVariable, PerVariable]:
        """Return the curvatures at the farthest and at the nearest point from c."""
        ends = np.subtract(lower, self.center), np.subtract(upper, self.center)
        around = replace(self, center=0.0)
        return around.curvatures(largest_size(*ends)), around.curvatures(smallest_size(*ends))

    def start(self) -> PerVariable:
        """Return c, the minimiser."""
        return self.center

    def concordance(self, lower: PerVariable, upper: PerVariable) -> float:
        """Return 2 max s: phi''' = -2 s tanh(u) phi''."""
        return 2.0 * float(np.max(self.scale))
