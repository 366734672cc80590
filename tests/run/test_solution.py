"""The answer: its fields, its history and how they read."""

import dataclasses

import numpy as np
import pytest

import tether
from tether import Status
from tether.run.solution import History


@pytest.fixture(scope="module")
def objective():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    return tether.GLM(X, np.sign(X[:, 0] + rng.standard_normal(40)), loss="logistic", l2=0.1)


A = np.random.default_rng(1).standard_normal((2, 5))
CONSTRAINT = tether.Affine(A, [1.0, -0.5])


@pytest.fixture(scope="module")
def solution(objective):
    return tether.solve(objective, CONSTRAINT, "dp-svrg", tol=1e-12)


def test_the_fields_agree_with_the_problem(objective, solution):
    assert solution.fun == pytest.approx(objective.value(solution.x), rel=1e-14)
    assert solution.residual == CONSTRAINT.residual(solution.x) < 1e-12
    tangent = CONSTRAINT.tangent(objective.gradient(solution.x))
    mu = objective.smoothness.convexity
    assert solution.gap == pytest.approx(tangent @ tangent / (2 * mu), rel=1e-3)
    assert solution.seconds == solution.history["seconds"][-1] > 0
    assert solution.method.startswith("DelayedSVRG(interval=40, growth=1, stage_length=40")


def test_the_multipliers_explain_the_gradient(objective, solution):
    np.testing.assert_allclose(A.T @ solution.multipliers, objective.gradient(solution.x), atol=1e-5)


@pytest.mark.parametrize("name", ["skip", "proxskip", "lbfgs", "nesterov"])
def test_all_methods_find_the_same_multipliers(objective, solution, name):
    other = tether.solve(objective, CONSTRAINT, name, tol=1e-12)
    assert other.success
    np.testing.assert_allclose(other.multipliers, solution.multipliers, atol=1e-4)


def test_the_last_row_of_the_history_is_the_final_count(solution):
    last = [int(solution.history[name][-1]) for name in tether.Counts._fields]
    assert last == list(solution.counts)


def test_a_solution_cannot_be_changed(solution):
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.fun = 0.0


def test_only_convergence_is_a_success(solution):
    for status in Status:
        message = status.message
        changed = dataclasses.replace(solution, status=status, message=message)
        assert changed.success == (status is Status.CONVERGED)
        assert message and message[0].islower() and "\n" not in message


def test_printing_a_solution_tells_what_one_wants_to_know(solution):
    text = str(solution)
    assert text.startswith(f"Solved: F(x) is certainly within {solution.gap:.2g} of the minimum.")
    assert "logistic regression with l2 = 0.1: 40 samples, 5 variables, subject to 2 equations" in text
    assert f"{solution.fun:.12g}" in text and f"at most {solution.gap:.3g}" in text
    assert f"{solution.counts.rounds} ({solution.counts.projections} vectors projected)" in text
    assert f"{solution.counts.gradients:,} component gradients" in text
    assert "delayed projected SVRG" in text and "array" not in text


def test_printing_a_solution_without_a_gap_says_why(objective):
    flat = tether.GLM(*_data(), loss="logistic")
    sol = tether.solve(flat, CONSTRAINT, "nesterov", max_rounds=5)
    assert sol.gap is None and "unknown" in str(sol)


def _data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    return X, np.sign(X[:, 0] + rng.standard_normal(40))


def test_the_history_has_a_row_a_request_and_values_where_they_were_measured(objective):
    sol = tether.solve(objective, CONSTRAINT, "dp-svrg", max_rounds=6, tol=0.0)
    measured = ~np.isnan(sol.history["value"])
    assert measured.tolist() == [True, False] * 2 + [True]
    np.testing.assert_array_equal(np.isnan(sol.history["gap"]), ~measured)
    np.testing.assert_array_equal(sol.history["passes"], sol.history["gradients"] / 40)


def test_the_history_becomes_a_dictionary_of_columns(solution):
    columns = solution.history.to_dict()
    assert tuple(columns) == History.columns
    assert all(len(column) == len(solution.history) for column in columns.values())
    np.testing.assert_array_equal(columns["value"], solution.history["value"])


def test_the_history_becomes_a_data_frame(solution):
    frame = solution.history.to_pandas()
    assert list(frame.columns) == list(History.columns) and len(frame) == len(solution.history)
    assert frame["rounds"].iloc[-1] == solution.counts.rounds
    assert np.nanmin(frame["value"]) == pytest.approx(solution.fun, rel=1e-13)


def test_a_column_that_does_not_exist_is_refused_by_name(solution):
    with pytest.raises(KeyError, match="no column 'loss'; it has steps, stages"):
        solution.history["loss"]


def test_an_empty_history_has_empty_columns():
    empty = History([])
    assert len(empty) == 0 and all(len(column) == 0 for column in empty.to_dict().values())
    assert repr(empty).startswith("History(0 rows")
