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
    if solution.status is tether.Status.DIVERGED:
        check_ray(problem, solution.ray)
        return
    reference = problem.reference()
    size = max(
        1e-3, abs(solution.fun), first_value(problem, solution) - solution.fun
    )  # rtol is relative to it
    assert solution.success, solution.message
    assert solution.residual <= 1e-10 * (1.0 + np.linalg.norm(solution.x))
    if reference is not None:
        assert solution.fun <= reference + 2e-6 * size
        if solution.gap is not None:
            assert solution.fun - reference <= solution.gap + 1e-8 * size
    check_optimality(problem, solution)


def first_value(problem: Mixture, solution) -> float:
    """Return F where the run began; of equations alone it may begin next to the minimum."""
    plane = problem.constraints[0] if len(problem.constraints) == 1 else None
    if problem.penalties or not isinstance(plane, tether.Affine):
        return solution.history["value"][0]
    return problem.objective.value(plane.project(np.zeros(problem.objective.dim)))


def check_ray(problem: Mixture, ray) -> None:
    """F falls along the ray from zero on, farther and farther out, and so does it from any feasible point."""
    assert problem.objective.l2 == 0.0 and ray is not None and not problem.penalties
    ray = ray / np.linalg.norm(ray)
    values = [problem.objective.value(t * ray) for t in (0.0, 10.0, 100.0)]
    assert values[0] > values[1] > values[2] or values[1] < 1e-9 * values[0]
    for one in problem.constraints:
        if isinstance(one, tether.Affine):
            assert np.linalg.norm(one.equations[0] @ ray) <= 1e-8
            continue
        along = one.A @ ray if isinstance(one, LinearConstraint) else ray
        low, high = (one.lb, one.ub) if hasattr(one, "lb") else (0.0, np.inf)
        assert np.all((along <= 1e-8) | np.isposinf(high)) and np.all((along >= -1e-8) | np.isneginf(low))


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
