"""Inequalities and bounds: models with rows, nonnegative least squares, quadratic programs."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse
from scipy.optimize import LinearConstraint, lsq_linear, minimize, nnls

import tether
from beyond.contest import Contest, Contestant

INFINITE = 9e19  # what the programs' files mean by it
FEASIBLE = 1e-6  # beyond inequalities an answer counts for nothing
FAMILIES = {"poisson": "poisson", "logistic": "binomial"}  # glum's words


def models() -> Iterator[Contest]:
    """500,000 x 100 with 20 inequalities, Poisson and logistic."""
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((500_000, 100)) / 10, rng.standard_normal(100)
    G, mean = rng.standard_normal((20, 100)), X @ w
    rows = LinearConstraint(G, -np.inf, 0.8 * (G @ w) - 0.1)
    labels = {
        "poisson": rng.poisson(np.exp(mean)).astype(float),
        "logistic": (rng.random(len(mean)) < 1 / (1 + np.exp(-mean))).astype(float),
    }
    for loss, y in labels.items():
        yield _model(loss, X, y, rows)


def _model(loss: str, X: np.ndarray, y: np.ndarray, rows: LinearConstraint) -> Contest:
    import glum

    objective = tether.GLM(X, y, loss, l2=1e-4)

    def own() -> tether.Solution:
        return tether.solve(tether.GLM(X, y, loss, l2=1e-4), rows)

    def glums() -> np.ndarray:
        model = glum.GeneralizedLinearRegressor(
            family=FAMILIES[loss], alpha=1e-4, l1_ratio=0.0, fit_intercept=False, A_ineq=rows.A,
            b_ineq=rows.ub, solver="trust-constr", gradient_tol=1e-5, max_iter=500,
        )  # fmt: skip
        return model.fit(X, y).coef_

    def trust_constr() -> np.ndarray:
        found = minimize(
            objective.value, np.zeros(objective.dim), jac=objective.gradient, method="trust-constr",
            constraints=[rows], options={"gtol": 1e-6, "maxiter": 200},
        )  # fmt: skip
        return found.x

    def value(x: np.ndarray) -> float:
        beyond = float(np.maximum(rows.A @ x - rows.ub, 0.0).max())
        return objective.value(x) if beyond <= FEASIBLE else np.nan

    contestants = Contestant("tether", own, 2), Contestant("glum", glums, 1)
    slow = Contestant("scipy trust-constr", trust_constr, 1)
    return Contest(f"{loss}, 500,000 x 100, 20 inequalities", value, [*contestants, slow])


def nonnegative() -> Iterator[Contest]:
    """Least squares with x >= 0, 20,000 x 1,000."""
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((20_000, 1_000)), np.maximum(rng.standard_normal(1_000), 0.0)
    y = X @ w + rng.standard_normal(20_000)
    yield Contest(
        "nonnegative least squares, 20,000 x 1,000",
        lambda x: 0.5 * float(np.mean((X @ x - y) ** 2)),
        [
            Contestant("tether", lambda: tether.solve(tether.GLM(X, y, "squared"), tether.NonNegative()), 2),
            Contestant("scipy nnls", lambda: nnls(X, y)[0], 1),
            Contestant("scipy lsq_linear", lambda: lsq_linear(X, y, (0.0, np.inf)).x, 1),
        ],
    )


def programs() -> Iterator[Contest]:
    """The quadratic programs of Maros and Meszaros, with bounds and inequalities."""
    folder = Path(os.environ["TETHER_DATA"]) / "maros_meszaros_more"
    for path in sorted(folder.glob("*.mat")):
        yield _program(path.stem, io.loadmat(path))


def _program(name: str, data: Any) -> Contest:
    import piqp

    P, A = sparse.csc_matrix(data["P"]), sparse.csc_matrix(data["A"])
    q, low, high = (np.asarray(data[key]).ravel().astype(float) for key in ("q", "l", "u"))
    low, high = np.where(low < -INFINITE, -np.inf, low), np.where(high > INFINITE, np.inf, high)
    r = float(np.asarray(data["r"]).ravel()[0])

    def own() -> tether.Solution:
        objective = tether.Quadratic(matrix=0.5 * P, linear=q, constant=r)
        return tether.solve(objective, LinearConstraint(A, low, high))

    def interior_points() -> np.ndarray:
        solver, equal = piqp.SparseSolver(), low == high
        solver.settings.eps_abs = solver.settings.eps_rel = 1e-8
        rows = A[~equal]
        solver.setup(P, q, A[equal], low[equal], rows, low[~equal], high[~equal])
        solver.solve()
        return np.array(solver.result.x)

    def value(x: np.ndarray) -> float:
        return 0.5 * float(x @ (P @ x)) + float(q @ x) + r

    return Contest(name, value, [Contestant("tether", own, 2), Contestant("piqp", interior_points, 2)])
