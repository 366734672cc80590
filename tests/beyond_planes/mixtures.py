"""Random problems with every mixture of equations, inequalities, bounds and penalties, and CVXPY's answer."""

import warnings
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint

import tether

LOSSES = ("squared", "logistic", "poisson", "huber")


class Mixture(NamedTuple):
    objective: tether.GLM
    constraints: list[Any]
    penalties: list[Any]
    variable: cp.Variable
    problem: cp.Problem
    words: str

    def solve(self, method: Any = "auto", **settings: Any) -> tether.Solution:
        return tether.solve(
            self.objective, self.constraints or None, method, penalty=self.penalties or None, **settings
        )

    def reference(self) -> float | None:
        """The optimal value as CVXPY has it, measured as the library measures; None where it gave up."""
        tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it may be inaccurate is in its status
            try:
                self.problem.solve(solver="CLARABEL", **tight)
            except cp.SolverError:
                return None
        if self.problem.status not in ("optimal", "optimal_inaccurate"):
            return None
        x = self.variable.value
        return self.objective.value(x) + sum(one.value(x) for one in self.penalties)


def mixture(seed: int) -> Mixture:
    """Draw a problem with a feasible point inside or on the walls."""
    rng = np.random.default_rng(seed)
    n, p = (
        int(rng.integers(20, 200)),
        int(rng.integers(2, 25) if rng.random() < 0.8 else rng.integers(30, 60)),
    )
    loss, l2 = LOSSES[rng.integers(4)], (0.1, 1e-2, 1e-4, 0.0)[rng.integers(4)]
    X = rng.standard_normal((n, p)) * (10.0 ** rng.uniform(-1, 1, p) if rng.random() < 0.3 else 1.0)
    y = _labels(rng, loss, X @ rng.standard_normal(p) / np.sqrt(p))
    inside = 0.2 * rng.standard_normal(p)
    inside = np.abs(inside) if rng.random() < 0.2 else inside
    v, kinds = cp.Variable(p), []
    given, stated = [], []
    if rng.random() < 0.5:
        A = rng.standard_normal((int(rng.integers(1, max(2, p // 3))), p))
        given.append(tether.Affine(A, A @ inside))
        stated.append(A @ v == A @ inside)
        kinds.append("equations")
    if rng.random() < 0.5:
        _inequalities(rng, inside, v, given, stated)
        kinds.append("inequalities")
    if rng.random() < 0.5:
        _bounds(rng, inside, v, given, stated)
        kinds.append("bounds")
    penalties, cost = [], 0.0
    if rng.random() < 0.5 or not given:
        lam = 10.0 ** rng.uniform(-3, -0.5)
        penalties.append(tether.L1(lam))
        cost = cost + lam * cp.norm1(v)
        kinds.append("l1")
    if rng.random() < 0.3 and p > 2:
        lam, D = 10.0 ** rng.uniform(-3, -0.5), tether.differences(p)
        penalties.append(tether.L1(lam, D))
        cost = cost + lam * cp.norm1(D @ v)
        kinds.append("differences")
    value = _loss(loss, X @ v, y) / n + 0.5 * l2 * cp.sum_squares(v) + cost
    problem = cp.Problem(cp.Minimize(value), stated)
    objective = tether.GLM(X, y, loss=loss, l2=l2)
    return Mixture(objective, given, penalties, v, problem, f"{loss}, l2 = {l2}, {n} x {p}, {kinds}")


def _labels(rng: np.random.Generator, loss: str, z: np.ndarray) -> np.ndarray:
    if loss == "logistic":
        return np.where(z + rng.standard_normal(len(z)) > 0, 1.0, -1.0)
    if loss == "poisson":
        return rng.poisson(np.exp(np.clip(z, -3, 2))).astype(float)
    return z + (rng.standard_normal(len(z)) if loss == "squared" else rng.standard_t(2, len(z)))


def _loss(loss: str, z: cp.Expression, y: np.ndarray) -> cp.Expression:
    if loss == "logistic":
        return cp.sum(cp.logistic(-cp.multiply(y, z)))
    if loss == "poisson":
        return cp.sum(cp.exp(z) - cp.multiply(y, z))
    return cp.sum_squares(z - y) / 2 if loss == "squared" else cp.sum(cp.huber(z - y, 1.0)) / 2


def _inequalities(rng: Any, inside: np.ndarray, v: cp.Variable, given: list, stated: list) -> None:
    count = int(rng.integers(1, 6))
    G = rng.standard_normal((count, len(inside)))
    at = G @ inside
    lower = at - rng.exponential(0.3, count) * (rng.random(count) < 0.7)
    upper = at + rng.exponential(0.3, count)
    lower[rng.random(count) < 0.4], upper[rng.random(count) < 0.3] = -np.inf, np.inf
    given.append(LinearConstraint(sparse.csr_array(G) if rng.random() < 0.3 else G, lower, upper))
    low, high = np.isfinite(lower), np.isfinite(upper)
    stated += [G[low] @ v >= lower[low]] if low.any() else []
    stated += [G[high] @ v <= upper[high]] if high.any() else []


def _bounds(rng: Any, inside: np.ndarray, v: cp.Variable, given: list, stated: list) -> None:
    if (inside >= 0).all() and rng.random() < 0.7:
        given.append(tether.NonNegative())
        stated.append(v >= 0)
        return
    lower = inside - rng.exponential(0.2, len(inside))
    upper = inside + rng.exponential(0.2, len(inside))
    fixed = rng.random(len(inside)) < 0.1
    lower[fixed] = upper[fixed] = inside[fixed]
    given.append(Bounds(lower, upper))
    stated += [v >= lower, v <= upper]
