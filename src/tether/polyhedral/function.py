"""The part of a problem that has kinks: psi(x) = sum_j g_j(x_j) + sum_i r_i((K x)_i).

Bounds and l1 terms of single variables are the g_j: they are local, so that they may act inside a walk. Rows
of K couple variables: inequalities lo <= G x <= hi and terms |D x|. Equations are not here: they are the
constraint, a plane.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tether.arrays import Array
from tether.digest import digest_of
from tether.polyhedral.pieces import Pieces


class Duals(NamedTuple):
    """A subgradient of psi at a point, s + K^T y: one number for each variable and one for each row."""

    coordinates: Array  # s
    rows: Array  # y


class Polyhedral(NamedTuple):
    """psi, as its scalar functions."""

    coordinates: Pieces  # g, one for each variable
    matrix: Any  # K: a sparse.csr_array, or an ndarray where it is dense
    rows: Pieces  # r, one for each row of K

    @classmethod
    def separable(cls, coordinates: Pieces) -> "Polyhedral":
        """Return a psi without rows."""
        return cls(coordinates, sparse.csr_array((0, coordinates.size)), Pieces.of(0))

    @property
    def dim(self) -> int:
        """The number of variables."""
        return self.coordinates.size

    @property
    def couples(self) -> bool:
        """Whether there are rows."""
        return self.rows.size > 0

    @property
    def bounded(self) -> bool:
        """Whether there are walls, of variables or of rows."""
        return any(
            np.isfinite(wall).any()
            for part in (self.coordinates, self.rows)
            for wall in (part.lower, part.upper)
        )

    def image(self, x: Array) -> Array:
        """Return K x."""
        return self.matrix @ x if self.couples else np.zeros(0)

    def push(self, y: Array) -> Array | float:
        """Return K^T y; plain zero where there are no rows."""
        return self.matrix.T @ y if self.couples else 0.0

    def value(self, x: Array) -> float:
        """Return psi(x), walls aside."""
        value = self.coordinates.value(x)
        return value + self.rows.value(self.matrix @ x) if self.couples else value

    def violation(self, x: Array) -> float:
        """Return the length of what is beyond walls."""
        beyond = float(np.linalg.norm(self.coordinates.violation(x)))
        return (
            float(np.hypot(beyond, np.linalg.norm(self.rows.violation(self.matrix @ x))))
            if self.couples
            else beyond
        )

    def subgradient(self, duals: Duals) -> Array:
        """Return s + K^T y."""
        return duals.coordinates + self.matrix.T @ duals.rows if self.couples else duals.coordinates

    def misfit(self, x: Array, duals: Duals) -> float:
        """Return how far duals are from a subgradient at x, in units of F: what a gap has to add."""
        total = float(np.sum(self.coordinates.misfit(x, duals.coordinates)))
        return total + float(np.sum(self.rows.misfit(self.matrix @ x, duals.rows))) if self.couples else total

    def digest(self) -> str:
        """Return a digest of all numbers."""
        return digest_of("Polyhedral", *self.coordinates, self.matrix, *self.rows)
