"""The row space of a matrix and its complement, the tangent space of {x : A x = b}.

Every affine set needs the same four things of the rows of A: the part of a direction outside their span,
multipliers for the part inside it, the shortest solution of A x = b, and the two products with A.
Dense matrices, sparse matrices and operators each answer in their own way; rows are taken at unit length
inside, so that the units a user chose for one row do not decide how exactly another is met.
"""

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

from tether.arrays import Array


class Fit(NamedTuple):
    """The shortest least-squares solution of A x = b."""

    point: Array
    misfit: Array  # b - A x with every row scaled to unit length


class Rows(ABC):
    """The rows of an m x p matrix A."""

    shape: tuple[int, int]
    scale: Array  # the factor that gives each row unit length; 1 for a row of zeros
    kind: str  # how the rows are stored and solved with, for people
    rank: int | None = None
    redundant: tuple[int, ...] = ()  # rows that the others imply
    independent: bool = False  # no row is near the span of the others for certain, so that any b will do
    refines: bool = False  # `tangent` projects twice, vectors or columns side by side
    work: float = math.inf  # numbers that a projection reads; infinite where nobody knows
    condition: float = 1e3  # of rows at unit length, about, by which rounding of a projection grows

    @abstractmethod
    def apply(self, x: Array) -> Array:
        """Return A x."""

    @abstractmethod
    def adjoint(self, y: Array) -> Array:
        """Return A^T y."""

    @abstractmethod
    def tangent(self, v: Array) -> Array:
        """Return the part of v orthogonal to every row, (I - A^+ A) v."""

    @abstractmethod
    def component(self, v: Array) -> Array:
        """Return the part of v in the span of the rows, A^+ A v."""

    @abstractmethod
    def multipliers(self, gradient: Array) -> Array:
        """Return a least-squares solution lambda of A^T lambda = gradient."""

    def parts(self, v: Array) -> tuple[Array, Array]:
        """Return the part of v orthogonal to every row, and a lambda for which A^T lambda is the other."""
        return self.tangent(v), self.multipliers(v)

    @abstractmethod
    def fit(self, b: Array) -> Fit:
        """Return the shortest least-squares solution of A x = b and what it misses."""

    def projected(self, v: Array, b: Array, shortest: Array) -> Array:
        """Return the solution of A x = b nearest to v, given the shortest one."""
        return self.tangent(v) + shortest

    def nearest(self, v: Array, b: Array) -> tuple[Array, Array | None]:
        """Return the least-squares solution x of A x = b nearest to v, and where they come along its l.

        x = v + A^T l.
        """
        return self.tangent(v) + self.fit(b).point, None
