"""MNIST as in the paper: dense, ten classes."""

import numpy as np
from benchmark_utils.problem import Problem, loaded, random_rows
from benchopt import BaseDataset

from tether.datasets import mnist

TRAINING = 50_000


class Dataset(BaseDataset):
    """50,000 images of 784 pixels, multinomial with intercept, 200 dense constraints with b = 0."""

    name = "mnist"

    def get_data(self) -> dict:
        """Return the problem."""
        return loaded(_build)


def _build() -> Problem:
    X, y = mnist().first(TRAINING)
    A = random_rows(200, 7850)
    return Problem("mnist", X, y, A, np.zeros(200), "multinomial", l2=1e-4, fit_intercept=True)
