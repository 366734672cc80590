"""Sparse rows with popular columns, labels from a planted model."""

import numpy as np
from benchmark_utils.problem import Problem, loaded, random_rows
from benchopt import BaseDataset
from scipy import sparse
from scipy.special import expit
from sklearn.preprocessing import normalize

N, P, EACH = 400_000, 50_000, 56  # columns are drawn with repetition: about 55.5 are distinct


class Dataset(BaseDataset):
    """400,000 rows of about 55 non-zeros in 50,000 columns, logistic, 200 dense constraints."""

    name = "synthetic"

    def get_data(self) -> dict:
        """Return the problem."""
        return loaded(_build)


def _build() -> Problem:
    rng = np.random.default_rng(0)
    columns = (P * rng.random(N * EACH) ** 2.5).astype(np.int32)  # column j has density ~ j^-0.6
    entries = rng.exponential(size=N * EACH)
    X = sparse.csr_array((entries, columns, np.arange(N + 1) * EACH), shape=(N, P))
    X.sum_duplicates()
    X = normalize(X)
    planted = 4.0 * rng.standard_normal(P)
    y = (rng.random(N) < expit(X @ planted)).astype(float)
    return Problem("synthetic", X, y, random_rows(200, P), np.zeros(200), "logistic", l2=1.0 / N)
