"""One linear system instead of a run: quadratics whose matrix is at hand.

The minimiser of x^T H x / 2 + g^T x on A x = b and its multipliers solve

    [ H  A^T ] [ x ]   [ -g ]
    [ A   0  ] [ l ] = [  b ]

Where H is diagonal (calibration, flows with quadratic costs), of small blocks, or small and positive, H is
eliminated first (`minimum`). Else the system is shifted by a little so that any elimination order is safe,
and the shift is refined away.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lu_factor, lu_solve

from tether.arrays import Array, norm
from tether.constraints import Affine, Consensus, Constraint, Flow, Range
from tether.constraints.algebra.sparse import HOPELESS_WORK, row_lengths, scaled_rows
from tether.elimination import SPEED, eliminated, is_thin, work_of_eliminating
from tether.methods import LBFGS, Newton
from tether.methods.base import Choice
from tether.objectives import Objective
from tether.problem import Facts
from tether.shortcuts.known_multipliers import WithMultipliers
from tether.shortcuts.minimum import RESIDUAL_LIMIT, Minimum, minimum_in_metric, norm_of
from tether.shortcuts.way import Way

SMALL = 300  # variables up to which a Hessian costs nothing
SMALL_SYSTEM = 150  # unknowns up to which a dense factorisation is quickest, whatever the matrix
DENSE_LIMIT = 1_500  # unknowns up to which it is quick
ROW_ENTRIES = 50  # entries a row up to which a larger system counts as sparse
SHIFT = 1e-9  # relative to the largest entry
REFINEMENTS = 8
REFINED_MISFIT = 1e-16  # of the size of a system: it cannot be met more closely
REFINING = 0.5  # by which a misfit falls as long as it is more than rounding
BUDGET_SHARE = 0.5  # of the time that is left, which a factorisation may be thought to take
SMALL_METHOD, LARGE_METHOD = Newton(), LBFGS()  # that confirm a solution
CHOICE = Choice("one linear system", "the objective is quadratic and its matrix is at hand")
FLAT_SHARE = 0.1  # of 1 / shift: a larger P_H is that of the shift, and H not positive on the set


@dataclass(frozen=True, kw_only=True)
class SolvedDirectly(Way):
    """The straight way, from the solution on."""

    minimum: Minimum

    def facts(self, facts: Facts) -> Facts:
        """Return facts with the convexity of F on the set as far as it is at hand, not of eigenvalues."""
        stretch = self.minimum.ready_stretch
        if not (0.0 < stretch < math.inf):
            return facts
        return facts._replace(smoothness=facts.smoothness.with_convexity(1.0 / stretch))

    def gap(self, x: Array, normal: Array, scale: float) -> float:
        """Return <g, P_H g> / 2 with the tangent gradient g at x, and what rounding may hide."""
        return self.minimum.gap(self._gradient(x) - normal, scale)

    def _gradient(self, x: Array) -> Array:
        """Return grad F in double precision, by the matrix where the data are coarser than that."""
        objective = self.problem.objective
        quadratic = objective.hessian() if objective.single else None
        return objective.gradient(x) if quadratic is None else quadratic[0] @ x + quadratic[1]


def solved_directly(way: Way, warm: bool) -> Way | None:
    """Return the way from the solution of the optimality system, where there is one; a method confirms it."""
    objective, constraint = way.problem[:2]
    found = None if warm else minimum_of(objective, constraint, BUDGET_SHARE * way.seconds)
    if found is None:
        return None
    found = _with_multipliers(found, objective, constraint)
    if found.multipliers is not None:
        constraint = _knowing(constraint, found.multipliers, found.normal)
    problem = way.problem._replace(constraint=constraint)
    note = "the optimality system was solved directly"
    small = objective.dim <= SMALL and math.isfinite(objective.second_order.full)
    method = SMALL_METHOD if small else LARGE_METHOD
    own = {"problem": problem, "original": problem, "method": method, "start": found.point, "note": note}
    return SolvedDirectly(**(vars(way) | own | {"choice": CHOICE, "direct": True}), minimum=found)


def _with_multipliers(found: Minimum, objective: Objective, constraint: Constraint) -> Minimum:
    """Return a minimum with the set's own multipliers, where nobody knows what another projection takes."""
    if not isinstance(constraint, Affine) or math.isfinite(constraint.work) or constraint.equations is None:
        return found
    point = constraint.project(found.point)
    gradient = objective.gradient(point)
    tangent, multipliers = constraint.parts(gradient)
    return replace(found, point=point, normal=gradient - tangent, multipliers=multipliers)


def _knowing(constraint: Constraint, multipliers: Array, normal: Array) -> Constraint:
    """Return a set that knows its multipliers at the minimum, where the gradient is normal but for rounding.

    A^T l would lose digits that the gradient has, on a network or where rows are many; elsewhere a product
    shows what the gradient has not.
    """
    if math.isinf(constraint.work) or constraint.equations is None:
        return WithMultipliers(constraint, multipliers, normal)
    return WithMultipliers(constraint, multipliers, constraint.equations[0].T @ multipliers)


def direct_solution(objective: Objective, constraint: Constraint) -> Array | None:
    """Return the solution of a quadratic's optimality system; None where there is no such system."""
    found = minimum_of(objective, constraint)
    return None if found is None else found.point


def minimum_of(objective: Objective, constraint: Constraint, seconds: float = np.inf) -> Minimum | None:
    """Return the minimum of a quadratic whose matrix is at hand; None for others and what takes too long."""
    quadratic = objective.hessian()
    if quadratic is None or not objective.convex or not _is_known(constraint):
        return None
    found = minimum_in_metric(*quadratic, constraint, seconds)
    if found is not None or constraint.equations is None:
        return found
    found = _minimum_by_system(*quadratic, *constraint.equations, seconds)
    return found if found is None or isinstance(constraint, Flow) else replace(found, multipliers=None)


class System(NamedTuple):
    """The optimality system, scaled, and its factorisation."""

    matrix: sparse.csr_array
    lengths: Array  # of the rows of A
    unit: float  # of H
    largest: float  # entry of the matrix
    shift: float
    sweep: Callable[[Array], Array]

    @property
    def n_variables(self) -> int:
        """The number of x."""
        return self.matrix.shape[0] - len(self.lengths)

    def solved(self, above: Array, below: Array) -> tuple[Array, Array, float]:
        """Return u and l of H u + A^T l = above, A u = below, and the residual over its size."""
        target = np.concatenate([above / self.unit, below / self.lengths])
        solution, misfit, share = np.zeros(len(target)), target, np.inf
        for _ in range(REFINEMENTS):
            trial = solution + self.sweep(misfit)
            rest = target - self.matrix @ trial
            size = self.largest * norm(trial) + norm(target)
            before, share = share, norm(rest) / size if size else 0.0
            if share >= before:  # no better, but for rounding
                share = before
                break
            solution, misfit = trial, rest
            if share <= REFINED_MISFIT or REFINING * before < share <= RESIDUAL_LIMIT:
                break
        n = self.n_variables
        return solution[:n], self.unit * solution[n:] / self.lengths, share

    def image(self, gradient: Array) -> Array:
        """Return P_H g."""
        return self.solved(gradient, np.zeros(len(self.lengths)))[0]

    def rough_image(self, gradient: Array) -> Array:
        """Return P_H g of the shifted system, close by where H is far above the shift on the set."""
        return self.sweep(np.concatenate([gradient / self.unit, np.zeros(len(self.lengths))]))[
            : len(gradient)
        ]


def _minimum_by_system(matrix: Any, linear: Array, rows: Any, b: Array, seconds: float) -> Minimum | None:
    system = _system(matrix, rows, seconds)
    if system is None:
        return None
    point, multipliers, residual = system.solved(-linear, b)
    if not residual <= RESIDUAL_LIMIT:  # NaN included
        return None
    stretch = norm_of(system.rough_image, len(linear))
    flat = not stretch * system.unit * system.shift <= FLAT_SHARE
    normal = matrix @ point + linear

    def square(gradient: Array) -> float:
        direction = system.image(gradient)
        return float(direction @ (matrix @ direction))  # as a product with the gradient it has fewer digits

    return Minimum(point, normal, square, lambda: np.inf if flat else stretch, -multipliers)


def _system(matrix: Any, rows: Any, seconds: float) -> System | None:
    """Return the optimality system with rows of unit length and a matrix of unit size, factorised."""
    rows, matrix = sparse.csr_array(rows), sparse.csr_array(matrix)
    lengths = row_lengths(rows)
    rows = scaled_rows(rows, 1.0 / lengths)
    unit = float(np.abs(matrix.data).max(initial=0.0)) or 1.0
    system = sparse.block_array([[matrix / unit, rows.T], [rows, None]], format="csr")
    size = system.shape[0]
    dense = size <= (SMALL_SYSTEM if is_thin(system) else DENSE_LIMIT)
    if size > DENSE_LIMIT and (system.nnz > ROW_ENTRIES * size or _takes_too_long(system, seconds)):
        return None
    signs = np.where(np.arange(size) < matrix.shape[0], 1.0, -1.0)
    largest = float(np.abs(system.data).max(initial=0.0))
    shift = SHIFT * max(1.0, largest)
    shifted = sparse.csc_array(system + shift * sparse.diags_array(signs))
    sweep: Callable[[Array], Array]
    if dense:
        sweep = partial(lu_solve, lu_factor(shifted.toarray()))
    elif (factor := eliminated(shifted)) is not None:
        sweep = factor.solve
    else:
        return None
    return System(system, lengths, unit, largest, shift, sweep)


def _takes_too_long(system: sparse.csr_array, seconds: float) -> bool:
    size, most = system.shape[0], min(HOPELESS_WORK, seconds * SPEED)
    if size**3 / 3.0 <= most:  # even if it fills in
        return False
    return work_of_eliminating(sparse.csr_array(system + sparse.eye_array(size))) > most


def _is_known(constraint: Constraint) -> bool:
    """Say whether a set says more of itself than how it projects."""
    return constraint.equations is not None or isinstance(constraint, Affine | Range | Consensus)
