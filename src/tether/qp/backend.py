"""PIQP, an interior point method with proximal regularisation, for programs in standard form."""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import piqp
from scipy import sparse

from tether.qp.standard import Solved, Standard

MOST_ITERATIONS = 100
SMALL_SLOPE = 1e-2
HOPELESS = piqp.PIQP_PRIMAL_INFEASIBLE, piqp.PIQP_DUAL_INFEASIBLE


class Pace(NamedTuple):
    """How a standard form is to be solved."""

    tol: float
    careful: bool = False  # refine every linear system
    seconds: float = np.inf


def interior_point(form: Standard, pace: Pace) -> Solved:
    """Solve a standard form, in about so many seconds."""
    if not len(form.linear):
        nothing = np.zeros(0)
        return Solved(nothing, np.zeros(len(form.targets)), np.zeros(len(form.low)), nothing, False, True, 0)
    began = perf_counter()
    solver = piqp.DenseSolver() if form.dense else piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = pace.tol
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = pace.tol
    solver.settings.iterative_refinement_always_enabled = pace.careful
    written, unit = _dense if form.dense else sparse.csc_matrix, _unit(form)
    solver.setup(
        written(form.hessian) / unit, form.linear / unit, written(form.equations), form.targets,
        written(form.rows), form.low, form.high, form.lower, form.upper,
    )  # fmt: skip
    solver.settings.max_iter = MOST_ITERATIONS
    if np.isfinite(pace.seconds):
        solver.settings.max_iter = _affordable(solver, pace.seconds - (perf_counter() - began))
    status = solver.solve()
    found = solver.result
    return Solved(
        np.array(found.x), unit * found.y, unit * (found.z_u - found.z_l), unit * (found.z_bu - found.z_bl),
        status == piqp.PIQP_SOLVED, status in HOPELESS, int(found.info.iter),
    )  # fmt: skip


def _unit(form: Standard) -> float:
    """Return a unit of values in which slopes are not small: tolerances are absolute, too."""
    steepest = float(np.abs(form.linear).max(initial=0.0))
    return steepest if 0.0 < steepest < SMALL_SLOPE else 1.0


def _affordable(solver: Any, seconds: float) -> int:
    """Return how many iterations fit into a time, by the first one: the solver cannot be stopped."""
    began = perf_counter()
    solver.settings.max_iter = 1
    solver.solve()
    each = max(perf_counter() - began, 1e-6)
    return int(np.clip((seconds - each) / each, 1, MOST_ITERATIONS))


def _dense(matrix: Any) -> Any:
    return np.asfortranarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())
