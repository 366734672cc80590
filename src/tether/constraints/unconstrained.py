"""No constraint at all: the whole space."""

from typing import Any

import numpy as np

from tether.arrays import Array
from tether.constraints.algebra.subspace import Subspace, WholeSpace
from tether.constraints.base import Constraint
from tether.digest import digest_of
from tether.inputs import positive_integer
from tether.names import Labels


class Unconstrained(Constraint):
    """The whole space: every point is feasible and projections change nothing.

    It is {x : A x = b} with no rows, so there are no multipliers.

    Parameters
    ----------
    dim : int, optional
        The length of the vectors it acts on; any length by default.

    Examples
    --------
    >>> from tether.constraints import Unconstrained
    >>> Unconstrained().project([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """

    work = 0.0

    def __init__(self, dim: int | None = None) -> None:
        self.dim = None if dim is None else positive_integer("dim", dim)

    @property
    def equations(self) -> tuple[Any, Array] | None:
        """No rows, where their length is known."""
        return None if self.dim is None else (np.zeros((0, self.dim)), np.zeros(0))

    def sized(self, dim: int) -> "Unconstrained":
        """Return the space of vectors of that length."""
        return Unconstrained(dim)

    def project(self, x: Array) -> Array:
        """Return a copy of the point."""
        return np.array(x, dtype=float)

    def tangent(self, v: Array) -> Array:
        """Return a copy of the direction."""
        return np.array(v, dtype=float)

    def residual(self, x: Array) -> float:
        """Return 0."""
        return 0.0

    def multipliers(self, gradient: Array) -> Array:
        """Return the empty vector: there are no equations."""
        return np.zeros(0)

    def tangent_space(self, dim: int) -> Subspace:
        """Return the whole space."""
        return WholeSpace(dim)

    @property
    def words(self) -> str:
        """Nothing is asked of x."""
        return "no constraint"

    def labels(self, dim: int) -> Labels:
        """Return none."""
        return Labels("equation", 0)

    def digest(self) -> str:
        """Return the same for all lengths: there is nothing to tell apart."""
        return digest_of("Unconstrained")

    def __repr__(self) -> str:
        return "Unconstrained()" if self.dim is None else f"Unconstrained({self.dim})"
