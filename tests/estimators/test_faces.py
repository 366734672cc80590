"""The estimators with a question of their own: compositions, neighbours, trends, fairness."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import tether
from tether.estimators import (
    ConstrainedLogisticRegression,
    FairLogisticRegression,
    FusedLasso,
    GeneralizedLasso,
    LogContrastRegressor,
    NonNegativeRegressor,
    TrendFilter,
)
from tether.estimators.trend import divided_differences

RNG = np.random.default_rng(8)
N, P = 90, 6
X = RNG.standard_normal((N, P))
Y = X @ [1.0, 1.0, 1.1, -0.5, -0.5, 0.0] + 0.4 + 0.3 * RNG.standard_normal(N)


def least(loss, *rules):
    problem = cp.Problem(cp.Minimize(loss), list(rules))
    problem.solve(solver=cp.CLARABEL)
    return problem.value


def squares(b, c, X=X, y=Y):
    return cp.sum_squares(y - X @ b - c) / (2 * len(y))


@pytest.mark.parametrize("edges", [None, [(0, 1), (1, 2), (3, 4), (0, 5)]])
def test_the_fused_lasso_is_that_of_cvxpy(edges):
    b, c = cp.Variable(P), cp.Variable()
    pairs = [(k, k + 1) for k in range(P - 1)] if edges is None else edges
    jumps = sum(cp.abs(b[i] - b[j]) for i, j in pairs)
    best = least(squares(b, c) + 0.05 * (jumps + 0.5 * cp.norm1(b)))
    model = FusedLasso(alpha=0.05, sparsity=0.5, edges=edges).fit(X, Y)
    assert model.solution_.fun == pytest.approx(best, abs=1e-8)
    assert model.coef_[0] == pytest.approx(model.coef_[1], rel=1e-12) and model.gap_ <= 1e-9


def test_neighbours_may_have_names():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    named = FusedLasso(alpha=0.05, edges=[("a", "b"), ("e", "d")]).fit(frame, Y)
    numbered = FusedLasso(alpha=0.05, edges=[(0, 1), (4, 3)]).fit(X, Y)
    np.testing.assert_allclose(named.coef_, numbered.coef_, atol=1e-9)


def test_the_generalized_lasso_is_that_of_cvxpy_by_name_and_with_constraints():
    D = pd.DataFrame([[1.0, -1.0, 0.0], [0.0, 1.0, 1.0]], columns=["a", "c", "f"])
    full = np.zeros((2, P))
    full[:, [0, 2, 5]] = D
    b, c = cp.Variable(P), cp.Variable()
    best = least(squares(b, c) + 0.1 * cp.norm1(full @ b), cp.sum(b) == 1)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = GeneralizedLasso(D, alpha=0.1, constraints="sum == 1").fit(frame, Y)
    assert model.solution_.fun == pytest.approx(best, abs=1e-8)
    assert model.coef_.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("monotonic", [None, "increasing"])
def test_trends_are_those_of_cvxpy(order, monotonic):
    t = np.sort(RNG.choice(200, 40, replace=False)) / 10.0
    y = np.where(t < 8, t, 16 - t) + 0.3 * RNG.standard_normal(40)
    weights = RNG.random(40) + 0.5
    f = cp.Variable(40)
    fall = cp.sum(cp.multiply(weights, cp.square(y - f))) / (2 * weights.sum())
    rules = [] if monotonic is None else [cp.diff(f) >= 0]
    best = least(fall + 0.05 * cp.norm1(divided_differences(t, order) @ f), *rules)
    shuffled = RNG.permutation(40)
    model = TrendFilter(alpha=0.05, order=order, monotonic=monotonic)
    model.fit(t[shuffled], y[shuffled], weights[shuffled])
    assert model.solution_.fun == pytest.approx(best, abs=1e-7)
    np.testing.assert_allclose(model.predict(t), model.values_, atol=1e-12)
    assert monotonic is None or (np.diff(model.values_) >= -1e-12).all()


def test_differences_of_a_polynomial_of_lower_degree_vanish_whatever_the_spacing():
    t = np.sort(RNG.random(12))
    for order in (1, 2, 3):
        np.testing.assert_allclose(divided_differences(t, order) @ t ** (order - 1), 0.0, atol=1e-9)
    np.testing.assert_allclose(
        divided_differences(np.arange(9.0), 3).toarray(), tether.differences(9, 3).toarray(), atol=1e-12
    )


def test_repeated_times_share_a_value_and_weights_of_zero_are_no_samples():
    t, y = np.array([0.0, 0.0, 1.0, 2.0, 5.0]), np.array([1.0, 3.0, 2.0, 2.0, 100.0])
    model = TrendFilter(alpha=0.0).fit(t, y, [1, 1, 1, 1, 0])
    np.testing.assert_allclose(model.knots_, [0.0, 1.0, 2.0])
    np.testing.assert_allclose(model.values_, [2.0, 2.0, 2.0], atol=1e-9)


def test_a_trend_works_in_a_pipeline_and_as_a_clone():
    t = np.arange(30.0).reshape(-1, 1)
    model = make_pipeline(FunctionTransformer(), TrendFilter(alpha=0.1, order=1)).fit(t, t.ravel() > 10)
    assert model.score(t, t.ravel() > 10) > 0.5
    assert clone(model[-1]).get_params() == model[-1].get_params()
    steps = model.predict(np.array([[10.4], [10.6], [-5.0], [99.0]]))
    assert steps[0] == steps[1] and steps[2] == model[-1].values_[0] and steps[3] == model[-1].values_[-1]


def test_log_contrasts_are_those_of_cvxpy_and_do_not_feel_the_total():
    parts = RNG.dirichlet(np.ones(P), size=N)
    b, c = cp.Variable(P), cp.Variable()
    best = least(squares(b, c, np.log(parts)) + 0.05 * cp.norm1(b), cp.sum(b) == 0)
    model = LogContrastRegressor(alpha=0.05).fit(parts, Y)
    assert model.solution_.fun == pytest.approx(best, abs=1e-8)
    assert model.coef_.sum() == pytest.approx(0.0, abs=1e-12)
    scaled = parts * RNG.random((N, 1)) * 100
    np.testing.assert_allclose(model.predict(scaled), model.predict(parts), atol=1e-9)
    assert LogContrastRegressor().fit(parts, Y).inference().df_resid == N - P


def test_shares_of_a_total_are_those_of_cvxpy():
    b, c = cp.Variable(P), cp.Variable()
    best = least(squares(b, c), b >= 0, cp.sum(b) == 2)
    model = NonNegativeRegressor(total=2.0).fit(X, Y)
    assert model.solution_.fun == pytest.approx(best, abs=1e-8)
    assert (model.coef_ >= 0.0).all() and model.coef_.sum() == pytest.approx(2.0, abs=1e-12)
    assert "sum == 2" in model.multipliers_


GROUP = RNG.integers(0, 2, N)
LABELS = (Y + GROUP + 0.5 * RNG.standard_normal(N) > 0.9).astype(int)


def covariance(scores, attribute):
    return float(np.mean((attribute - attribute.mean()) * scores))


def test_fair_scores_stay_in_their_band_and_lose_as_little_as_cvxpy():
    data = np.column_stack([X[:, :3] + GROUP[:, None], GROUP])
    free = LogisticRegression(C=1.0, tol=1e-10).fit(data[:, :3], LABELS)
    assert abs(covariance(free.decision_function(data[:, :3]), GROUP)) > 0.1
    model = FairLogisticRegression([3], covariance_threshold=0.02).fit(data, LABELS)
    scores = model.decision_function(data)
    assert abs(covariance(scores, GROUP)) <= 0.02 + 1e-9 and model.coef_[0, 3] == 0.0
    assert model.covariances_["x3"] == pytest.approx(covariance(scores, GROUP), abs=1e-9)
    assert model.active_[0] == "|cov(x3, score)| <= 0.02"
    b, c = cp.Variable(3), cp.Variable()
    z = data[:, :3] @ b + c
    loss = cp.sum(cp.logistic(z) - cp.multiply(LABELS, z)) + cp.sum_squares(b) / 2
    row = (GROUP - GROUP.mean()) @ data[:, :3] / N
    assert N * model.solution_.fun == pytest.approx(least(loss, cp.abs(row @ b) <= 0.02), abs=1e-6)


def test_sensitive_attributes_may_stand_beside_the_table_and_be_words():
    words = np.where(GROUP == 1, "yes", "no")
    beside = FairLogisticRegression(covariance_threshold=0.01)
    data = X + GROUP[:, None]
    one = clone(beside).fit(data, LABELS, sensitive_features=pd.Series(words, name="member"))
    other = clone(beside).fit(data, LABELS, sensitive_features=GROUP)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)
    assert set(one.covariances_) == {"member=no", "member=yes"}
    loose = clone(beside).set_params(covariance_threshold=1e3).fit(data, LABELS, sensitive_features=GROUP)
    np.testing.assert_allclose(
        loose.coef_, ConstrainedLogisticRegression().fit(data, LABELS).coef_, atol=1e-6
    )


def test_fairness_holds_for_every_class():
    classes = np.digitize(Y, [-0.5, 1.0])
    model = FairLogisticRegression(covariance_threshold=0.05).fit(
        X + GROUP[:, None], classes, sensitive_features=GROUP
    )
    scores = model.decision_function(X + GROUP[:, None])
    assert all(abs(covariance(scores[:, k], GROUP)) <= 0.05 + 1e-9 for k in range(3))
    assert len(model.covariances_["sensitive"]) == 3
