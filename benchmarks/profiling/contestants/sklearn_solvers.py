"""scikit-learn's linear models, without equations and without an intercept of their own.

Its HuberRegressor also estimates a scale, which is another problem; so it is left out.
"""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

from profiling.contestants.base import Answer, Contestant
from profiling.pieces import Pieces
from profiling.watch import Watch

ENDLESS = 10**6


class SklearnSolver(Contestant):
    """One solver of the estimators that minimise our F."""

    def __init__(self, solver: str, losses: tuple[str, ...], largest: float = np.inf) -> None:
        self.solver, self.losses, self.largest = solver, losses, largest
        self.name = f"sklearn {solver}"

    def refuses(self, pieces: Pieces) -> str:
        """Take the losses of the estimator where there are no equations."""
        if pieces.is_constrained:
            return "takes no equations"
        if pieces.dim > self.largest:
            return "too many variables"
        return "" if pieces.loss in self.losses else f"no {pieces.loss} loss"

    def prepare(self, pieces: Pieces) -> Any:
        """Give sparse data the class and the indices that scikit-learn knows."""
        X = sparse.csr_matrix(pieces.X) if pieces.is_sparse else pieces.X
        return pieces, X

    def run(self, problem: Any, tolerance: float, watch: Watch) -> Answer:
        """Fit."""
        pieces, X = problem
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = self._model(pieces, tolerance).fit(X, pieces.y)
        return Answer(np.ascontiguousarray(fitted.coef_.T, dtype=float).ravel(), {})

    def _model(self, pieces: Pieces, tolerance: float) -> Any:
        rest = {"fit_intercept": False, "tol": tolerance, "max_iter": ENDLESS}
        if pieces.loss == "poisson":
            return PoissonRegressor(alpha=pieces.l2, solver=self.solver, **rest)
        if pieces.loss == "squared":
            return Ridge(alpha=pieces.l2 * pieces.n_samples, **rest)
        weight = 1.0 / (pieces.l2 * pieces.n_samples) if pieces.l2 else np.inf
        return LogisticRegression(C=weight, solver=self.solver, **rest)


SOLVERS = [
    SklearnSolver("lbfgs", ("logistic", "multinomial", "poisson")),
    SklearnSolver("newton-cholesky", ("logistic", "multinomial", "poisson"), largest=5_000),
    SklearnSolver("newton-cg", ("logistic", "multinomial")),
    SklearnSolver("ridge", ("squared",)),
]
