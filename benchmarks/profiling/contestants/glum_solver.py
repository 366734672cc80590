"""glum, in the null space where there are equations: its offset takes what x0 predicts."""

import warnings
from typing import Any

import numpy as np
from glum import GeneralizedLinearRegressor
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from profiling.contestants.base import Answer, Contestant
from profiling.null_space import NullSpace
from profiling.pieces import Pieces
from profiling.watch import Watch

FAMILIES = {"logistic": "binomial", "poisson": "poisson", "squared": "normal"}
LARGEST = 3_000  # it forms the Hessian


class GlumSolver(Contestant):
    """Iteratively reweighted least squares."""

    name = "glum"

    def refuses(self, pieces: Pieces) -> str:
        """Take models of one output with few variables."""
        if pieces.loss not in FAMILIES:
            return f"no {pieces.loss} loss"
        if pieces.is_constrained and not NullSpace.fits(pieces):
            return "no basis of the null space of this size"
        return "" if pieces.dim <= LARGEST else "too many variables"

    def prepare(self, pieces: Pieces) -> Any:
        """Give sparse data the class that glum knows, dense data its order."""
        X = sparse.csc_matrix(pieces.X) if pieces.is_sparse else np.asfortranarray(pieces.X)
        return pieces, X

    def run(self, problem: Any, tolerance: float, watch: Watch) -> Answer:
        """Fit."""
        pieces, X = problem
        space, offset = None, None
        if pieces.is_constrained:
            space = NullSpace(pieces)
            X, offset = np.asfortranarray(space.B), space.offset
        model = GeneralizedLinearRegressor(
            family=FAMILIES[pieces.loss],
            alpha=pieces.l2,
            l1_ratio=0.0,
            fit_intercept=False,
            solver="irls-ls",
            gradient_tol=tolerance,
            max_iter=1_000,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, pieces.y, offset=offset)
        v = np.asarray(model.coef_, dtype=float)
        return Answer(v if space is None else space.lift(v), {})


SOLVERS = [GlumSolver()]
