"""What a callback sees, and what it can do to a run."""

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

import tether
from tether import Status
from tether.methods import NAMES


@pytest.fixture
def objective():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    return tether.GLM(X, np.sign(X[:, 0] + rng.standard_normal(40)), loss="logistic", l2=0.1)


@pytest.fixture
def constraint():
    return tether.Affine(np.random.default_rng(1).standard_normal((2, 5)), [1.0, -0.5])


def stop_after(calls, error=StopIteration):
    """A callback that raises at its n-th call and remembers what it saw."""
    seen = []

    def callback(result):
        seen.append(result)
        if len(seen) == calls:
            raise error

    return callback, seen


@pytest.mark.parametrize("name", sorted({*NAMES, "auto"}))
def test_the_callback_sees_a_feasible_point_and_the_counts_after_every_request(objective, constraint, name):
    seen = []
    sol = tether.solve(objective, constraint, name, callback=seen.append, tol=1e-9, max_passes=6)
    requests = len(sol.history) - (not sol.success)  # the closing measurement is nobody's request
    assert requests <= len(seen) <= len(sol.history)
    for result, rounds in zip(seen, sol.history["rounds"], strict=False):
        assert isinstance(result, OptimizeResult)
        assert result.x.shape == (5,) and constraint.residual(result.x) < 1e-11
        assert result.nit == result.counts.rounds == rounds


def test_the_callback_sees_the_lowest_value_so_far_and_its_gap(objective, constraint):
    seen = []
    sol = tether.solve(objective, constraint, "p-svrg", callback=seen.append, max_passes=6, tol=0.0)
    values = sol.history["value"]
    for i, result in enumerate(seen):
        assert result.fun == np.nanmin(values[: i + 1])
        assert result.gap == sol.history["gap"][int(np.nanargmin(values[: i + 1]))]


def test_watching_a_run_does_not_change_it(objective, constraint):
    watched = tether.solve(objective, constraint, "dp-svrg", callback=lambda result: None)
    alone = tether.solve(objective, constraint, "dp-svrg")
    np.testing.assert_array_equal(watched.x, alone.x)
    assert watched.counts == alone.counts


@pytest.mark.parametrize("name", sorted({*NAMES, "auto"}))
def test_writing_into_the_point_does_not_change_the_run(objective, constraint, name):
    def scribble(result):
        result.x[:] = 7.0

    scribbled = tether.solve(objective, constraint, name, callback=scribble, tol=1e-9, max_passes=6)
    alone = tether.solve(objective, constraint, name, tol=1e-9, max_passes=6)
    np.testing.assert_array_equal(scribbled.x, alone.x)
    np.testing.assert_array_equal(scribbled.history["value"], alone.history["value"])


@pytest.mark.parametrize("name", sorted({*NAMES, "auto"}))
def test_stop_iteration_returns_the_best_point_so_far(objective, constraint, name):
    callback, seen = stop_after(3)
    sol = tether.solve(objective, constraint, name, callback=callback, tol=0.0)
    assert len(seen) == 3
    assert sol.status is Status.CALLBACK and not sol.success
    assert sol.message.startswith("the callback stopped the run")
    assert sol.fun == np.nanmin(sol.history["value"]) == pytest.approx(objective.value(sol.x), rel=1e-14)
    assert constraint.residual(sol.x) < 1e-12


def test_a_callback_that_stops_an_accurate_run_does_not_take_its_success(objective, constraint):
    def callback(result):
        if result.gap <= 1e-4:
            raise StopIteration

    sol = tether.solve(objective, constraint, "nesterov", tol=1e-4, callback=callback)
    assert sol.success and sol.gap <= 1e-4


@pytest.mark.parametrize("name", ["dp-sgd", "dp-svrg", "skip", "lbfgs"])
def test_an_error_in_the_callback_brings_the_run_along(objective, constraint, name):
    callback, _ = stop_after(4, KeyError("weights"))
    with pytest.raises(tether.CallbackError, match=r"callback raised KeyError: 'weights'") as caught:
        tether.solve(objective, constraint, name, callback=callback, tol=0.0)
    partial = caught.value.solution
    assert isinstance(caught.value.__cause__, KeyError)
    assert "\n" not in str(caught.value)
    assert partial.status is Status.CALLBACK
    assert constraint.residual(partial.x) < 1e-12 and partial.fun == pytest.approx(
        objective.value(partial.x), rel=1e-14
    )


def test_a_run_goes_on_from_the_point_that_a_callback_error_holds(objective, constraint):
    callback, _ = stop_after(12, ZeroDivisionError)
    with pytest.raises(tether.CallbackError) as caught:
        tether.solve(objective, constraint, "nesterov", callback=callback, tol=1e-9)
    rest = tether.solve(objective, constraint, "nesterov", x0=caught.value.solution, tol=1e-9)
    whole = tether.solve(objective, constraint, "nesterov", tol=1e-9)
    assert rest.success and rest.counts.rounds < whole.counts.rounds
    assert rest.history["value"][0] == pytest.approx(caught.value.solution.fun, rel=1e-14)


@pytest.mark.parametrize("calls", [2, 3], ids=["unmeasured", "measured"])
@pytest.mark.parametrize("error", [ZeroDivisionError, StopIteration, KeyboardInterrupt])
def test_a_checkpoint_survives_what_a_callback_raises(objective, constraint, tmp_path, error, calls):
    path = tmp_path / "run.npz"
    callback, _ = stop_after(calls, error)

    def run(callback=None, checkpoint=path):
        return tether.solve(
            objective, constraint, "dp-svrg", tol=0.0, max_rounds=9, callback=callback, checkpoint=checkpoint
        )

    if error is ZeroDivisionError:
        with pytest.raises(tether.CallbackError):
            run(callback)
    else:
        assert run(callback).status in (Status.CALLBACK, Status.INTERRUPTED)
    resumed, whole = run(), run(checkpoint=None)
    np.testing.assert_array_equal(resumed.x, whole.x)
    np.testing.assert_array_equal(resumed.history["value"], whole.history["value"])
    assert resumed.counts == whole.counts


def test_a_callback_cannot_turn_a_divergence_into_a_success(constraint):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    objective = tether.GLM(X, X[:, 0], loss="squared")

    def callback(result):
        if result.nit > 3:
            raise StopIteration

    method = tether.methods.DelayedSVRG(step_size=1e3, interval=40)
    sol = tether.solve(objective, constraint, method, callback=callback)
    assert sol.status is Status.DIVERGED and np.isfinite(sol.x).all()


@pytest.mark.parametrize("name", ["nesterov", "dp-svrg"])
def test_the_callback_sees_the_value_of_the_point_it_sees(objective, constraint, name):
    seen = []
    tether.solve(objective, constraint, name, callback=seen.append, tol=1e-9, max_passes=6)
    for result in seen:
        assert result.fun == pytest.approx(objective.value(result.x), rel=1e-13)
