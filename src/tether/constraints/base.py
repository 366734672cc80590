"""What x must satisfy.

A constraint is an affine set. It moves *points* onto itself with ``project`` (the map Pi) and *directions*
into its tangent space with ``tangent`` (the linear map P), so that Pi(x) - Pi(y) = P(x - y).
Everything that costs (factorisations) happens when the object is built, or is first needed.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from tether.arrays import Array
from tether.constraints.algebra.subspace import Kernel, Subspace, spanned_by
from tether.constraints.in_metric import MetricTangent
from tether.digest import answers_of, digest_of
from tether.metric import Metric
from tether.names import Labels, Names
from tether.needs import Need

PROBED_SIZE = 1_000  # variables up to which a tangent space is found by projecting every one of them


class Constraint(ABC):
    """An affine set {x : A x = b}, seen only through its projections."""

    #: Length of the vectors it acts on; None when any length will do.
    dim: int | None = None

    #: Names of the variables it acts on, where it has them; else, or if nobody gave them, positions count.
    names: Names | None = None

    #: What methods cannot ask of it, and why. Affine sets lack nothing.
    lacks: Mapping[Need, str] = {}

    #: Whether no equation is near what others say, so that multipliers are unique.
    independent: bool = False

    #: Numbers that a projection reads; infinite where nobody knows.
    work: float = math.inf

    @property
    def equations(self) -> tuple[Any, Array] | None:
        """A (dense or sparse) and b, where they are at hand."""
        return None

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

    def multipliers_of(self, rows: Array) -> Array:
        """Return multipliers as `multipliers` has them, given those of the rows of `equations`."""
        return rows

    def sized(self, dim: int) -> "Constraint":
        """Return this set among vectors of a length that it takes."""
        return self

    def aligned(self, names: Names) -> "Constraint":
        """Return this set among variables with these names; a set without names counts by position."""
        return self

    def in_metric(self, metric: Metric) -> MetricTangent:
        """Return the tangent space with the projection P_M in a metric M, factorised."""
        return MetricTangent(metric, self.tangent_space(metric.dim), self.tangent)

    def tangent_space(self, dim: int) -> Subspace:
        """Return the directions that stay in the set, vectors of that length, as a kernel or an image."""
        if self.equations is not None:
            return Kernel(self.equations[0])
        if dim > PROBED_SIZE:
            raise NotImplementedError(
                f"{type(self).__name__} must have equations, or a tangent_space() of its own, to be used "
                f"with second derivatives of more than {PROBED_SIZE} variables, got {dim}; give it one, or "
                "choose a method without second derivatives."
            )
        return spanned_by(self.tangent, dim)

    @property
    def words(self) -> str:
        """What it asks of x, in a few words."""
        return "an affine set" if self.equations is None else counted_rows(len(self.equations[1]))

    def labels(self, dim: int) -> Labels:
        """Return what each of the multipliers is called where it is shown."""
        return Labels("equation", dim if self.equations is None else len(self.equations[1]))

    def digest(self) -> str:
        """Return a digest of what defines the set; here, of two projections."""
        if self.dim is None:
            raise TypeError(f"{type(self).__name__} must have dim, or a digest() of its own; give it one.")
        return digest_of(type(self).__name__, self.dim, answers_of(self.project, self.dim))


def counted_rows(count: int) -> str:
    """Return a number of equations in words."""
    return "1 equation" if count == 1 else f"{count:,} equations"
