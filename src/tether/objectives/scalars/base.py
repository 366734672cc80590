"""Convex functions of one variable, a whole vector of them at once: what `Separable` adds up.

Each is a frozen dataclass whose fields are its parameters, one number for all variables or one for each. All
say how their second derivative behaves on an interval, from which constants and certificates follow.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from tether.arrays import Array, Indices

PerVariable = Array | float


class ScalarFunction(ABC):
    """phi_j(x_j) for every j, with two derivatives.

    Attributes
    ----------
    name : str
        What users call it.
    least : float
        Where its own domain begins; `closed` says whether phi and phi' are finite there.
    limits : mapping
        What parameters must be ``above``, or at ``least``.
    """

    name: ClassVar[str]
    least: ClassVar[float] = -math.inf
    closed: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, Mapping[str, float]]] = {}

    @abstractmethod
    def values_and_slopes(self, x: Array) -> tuple[Array, Array]:
        """Return phi(x) and phi'(x), one a variable, for x inside the domain."""

    @abstractmethod
    def curvatures(self, x: Array) -> Array:
        """Return phi''(x)."""

    @abstractmethod
    def spread(self, lower: PerVariable, upper: PerVariable) -> tuple[PerVariable, PerVariable]:
        """Return the infimum and the supremum of phi'' between lower and upper."""

    @abstractmethod
    def start(self) -> PerVariable:
        """Return a point of the domain at which phi is neither steep nor flat without need."""

    def concordance(self, lower: PerVariable, upper: PerVariable) -> float:
        """Return R with |phi'''| <= R phi'' between lower and upper; infinite where there is none."""
        return math.inf

    @property
    def parameters(self) -> dict[str, PerVariable]:
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def slopes_of(self, x: Array, some: Indices) -> Array:
        """Return phi'(x) of some variables."""
        return self.take(some).values_and_slopes(x[some])[1]

    def take(self, some: Indices) -> Self:
        """Return the functions of some of the variables."""
        return replace(self, **{name: _taken(value, some) for name, value in self.parameters.items()})  # type: ignore[type-var]


def _taken(value: PerVariable, some: Indices) -> PerVariable:
    return value[some] if isinstance(value, np.ndarray) else value


def smallest_size(lower: PerVariable, upper: PerVariable) -> Array:
    """Return the infimum of |x| between lower and upper."""
    return np.maximum(0.0, np.maximum(lower, np.negative(upper)))


def largest_size(lower: PerVariable, upper: PerVariable) -> Array:
    """Return the supremum of |x| between lower and upper."""
    return np.maximum(np.abs(lower), np.abs(upper))


def ratio_to_size(factor: Any, lower: PerVariable, upper: PerVariable) -> float:
    """Return the largest factor / |x| over all variables and all x between lower and upper; 0/0 is 0."""
    factor, size = np.broadcast_arrays(factor, smallest_size(lower, upper))
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(np.where(factor == 0.0, 0.0, factor / size)))
