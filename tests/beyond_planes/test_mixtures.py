"""Every mixture of equations, inequalities, bounds and penalties, against CVXPY and optimality conditions."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

import tether
from tests.beyond_planes.mixtures import Mixture, mixture
from tether.feasible import Multipliers

QUICK, ALL = range(60), range(60, 560)


def check(problem: Mixture, solution) -> None:
    """The value is right, no certificate is below the truth, x is feasible, and multipliers say so."""
    reference = problem.reference()
    size = max(1e-3, abs(solution.fun))
    assert solution.success, solution.message
    assert solution.residual <= 1e-10 * (1.0 + np.linalg.norm(solution.x))
    if reference is not None:
        assert solution.fun <= reference + 2e-6 * size
        if solution.gap is not None:
            assert solution.fun - reference <= solution.gap + 1e-8 * size
    check_optimality(problem, solution)


def check_optimality(problem: Mixture, solution) -> None:
    """grad F = A' equalities + G' inequalities + bounds - D' penalty, with signs that fit what is active."""
    x, m = solution.x, solution.multipliers
    m = m if isinstance(m, Multipliers) else Multipliers(m, None, None, None)  # of equations only
    gradient = problem.objective.gradient(x)
    total = np.zeros_like(x)
    planes = [one for one in problem.constraints if isinstance(one, tether.Affine)]
    rows = [one for one in problem.constraints if isinstance(one, LinearConstraint)]
    if planes:
        total += planes[0].equations[0].T @ m.equalities
    if rows:
        total += rows[0].A.T @ m.inequalities
        z, low, high = rows[0].A @ x, rows[0].lb, rows[0].ub
        assert np.all(m.inequalities[z > low + 1e-7] <= 1e-12)
        assert np.all(m.inequalities[z < high - 1e-7] >= -1e-12)
    if m.bounds is not None:
        total += m.bounds
    if m.penalty is not None:
        start = 0
        for one in problem.penalties:
            matrix = one.terms(len(x)).matrix
            matrix = np.eye(len(x)) if matrix is None else matrix
            u = m.penalty[start : start + matrix.shape[0]]
            total -= matrix.T @ u
            start += matrix.shape[0]
    curvature = np.linalg.norm(problem.objective.curvature(x, "diagonal"))
    assert np.linalg.norm(gradient - total) <= 2e-2 * (np.linalg.norm(gradient) + np.sqrt(curvature))


@pytest.mark.parametrize("seed", QUICK)
def test_the_answer_is_that_of_cvxpy(seed):
    problem = mixture(seed)
    check(problem, problem.solve())


@pytest.mark.slow
@pytest.mark.parametrize("seed", ALL)
def test_the_answer_is_that_of_cvxpy_again(seed):
    problem = mixture(seed)
    check(problem, problem.solve())
