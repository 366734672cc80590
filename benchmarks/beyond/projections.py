"""How many projections text takes, with 200 dense equations and every mixture of bounds and l1 terms."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds

import tether
from beyond.contest import Contest, Contestant

MIXTURES: dict[str, tuple[list[Any], Any]] = {
    "equations only": ([], None),
    "l1 = 2e-5": ([], tether.L1(2e-5)),
    "l1 = 1e-4": ([], tether.L1(1e-4)),
    "bounds 0.5": ([Bounds(-0.5, 0.5)], None),
    "x >= 0": ([tether.NonNegative()], None),
    "bounds 0.1": ([Bounds(-0.1, 0.1)], None),
    "l1 = 2e-5, bounds 0.5": ([Bounds(-0.5, 0.5)], tether.L1(2e-5)),
}


def _packages() -> tuple[Any, np.ndarray, np.ndarray]:
    """Return texts in unit rows, their labels, and 200 dense equations."""
    from tether.datasets import debian_packages

    X, y = debian_packages()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sparse.csr_array(sparse.diags_array(1.0 / np.where(lengths > 0.0, lengths, 1.0)) @ X)
    return X, y, np.random.default_rng(0).standard_normal((200, X.shape[1]))


def others() -> Iterator[Contest]:
    """Solvers that take the text problem with equations and an l1 term at all, ten minutes each."""
    import cvxpy as cp

    X, y, A = _packages()
    signs, l2, lam = np.where(np.asarray(y) > 0, 1.0, -1.0), 1.0 / X.shape[0], 2e-5

    def own() -> tether.Solution:
        return tether.solve(tether.GLM(X, y, l2=l2), tether.Affine(A), penalty=tether.L1(lam), tol=1e-6)

    def value(x: np.ndarray) -> float:
        losses = np.logaddexp(0.0, -signs * (X @ x))
        return float(losses.mean() + 0.5 * l2 * (x @ x) + lam * np.abs(x).sum())

    def conic(solver: str, **settings: Any) -> np.ndarray:
        v = cp.Variable(X.shape[1])
        losses = cp.sum(cp.logistic(cp.multiply(-signs, X @ v))) / X.shape[0]
        total = losses + 0.5 * l2 * cp.sum_squares(v) + lam * cp.norm1(v)
        cp.Problem(cp.Minimize(total), [A @ v == 0]).solve(solver=solver, **settings)
        return v.value

    yield Contest(
        "text, 200 equations, l1 = 2e-5",
        value,
        [
            Contestant("tether", own),
            Contestant("cvxpy, Clarabel", lambda: conic("CLARABEL", time_limit=600.0), 1),
            Contestant("cvxpy, SCS", lambda: conic("SCS", time_limit_secs=600.0, eps=1e-6), 1),
        ],
    )


def text() -> Iterator[Contest]:
    """Package descriptions, mu = 1/N and 0.01/N, to a certified gap of 1e-6."""
    X, y, A = _packages()
    plane = tether.Affine(A)
    for share in (1.0, 0.01):
        objective = tether.GLM(X, y, l2=share / X.shape[0])
        for name, (sets, penalty) in MIXTURES.items():

            def own(objective: Any = objective, sets: Any = sets, penalty: Any = penalty) -> tether.Solution:
                return tether.solve(objective, [plane, *sets], penalty=penalty, tol=1e-6)

            def value(x: np.ndarray, objective: Any = objective, penalty: Any = penalty) -> float:
                return objective.value(x) + (0.0 if penalty is None else penalty.value(x))

            yield Contest(f"text, mu = {share:g}/N, {name}", value, [Contestant("tether", own)])


def large() -> Iterator[Contest]:
    """One prox of bounds and l1 terms among the solutions of 100 dense equations in a million variables."""
    from tether.polyhedral import Pieces, Polyhedral
    from tether.prox import Prox

    rng, p = np.random.default_rng(0), 1_000_000
    A, z = rng.standard_normal((100, p)), rng.standard_normal(p)
    plane, t = tether.Affine(A, A @ np.clip(0.1 * z, -0.1, 0.1)).sized(p), 10.0 ** rng.uniform(-1, 1, p)
    kinds = {
        "x >= 0": Pieces.of(p, lower=0.0),
        "bounds": Pieces.of(p, -0.5, 0.5),
        "l1": Pieces.of(p, left=0.5, right=0.5),
        "l1 and bounds": Pieces.of(p, -0.5, 0.5, 0.3, 0.3),
    }
    plane.project(z)  # factorised once
    for name, pieces in kinds.items():
        psi = Polyhedral.separable(pieces)
        prox = Prox(plane, psi)

        def own(prox: Any = prox) -> np.ndarray:
            return prox.at(z, t).point

        def value(x: np.ndarray, psi: Any = psi) -> float:
            return psi.value(x) + float(np.sum((x - z) ** 2 / (2.0 * t)))

        start = prox.at(z + 0.01 * np.sin(np.arange(p)), t)

        def again(prox: Any = prox, start: Any = start) -> np.ndarray:
            return prox.at(z, t, start).point

        yield Contest(
            f"prox, {name}, 1e6 variables",
            value,
            [Contestant("tether", own), Contestant("tether, from an earlier prox", again)],
        )
