"""Scalar functions and one equation a^T x = b: the root of a sum made of straight pieces.

The simplex, a budget among nonnegative variables and calibration of one total are such sets. The multiplier
nu of the equation is the root of a^T x(nu) = b, x(nu) the prox of z + t a nu, one variable at a time.
"""

from typing import Any

import numpy as np
from scipy import sparse

from tether.arrays import Array
from tether.kernels.pieces import prox_all
from tether.polyhedral import Duals, Pieces
from tether.prox.base import Algorithm, NotConverged, Proximal
from tether.prox.farkas import contradiction, refutes
from tether.prox.line import Line, root

OUT_OF_REACH = 1e-9  # of the terms of an equation, by which x may miss it


class OneEquation(Algorithm):
    """The prox of scalar functions among the solutions of one equation.

    Parameters
    ----------
    matrix : ndarray or sparse matrix, shape (1, p)
        a.
    b : ndarray, shape (1,)
        The right-hand side.
    pieces : Pieces
        One function for each variable.

    References
    ----------
    Held, Wolfe & Crowder, "Validation of subgradient optimization" (1974); Condat, "Fast projection onto the
    simplex and the l1 ball" (2016).
    """

    def __init__(self, matrix: Any, b: Array, pieces: Pieces) -> None:
        row = matrix.toarray() if sparse.issparse(matrix) else matrix
        self._row = np.ascontiguousarray(row, dtype=float).ravel()
        self._b = b
        self._pieces = pieces

    def at(self, z: Array, t: Array, start: Proximal | None) -> Proximal:
        """Return the prox of z, from the multiplier of an earlier one."""
        known = None if start is None else start.multipliers
        nu, reached = root(
            Line(z, t, self._row, self._pieces), float(self._b[0]), 0.0 if known is None else float(known[0])
        )
        x, free = np.empty(len(z)), np.empty(len(z), dtype=np.bool_)
        prox_all(z + nu * t * self._row, t, tuple(self._pieces), x, free)
        if not reached:
            self._refute(x)
        x, nu = self._polished(x, np.flatnonzero(free), t, nu)
        normal = nu * self._row
        slopes = self._pieces.nearest(normal - (x - z) / t, x)
        return Proximal(x, normal, Duals(slopes, np.zeros(0)), np.array([nu]), 1)

    def _refute(self, x: Array) -> None:
        """Raise an error if the equation is out of reach by more than rounding."""
        weight = np.sign(self._b - self._row @ x)
        if refutes(weight, weight[0] * self._row, self._b, self._pieces, x):
            raise contradiction(weight)
        if abs(self._b[0] - self._row @ x) > OUT_OF_REACH * (abs(self._b[0]) + np.abs(self._row) @ np.abs(x)):
            raise NotConverged("the equation is out of reach between the walls, by more than rounding.")

    def _polished(self, x: Array, free: Any, t: Array, nu: float) -> tuple[Array, float]:
        """Return x and nu with the rest of the residual given to the free variables, if they can bear it."""
        slope = float(t[free] @ np.square(self._row[free]))
        if slope == 0.0:
            return x, nu
        more = float(self._b[0] - self._row @ x) / slope
        closer = x.copy()
        closer[free] += more * t[free] * self._row[free]
        fits = not np.any(self._pieces.violation(closer) > 0.0) and not np.any(closer * x < 0.0)
        return (closer, nu + more) if fits else (x, nu)
