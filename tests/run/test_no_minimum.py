"""Data that a direction separates: F has no minimum, and no run says that it found one.

A linear program decides which problems these are: is there d with A d = 0 along which no term rises and one
falls?
"""

import numpy as np
import pytest
from scipy.optimize import linprog

import tether
from tether import Status

WORDS = "F has no minimum on the constraint: it falls for ever along a direction (the data may be separable)"


def is_separable(rows, fixed, A):
    """Whether rows d >= 0, not all 0, fixed d = 0 and A d = 0 for some d; columns have unit length."""
    lengths = np.linalg.norm(np.vstack([rows, fixed]), axis=0)
    rows, equal = rows / lengths, np.vstack([fixed, A]) / lengths
    found = linprog(
        -rows.sum(axis=0),
        A_ub=-rows,
        b_ub=np.zeros(len(rows)),
        A_eq=equal,
        b_eq=np.zeros(len(equal)),
        bounds=(-1, 1),
    )
    assert found.status == 0
    return -found.fun > 1e-9


def table(kind, rng):
    """Rows and labels 1 and -1 of a small problem of a kind."""
    p = int(rng.integers(2, 7))
    n = int(rng.integers(p + 3, 50))
    X, w = rng.standard_normal((n, p)), rng.standard_normal(p)
    noise = rng.logistic(size=n) * {"overlapping": 1.0, "nearly": 0.1, "separable": 0.0}.get(kind, 0.5)
    if kind == "binary":
        X = (rng.random((n, p)) < 0.4).astype(float)
        X[:, -1] = 1.0
    s = np.where(X @ w + noise > 0, 1.0, -1.0)
    if kind == "a column tells":
        X[:, 0] = rng.random(n) < 0.3
        s[X[:, 0] > 0] = 1.0
    s[:2] = 1.0, -1.0  # both classes
    return X[:, np.linalg.norm(X, axis=0) > 0], s


def equations(p, rng):
    m = int(rng.integers(0, p))
    return rng.standard_normal((m, p)), rng.standard_normal(m) * int(rng.integers(0, 2))


def solved(objective, A, b, method):
    return tether.solve(objective, tether.Affine(A, b) if len(A) else None, method, max_passes=1200)


def agrees(solution, separable):
    """Whether a run says of a problem what the program says, or that it is not done."""
    if solution.status is Status.DIVERGED:
        assert WORDS in solution.message and "add l2 or equations" in solution.message
        return separable
    return not (separable and solution.success)


KINDS = ["overlapping", "nearly", "separable", "a column tells", "binary"]


@pytest.mark.parametrize("method", ["lbfgs", "auto", "skip"])
@pytest.mark.parametrize("kind", KINDS)
def test_logistic_runs_agree_with_a_linear_program(kind, method):
    rng = np.random.default_rng(KINDS.index(kind))
    count = {False: 0, True: 0}
    for _ in range(12 if method == "skip" and kind != "separable" else 25):
        X, s = table(kind, rng)
        A, b = equations(X.shape[1], rng)
        separable = is_separable(s[:, None] * X, X[:0], A)
        solution = solved(tether.GLM(X, s), A, b, method)
        assert agrees(solution, separable)
        count[separable] += solution.status in (Status.DIVERGED, Status.CONVERGED)
    assert count[True] >= 1 or kind == "overlapping"
    assert count[False] >= 1 or kind == "separable"


@pytest.mark.parametrize("loss", ["multinomial", "poisson"])
def test_other_losses_agree_with_a_linear_program(loss):
    rng = np.random.default_rng(7)
    count = {False: 0, True: 0}
    for trial in range(60):
        X, s = table(KINDS[trial % 5], rng)
        if loss == "poisson":
            y = np.where(s > 0, 0, rng.poisson(2.0, len(s)))
            rows, fixed, K = -X[y == 0], X[y > 0], 1
        else:
            y, K = np.where(s > 0, 1 + (rng.random(len(s)) < 0.3), 0), 3
            y[:3] = 0, 1, 2
            sides = np.eye(K)[y][:, None, :] - np.eye(K)[None]
            rows = np.einsum("id,ijk->ijdk", X, sides).reshape(-1, X.shape[1] * K)
            rows, fixed = rows[np.abs(rows).any(axis=1)], np.zeros((0, rows.shape[1]))
        A, b = equations(X.shape[1] * K, rng)
        A, b = (A, b) if trial % 2 else (A[:0], b[:0])
        separable = is_separable(rows, fixed, A)
        assert agrees(solved(tether.GLM(X, y, loss), A, b, "lbfgs"), separable)
        count[separable] += 1
    assert min(count.values()) >= 5


def overlapping(columns=1.0):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 4))
    s = np.where(X @ np.array([2.0, -1.0, 1.0, 0.5]) + rng.logistic(size=60) > 0, 1.0, -1.0)
    return X * columns, s


def separated():
    X = overlapping()[0]
    return X, np.where(X[:, 0] > 0, 1.0, -1.0)


@pytest.mark.parametrize("method", ["lbfgs", "auto", "nesterov"])
@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3])
def test_a_minimum_that_is_far_out_because_of_units_is_found(unit, method):
    X, s = overlapping(unit)
    solution = tether.solve(tether.GLM(X, s), None, method, max_passes=5000)
    assert solution.success and np.linalg.norm(solution.x) > 0.5 / unit


@pytest.mark.parametrize("l2", [1e-9, 1e-4])
def test_a_little_l2_is_enough_for_a_minimum(l2):
    solution = tether.solve(tether.GLM(*separated(), l2=l2), None, "lbfgs")
    assert solution.success and solution.gap is not None


def test_what_the_message_advises_leads_to_a_minimum():
    objective = tether.GLM(*separated())
    assert tether.solve(objective, None, "lbfgs").status is Status.DIVERGED
    assert tether.solve(objective, tether.Affine(np.eye(1, 4), [0.0]), "lbfgs").success


def test_samples_without_weight_do_not_count():
    X, s = separated()
    s[0] = -s[0]
    objective = tether.GLM(X, s, sample_weight=np.where(np.arange(60) == 0, 0.0, 1.0))
    assert tether.solve(objective, None, "lbfgs").status is Status.DIVERGED


@pytest.mark.parametrize("method", ["auto", "newton", "lbfgs"])
def test_a_quantile_that_lies_flat_between_two_samples_is_a_minimum(method):
    y = np.random.default_rng(0).standard_t(2, size=40)  # whose fourth and fifth are far apart
    loss = tether.objectives.losses.SmoothedQuantile(quantile=0.1, bandwidth=0.003)
    sol = tether.solve(tether.GLM(np.ones((40, 1)), y, loss), None, method, x0=[np.median(y)], rtol=1e-8)
    assert sol.status is not Status.DIVERGED and np.sort(y)[3] < sol.x[0] < np.sort(y)[4]


def test_a_user_and_a_federation_hear_it_too():
    X, s = separated()
    model = tether.GLM(X, s)
    own = tether.FiniteSum(
        gradient=lambda x, batch: model.gradient(x),
        value=lambda x, batch: model.value(x),
        n_samples=1,
        dim=4,
        smoothness=model.smoothness,
    )
    parts = tether.Federation([tether.GLM(X[k::2], s[k::2]) for k in range(2)])
    for objective in (own, parts):
        solution = tether.solve(objective, None, "lbfgs")
        assert solution.status is Status.DIVERGED and "seems to have no minimum" in solution.message


def test_a_user_and_a_federation_hear_nothing_without_reason():
    X, s = overlapping()
    parts = tether.Federation([tether.GLM(X[k::2], s[k::2]) for k in range(2)])
    for method in ("lbfgs", "nesterov", "skip"):
        assert tether.solve(parts, None, method, max_passes=5000).success
