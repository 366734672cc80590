"""Budgets, accuracy, warm starts and counts of `tether.solve`."""

import time
from itertools import islice

import numpy as np
import pytest

import tether
from tether import Status
from tether.methods import LBFGS, NAMES, DelayedSGD, DelayedSVRG, Nesterov, ProxSkip, Regularised
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


# --- budgets ---------------------------------------------------------------------------------------------


def test_max_rounds_stops_the_run(objective, constraint):
    sol = tether.solve(objective, constraint, "nesterov", tol=0.0, max_rounds=9)
    assert sol.status is Status.MAX_ROUNDS
    assert sol.history["rounds"].tolist() == [*range(2, 10), 9], "F is measured once more, apart"
    assert sol.counts.audits == 1 and sol.counts.audit_gradients == objective.n_samples
    assert not sol.success and sol.message == Status.MAX_ROUNDS.message


@pytest.mark.parametrize("passes", [0.5, 3.0, 4.5, 7.3])
@pytest.mark.parametrize("name", sorted({*NAMES, "auto"}))
def test_max_passes_is_never_exceeded(objective, constraint, name, passes):
    sol = tether.solve(objective, constraint, name, tol=0.0, max_passes=passes)
    assert sol.counts.gradients <= passes * objective.n_samples
    assert sol.status in (Status.MAX_PASSES, Status.EXHAUSTED)


def test_a_walk_longer_than_the_budget_is_cut_to_the_last_step(objective, constraint):
    n = objective.n_samples
    sol = tether.solve(objective, constraint, ProxSkip(interval=1000), tol=0.0, max_passes=200)
    assert sol.status is Status.MAX_PASSES and sol.counts.steps == 200 and sol.counts.gradients == 200 * n
    method = DelayedSGD(interval=10_000, stage_length=20_000, batch_size=7)
    sol = tether.solve(objective, constraint, method, tol=0.0, max_passes=3, audit=None)
    assert sol.counts.steps == 3 * n // 7 and sol.counts.rounds == 2


def test_a_budget_that_cuts_a_walk_does_not_change_the_run_that_goes_on(objective, constraint, tmp_path):
    method, path = ProxSkip(interval=9), tmp_path / "run.npz"
    whole = tether.solve(objective, constraint, method, tol=0.0, max_passes=40)
    for passes in (5, 13, 22):
        cut = tether.solve(objective, constraint, method, tol=0.0, max_passes=passes, checkpoint=path)
        assert cut.counts.steps == passes
    again = tether.solve(objective, constraint, method, tol=0.0, max_passes=40, checkpoint=path)
    np.testing.assert_array_equal(again.x, whole.x)
    assert again.counts == whole.counts


def test_max_seconds_stops_the_run(objective, constraint):
    sol = tether.solve(objective, constraint, "dp-sgd", tol=0.0, max_seconds=0.05)
    assert sol.status is Status.MAX_SECONDS and sol.counts.rounds > 1


def test_a_walk_longer_than_the_time_left_is_cut(objective, constraint):
    endless = DelayedSGD(interval=10**7, stage_length=10**7, batch_size=1)
    sol = tether.solve(objective, constraint, endless, tol=0.0, max_seconds=0.2, audit=None)
    assert sol.status is Status.MAX_SECONDS and 0 < sol.counts.steps < 10**6


def test_timing_the_first_walk_gives_no_warning_where_it_overflows(objective, constraint):
    method = DelayedSGD(step_size=1e300, interval=50)
    sol = tether.solve(objective, constraint, method, tol=0.0, max_seconds=5.0, audit=None)
    assert sol.status is Status.DIVERGED and "step_size" in sol.message
    np.testing.assert_array_equal(sol.x, constraint.project(np.zeros(5)))


def test_seconds_include_the_set_up_and_the_callback(objective, constraint):
    sol = tether.solve(
        objective, constraint, "nesterov", tol=0.0, max_seconds=0.3, callback=lambda result: time.sleep(0.1)
    )
    assert sol.status is Status.MAX_SECONDS and sol.counts.rounds <= 5 and sol.seconds >= 0.3


@pytest.mark.parametrize(
    "method", ["nesterov", Nesterov(smoothness=1e20), "lbfgs", "skip", "dp-svrg"], ids=str
)
def test_a_point_that_no_longer_moves_ends_the_run(method):
    objective = tether.Quadratic(matrix=np.eye(3), linear=np.ones(3))
    sol = tether.solve(objective, tether.Affine(np.ones((1, 3)), [3.0]), method, tol=0.0)
    assert sol.status in (Status.EXHAUSTED, Status.CONVERGED) and sol.counts.rounds < 400


@pytest.mark.parametrize(
    "inner", [Nesterov(), LBFGS(), DelayedSVRG()], ids=lambda method: type(method).__name__
)
def test_a_point_that_a_strong_pull_holds_is_not_the_end(objective, constraint, inner):
    sol = tether.solve(objective, constraint, Regularised(inner, strength=1e20, floor=1e-30), max_passes=900)
    assert sol.success or (sol.status is Status.MAX_PASSES and sol.counts.gradients == 900 * 60)


def test_a_long_first_walk_of_a_federation_is_cut_to_the_time_left():
    workers = tether.Federation([logistic(), logistic()])
    endless = DelayedSGD(interval=10**7, stage_length=10**7, batch_size=1)
    sol = tether.solve(workers, None, endless, tol=0.0, max_seconds=0.2, audit=None)
    assert sol.status is Status.MAX_SECONDS and 0 < sol.counts.steps < 10**6


def test_single_precision_is_no_lack_of_convexity():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5)).astype(np.float32)
    y = (X @ np.ones(5, np.float32) + rng.standard_normal(200).astype(np.float32)).astype(np.float32)

    def gradient(x, batch):
        rows = X[batch]
        return (rows.T @ (rows @ x.astype(np.float32) - y[batch]) / len(batch)).astype(float)

    def value(x, batch):
        return float(0.5 * np.mean((X[batch] @ x.astype(np.float32) - y[batch]) ** 2))

    constants = tether.Smoothness(40.0, 2.0, 0.1)
    objective = tether.FiniteSum(gradient, value, 200, 5, smoothness=constants, convex=True)
    for tol in (1e-9, 1e-12):
        for seed in range(8):
            x0 = 10.0 * np.random.default_rng(seed).standard_normal(5)
            sol = tether.solve(objective, None, "lbfgs", x0=x0, tol=tol, max_rounds=60)
            assert sol.gap is not None and "convex" not in sol.message


# --- audits ----------------------------------------------------------------------------------------------


def test_audits_are_counted_apart_and_as_frequent_as_asked_for(objective, constraint):
    n, method = objective.n_samples, DelayedSGD(interval=5, batch_size=6)
    runs = {
        audit: tether.solve(objective, constraint, method, tol=0.0, max_passes=12, audit=audit)
        for audit in (1.0, 3.0, None)
    }
    assert len({(sol.counts.steps, sol.counts.rounds, sol.counts.gradients) for sol in runs.values()}) == 1
    looks = {audit: sol.counts.audit_gradients // n for audit, sol in runs.items()}
    assert looks[1.0] == 13 and looks[3.0] == 5 and looks[None] == 1, "once at the end in any case"
    np.testing.assert_array_equal(runs[1.0].history["rounds"][-1], runs[None].history["rounds"][-1])


@pytest.mark.parametrize("audit", [0, -1.0, "often", True, np.nan])
def test_an_audit_that_makes_no_sense_is_refused(objective, audit):
    with pytest.raises(ValueError, match="audit must be a finite number > 0"):
        tether.solve(objective, audit=audit)


def test_the_first_budget_that_is_used_up_is_named(objective, constraint):
    sol = tether.solve(
        objective, constraint, "nesterov", tol=0.0, max_rounds=1000, max_passes=3, max_seconds=60
    )
    assert sol.status is Status.MAX_PASSES


def test_without_a_budget_a_run_ends_after_1000_passes():
    tiny = logistic(n=4)
    sol = tether.solve(tiny, None, DelayedSGD(interval=50, stage_length=200), tol=0.0)
    assert sol.status is Status.MAX_PASSES
    passes = sol.history["passes"]
    assert passes[-1] == 1000 and (passes[:-2] <= 1000).all()


def test_any_budget_replaces_the_default_one():
    tiny = logistic(n=4)
    method = DelayedSGD(interval=400, stage_length=4000)
    sol = tether.solve(tiny, None, method, tol=0.0, max_rounds=30)
    assert sol.status is Status.MAX_ROUNDS and sol.history["passes"][-1] > 1000


@pytest.mark.parametrize("name", sorted({*NAMES, "auto"}))
def test_a_budget_of_one_round_still_gives_a_measured_feasible_point(objective, constraint, name):
    sol = tether.solve(objective, constraint, name, max_rounds=1)
    start = constraint.project(np.zeros(5))
    assert sol.status is Status.MAX_ROUNDS
    assert constraint.residual(sol.x) < 1e-12
    np.testing.assert_array_equal(sol.x, start)
    assert sol.fun == objective.value(start)


# --- accuracy --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_with_strong_convexity_the_gap_is_within_tol_of_the_larger_of_one_and_the_value(
    objective, constraint, offset
):
    lifted = shifted(objective, offset)
    path = tether.solve(lifted, constraint, "nesterov", tol=0.0, max_rounds=12).history
    level = max(1.0, abs(path["value"][5]))
    tol = path["gap"][5] / level
    assert (path["gap"][:5] > path["gap"][5]).all(), "the sixth point is the first that is accurate"
    loose, tight = (tether.solve(lifted, constraint, "nesterov", tol=tol * f) for f in (1.0001, 0.9999))
    assert loose.success and len(loose.history) == 6 and loose.gap <= 1.0001 * tol * level
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
        slopes.append(np.linalg.norm(constraint.tangent(gradient)) / max(1.0, np.linalg.norm(gradient)))
    assert min(slopes) == slopes[-1], "the eighth point is the first that is accurate"
    loose, tight = (
        tether.solve(objective, constraint, "nesterov", tol=slopes[-1] * factor)
        for factor in (1.0001, 0.9999)
    )
    assert loose.success and loose.gap is None and len(loose.history) == 8
    assert tight.success and len(tight.history) > 8


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
    assert sol.success and sol.gap == sol.history["gap"][-1] <= 1e-9 * sol.fun
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
    elif mu > 0:
        assert slope**2 / (2 * mu) <= sol.gap * (1 + 1e-9) <= tol * max(1.0, sol.fun) * (1 + 1e-9)
    else:
        assert slope <= tol * max(1.0, np.linalg.norm(gradient)) * (1 + 1e-9)


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
    method = DelayedSVRG(interval=3, stage_length=6, batch_size=2)
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
