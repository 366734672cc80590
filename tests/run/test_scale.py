"""Accuracy has a meaning at every scale: multiplying F by a number changes nothing but F."""

import numpy as np
import pytest

import tether

UNITS = [2.0**-40, 2.0**40]  # powers of two: products with them are exact
METHODS = ["auto", "lbfgs", "nesterov", "skip", "dp-svrg", "dp-asvrg", "proxskip", "proxskip-svrg"]


def problem(unit, mu=0.1):
    rng = np.random.default_rng(5)
    root, linear = rng.standard_normal((6, 6)), rng.standard_normal(6)
    matrix = root.T @ root + mu * np.eye(6)
    constraint = tether.Affine(rng.standard_normal((2, 6)), rng.standard_normal(2))
    return tether.Quadratic(matrix=unit * (matrix + matrix.T) / 2, linear=unit * linear), constraint


@pytest.mark.parametrize("unit", UNITS, ids=["tiny", "huge"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_runs_in_other_units_are_the_same_runs(method, unit, warm):
    x0 = np.arange(6.0) if warm else None
    objective, constraint = problem(1.0)
    plain = tether.solve(objective, constraint, method, x0=x0, max_passes=400)
    objective, constraint = problem(unit)
    other = tether.solve(objective, constraint, method, x0=x0, max_passes=400)
    assert plain.success and other.success
    assert other.counts == plain.counts
    np.testing.assert_allclose(other.x, plain.x, rtol=1e-9)
    assert other.gap == pytest.approx(unit * plain.gap, rel=1e-6)


@pytest.mark.parametrize("l2", [0.0, 1e-3])
@pytest.mark.parametrize("method", ["auto", "lbfgs", "skip"])
def test_a_loss_of_daily_returns_is_not_accurate_at_once(method, l2):
    rng = np.random.default_rng(2)
    returns, w = 1e-3 * rng.standard_normal((1500, 10)) * np.linspace(1, 3, 10), rng.random(10)
    objective = tether.GLM(returns, returns @ w + 1e-4 * rng.standard_normal(1500), "squared", l2=1e-6 * l2)
    constraint = tether.Affine(np.ones((1, 10)), [1.0])
    solution = tether.solve(objective, constraint, method)
    best = tether.solve(objective, constraint, "lbfgs", rtol=1e-13)
    assert solution.success and best.success and best.fun < 1e-5
    start = objective.value(np.full(10, 0.1))
    assert solution.fun - best.fun <= 1e-6 * max(best.fun, start - best.fun)


@pytest.mark.parametrize("method", ["auto", "lbfgs", "nesterov", "skip", "dp-svrg"])
@pytest.mark.parametrize("shape", [(500, 5), (5, 12)], ids=["tall", "wide"])
def test_a_start_at_the_optimum_is_a_success_also_where_f_is_zero(shape, method):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    objective = tether.GLM(X, X @ rng.standard_normal(shape[1]), "squared")
    first = tether.solve(objective, None, method, rtol=1e-12, max_passes=20_000)
    again = tether.solve(objective, None, method, x0=first)
    assert first.success and again.success and again.counts.rounds <= 2


@pytest.mark.parametrize("method", ["lbfgs", "nesterov"])
def test_a_bad_start_does_not_make_bad_points_accurate(method):
    objective, constraint = problem(1.0)
    best = tether.solve(objective, constraint, "lbfgs", rtol=1e-13)
    solution = tether.solve(objective, constraint, method, x0=np.full(6, 1e8), max_passes=2000)
    assert solution.success and solution.fun - best.fun <= 1e-5 * abs(best.fun)


def test_a_start_where_f_is_infinite_or_huge_has_no_size():
    objective = tether.GLM(np.eye(2), [1.0, 2.0], "poisson")
    for start in ([5.0, 10.0], [5.0, 30.0], [5.0, 300.0]):
        solution = tether.solve(objective, None, "lbfgs", x0=start)
        assert solution.success == np.allclose(solution.x, np.log([1.0, 2.0]), atol=1e-4)
