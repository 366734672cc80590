"""Handwritten digits of scikit-learn: small enough for a quick look."""

from benchmark_utils.problem import Problem, loaded, random_rows
from benchopt import BaseDataset
from sklearn.datasets import load_digits


class Dataset(BaseDataset):
    """1,797 images of 64 pixels, ten classes, 20 dense constraints."""

    name = "small"

    def get_data(self) -> dict:
        """Return the problem."""
        return loaded(_build)


def _build() -> Problem:
    X, y = load_digits(return_X_y=True)
    A = random_rows(20, 650)
    b = 0.01 * A.sum(axis=1)
    return Problem("small", X / 16.0, y, A, b, "multinomial", l2=1e-3, fit_intercept=True)
