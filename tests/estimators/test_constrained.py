"""With constraints, estimators find what CVXPY finds, over families, constraints and penalties."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds, LinearConstraint
from scipy.special import softmax

import tether
from tether.estimators import ConstrainedGLM
from tether.estimators.families import FAMILIES

N, P, K = 80, 5, 3
NAMES = ["a", "b", "c", "d", "e"]
Q, H, DELTA, POWER = 0.7, 0.4, 0.8, 1.4


def table(seed):
    """Data, labels of every family, weights and offsets."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((N, P)), columns=NAMES)
    z = X.to_numpy() @ rng.standard_normal(P) / 2 + 0.3
    y = {
        "normal": z + rng.standard_normal(N),
        "binomial": (rng.random(N) < 1 / (1 + np.exp(-z))).astype(float),
        "multinomial": np.digitize(z + rng.standard_normal(N), [-0.5, 0.7]),
        "poisson": rng.poisson(np.exp(z)).astype(float),
        "gamma": np.exp(z) * rng.gamma(2.0, size=N),
        "tweedie": rng.poisson(1.0, N) * np.exp(z) * rng.gamma(2.0, size=N),
        "huber": z + rng.standard_t(2, N),
        "quantile-smoothed": z + rng.standard_t(3, N),
    }
    return rng, X, y, rng.random(N) + 0.2, 0.3 * rng.standard_normal(N)


def loss(family, z, y):
    """The sum of weighted losses is cp.sum(weights * this)."""
    if family == "normal":
        return cp.square(z - y) / 2
    if family == "binomial":
        return cp.logistic(z) - cp.multiply(y, z)
    if family == "multinomial":
        return cp.log_sum_exp(z, axis=1) - cp.sum(cp.multiply(np.eye(K)[y], z), axis=1)
    if family == "poisson":
        return cp.exp(z) - cp.multiply(y, z)
    if family == "gamma":
        return z + cp.multiply(y, cp.exp(-z))
    if family == "tweedie":
        falling = cp.multiply(y, cp.exp((1 - POWER) * z)) / (POWER - 1)
        return falling + cp.exp((2 - POWER) * z) / (2 - POWER)
    if family == "huber":
        return cp.huber(z - y, DELTA) / 2
    return Q * (y - z) + H * cp.logistic((z - y) / H)


def kinds(rng):
    """Constraints as users write them, and what CVXPY hears."""
    G, g = rng.standard_normal((2, P)), rng.random(2)
    A = rng.standard_normal((1, P))
    frame = pd.DataFrame(A[:, ::-1], columns=NAMES[::-1])
    return {
        "equation": (
            {"constraints": ["a + b == c", "sum == 0.5"]},
            lambda b, c: [b[0] + b[1] == b[2], sum(b) == 0.5],
        ),
        "matrices": (
            {"A_eq": frame, "b_eq": [0.3], "A_ineq": G, "b_ineq": g},
            lambda b, c: [A @ b == [0.3], G @ b <= g],
        ),
        "bounds": (
            {"lower_bounds": {"a": 0.1, "c": -0.2}, "upper_bounds": 0.6},
            lambda b, c: [b[0] >= 0.1, b[2] >= -0.2, b <= 0.6],
        ),
        "order": (
            {"constraints": "a <= b <= c <= d", "monotonic_constraints": {"e": "decreasing"}},
            lambda b, c: [b[0] <= b[1], b[1] <= b[2], b[2] <= b[3], b[4] <= 0],
        ),
        "scipy": (
            {"constraints": [LinearConstraint(G, -g, g), Bounds(-0.4, np.inf), tether.Affine(A, 0.1)]},
            lambda b, c: [G @ b <= g, G @ b >= -g, b >= -0.4, A @ b == [0.1]],
        ),
        "intercept": (
            {"constraints": ["intercept == 0.2", "a + intercept <= 0.3", "all >= -0.5"]},
            lambda b, c: [c == 0.2, b[0] + c <= 0.3, b >= -0.5],
        ),
        "simplex": ({"constraints": [tether.Simplex()]}, lambda b, c: [b >= 0, sum(b) == 1]),
    }


PENALTIES = (
    {"alpha": 0.0},
    {"alpha": 0.1},
    {"alpha": 0.05, "l1_ratio": 1.0},
    {"alpha": 0.05, "l1_ratio": 0.5},
)


def cases(count, first=0):
    """Families, kinds and penalties in an order that meets all of them soon."""
    names = list(kinds(np.random.default_rng(0)))
    return [
        (first + k, FAMILIES[k % 8], names[(k + k // 8) % 7], PENALTIES[(k + k // 4) % 4])
        for k in range(count)
    ]


def optimum(seed, family, kind, penalty):
    """The model by CVXPY: its value and coefficients."""
    rng, X, y, weights, offset = table(seed)
    several = family == "multinomial"
    b = cp.Variable((P, K)) if several else cp.Variable(P)
    c = cp.Variable((1, K)) if several else cp.Variable()
    shift = 0.0 if several else offset
    z = X.to_numpy() @ b + (np.ones((N, 1)) @ c if several else c) + shift
    data = cp.sum(cp.multiply(weights / weights.sum(), loss(family, z, y[family])))
    alpha, share = penalty["alpha"], penalty.get("l1_ratio", 0.0)
    total = data + alpha * (share * cp.sum(cp.abs(b)) + (1 - share) / 2 * cp.sum_squares(b))
    _, hear = kinds(rng)[kind]
    columns = [(b[:, k], c[0, k]) for k in range(K)] if several else [(b, c)]
    problem = cp.Problem(cp.Minimize(total), [rule for one in columns for rule in hear(*one)])
    problem.solve(solver=cp.CLARABEL)
    return problem, b.value.T, z.value, total, b, c


def check(seed, family, kind, penalty):
    rng, X, y, weights, offset = table(seed)
    options, _ = kinds(rng)[kind]
    model = ConstrainedGLM(family, quantile=Q, bandwidth=H, delta=DELTA, power=POWER, **options, **penalty)
    model.fit(X, y[family], weights, None if family == "multinomial" else offset)
    problem, coef, means, total, b, c = optimum(seed, family, kind, penalty)
    b.value, c.value = model.coef_.T, np.reshape(model.intercept_, c.shape)
    assert max(float(np.max(rule.violation())) for rule in problem.constraints) <= 1e-9
    assert total.value <= problem.value + 1e-7
    if family == "multinomial":  # whose coefficients are not determined without a ridge
        np.testing.assert_allclose(model.predict(X), softmax(means, axis=1), atol=2e-3)
    else:
        np.testing.assert_allclose(model.coef_, coef, atol=2e-3)


@pytest.mark.parametrize(("seed", "family", "kind", "penalty"), cases(16))
def test_constrained_models_are_those_of_cvxpy(seed, family, kind, penalty):
    check(seed, family, kind, penalty)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "family", "kind", "penalty"), cases(112, first=100))
def test_many_constrained_models_are_those_of_cvxpy(seed, family, kind, penalty):
    check(seed, family, kind, penalty)
