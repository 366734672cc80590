"""What a metric can do.

M is symmetric and, as far as directions that a set allows go, positive. With M^-1 = R R^T the variables
x = R w have the Hessian R^T M R = I: gradients become R^T g, directions R w.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from tether.arrays import Array

#: Takes a scale; returns the projector on the complement of { scale v : v a direction of a set }, a matrix.
Normal = Callable[[Array], Array]
Map = Callable[[Array], Array]


class NotFinite(ArithmeticError):  # noqa: N818, because it says what the numbers are
    """Second derivatives, or what was made of them, are infinite or not numbers."""


class Metric(ABC):
    """A symmetric p x p matrix M with M^-1 = R R^T; its maps take vectors and columns side by side."""

    dim: int
    keeps_sparse: bool = False  # A R is as sparse as A
    exact: bool  # nothing was added to M, or nothing that a direction of the set can see
    error: float = 1e-6  # relative, of decrements, about
    diagonal: Array | None = None  # R, where it is diagonal

    @abstractmethod
    def apply(self, v: Array) -> Array:
        """Return M v, without what was added."""

    @property
    def matrix(self) -> Array:
        """M as a matrix, or as a vector where it is diagonal; with what was added."""
        return self.apply(np.eye(self.dim))

    @abstractmethod
    def whiten(self, v: Array) -> Array:
        """Return R^T v: a gradient in the variables w."""

    @abstractmethod
    def colour(self, v: Array) -> Array:
        """Return R v: the direction that a direction in w is."""

    @abstractmethod
    def unwhiten(self, v: Array) -> Array:
        """Return R^-T v."""

    @abstractmethod
    def uncolour(self, v: Array) -> Array:
        """Return R^-1 v."""

    @abstractmethod
    def rows(self, matrix: Any) -> Any:
        """Return A R for a dense or a sparse A; sparse where R is diagonal and A sparse."""

    @abstractmethod
    def columns(self, matrix: Any) -> Any:
        """Return (R^-1 D)^T, given the rows D^T; sparse where R is diagonal and D sparse."""

    def among(self, normal: Normal) -> "Metric":
        """Return a metric that is the same for directions of a set, positive if this one is for them."""
        return self

    @property
    def scale(self) -> Array | None:
        """Units in which the variables are alike, the square roots of the diagonal; None where not needed."""
        return None

    def steepness(self, reach: Array) -> float:
        """Return k with <r, |v|> <= k sqrt(v^T M v) for all v; infinite where none is cheap."""
        return math.inf

    def inverse_norm(self) -> float:
        """Return a bound on the norm of M^-1; infinite where none is cheap and near enough."""
        return math.inf

    @abstractmethod
    def smallest(self, image: Map, normal: Normal) -> float:
        """Return a bound from below on v^T M v / v^T v for directions of a set; 0 where none is cheap.

        ``image`` is the projection in this metric, P_M.
        """
