"""A linearly constrained quadratic program given by a million factors."""

import numpy as np
from benchmark_utils.problem import Problem, loaded, random_rows
from benchopt import BaseDataset

N, P = 1_000_000, 300


class Dataset(BaseDataset):
    """mean (c_i x)^2 + g'x with columns of falling size, 20 dense constraints; 2.4 GB."""

    name = "lcqp"

    def get_data(self) -> dict:
        """Return the problem."""
        return loaded(_build)


def _build() -> Problem:
    rng = np.random.default_rng(0)
    factors = np.empty((N, P))
    rng.standard_normal(out=factors)
    factors *= np.geomspace(1.0, 0.05, P)
    A = random_rows(20, P)
    return Problem("lcqp", factors, 0.02 * rng.standard_normal(P), A, A.sum(axis=1) / P, "quadratic")
