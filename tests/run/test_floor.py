"""An accuracy that rounding cannot reach ends a run soon, and slow progress does not."""

import re

import numpy as np
import pytest

import tether
from tether import Status
from tether.requests import Measured, Work
from tether.run.seen import Progress

METHODS = ["auto", "newton", "lbfgs", "nesterov", "skip", "dp-svrg", "dp-asvrg"]


def problem(l2=1e-2, columns=1.0, dtype=np.float64, constrained=True):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 8))
    y = X @ rng.standard_normal(8) + rng.logistic(size=1200) > 0
    A, b = rng.standard_normal((2, 8)), rng.standard_normal(2)
    objective = tether.GLM((X * columns).astype(dtype), y, l2=l2)
    return objective, tether.Affine(A, b) if constrained else None


@pytest.mark.parametrize("constrained", [True, False], ids=["equations", "free"])
@pytest.mark.parametrize("method", METHODS)
def test_a_tol_below_rounding_ends_as_exhausted_and_says_what_was_reached(method, constrained):
    objective, constraint = problem(constrained=constrained)
    solution = tether.solve(objective, constraint, method, tol=1e-40)
    assert solution.status is Status.EXHAUSTED and solution.gap < 1e-26
    assert solution.counts.gradients < 600 * objective.n_samples
    found = re.search(r": the gap is certainly below (\S+), tol = 1e-40 was asked for", solution.message)
    assert float(found[1]) == pytest.approx(solution.gap, rel=0.06)


@pytest.mark.parametrize("method", ["lbfgs", "nesterov", "skip", "dp-svrg"])
def test_without_strong_convexity_the_slope_that_was_reached_is_said(method):
    objective, constraint = problem(l2=0.0)
    solution = tether.solve(objective, constraint, method, rtol=1e-25)
    assert solution.status is Status.EXHAUSTED and solution.gap is None
    slope = np.linalg.norm(constraint.tangent(objective.gradient(solution.x)))
    found = re.search(r": \|\|P grad F\|\| = (\S+), rtol = 1e-25 was asked for", solution.message)
    assert slope < 1e-13 and float(found[1]) < 1e-13


def test_single_precision_is_noticed_where_it_ends():
    objective, constraint = problem(dtype=np.float32)
    solution = tether.solve(objective, constraint, "nesterov", tol=1e-40)
    assert solution.status is Status.EXHAUSTED and 1e-20 < solution.gap < 1e-11


@pytest.mark.parametrize("method", ["nesterov", "skip", "dp-svrg", "proxskip-svrg", "dp-sgd"])
def test_slow_progress_is_not_taken_for_a_floor(method):
    objective, constraint = problem(l2=1e-7, columns=np.logspace(0, -3, 8))
    solution = tether.solve(objective, constraint, method, tol=1e-12, max_passes=300)
    assert solution.status is Status.MAX_PASSES


@pytest.mark.parametrize("kappa", [1e2, 1e4, 1e5])
def test_a_quadratic_that_takes_long_is_solved(kappa):
    rng = np.random.default_rng(1)
    basis = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    matrix = (basis * np.logspace(0, -np.log10(kappa), 30)) @ basis.T
    objective = tether.Quadratic(matrix=(matrix + matrix.T) / 2, linear=rng.standard_normal(30))
    solution = tether.solve(objective, None, "nesterov", rtol=1e-6, max_passes=200_000)
    assert solution.success and solution.counts.rounds > 20 * np.log10(kappa) ** 2


def test_a_run_that_ended_at_its_floor_goes_on_with_another_tol(tmp_path):
    objective, constraint = problem()
    path = tmp_path / "run.npz"
    ended = tether.solve(objective, constraint, "dp-svrg", tol=1e-40, checkpoint=path)
    again = tether.solve(objective, constraint, "dp-svrg", tol=1e-40, checkpoint=path)
    eased = tether.solve(objective, constraint, "dp-svrg", tol=1e-20, checkpoint=path)
    assert ended.status is again.status is Status.EXHAUSTED
    assert again.counts.gradients <= ended.counts.gradients + 3 * objective.n_samples
    assert eased.success and eased.counts.gradients == again.counts.gradients


def look(value, certificate, exact=True):
    gradient = np.zeros(1) if exact else None
    return Measured(np.ones(1), value, certificate, 1.0, gradient, None, Work())


def test_progress_is_a_lower_value_or_a_flatter_slope_of_its_kind():
    seen = Progress().after(look(1.0, 1e-4))
    for reply, last in [
        (look(1.0, 0.6e-4), 1),
        (look(1.0, 1e-3, exact=False), 3),  # the first bound by a dual
        (look(1.0, 0.6e-3, exact=False), 3),
        (look(1.0, 0.4e-4), 5),
        (look(1.0 - 1e-16, 1e-4), 5),
        (look(1.0 - 1e-12, 1e-2), 7),
    ]:
        seen = seen.after(reply)
        assert seen.last == last
    assert seen.looks == 7
