"""A set whose multipliers at the minimum are known: near there nothing has to be solved.

P v = P (v - n) for every normal n. With the gradient at the minimum as n, v - n is tangent itself when v is
that gradient but for rounding, and a product with A says so. So a network whose weighted Laplacian has given
the minimum need not factorise another one to confirm it.
"""

from collections.abc import Mapping

import numpy as np

from tether.arrays import Array, norm
from tether.constraints import Constraint
from tether.constraints.algebra.subspace import Kernel, Subspace
from tether.needs import Need

TANGENT_ERROR = 1e-15  # relative to the normal, by which a vector may miss the tangent space
FEASIBLE_ERROR = 1e-15  # relative to a point and b


class WithMultipliers(Constraint):
    """The same set, with the multipliers of one vector at hand.

    Parameters
    ----------
    constraint : Constraint
        A set with `equations`.
    multipliers : ndarray
        l, one for each row of the equations.
    normal : ndarray
        n = A^T l, more exact than such a product may be.
    """

    def __init__(self, constraint: Constraint, multipliers: Array, normal: Array) -> None:
        self._set, self._known, self._normal = constraint, multipliers, normal
        assert constraint.equations is not None
        self._matrix, self._b = constraint.equations
        self._kernel = Kernel(self._matrix)
        self._rounding = TANGENT_ERROR * norm(normal)
        self.dim, self.names, self.work = constraint.dim, constraint.names, constraint.work
        self.lacks: Mapping[Need, str] = constraint.lacks

    @property
    def equations(self) -> tuple[object, Array]:
        """A and b."""
        return self._matrix, self._b

    def project(self, x: Array) -> Array:
        """Return the nearest feasible point: x itself where it is feasible to rounding."""
        x = np.asarray(x, dtype=float)
        lengths = self._kernel.lengths
        misfit, size = norm((self._matrix @ x - self._b) / lengths), norm(x) + norm(self._b / lengths)
        return x.copy() if misfit <= FEASIBLE_ERROR * size else self._set.project(x)

    def tangent(self, v: Array) -> Array:
        """Return P v: v, or v less the known normal, where that is tangent to the rounding of the normal."""
        v = np.asarray(v, dtype=float)
        for rest in sorted((v.copy(), v - self._normal), key=norm):
            if self._kernel.miss(rest) * norm(rest) <= self._rounding:
                return rest
        return self._set.tangent(v)

    def residual(self, x: Array) -> float:
        """Return ||A x - b||."""
        return self._set.residual(x)

    def multipliers(self, gradient: Array) -> Array:
        """Return the least-squares lambda of A^T lambda = gradient: the known one where it fits."""
        gradient = np.asarray(gradient, dtype=float)
        if norm(gradient - self._normal) <= TANGENT_ERROR * norm(gradient):
            return self._set.multipliers_of(self._known)
        return self._set.multipliers(gradient)

    def tangent_space(self, dim: int) -> Subspace:
        """Return that of the set."""
        return self._set.tangent_space(dim)

    def digest(self) -> str:
        """Return that of the set."""
        return self._set.digest()

    def __repr__(self) -> str:
        return repr(self._set)
