"""Budgets hold inside a walk too, audits are counted apart, and a point that stands still ends a run."""

import time

import numpy as np
import pytest

import tether
from tether import Status
from tether.methods import LBFGS, NAMES, DelayedSGD, DelayedSVRG, Nesterov, ProxSkip, Regularised


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
    sol = tether.solve(objective, constraint, "dp-sgd", tol=0.0, max_seconds=0.5)
    assert sol.status is Status.MAX_SECONDS and sol.counts.rounds > 1


def test_a_walk_longer_than_the_time_left_is_cut(objective, constraint):
    endless = DelayedSGD(interval=10**7, stage_length=10**7, batch_size=1)
    sol = tether.solve(objective, constraint, endless, tol=0.0, max_seconds=1.0, audit=None)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "inner", [Nesterov(), LBFGS(), DelayedSVRG()], ids=lambda method: type(method).__name__
)
def test_a_point_that_a_strong_pull_holds_is_not_the_end(objective, constraint, inner):
    sol = tether.solve(objective, constraint, Regularised(inner, strength=1e20, floor=1e-30), max_passes=900)
    assert sol.success or (sol.status is Status.MAX_PASSES and sol.counts.gradients == 900 * 60)


def test_a_long_first_walk_of_a_federation_is_cut_to_the_time_left():
    workers = tether.Federation([logistic(), logistic()])
    endless = DelayedSGD(interval=10**7, stage_length=10**7, batch_size=1)
    sol = tether.solve(workers, None, endless, tol=0.0, max_seconds=1.0, audit=None)
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
