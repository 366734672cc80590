"""What auto decided, when and why, is known after a run, also if that went on from a checkpoint."""

from itertools import pairwise

import numpy as np
import pytest

import tether
from tether.run.record import EACH_LOOK


@pytest.fixture(scope="module")
def hard():
    """A badly conditioned problem on which one method after the other has to give way."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2_000, 1_200)) * np.logspace(0, -4, 1_200)
    y = X @ rng.standard_normal(1_200) + 0.1 * rng.standard_normal(2_000) > 0
    return tether.GLM(X, y, l2=1e-7), tether.Affine(rng.standard_normal((3, 1_200)))


@pytest.fixture(scope="module")
def solution(hard):
    return tether.solve(*hard)


def test_every_change_of_the_running_method_is_a_decision(hard, solution):
    assert solution.success and len(solution.decisions) >= 2
    first, *later = solution.decisions
    assert first.request == 0 and first.passes == 0.0
    seen = [(decision.words, decision.reason) for decision in solution.decisions]
    assert all(one != other for one, other in pairwise(seen))
    for decision in later:
        assert decision.passes == solution.history["passes"][decision.request - 1]
    said = [decision.words for decision in solution.decisions]
    assert solution.solver.startswith(", then ".join(said[:-1]) + f", then {said[-1]}, ")


def test_decisions_are_those_of_the_methods_own_state(hard, solution):
    running, requests = [], []
    for number, moment in enumerate(tether.iterate(*hard), start=1):
        if not running or running[-1] != moment.state.running:
            running.append(moment.state.running)
            requests.append(number)
        if len(running) == len(solution.decisions):
            break
    assert requests[1:] == [decision.request for decision in solution.decisions[1:]]


def test_a_run_that_goes_on_still_knows_its_decisions(hard, solution, tmp_path):
    path, halfway = tmp_path / "run.npz", solution.decisions[-1].passes + 5.0
    stopped = tether.solve(*hard, max_passes=halfway, checkpoint=path)
    assert not stopped.success and len(stopped.decisions) == len(solution.decisions)
    again = tether.solve(*hard, checkpoint=path)
    assert again.decisions == solution.decisions and again.solver == solution.solver


def test_methods_that_do_not_choose_decide_nothing(hard):
    assert tether.solve(*hard, "nesterov", max_rounds=3).decisions == ()


def test_a_shortcut_is_a_decision():
    (decision,) = tether.solve(tether.Quadratic(matrix=np.eye(3))).decisions
    assert decision.words == "one linear system" and "quadratic" in decision.reason


def test_data_that_was_projected_is_a_decision_before_the_method():
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((4_000, 60)), rng.standard_normal((55, 60))
    sol = tether.solve(tether.GLM(X, np.arange(4_000) % 2, l2=1e-3), tether.Affine(A))
    assert [decision.request for decision in sol.decisions] == [0, 0]
    assert sol.decisions[0].words == "the data projected once, from 60 columns to 5"
    assert sol.solver.startswith("the data projected once, from 60 columns to 5, then ")
    measured = np.isfinite(sol.history["residual"])
    assert measured.tolist() == [False] * (len(measured) - 1) + [True]


def test_beyond_equations_auto_says_what_it_chose():
    rng = np.random.default_rng(0)
    objective = tether.GLM(rng.standard_normal((50, 3)), np.arange(50) % 2, l2=0.1)
    (decision,) = tether.solve(objective, tether.NonNegative()).decisions
    assert decision == (
        0,
        0.0,
        "Newton's method with quadratic programs",
        "quadratic programs with the Hessian are quick",
    )


def test_methods_that_take_turns_beyond_equations_are_decisions():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_200, 1_600))
    y = X[:, :10].sum(axis=1) + rng.standard_normal(1_200) > 0
    budget = tether.Affine(rng.standard_normal((100, 1_600)))
    sol = tether.solve(tether.GLM(X, y, l2=1e-3), budget, penalty=tether.L1(0.05), rtol=1e-4)
    first, second = sol.decisions[:2]
    assert first.words == "ProxSkip-SVRG with Anderson acceleration" and first.request == 0
    assert second.words == "Newton's method on working sets" and second.request > 0
    assert sol.solver.startswith(f"{first.words}, then ")


def test_the_residual_is_taken_at_first_looks_and_then_ever_more_rarely(hard):
    history = tether.solve(*hard, "nesterov", max_rounds=400, tol=0.0).history
    looked, taken = np.isfinite(history["value"]), np.isfinite(history["residual"])
    assert taken[:EACH_LOOK].all() and not (taken & ~looked).any()
    later = np.diff(np.flatnonzero(taken[EACH_LOOK:]))
    assert 5 <= len(later) <= 30 and later[-1] > later[0]
    assert np.nanmax(history["residual"]) < 1e-9


def test_the_slope_is_the_norm_of_the_projected_gradient(hard):
    objective, constraint = hard
    sol = tether.solve(*hard, "lbfgs", max_rounds=10)
    there = np.flatnonzero(sol.history["value"] == sol.fun)[-1]
    tangent = constraint.tangent(objective.gradient(sol.x))
    assert sol.history["slope"][there] == pytest.approx(np.linalg.norm(tangent), rel=1e-6)
