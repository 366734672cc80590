"""Package descriptions: long, thin, sparse rows."""

import numpy as np
from benchmark_utils.problem import Problem, loaded, random_rows
from benchopt import BaseDataset
from scipy import sparse
from sklearn.preprocessing import normalize

from tether.datasets import debian_packages


class Dataset(BaseDataset):
    """63,620 descriptions, 30,974 words, logistic; 200 dense or 2,000 sparse constraints."""

    name = "text"
    parameters = {"constraints": ["dense", "sparse"]}  # noqa: RUF012

    def get_data(self) -> dict:
        """Return the problem."""
        return loaded(lambda: _build(self.constraints))


def _build(constraints: str) -> Problem:
    X, y = debian_packages()
    X = normalize(X)
    A = random_rows(200, X.shape[1]) if constraints == "dense" else _sparse_rows(2_000, X.shape[1], 20)
    return Problem(f"text-{constraints}", X, y, A, np.zeros(A.shape[0]), "logistic", l2=1.0 / X.shape[0])


def _sparse_rows(count: int, dim: int, each: int) -> sparse.csr_array:
    rng = np.random.default_rng(0)
    columns = np.concatenate([rng.choice(dim, each, replace=False) for _ in range(count)])
    entries = rng.standard_normal(count * each)
    return sparse.csr_array((entries, columns, np.arange(count + 1) * each), shape=(count, dim))
