"""What x must satisfy.

A constraint is an affine set. It moves *points* onto itself with ``project`` (the map Pi) and *directions*
into its tangent space with ``tangent`` (the linear map P), so that Pi(x) - Pi(y) = P(x - y).
Everything that costs (factorisations) happens when the object is built.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from tether.arrays import Array
from tether.needs import Need


class Constraint(ABC):
    """An affine set {x : A x = b}, seen only through its projections."""

    #: Length of the vectors it acts on; None when any length will do.
    dim: int | None = None

    #: What methods cannot ask of it, and why.
    lacks: Mapping[Need, str] = {}

    #: Numbers that a projection reads; infinite where nobody knows.
    work: float = math.inf

    @property
    def equations(self) -> tuple[Any, Array] | None:
        """A (dense or sparse) and b, where they are at hand."""
        return None

    def digest(self):
        return "x"

    @abstractmethod
    def project(self, x: Array) -> Array:
        """Return the nearest feasible point, Pi(x)."""

    @abstractmethod
    def tangent(self, v: Array) -> Array:
        """Return the part of a direction that stays in the set, P v."""

    @abstractmethod
    def residual(self, x: Array) -> float:
        """Return ||A x - b||, the violation at x."""

    @abstractmethod
    def multipliers(self, gradient: Array) -> Array:
        """Return the least-squares lambda of A^T lambda = gradient."""

    @abstractmethod
    def normal(self, multipliers: Array) -> Array:
        """Return A^T lambda, the direction that the multipliers stand for."""
