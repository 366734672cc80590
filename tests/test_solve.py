"""Accuracy, warm starts and counts of `tether.solve`."""

from itertools import islice

import numpy as np
import pytest

import tether
from tether import Status
from tether.methods import NAMES, DelayedSVRG
from tether.requests import Measured

LEARN_THE_DUAL = ("skip", "proxskip", "proxskip-svrg")


def data(n=60, dim=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dim))
    return X, np.where(X @ rng.standard_normal(dim) + rng.standard_normal(n) > 0, 1.0, -1.0)


def logistic(l2=0.1, n=60):
    return tether.GLM(*data(n), loss="logistic", l2=l2)


@pytest.fixture
def objective():
    return logistic()


@pytest.fixture
def constraint():
    return tether.Affine(np.random.default_rng(1).standard_normal((2, 5)), [1.0, -0.5])


def shifted(objective, offset, linear=0.0):
    """The objective with a constant, and a linear function, added to F."""
    return tether.FiniteSum(
        gradient=lambda x, batch: objective.batch_gradient(x, batch) + linear,
        value=lambda x, batch: offset + objective.value(x) + float(np.sum(linear * x)),
        n_samples=objective.n_samples,
        dim=objective.dim,
        smoothness=objective.smoothness,
    )


# --- accuracy --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relative", [False, True], ids=["tol", "rtol"])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_with_strong_convexity_the_gap_is_within_tol_or_within_rtol_of_the_size_of_f(
    objective, constraint, offset, relative
):
    lifted = shifted(objective, offset)
    path = tether.solve(lifted, constraint, "nesterov", tol=0.0, max_rounds=12).history
    value = path["value"][5]
    level = max(abs(value), path["value"][0] - value) if relative else 1.0
    limit, name = path["gap"][5] / level, "rtol" if relative else "tol"
    assert (path["gap"][:5] > path["gap"][5]).all(), "the sixth point is the first that is accurate"
    loose, tight = (
        tether.solve(lifted, constraint, "nesterov", **{name: limit * f}) for f in (1.0001, 0.9999)
    )
    assert loose.success and len(loose.history) == 6 and loose.gap <= 1.0001 * limit * level
    assert tight.success and len(tight.history) > 6


def test_the_gap_bounds_the_true_gap(objective, constraint):
    best = tether.solve(objective, constraint, "lbfgs", tol=1e-14)
    for tol in (1e-1, 1e-3, 1e-5):
        sol = tether.solve(objective, constraint, "dp-svrg", tol=tol)
        assert sol.success and -1e-14 <= sol.fun - best.fun <= sol.gap


@pytest.mark.parametrize("pull", [0.0, 50.0], ids=["small gradient", "large gradient"])
def test_without_strong_convexity_the_projected_gradient_decides(pull):
    row = np.ones((1, 5))
    objective, constraint = shifted(logistic(l2=0.0), 0.0, pull * row[0]), tether.Affine(row, [1.0])
    slopes = []
    for moment in islice(tether.iterate(objective, constraint, "nesterov"), 8):
        gradient = objective.gradient(moment.reply.point)
        slopes.append(np.linalg.norm(constraint.tangent(gradient)))
    assert min(slopes) == slopes[-1], "the eighth point is the first that is accurate"
    loose, tight = (
        tether.solve(objective, constraint, "nesterov", tol=slopes[-1] * factor)
        for factor in (1.0001, 0.9999)
    )
    looks = [np.isfinite(sol.history["value"]).sum() for sol in (loose, tight)]  # others: is there a minimum?
    assert loose.success and loose.gap is None and looks[0] == 8
    assert tight.success and looks[1] > 8


def test_the_point_with_the_certificate_is_returned_rather_than_a_lower_one_without(objective, constraint):
    calls = iter(range(10_000))
    drifting = tether.FiniteSum(
        gradient=objective.batch_gradient,
        value=lambda x, batch: objective.value(x) + 1e-8 * next(calls),  # later points look worse
        n_samples=objective.n_samples,
        dim=5,
        smoothness=objective.smoothness,
    )
    sol = tether.solve(drifting, constraint, "nesterov", tol=1e-9)
    slope = np.linalg.norm(constraint.tangent(objective.gradient(sol.x)))
    assert sol.success and sol.gap == sol.history["gap"][-1] <= 1e-9
    assert slope**2 / (2 * objective.smoothness.convexity) == pytest.approx(sol.gap, rel=1e-3)


@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("name", sorted({*NAMES, "auto"}))
def test_a_run_that_claims_success_returns_a_point_that_passes_the_test(constraint, name, l2):
    objective, tol = logistic(l2), 1e-3
    sol = tether.solve(objective, constraint, name, tol=tol, max_passes=200)
    assert sol.success == (sol.status is Status.CONVERGED)
    gradient = objective.gradient(sol.x)
    slope = np.linalg.norm(constraint.tangent(gradient))
    mu = objective.smoothness.convexity
    if not sol.success:
        assert name in ("p-sgd", "dp-sgd", "proxskip", "scaffold")
    elif sol.gap is not None:
        best = tether.solve(objective, constraint, "lbfgs", tol=1e-12)
        assert sol.fun - best.fun <= sol.gap * (1 + 1e-9) <= tol * (1 + 1e-9)
        assert name in ("auto", "newton") or sol.gap >= slope**2 / (2 * mu)
    else:
        assert slope <= tol * (1 + 1e-9)


@pytest.mark.parametrize("name", sorted({*NAMES, "auto"} - {*LEARN_THE_DUAL}))
def test_a_start_at_the_optimum_converges_at_once(objective, constraint, name):
    optimum = tether.solve(objective, constraint, "lbfgs", tol=1e-13)
    sol = tether.solve(objective, constraint, name, x0=optimum)
    assert sol.success and sol.counts.steps == 0
    assert sol.counts.gradients + sol.counts.audit_gradients == objective.n_samples


@pytest.mark.parametrize("name", LEARN_THE_DUAL)
def test_methods_that_learn_the_dual_see_a_free_optimum_at_once(objective, name):
    optimum = tether.solve(objective, None, "lbfgs", tol=1e-13)
    sol = tether.solve(objective, None, name, x0=optimum)
    assert sol.success and sol.counts.steps == 0


# --- what a run costs ------------------------------------------------------------------------------------


def counted(objective):
    """Two stages of m = 6 steps of b = 2 samples, E = 3."""
    method = DelayedSVRG(interval=3, stage_length=6, batch_size=2, step_size=0.3)
    return tether.solve(objective, tether.Affine(np.ones((1, 5)), [1.0]), method, tol=0.0, max_rounds=7)


def test_counts_of_two_stages_of_svrg_are_those_counted_by_hand():
    """Start: 1 vector. A stage: the gradient (12, 1 vector) and two walks of 3 steps (1 and 2 vectors)."""
    sol = counted(tether.GLM(*data(12), loss="logistic"))
    table = np.column_stack([sol.history[name] for name in tether.Counts._fields[:5]]).tolist()
    assert table == [
        [0, 0, 2, 2, 12],
        [3, 0, 3, 3, 18],
        [6, 1, 4, 5, 24],
        [6, 1, 5, 6, 36],
        [9, 1, 6, 7, 42],
        [12, 2, 7, 9, 48],
        [12, 2, 7, 9, 48],  # the run is over, F at the last anchor is measured beside the count
    ]
    assert sol.counts == (12, 2, 7, 9, 48, 0, 0, 1, 12)


def test_an_anchor_without_slopes_doubles_the_price_of_a_step():
    X, y = data(12)
    glm = tether.GLM(X, y, loss="logistic")
    plain = tether.FiniteSum(
        gradient=glm.batch_gradient,
        value=lambda x, batch: glm.value(x),
        n_samples=12,
        dim=5,
        smoothness=glm.smoothness,
    )
    sol = counted(plain)
    assert sol.history["gradients"].tolist() == [12, 24, 36, 48, 60, 72, 72]
    np.testing.assert_allclose(sol.x, counted(glm).x, rtol=1e-12)


def test_closing_a_run_does_not_measure_a_point_twice(objective, constraint):
    sol = tether.solve(objective, constraint, DelayedSVRG(), tol=0.0, max_rounds=2)
    assert sol.counts.rounds == 2 and sol.counts.gradients == objective.n_samples


# --- where to start --------------------------------------------------------------------------------------


def test_the_default_start_is_the_feasible_point_nearest_to_zero(objective):
    A, b = np.random.default_rng(2).standard_normal((2, 5)), np.array([1.0, 2.0])
    sol = tether.solve(objective, tether.Affine(A, b), "nesterov", max_rounds=1)
    np.testing.assert_allclose(sol.x, np.linalg.lstsq(A, b)[0], atol=1e-14)


def test_arrays_lists_and_solutions_are_the_same_start(objective, constraint):
    start = tether.solve(objective, constraint, "nesterov", max_rounds=5)
    runs = [
        tether.solve(objective, constraint, "dp-svrg", x0=x0) for x0 in (start, start.x, start.x.tolist())
    ]
    for run in runs:
        np.testing.assert_array_equal(run.x, runs[0].x)
        assert run.counts == runs[0].counts


@pytest.mark.parametrize("name", ["dp-svrg", "dp-asvrg", "nesterov", "lbfgs", "skip"])
def test_a_warm_start_needs_fewer_rounds(objective, constraint, name):
    cold = tether.solve(objective, constraint, name, tol=1e-8)
    nearby = tether.solve(logistic(l2=0.1001), constraint, name, tol=1e-10)
    warm = tether.solve(objective, constraint, name, tol=1e-8, x0=nearby)
    assert warm.success and warm.counts.rounds < cold.counts.rounds


def test_naming_the_default_start_costs_one_projection():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((3_000, 20)) * np.logspace(0, -2, 20), rng.integers(0, 2, 3_000)
    problem = tether.GLM(X, y, l2=1e-5), tether.Affine(rng.standard_normal((5, 20)), rng.standard_normal(5))
    silent = tether.solve(*problem, "skip")
    named = tether.solve(*problem, "skip", x0=np.zeros(20))
    np.testing.assert_array_equal(named.x, silent.x)
    assert named.counts.projections == silent.counts.projections + 1


def test_a_federation_that_starts_near_its_optimum_keeps_near_it():
    rng = np.random.default_rng(4)
    workers = []
    for shift in range(4):
        X = rng.standard_normal((200, 6)) + shift
        workers.append(tether.GLM(X, (X @ rng.standard_normal(6) > shift).astype(int), l2=1e-2))
    best = tether.solve(tether.Federation(workers), method="skip", tol=1e-12)
    x0 = best.x + 1e-4 * rng.standard_normal(6)
    moments = tether.iterate(tether.Federation(workers), method="skip", x0=x0)
    values = [moment.reply.value for moment in islice(moments, 8) if isinstance(moment.reply, Measured)]
    assert max(values) <= values[0] + 1e-12


def test_an_infeasible_start_is_projected_and_left_alone(objective, constraint):
    x0 = np.full(5, 3.0)
    sol = tether.solve(objective, constraint, "nesterov", x0=x0, max_rounds=1)
    np.testing.assert_array_equal(sol.x, constraint.project(x0))
    np.testing.assert_array_equal(x0, 3.0)


@pytest.mark.parametrize("name", ["dp-sgd", "dp-svrg", "lbfgs", "skip"])
def test_a_start_with_an_infinite_value_is_refused(constraint, name):
    X, _ = data()
    steep = tether.GLM(X, X[:, 0], loss="squared")
    with pytest.raises(ValueError, match=r"x0 must be at most 1e\+45"):
        tether.solve(steep, constraint, name, x0=np.full(5, 1e300))


def test_the_seed_decides_the_iterates(objective, constraint):
    first, again, other = (
        tether.solve(objective, constraint, "dp-svrg", seed=seed, tol=0.0, max_rounds=8) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.x, again.x)
    assert np.abs(first.x - other.x).max() > 1e-6
