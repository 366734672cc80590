"""MNIST as in the paper: dense, ten classes."""

import gzip

import numpy as np
from benchmark_utils.problem import Problem, data_file, loaded, random_rows
from benchopt import BaseDataset

TRAINING = 50_000


class Dataset(BaseDataset):
    """50,000 images of 784 pixels, multinomial with intercept, 200 dense constraints with b = 0."""

    name = "mnist"

    def get_data(self) -> dict:
        """Return the problem."""
        return loaded(_build)


def _build() -> Problem:
    images = _bytes("train-images-idx3-ubyte.gz", header=16).reshape(-1, 784)[:TRAINING]
    labels = _bytes("train-labels-idx1-ubyte.gz", header=8)[:TRAINING].astype(int)
    A = random_rows(200, 7850)
    return Problem(
        "mnist", images / 255.0, labels, A, np.zeros(200), "multinomial", l2=1e-4, fit_intercept=True
    )


def _bytes(name: str, header: int) -> np.ndarray:
    with gzip.open(data_file("mnist", name)) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)
