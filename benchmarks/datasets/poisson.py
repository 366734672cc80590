"""Counts from a planted log-linear model: a loss whose curvature has no bound."""

import numpy as np
from benchmark_utils.problem import Problem, loaded, random_rows
from benchopt import BaseDataset

N, P = 100_000, 200


class Dataset(BaseDataset):
    """100,000 counts, 200 dense columns and an intercept, 10 constraints."""

    name = "poisson"

    def get_data(self) -> dict:
        """Return the problem."""
        return loaded(_build)


def _build() -> Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    planted = 0.5 * rng.standard_normal(P) / np.sqrt(P)
    y = rng.poisson(np.exp(X @ planted + 0.5)).astype(float)
    A = random_rows(10, P + 1)
    b = 0.5 * A @ np.append(planted, 0.5)
    return Problem("poisson", X, y, A, b, "poisson", l2=1e-3, fit_intercept=True)
