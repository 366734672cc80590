"""L-BFGS on the constraint: few projections, and no way off the set."""

from itertools import islice

import numpy as np
import pytest

import tether
from tether.methods import LBFGS


def _quadratic(kappa, rows, seed, dim=30):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    matrix = (basis * np.logspace(0, -np.log10(kappa), dim)) @ basis.T
    objective = tether.Quadratic(matrix=(matrix + matrix.T) / 2, linear=rng.standard_normal(dim))
    return objective, tether.Affine(rng.standard_normal((rows, dim)), 10 * rng.standard_normal(rows))


def test_nearly_every_trial_point_is_taken():
    objective, constraint = _quadratic(1e3, 5, 0)
    counts = tether.solve(objective, constraint, "lbfgs", tol=1e-10).counts
    assert counts.stages >= 20
    assert counts.rounds <= 1.2 * counts.stages + 2


def test_enough_memory_solves_a_quadratic_in_little_more_steps_than_dimensions():
    objective, constraint = _quadratic(1e2, 20, 1)
    solution = tether.solve(objective, constraint, LBFGS(memory=12), tol=1e-12)
    assert solution.success
    assert solution.counts.stages <= 25  # ten dimensions are free


def test_a_wrong_smoothness_costs_some_trials_but_not_the_answer(strongly_convex):
    problem = strongly_convex
    best = tether.solve(problem.objective, problem.constraint, "lbfgs", tol=1e-20).x
    for smoothness in (1e-6, 1e6):
        method = LBFGS(smoothness=smoothness)
        solution = tether.solve(problem.objective, problem.constraint, method, tol=1e-20)
        assert solution.success
        assert solution.counts.rounds <= 80
        np.testing.assert_allclose(solution.x, best, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kappa", [1e2, 1e7])
def test_going_on_at_rounding_level_does_not_leave_the_constraint(kappa, seed):
    objective, constraint = _quadratic(kappa, 12, seed)
    moments = tether.iterate(objective, constraint, "lbfgs")
    for _ in range(600):
        x = next(moments).x
        assert constraint.residual(x) <= 1e-12 * (1 + np.linalg.norm(x))


@pytest.mark.parametrize("seed", range(4))
def test_a_run_without_tolerance_ends_when_rounding_allows_no_progress(seed):
    objective, constraint = _quadratic(1e2, 12, seed)
    solution = tether.solve(objective, constraint, "lbfgs", tol=0, max_rounds=2000)
    assert solution.status is tether.Status.EXHAUSTED
    assert solution.gap < 1e-18


def test_a_start_at_the_optimum_is_exhausted_at_once():
    objective = tether.Quadratic(matrix=np.eye(3))
    solution = tether.solve(objective, tether.Affine(np.ones((1, 3))), "lbfgs", tol=0)
    assert solution.counts.rounds <= 3
    np.testing.assert_array_equal(solution.x, np.zeros(3))


def test_rounding_noise_in_the_gradient_does_not_lead_off_the_constraint():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 30))
    y = X @ rng.standard_normal(30) + rng.standard_normal(3000) > 0
    constraint = tether.Affine(rng.standard_normal((6, 30)), rng.standard_normal(6))
    objective = tether.GLM(X.astype(np.float32), y, l2=1e-6)
    for moment in tether.iterate(objective, constraint, "lbfgs"):
        if moment.counts.rounds > 150:
            break
    assert constraint.residual(moment.x) < 1e-12


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("loss", "l2"), [("logistic", 0.0), ("logistic", 0.1), ("squared", 10.0), ("poisson", 1e-3)]
)
def test_data_in_float32_is_exhausted_where_its_precision_ends(loss, l2, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((400, 20)).astype(np.float32)
    z = X @ rng.standard_normal(20) + rng.standard_normal(400)
    y = {"logistic": z > 0, "squared": z, "poisson": rng.poisson(np.exp(0.3 * z))}[loss]
    constraint = tether.Affine(rng.standard_normal((4, 20)), rng.standard_normal(4))
    exact = tether.GLM(X.astype(np.float64), y, loss, l2=l2)
    best = tether.solve(exact, constraint, "lbfgs", tol=1e-12)
    solution = tether.solve(tether.GLM(X, y, loss, l2=l2), constraint, "lbfgs", tol=0, max_rounds=500)
    assert best.success and solution.status is tether.Status.EXHAUSTED
    assert solution.message.startswith("rounding errors allow no further progress: ")
    assert exact.value(solution.x) - best.fun <= 1e-6 * max(1.0, abs(best.fun))


def test_rounding_of_float64_is_not_taken_for_that_of_float32():
    runs = [islice(tether.iterate(*_quadratic(1e7, 12, seed), "lbfgs"), 2500) for seed in range(4)]
    states = [moment.state for moments in runs for moment in moments]
    assert any(state.trials > 20 for state in states), "line searches fail"
    assert not any(state.idle > 1 for state in states), "which would end the run"
