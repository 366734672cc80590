"""A large sparse text problem: one projection a pass is enough."""

import os

import numpy as np
import pytest
from sklearn.preprocessing import normalize

import tether

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif("TETHER_DATA" not in os.environ, reason="TETHER_DATA is not set"),
]


@pytest.fixture(scope="module")
def text():
    X, y = tether.datasets.debian_packages()
    X = normalize(X)
    A = np.random.default_rng(0).standard_normal((200, X.shape[1]))
    return tether.GLM(X, y, loss="logistic", l2=1 / X.shape[0]), tether.Affine(A)


def test_eight_projections_certify_a_gap_of_a_millionth(text):
    objective, constraint = text
    skip = tether.solve(objective, constraint, "skip", tol=1e-6)
    assert skip.success and skip.gap <= 1e-6
    assert skip.counts.rounds <= 8
    lbfgs = tether.solve(objective, constraint, "lbfgs", tol=1e-6)
    assert lbfgs.success
    assert abs(skip.fun - lbfgs.fun) <= 1e-6
