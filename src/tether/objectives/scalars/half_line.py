"""Functions of quantities that cannot be negative."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import final

import numpy as np

from tether.arrays import Array
from tether.objectives.scalars.base import PerVariable, ScalarFunction, ratio_to_size


@final
@dataclass(frozen=True)
class Entropy(ScalarFunction):
    """x log(x / r) - x for x > 0: raking, gravity models, transport.

    Examples
    --------
    >>> from tether.objectives.scalars import Entropy
    >>> Entropy(reference=2.0).values_and_slopes(np.array([2.0]))
    (array([-2.]), array([0.]))
    """

    name = "entropy"
    least = 0.0
    closed = False
    limits = MappingProxyType({"reference": {"above": 0.0}})

    reference: PerVariable = 1.0

    def values_and_slopes(self, x: Array) -> tuple[Array, Array]:
        """Return x log(x/r) - x and log(x/r)."""
        slopes = np.log(x / self.reference)
        return x * slopes - x, slopes

    def curvatures(self, x: Array) -> Array:
        """Return 1 / x."""
        return 1.0 / x

    def spread(self, lower: PerVariable, upper: PerVariable) -> tuple[PerVariable, PerVariable]:
        """Return 1 / upper and 1 / lower."""
        with np.errstate(divide="ignore"):
            return np.divide(1.0, upper), np.divide(1.0, lower)

    def start(self) -> PerVariable:
        """Return r, the minimiser."""
        return self.reference

    def concordance(self, lower: PerVariable, upper: PerVariable) -> float:
        """Return 1 / min lower: phi''' = -phi'' / x."""
        return ratio_to_size(np.ones(1), lower, upper)


@final
@dataclass(frozen=True)
class TravelTime(ScalarFunction):
    """The integral of t0 (1 + B (x/c)^P), x >= 0: the Bureau of Public Roads' time on a road with flow x.

    Examples
    --------
    >>> from tether.objectives.scalars import TravelTime
    >>> TravelTime(free_time=10.0, capacity=2.0).values_and_slopes(np.array([2.0]))
    (array([20.6]), array([11.5]))
    """

    name = "bpr"
    least = 0.0
    limits = MappingProxyType(
        {
            **{name: {"above": 0.0} for name in ("free_time", "capacity", "coefficient")},
            "exponent": {"least": 1.0},
        }
    )

    free_time: PerVariable
    capacity: PerVariable
    coefficient: PerVariable = 0.15
    exponent: PerVariable = 4.0

    def values_and_slopes(self, x: Array) -> tuple[Array, Array]:
        """Return t0 (x + B x (x/c)^P / (P + 1)) and t0 (1 + B (x/c)^P)."""
        delay = self.coefficient * (x / self.capacity) ** self.exponent
        return self.free_time * x * (1.0 + delay / (self.exponent + 1.0)), self.free_time * (1.0 + delay)

    def curvatures(self, x: Array) -> Array:
        """Return t0 B P (x/c)^(P - 1) / c."""
        rate = self.free_time * self.coefficient * self.exponent / self.capacity
        return rate * (x / self.capacity) ** (self.exponent - 1.0)

    def spread(self, lower: PerVariable, upper: PerVariable) -> tuple[PerVariable, PerVariable]:
        """Return the curvatures at the two ends, P being at least 1."""
        return self.curvatures(np.asarray(lower)), self.curvatures(np.asarray(upper))

    def start(self) -> PerVariable:
        """Return c: every road as full as it was built for."""
        return self.capacity

    def concordance(self, lower: PerVariable, upper: PerVariable) -> float:
        """Return max (P - 1) / x, which is finite away from 0, and 0 for P = 1."""
        return ratio_to_size(np.subtract(self.exponent, 1.0), lower, upper)
