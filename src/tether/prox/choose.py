"""Which algorithm computes the prox of which constraint and which psi."""

from typing import Any

from scipy import sparse

from tether.arrays import Array
from tether.constraints import Constraint
from tether.polyhedral import Pieces, Polyhedral
from tether.prox.base import Algorithm, Proximal
from tether.prox.dual_newton import DualNewton
from tether.prox.graph_variation import GraphVariation, forests_of
from tether.prox.one_equation import OneEquation
from tether.prox.program import Quadratic
from tether.prox.safeguarded import Safeguarded
from tether.prox.separable import Separable
from tether.prox.total_variation import TotalVariation, chain_of

LARGE_GRAPH = 3_000  # edges from which on a quadratic program, which is exact, takes longer
LARGEST_PROGRAM = 20_000_000  # entries of a dense A that a quadratic program may copy


class Prox:
    """The prox of psi among the solutions of A x = b, in any diagonal metric.

    Parameters
    ----------
    constraint : Constraint
        The plane A x = b.
    polyhedral : Polyhedral
        psi.

    Examples
    --------
    The nearest point of the simplex.

    >>> import numpy as np
    >>> from tether.constraints import Affine
    >>> from tether.polyhedral import Pieces, Polyhedral
    >>> from tether.prox import Prox
    >>> prox = Prox(Affine([1.0, 1.0, 1.0], 1.0), Polyhedral.separable(Pieces.of(3, lower=0.0)))
    >>> found = prox.at(np.array([0.9, 0.5, -0.2]), np.ones(3))
    >>> found.point.round(12).tolist()
    [0.7, 0.3, 0.0]
    """

    def __init__(self, constraint: Constraint, polyhedral: Polyhedral) -> None:
        self.dim = polyhedral.dim
        self._algorithm = _algorithm(constraint.sized(self.dim), polyhedral)

    def at(self, z: Array, t: Array, start: Proximal | None = None) -> Proximal:
        """Return argmin psi(x) + sum_j (x_j - z_j)^2 / (2 t_j) subject to A x = b.

        Raises
        ------
        Infeasible
            No point keeps to all equations and walls.
        ArithmeticError
            The point could not be computed.
        """
        return self._algorithm.at(z, t, start)


def _algorithm(constraint: Constraint, polyhedral: Polyhedral) -> Algorithm:
    """Return the first of the algorithms that can."""
    equations = constraint.equations
    if equations is not None and not polyhedral.couples:
        return _of_scalars(constraint, *equations, polyhedral.coordinates)
    if equations is None or len(equations[1]):
        return Quadratic(constraint, polyhedral)
    chain = chain_of(polyhedral)
    if chain is not None:
        return TotalVariation(polyhedral, chain)
    graph = forests_of(polyhedral) if polyhedral.rows.size >= LARGE_GRAPH else None
    if graph is None:
        return Quadratic(constraint, polyhedral)
    return Safeguarded(GraphVariation(polyhedral, *graph), lambda: Quadratic(constraint, polyhedral))


def _of_scalars(constraint: Constraint, matrix: Any, b: Array, pieces: Pieces) -> Algorithm:
    """Return the algorithm for scalar functions of variables, and that many equations."""
    if len(b) == 0:
        return Separable(pieces)
    if len(b) == 1:
        return OneEquation(matrix, b, pieces)
    newton = DualNewton(matrix, b, pieces)
    if not sparse.issparse(matrix) and matrix.size > LARGEST_PROGRAM:
        return newton
    return Safeguarded(newton, lambda: Quadratic(constraint, Polyhedral.separable(pieces)))
