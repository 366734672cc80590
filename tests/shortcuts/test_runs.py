"""Runs on projected data look to their user like any other, and what does not pay is left alone."""

import tracemalloc

import numpy as np
import pytest
from scipy import linalg, sparse

import tether
from tether import Status
from tether.problem import Problem
from tether.shortcuts import Way
from tether.shortcuts.projected_data import with_projected_data
from tether.tolerance import Tolerance

N, P, FREE = 2_000, 120, 12  # samples, variables, directions that the equations leave


def test_the_callback_sees_feasible_points_of_the_length_that_was_asked_for(case):
    seen = []
    sol = case.solve(callback=seen.append)
    assert len(seen) == len(sol.history) - 1  # the last row is the measurement in x
    for result, rounds in zip(seen, sol.history["rounds"], strict=False):
        assert result.x.shape == (P,) and case.constraint.residual(result.x) < 1e-11
        assert result.nit == result.counts.rounds == rounds
    measured = [result for result in seen if np.isfinite(result.fun)]
    assert measured[-1].fun == pytest.approx(case.at(measured[-1].x)[0], rel=1e-12)
    assert sol.gap <= 1.001 * measured[-1].gap  # with P grad F itself instead of a bound on it


def test_stop_iteration_returns_the_best_point_so_far(case, was_projected):
    def callback(result):
        if result.nit >= 4:
            raise StopIteration

    sol = case.solve(callback=callback, max_rounds=500)  # every round is one of the run
    assert sol.status is Status.CALLBACK and not sol.success
    assert sol.message.startswith("the callback stopped the run") and was_projected(sol)
    assert sol.x.shape == (P,) and sol.residual < 1e-11
    assert sol.fun == pytest.approx(case.at(sol.x)[0], rel=1e-13)
    assert sol.fun == pytest.approx(np.nanmin(sol.history["value"]), rel=1e-13)


def test_an_error_in_the_callback_brings_a_point_of_the_user_along(case):
    def callback(result):
        if result.nit >= 4:
            raise KeyError("weights")

    with pytest.raises(tether.CallbackError, match=r"callback raised KeyError: 'weights'") as caught:
        case.solve(callback=callback, max_rounds=500)
    partial = caught.value.solution
    assert isinstance(caught.value.__cause__, KeyError)
    assert partial.status is Status.CALLBACK and partial.x.shape == (P,) and partial.residual < 1e-11
    rest = case.solve(x0=partial)
    assert rest.success and rest.history["value"][0] == pytest.approx(partial.fun, rel=1e-12)


def test_a_given_start_is_projected_and_used(case):
    x0, best = np.random.default_rng(1).standard_normal(P), case.optimum()
    seen = []
    case.solve(x0=x0, callback=seen.append)
    there = case.constraint.project(x0)
    np.testing.assert_allclose(seen[0].x, there, atol=1e-12)
    assert seen[0].fun == pytest.approx(case.at(there)[0], rel=1e-12)
    warm = case.solve(x0=best, tol=1e-9)
    assert warm.success and warm.counts.gradients <= 3 * N


@pytest.mark.parametrize("x0", [np.zeros(FREE + 1), [np.nan] * P])
def test_a_start_of_another_length_or_not_finite_is_refused(case, x0):
    with pytest.raises(ValueError, match=r"x0 must (be|have)"):
        case.solve(x0=x0)


@pytest.mark.parametrize(
    ("budget", "status"),
    [
        ({"max_rounds": 4}, Status.MAX_ROUNDS),
        ({"max_passes": 5}, Status.MAX_PASSES),
        ({"max_seconds": 1e-9}, Status.MAX_SECONDS),
    ],
)
def test_a_budget_stops_the_run_at_a_feasible_point(case, budget, status, was_projected):
    sol = case.solve(tol=0.0, **budget)
    assert sol.status is status and was_projected(sol) and sol.residual < 1e-11
    assert sol.fun == pytest.approx(case.at(sol.x)[0], rel=1e-13)
    assert sol.counts.rounds <= 6 and sol.counts.gradients <= 9 * N
    assert sol.gap >= sol.fun - case.at(case.optimum())[0]


def test_the_history_ends_with_what_the_solution_says(case):
    sol = case.solve()
    last = {name: sol.history[name][-1] for name in sol.history.columns}
    assert (last["value"], last["gap"], last["seconds"]) == (sol.fun, sol.gap, sol.seconds)
    assert tuple(last[name] for name in sol.counts._fields) == tuple(sol.counts)
    assert last["passes"] == sol.counts.gradients / N
    for name in ("rounds", "gradients", "seconds"):
        assert (np.diff(sol.history[name]) >= 0).all()


def test_the_same_seed_gives_the_same_run(case, make_case):
    one, two = case.solve(seed=3), make_case().solve(seed=3)
    np.testing.assert_array_equal(one.x, two.x)
    assert one.counts == two.counts


def test_a_run_stopped_after_every_request_goes_on_bit_for_bit(case, tmp_path, make_case):
    def stop(result):
        raise StopIteration

    whole, path = case.solve(), tmp_path / "run.npz"
    for _ in range(400):
        sol = make_case().solve(checkpoint=path, callback=stop)
        if sol.status is not Status.CALLBACK:
            break
    resumed = case.solve(checkpoint=path)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert (resumed.fun, resumed.gap, resumed.status) == (whole.fun, whole.gap, whole.status)
    assert resumed.counts == whole.counts
    np.testing.assert_array_equal(resumed.history["value"], whole.history["value"])


def test_the_checkpoint_of_other_equations_is_refused(case, tmp_path):
    case.solve(checkpoint=tmp_path / "run.npz", max_rounds=3)
    other = tether.Affine(case.A[:, ::-1], case.b)
    with pytest.raises(ValueError, match="belongs to another constraint"):
        tether.solve(case.objective, other, checkpoint=tmp_path / "run.npz")


@pytest.mark.parametrize("b", [0.0, 1.0])
def test_equations_with_a_single_solution_are_met(case, b):
    A = np.random.default_rng(0).standard_normal((P, P))
    sol = tether.solve(case.objective, tether.Affine(A, np.full(P, b)))
    assert sol.success
    np.testing.assert_allclose(sol.x, np.linalg.solve(A, np.full(P, b)), atol=1e-9)


def test_one_free_direction_is_enough(case):
    A = np.random.default_rng(0).standard_normal((P - 1, P))
    sol = tether.solve(case.objective, tether.Affine(A, np.ones(P - 1)), tol=1e-10)
    assert sol.success and f"from {P} columns to 2" in sol.message
    gradient = case.at(sol.x)[1]
    assert abs(linalg.null_space(A)[:, 0] @ gradient) < 1e-5


def reduced(objective, constraint):
    problem = Problem(objective, constraint)
    straight = Way(problem=problem, original=problem, method=tether.methods.Auto(), asked=Tolerance())
    return with_projected_data(straight, warm=False)


def test_what_does_not_pay_is_left_alone(case, tmp_path, make_case):
    y, wide = case.y, make_case(p=300)
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=case.X.shape)
    mapped[:] = case.X
    multinomial = tether.GLM(case.X, (y > 0).astype(int), "multinomial")
    assert reduced(case.objective, case.constraint) is not None
    assert reduced(case.objective, tether.Unconstrained(P)) is None
    assert reduced(case.objective, tether.Affine(case.A[: P // 2])) is None
    assert reduced(case.objective, tether.Range(np.eye(P, P // 2))) is None
    assert reduced(case.objective, tether.Consensus(P)) is None
    assert reduced(tether.GLM(wide.X[:999], y[:999]), wide.constraint) is None
    assert reduced(tether.GLM(wide.X[:1000], y[:1000]), wide.constraint) is not None
    assert reduced(tether.GLM(mapped, y), case.constraint) is None
    assert reduced(tether.GLM(sparse.csr_array(case.X), y), case.constraint) is None
    for p in (2_000, 2_001):  # directions of sparse equations are projected one by one
        fixed = tether.Affine(sparse.eye_array(p - 11, p, format="csr"))
        assert (reduced(tether.GLM(np.ones((1_000, p)), y[:1_000]), fixed) is None) == (p > 2_000)
    assert reduced(multinomial, tether.Affine(np.eye(220, 240))) is None
    assert reduced(tether.GLM(case.X, case.y, "squared"), case.constraint) is None  # has its linear system
    assert reduced(tether.Quadratic(factors=case.X), case.constraint) is None


def test_auto_takes_the_shortcut_by_name_and_as_an_object_and_others_do_not(case, was_projected):
    for method, taken in (("auto", True), (tether.methods.Auto(), True), ("skip", False)):
        sol = tether.solve(case.objective, case.constraint, method, tol=1e-4)
        assert was_projected(sol) is taken


def test_stepping_by_hand_takes_the_shortcut_and_shows_the_users_variables(case):
    moment = next(tether.iterate(case.objective, case.constraint))
    assert moment.x.shape == (P,) and case.constraint.residual(moment.x) < 1e-11
    assert moment.state.lbfgs.x.shape == (FREE + 1,)


def test_the_peak_of_memory_is_a_share_of_the_data(was_projected):
    n, p = 40_000, 150
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, p)), np.arange(n) % 2
    constraint = tether.Affine(rng.standard_normal((p - 30, p)))
    assert was_projected(tether.solve(tether.GLM(X, y, l2=1e-2), constraint))  # compile before counting
    objective = tether.GLM(X, y, l2=1e-2)
    tracemalloc.start()
    tether.solve(objective, constraint)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.3 * X.nbytes
