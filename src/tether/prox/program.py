"""Everything else: a quadratic program with a diagonal cost.

Vectors of the form x = x_0 + D u have no equations at hand; u becomes more variables, without a cost of its
own, and x - D u = x_0 the equations.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tether.arrays import Array
from tether.constraints import Constraint
from tether.constraints.algebra.subspace import Image
from tether.polyhedral import Duals, Pieces, Polyhedral
from tether.prox.base import Algorithm, Infeasible, Proximal
from tether.prox.farkas import contradiction
from tether.qp import Answer, Program, Status, solve_program

LARGEST_MISS = 1e-4  # of the length of what is projected: a worse answer is none
NATURAL = 1e-8  # of the largest wall: a point that is shorter may as well be zero


class Quadratic(Algorithm):
    """The prox as a quadratic program.

    Parameters
    ----------
    constraint : Constraint
        The plane, with equations or with a tangent space that is an image.
    polyhedral : Polyhedral
        psi.
    """

    def __init__(self, constraint: Constraint, polyhedral: Polyhedral) -> None:
        self._equations = _equations(constraint, polyhedral.dim)
        self._inner = self._equations[0].shape[1] - polyhedral.dim  # u, behind x
        self._polyhedral = _widened(polyhedral, self._inner)
        self._length = _length(self._equations[0], polyhedral.matrix)
        self._natural = NATURAL * _largest_wall(polyhedral)

    def at(self, z: Array, t: Array, start: Proximal | None) -> Proximal:
        """Return the prox of z, from what an earlier one ended with."""
        none = np.zeros(self._inner)
        cost, linear = np.concatenate([1.0 / t, none]), np.concatenate([-z / t, none])
        program = Program(cost, linear, self._equations, self._polyhedral)
        return self._read(solve_program(program, start=self._answer(start)), z, t)

    def _answer(self, start: Proximal | None) -> Answer | None:
        count = len(self._equations[1])
        if start is None or start.multipliers is None or len(start.multipliers) != count + self._inner:
            return None
        equalities, u = np.split(start.multipliers, [count])
        duals = Duals(np.concatenate([start.duals.coordinates, np.zeros(self._inner)]), start.duals.rows)
        return Answer(np.concatenate([start.point, u]), equalities, duals, Status.SOLVED, 0, -np.inf)

    def _read(self, answer: Answer, z: Array, t: Array) -> Proximal:
        """Return the answer, or raise an error if it is far from the prox."""
        dim = len(z)
        if answer.status is Status.INFEASIBLE:
            raise self._refusal(answer)
        miss = self._miss(answer, z, t)
        if not miss <= LARGEST_MISS:
            raise ArithmeticError(
                f"a projection could not be computed to better than {miss:.1g} of its length: constraints "
                "may be nearly contradictory or badly scaled; relax or rescale them."
            )
        normal = (self._equations[0].T @ answer.equalities)[:dim]
        duals = Duals(answer.duals.coordinates[:dim], answer.duals.rows)
        kept = np.concatenate([answer.equalities, answer.x[dim:]])
        return Proximal(answer.x[:dim], normal, duals, kept, answer.iterations)

    def _refusal(self, answer: Answer) -> Infeasible:
        if not self._polyhedral.couples and not self._inner:
            return contradiction(answer.equalities)
        message = "no x on the plane satisfies all inequalities and bounds; relax one of them."
        return Infeasible(message, answer.equalities)

    def _miss(self, answer: Answer, z: Array, t: Array) -> float:
        """Return a bound on the distance from the prox, and on what is beyond walls and equations, relative.

        With duals that miss a subgradient by e in units of psi, and a pull r that should be zero, x is within
        sqrt(2 e) + ||r|| of the prox of z, in the metric.
        """
        (matrix, b), dim = self._equations, len(z)
        pull = self._polyhedral.subgradient(answer.duals) - matrix.T @ answer.equalities
        pull[:dim] += (answer.x[:dim] - z) / t
        misfit = self._polyhedral.misfit(answer.x, answer.duals)
        off = np.linalg.norm(np.sqrt(t) * pull[:dim]) + np.sqrt(2.0 * misfit)
        length = _longer(z / np.sqrt(t), answer.x[:dim] / np.sqrt(t))
        beyond = float(np.linalg.norm(matrix @ answer.x - b)) + self._polyhedral.violation(answer.x)
        size = max(self._length * _longer(z, answer.x), float(np.linalg.norm(b)))
        return max(float(off) / max(length, self._natural), beyond / max(size, self._natural))


def _equations(constraint: Constraint, dim: int) -> tuple[Any, Array]:
    """Return A and b, for x or for x and u."""
    if constraint.equations is not None:
        return constraint.equations
    space = constraint.tangent_space(dim)
    if not isinstance(space, Image):
        raise NotImplementedError(
            f"{constraint!r} must have entries to go with bounds, inequalities or penalties; give A as a "
            "dense or a sparse matrix."
        )
    columns = sp.csr_array(space.columns)
    return sp.hstack([sp.eye_array(dim), -columns.T], format="csr"), constraint.project(np.zeros(dim))


def _largest_wall(polyhedral: Polyhedral) -> float:
    """Return the largest finite wall; 1 where all are zero or infinite."""
    walls = np.concatenate([*polyhedral.coordinates[:2], *polyhedral.rows[:2]])
    return float(np.abs(walls[np.isfinite(walls)]).max(initial=0.0)) or 1.0


def _widened(polyhedral: Polyhedral, inner: int) -> Polyhedral:
    """Return psi with more variables that it does not see."""
    if inner == 0:
        return polyhedral
    free = Pieces.of(inner)
    coordinates = Pieces(*(np.concatenate(pair) for pair in zip(polyhedral.coordinates, free, strict=True)))
    matrix = sp.hstack(
        [sp.csr_array(polyhedral.matrix), sp.csr_array((polyhedral.rows.size, inner))], format="csr"
    )
    return Polyhedral(coordinates, matrix, polyhedral.rows)


def _longer(*vectors: Array) -> float:
    return max(float(np.linalg.norm(vector)) for vector in vectors)


def _length(*matrices: Any) -> float:
    """Return the length of the longest row, at least 1."""
    squares = [np.asarray(sp.csr_array(matrix).power(2).sum(axis=1)).ravel() for matrix in matrices]
    return float(np.sqrt(max(1.0, *(square.max(initial=0.0) for square in squares))))
