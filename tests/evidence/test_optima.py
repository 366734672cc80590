"""Optimal points and multipliers against the KKT system, CVXPY, scikit-learn and SciPy."""

import cvxpy
import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, PoissonRegressor

import tether
from tether.methods import Anderson, DelayedASVRG, DelayedSVRG, ProxSkip, Regularised

N, D, K, L2 = 60, 5, 3, 0.05
TIGHT = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_ktratio"), 1e-12)
METHODS = [
    "skip",
    "p-svrg",
    "dp-svrg",
    "dp-asvrg",
    "proxskip",
    "proxskip-svrg",
    "nesterov",
    "lbfgs",
    ProxSkip(random=True),
    DelayedSVRG(anchor="last"),
    DelayedASVRG(momentum=0.8, first_step="coupled"),
    Anderson(DelayedSVRG()),
    Regularised(DelayedSVRG()),
]


@pytest.fixture(params=METHODS, ids=lambda method: repr(method)[:40])
def solve(request):
    """Solve until the certificate leaves x no more than 1e-8 from the optimum."""

    def run(objective, constraint=None):
        solution = tether.solve(objective, constraint, request.param, tol=1e-18, max_passes=4000)
        assert solution.success
        return solution

    return run


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, D))
    return X, X @ rng.standard_normal(D) + rng.standard_normal(N), rng.standard_normal((N, K))


@pytest.fixture(scope="module")
def equations():
    def draw(rows, columns):
        rng = np.random.default_rng(7)
        return rng.standard_normal((rows, columns)), rng.standard_normal(rows)

    return draw


def _assert_multipliers(objective, A, solution):
    gradient = objective.gradient(solution.x)
    np.testing.assert_allclose(A.T @ solution.multipliers, gradient, rtol=0, atol=1e-7)
    assert np.linalg.norm(solution.multipliers) > 0.01


def test_a_quadratic_solves_its_kkt_system(data, equations, solve):
    X, y, _ = data
    A, b = equations(2, D)
    objective = tether.Quadratic(factors=X, linear=-X.T @ y / N)
    hessian = 2 * X.T @ X / N
    kkt = np.block([[hessian, A.T], [A, np.zeros((2, 2))]])
    answer = np.linalg.solve(kkt, np.concatenate([X.T @ y / N, b]))
    solution = solve(objective, tether.Affine(A, b))
    np.testing.assert_allclose(solution.x, answer[:D], rtol=0, atol=1e-8)
    np.testing.assert_allclose(solution.multipliers, -answer[D:], rtol=0, atol=1e-7)
    _assert_multipliers(objective, A, solution)


@pytest.fixture(scope="module")
def logistic_by_cvxpy(data, equations):
    X, response, _ = data
    A, b = equations(2, D)
    labels, x = np.sign(response), cvxpy.Variable(D)
    losses = cvxpy.logistic(cvxpy.multiply(-labels, X @ x))
    goal = cvxpy.Minimize(cvxpy.sum(losses) / N + L2 / 2 * cvxpy.sum_squares(x))
    problem = cvxpy.Problem(goal, [A @ x == b])
    problem.solve(solver=cvxpy.CLARABEL, **TIGHT)
    return x.value, problem.constraints[0].dual_value


def test_constrained_logistic_regression_agrees_with_cvxpy(data, equations, solve, logistic_by_cvxpy):
    X, response, _ = data
    A, b = equations(2, D)
    objective = tether.GLM(X, np.sign(response), loss="logistic", l2=L2)
    solution = solve(objective, tether.Affine(A, b))
    x, dual = logistic_by_cvxpy
    np.testing.assert_allclose(solution.x, x, rtol=0, atol=1e-8)
    np.testing.assert_allclose(solution.multipliers, -dual, rtol=0, atol=1e-7)
    _assert_multipliers(objective, A, solution)


@pytest.fixture(scope="module")
def multinomial_by_cvxpy(data, equations):
    X, _, scores = data
    A, b = equations(3, D * K)
    W = cvxpy.Variable((D, K))
    chosen = np.eye(K)[scores.argmax(axis=1)]
    losses = cvxpy.log_sum_exp(X @ W, axis=1) - cvxpy.sum(cvxpy.multiply(chosen, X @ W), axis=1)
    goal = cvxpy.Minimize(cvxpy.sum(losses) / N + L2 / 2 * cvxpy.sum_squares(W))
    cvxpy.Problem(goal, [A @ cvxpy.vec(W, order="C") == b]).solve(solver=cvxpy.CLARABEL, **TIGHT)
    return W.value


@pytest.mark.slow
def test_constrained_multinomial_regression_agrees_with_cvxpy(data, equations, solve, multinomial_by_cvxpy):
    X, _, scores = data
    A, b = equations(3, D * K)
    objective = tether.GLM(X, scores.argmax(axis=1), loss="multinomial", l2=L2)
    solution = solve(objective, tether.Affine(A, b))
    W = objective.unpack(solution.x).coef
    np.testing.assert_allclose(W, multinomial_by_cvxpy, rtol=0, atol=1e-8)
    _assert_multipliers(objective, A, solution)


def test_logistic_regression_agrees_with_scikit_learn(data, solve):
    X, response, _ = data
    y = (response > 0).astype(int)
    peer = LogisticRegression(
        C=1 / (N * L2), fit_intercept=False, solver="newton-cholesky", tol=1e-14, max_iter=1000
    ).fit(X, y)
    solution = solve(tether.GLM(X, y, loss="logistic", l2=L2))
    np.testing.assert_allclose(solution.x, peer.coef_[0], rtol=0, atol=1e-8)


def test_poisson_regression_agrees_with_scikit_learn(data):
    X, response, _ = data
    y = np.round(np.abs(response))
    peer = PoissonRegressor(
        alpha=L2, fit_intercept=False, solver="newton-cholesky", tol=1e-14, max_iter=1000
    ).fit(X, y)
    for method in ("lbfgs", "nesterov"):
        solution = tether.solve(tether.GLM(X, y, loss="poisson", l2=L2), method=method, tol=1e-18)
        assert solution.success
        np.testing.assert_allclose(solution.x, peer.coef_, rtol=0, atol=1e-8)


def _on_the_null_space(value, gradient, A, b):
    """Minimise over x = x_p + Z t with SciPy."""
    Z, origin = null_space(A), np.linalg.lstsq(A, b)[0]
    found = minimize(
        lambda t: value(origin + Z @ t),
        np.zeros(Z.shape[1]),
        jac=lambda t: Z.T @ gradient(origin + Z @ t),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    return origin + Z @ found.x


def test_constrained_poisson_regression_agrees_with_scipy(data, equations):
    X, response, _ = data
    y, (A, b) = np.round(np.abs(response)), equations(2, D)
    x = _on_the_null_space(
        lambda x: np.mean(np.exp(X @ x) - y * (X @ x)) + L2 / 2 * x @ x,
        lambda x: X.T @ (np.exp(X @ x) - y) / N + L2 * x,
        A,
        b,
    )
    objective = tether.GLM(X, y, loss="poisson", l2=L2)
    for method in ("lbfgs", "nesterov"):
        solution = tether.solve(objective, tether.Affine(A, b), method, tol=1e-18)
        np.testing.assert_allclose(solution.x, x, rtol=0, atol=1e-8)
        _assert_multipliers(objective, A, solution)


def test_constrained_huber_regression_agrees_with_scipy(data, equations, solve):
    X, y, _ = data
    A, b = equations(2, D)
    delta = 1.35

    def value(x):
        size = np.abs(X @ x - y)
        losses = np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))
        return losses.mean() + L2 / 2 * x @ x

    x = _on_the_null_space(value, lambda x: X.T @ np.clip(X @ x - y, -delta, delta) / N + L2 * x, A, b)
    assert 5 < np.sum(np.abs(X @ x - y) > delta) < N - 5  # both branches are in use
    objective = tether.GLM(X, y, loss="huber", l2=L2)
    solution = solve(objective, tether.Affine(A, b))
    np.testing.assert_allclose(solution.x, x, rtol=0, atol=1e-8)
    _assert_multipliers(objective, A, solution)
