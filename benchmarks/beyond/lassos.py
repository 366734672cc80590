"""l1 terms: the lasso, with equations, and on lines and pictures."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

import tether
from beyond.contest import Contest, Contestant


def _tether(*problem: Any, **settings: Any) -> Contestant:
    return Contestant("tether", lambda: tether.solve(problem[0](), *problem[1:], **settings))


def dense() -> Iterator[Contest]:
    """5,000 x 2,000, two strengths."""
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((5_000, 2_000)), np.zeros(2_000)
    w[rng.choice(2_000, 50, replace=False)] = rng.standard_normal(50)
    y = X @ w + rng.standard_normal(5_000)
    yield from _lassos("lasso, dense 5,000 x 2,000", X, np.asfortranarray(X), y)


def text() -> Iterator[Contest]:
    """Package descriptions, with squared and with logistic loss."""
    from tether.datasets import debian_packages

    X, labels = debian_packages()
    y = np.where(labels > 0, 1.0, -1.0)
    yield from _lassos("lasso, text", X, sparse.csc_matrix(X), y)
    yield from _logistic("l1 logistic, text", X, sparse.csc_matrix(X), y)


def _lassos(name: str, X: Any, columns: Any, y: np.ndarray) -> Iterator[Contest]:
    from celer import Lasso
    from skglm import Lasso as SkglmLasso

    for share in (0.1, 0.01):
        lam = share * float(np.abs(X.T @ y).max()) / len(y)

        def value(x: np.ndarray, lam: float = lam) -> float:
            return 0.5 * float(np.mean((X @ x - y) ** 2)) + lam * float(np.abs(x).sum())

        def celer(lam: float = lam) -> np.ndarray:
            return Lasso(alpha=lam, fit_intercept=False, tol=1e-7).fit(columns, y).coef_

        def skglm(lam: float = lam) -> np.ndarray:
            return SkglmLasso(alpha=lam, fit_intercept=False, tol=1e-6).fit(columns, y).coef_

        yield Contest(
            f"{name}, {share:g} of the largest",
            value,
            [
                _tether(lambda: tether.GLM(X, y, "squared"), penalty=tether.L1(lam)),
                Contestant("celer", celer),
                Contestant("skglm", skglm),
            ],
        )


def _logistic(name: str, X: Any, columns: Any, y: np.ndarray) -> Iterator[Contest]:
    from celer import LogisticRegression

    lam = 0.01 * float(np.abs(X.T @ y).max()) / 2 / len(y)

    def value(x: np.ndarray) -> float:
        return float(np.mean(np.logaddexp(0.0, -y * (X @ x)))) + lam * float(np.abs(x).sum())

    def celer() -> np.ndarray:
        model = LogisticRegression(C=1 / (lam * len(y)), fit_intercept=False, tol=1e-7)
        return model.fit(columns, y).coef_.ravel()

    own = _tether(lambda: tether.GLM(X, y, "logistic"), penalty=tether.L1(lam))
    yield Contest(name, value, [own, Contestant("celer", celer, 1)])


def sum_to_zero() -> Iterator[Contest]:
    """The lasso of compositional data, 1,000 x 2,000."""
    np.infty = np.inf  # which c-lasso still asks for
    from classo import classo_problem

    rng = np.random.default_rng(0)
    X, w, total = rng.standard_normal((1_000, 2_000)), np.zeros(2_000), np.ones((1, 2_000))
    w[:20] = rng.standard_normal(20)
    w[:20] -= w[:20].mean()
    y = X @ w + 0.5 * rng.standard_normal(1_000)
    lam = 0.1 * float(np.abs(X.T @ y).max()) / 1_000

    def value(x: np.ndarray) -> float:
        return 0.5 * float(np.mean((X @ x - y) ** 2)) + lam * float(np.abs(x).sum())

    def classo() -> np.ndarray:
        problem = classo_problem(X, y, total)
        problem.formulation.intercept = problem.formulation.concomitant = False
        problem.model_selection.StabSel, problem.model_selection.LAMfixed = False, True
        problem.model_selection.LAMfixedparameters.rescaled_lam = False
        problem.model_selection.LAMfixedparameters.lam = 2.0 * lam * len(y)
        problem.solve()
        return problem.solution.LAMfixed.beta

    own = _tether(lambda: tether.GLM(X, y, "squared"), tether.Affine(total), penalty=tether.L1(lam))
    yield Contest("lasso, sum to zero, 1,000 x 2,000", value, [own, Contestant("c-lasso", classo)])


def signals() -> Iterator[Contest]:
    """Fused lasso and trend filtering of 1e5 points, and a picture of 300 x 300."""
    rng = np.random.default_rng(0)
    p, n = 100_000, 300
    steps = np.repeat(rng.standard_normal(50), p // 50) + 0.3 * rng.standard_normal(p)
    slopes = np.cumsum(np.repeat(rng.standard_normal(50), p // 50)) / 500 + 0.3 * rng.standard_normal(p)
    picture = np.zeros((n, n))
    picture[50:150, 80:200], picture[180:260, 30:120] = 1.0, -1.0
    picture += 0.3 * rng.standard_normal((n, n))
    yield _signal("fused lasso, 1e5", steps, tether.differences(p), 20.0)
    yield _signal("trend filtering, 1e5", slopes, tether.differences(p, 2), 5_000.0)
    yield _signal("fused lasso, 300 x 300", picture.ravel(), tether.grid_differences((n, n)), 0.5)


def _signal(name: str, y: np.ndarray, D: Any, lam: float) -> Contest:
    import cvxpy as cp

    def value(x: np.ndarray) -> float:
        return 0.5 * float(np.sum((x - y) ** 2)) + lam * float(np.abs(D @ x).sum())

    def cvxpy() -> np.ndarray:
        v = cp.Variable(len(y))
        problem = cp.Problem(cp.Minimize(cp.sum_squares(v - y) / 2 + lam * cp.norm1(D @ v)))
        problem.solve(solver="CLARABEL", time_limit=120.0)
        return v.value

    half = 0.5 * sparse.eye_array(len(y), format="csr")
    objective = lambda: tether.Quadratic(matrix=half, linear=-y, constant=0.5 * float(y @ y))  # noqa: E731
    own = Contestant("tether", lambda: tether.solve(objective(), penalty=tether.L1(lam, D)), 2)
    return Contest(name, value, [own, Contestant("cvxpy, Clarabel", cvxpy, 1)])
