"""A problem written in CVXPY."""

import cvxpy as cp
import numpy as np
from scipy import sparse

from benchmark_utils.problem import Problem


def model_of(problem: Problem) -> tuple[cp.Expression, cp.Problem]:
    """Return x and the problem it solves."""
    if problem.loss == "quadratic":
        x = cp.Variable(problem.A.shape[1])
        n = problem.X.shape[0]
        C = problem.X.T @ problem.X / n  # a million dense rows of a conic model would not fit
        value = cp.quad_form(x, cp.psd_wrap(C)) + problem.y @ x
    else:
        x, losses = _losses(problem, _design(problem))
        value = cp.sum(losses) / problem.X.shape[0] + problem.l2 / 2 * cp.sum_squares(x)
    return x, cp.Problem(cp.Minimize(value), [problem.A @ x == problem.b])


def _design(problem: Problem):
    if not problem.fit_intercept:
        return problem.X
    ones = np.ones((problem.X.shape[0], 1))
    return sparse.hstack([problem.X, ones]) if sparse.issparse(problem.X) else np.hstack([problem.X, ones])


def _losses(problem: Problem, X) -> tuple[cp.Expression, cp.Expression]:
    if problem.loss == "multinomial":
        W = cp.Variable((X.shape[1], problem.n_classes))
        chosen = np.eye(problem.n_classes)[problem.y]
        return cp.vec(W, order="C"), cp.log_sum_exp(X @ W, axis=1) - cp.sum(
            cp.multiply(chosen, X @ W), axis=1
        )
    x = cp.Variable(X.shape[1])
    z, y = X @ x, problem.y
    if problem.loss == "poisson":
        return x, cp.exp(z) - cp.multiply(y, z)
    assert problem.loss == "logistic", f"no CVXPY model of {problem.loss}"
    return x, cp.logistic(z) - cp.multiply(y > 0, z)
