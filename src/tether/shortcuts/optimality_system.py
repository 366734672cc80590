"""One linear system instead of a run: quadratics whose matrix is at hand.

The minimiser of x^T H x / 2 + g^T x on A x = b and its multipliers solve

    [ H  A^T ] [ x ]   [ -g ]
    [ A   0  ] [ l ] = [  b ]

The system is shifted by a little so that any elimination order is safe, and the shift is refined away.

Where H is diagonal (calibration, flows with quadratic costs), x = H^-1/2 v makes it a projection: v is the
point of { v : A H^-1/2 v = b } nearest to -H^-1/2 g. That takes a factorisation of the size of A A^T, on a
network that of a weighted Laplacian, whatever the number of variables.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.linalg import splu

from tether.arrays import Array
from tether.constraints import Affine, Constraint, Unconstrained
from tether.methods import LBFGS
from tether.objectives import Objective
from tether.objectives.symmetric import diagonal_of
from tether.shortcuts.way import Way

DENSE_LIMIT = 1_500  # unknowns up to which a dense factorisation is quick
ROW_ENTRIES = 50  # entries a row up to which a larger system counts as sparse
SHIFT = 1e-9  # relative to the largest entry
REFINEMENTS = 8
SMALLEST_ENTRY = 1e-12  # of the largest one of a diagonal: with smaller ones scaling would lose digits
RESIDUAL_LIMIT = 1e-12  # of its size: with a larger residual the system has no solution, and F no minimum


def solved_directly(way: Way, warm: bool) -> Way | None:
    """Return the way from the solution of the optimality system, where there is one; L-BFGS confirms it."""
    start = None if warm else direct_solution(way.problem.objective, way.problem.constraint)
    if start is None:
        return None
    return replace(way, start=start, method=LBFGS(), note="the optimality system was solved directly")


def direct_solution(objective: Objective, constraint: Constraint) -> Array | None:
    """Return the solution of a quadratic's optimality system; None where there is no such system."""
    quadratic, equations = objective.hessian(), constraint.equations
    if quadratic is None or equations is None:
        return None
    projected = _by_projection(*quadratic, *equations)
    if projected is not None:
        return projected
    system, target = _system(*quadratic, *equations)
    if system.shape[0] > DENSE_LIMIT and system.nnz > ROW_ENTRIES * system.shape[0]:
        return None
    solution = _solve(system, target, objective.dim)
    size = float(abs(system).max()) * float(np.linalg.norm(solution)) + float(np.linalg.norm(target))
    if not float(np.linalg.norm(target - system @ solution)) <= RESIDUAL_LIMIT * size:  # NaN included
        return None
    return solution[: objective.dim]


def _by_projection(matrix: Any, linear: Array, rows: Any, b: Array) -> Array | None:
    """Return the solution for a diagonal matrix with entries of about one size; None for others."""
    diagonal = diagonal_of(matrix)
    if diagonal is None or not diagonal.min() > SMALLEST_ENTRY * diagonal.max():
        return None
    scale = 1.0 / np.sqrt(diagonal)
    scaled = sparse.csr_array(rows @ sparse.diags_array(scale)) if sparse.issparse(rows) else rows * scale
    within = Affine(scaled, b) if len(b) else Unconstrained(len(scale))
    return scale * within.project(-scale * linear)


def _system(matrix: Any, linear: Array, rows: Any, b: Array) -> tuple[sparse.csr_array, Array]:
    """Return the optimality system with rows of unit length."""
    rows = sparse.csr_array(rows)
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1)) if rows.shape[0] else np.zeros(0)
    lengths[lengths == 0] = 1.0
    rows = sparse.csr_array(sparse.diags_array(1.0 / lengths) @ rows)
    system = sparse.block_array([[sparse.csr_array(matrix), rows.T], [rows, None]], format="csr")
    return system, np.concatenate([-linear, b / lengths])


def _solve(system: sparse.csr_array, target: Array, n_variables: int) -> Array:
    """Factorise the shifted system and refine towards the solution of the system itself."""
    size = system.shape[0]
    signs = np.where(np.arange(size) < n_variables, 1.0, -1.0)
    shift = SHIFT * max(1.0, float(abs(system).max()))
    shifted = sparse.csc_array(system + shift * sparse.diags_array(signs))
    apply: Callable[[Array], Array]
    if size <= DENSE_LIMIT:
        apply = partial(lu_solve, lu_factor(shifted.toarray()))
    else:
        apply = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0).solve
    solution = np.zeros(size)
    for _ in range(REFINEMENTS):
        solution = solution + apply(target - system @ solution)
    return solution
