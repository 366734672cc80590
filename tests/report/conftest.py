"""Runs that pages are written about."""

import numpy as np
import pandas
import pytest
from scipy.optimize import Bounds, LinearConstraint

import tether

NAMES = ["age", "height", "rooms", "floor"]


@pytest.fixture(scope="session")
def data():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.standard_normal((300, 4)), columns=NAMES)
    return X, np.where(X["age"] - X["rooms"] + rng.standard_normal(300) > 0, 1, -1)


@pytest.fixture(scope="session")
def solutions(data):
    """Runs of one problem by several methods."""
    objective = tether.GLM(*data, l2=0.01)
    budget = tether.Affine(pandas.DataFrame(np.ones((1, 4)), ["budget"], NAMES), 1.0)
    return {name: tether.solve(objective, budget, name) for name in ("auto", "lbfgs", "nesterov", "dp-svrg")}


@pytest.fixture(scope="session")
def mixed(data):
    """A run beyond equations."""
    rising = LinearConstraint(np.diff(np.eye(4), axis=0)[:2], 0.0, np.inf)
    sets = [tether.Affine(np.ones(4), 1.0), rising, Bounds(-1.0, 0.26)]
    return tether.solve(tether.GLM(*data, l2=0.01), sets, "skip", penalty=tether.L1(0.01))


@pytest.fixture(scope="session")
def federated(data):
    """A run among three workers."""
    X, y = data[0].to_numpy(), data[1]
    parts = tether.splits.iid(300, n_workers=3)
    return tether.solve(tether.Federation([tether.GLM(X[i], y[i], l2=0.01) for i in parts]), method="dp-svrg")


@pytest.fixture(scope="session")
def switching():
    """A run in which auto changes its mind."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2_000, 1_200)) * np.logspace(0, -4, 1_200)
    y = X @ rng.standard_normal(1_200) + 0.1 * rng.standard_normal(2_000) > 0
    return tether.solve(tether.GLM(X, y, l2=1e-7), tether.Affine(rng.standard_normal((3, 1_200))))
