"""The a8a data of LIBSVM: many samples, few columns, hardly any regularisation."""

import numpy as np
from benchmark_utils.problem import Problem, loaded, random_rows
from benchopt import BaseDataset
from sklearn.preprocessing import normalize

from tether.datasets import a8a


class Dataset(BaseDataset):
    """22,696 people, 123 traits, logistic, 10 dense constraints."""

    name = "a8a"

    def get_data(self) -> dict:
        """Return the problem."""
        return loaded(_build)


def _build() -> Problem:
    X, y = a8a()
    X = normalize(X)
    A = random_rows(10, X.shape[1])
    return Problem("a8a", X, y, A, np.zeros(10), "logistic", l2=0.1 / X.shape[0])
