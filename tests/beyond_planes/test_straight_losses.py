"""Losses that are all but straight far off, with labels in large units: models above F lead the way there."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import Bounds

import tether
from tether.objectives.losses import Huber, SmoothedQuantile

SCALE = 1e5


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 4))
    return X, SCALE * (X @ np.array([1.0, -2.0, 0.5, 0.0]) + rng.standard_t(2, 200))


WIDE = Bounds(-SCALE, 0.8 * SCALE)
LOSSES = {"huber": Huber(), "quantile": SmoothedQuantile(0.7, 0.5)}


@pytest.mark.parametrize("loss", LOSSES)
def test_labels_in_large_units_are_fitted(data, loss):
    X, y = data
    found = tether.solve(tether.GLM(X, y, LOSSES[loss]), WIDE)
    assert found.success, found.message
    v = cp.Variable(4)
    r = (X @ v * SCALE - y) / SCALE
    # in these units corners cannot be seen: the straight loss is the same but for their depth
    straight = 1.35 * cp.norm1(r) if loss == "huber" else cp.sum(0.3 * cp.pos(r) + 0.7 * cp.neg(r))
    program = cp.Problem(cp.Minimize(straight / len(y)), [v >= -1.0, v <= 0.8])
    best = SCALE * program.solve(solver="CLARABEL")
    assert abs(found.fun - best) <= 2.0 + found.gap


def test_a_federation_takes_the_same_steps(data):
    X, y = data
    one = tether.solve(tether.GLM(X, y, Huber()), WIDE, "newton")
    parts = tether.Federation([tether.GLM(X[part], y[part], Huber()) for part in np.split(np.arange(200), 4)])
    several = tether.solve(parts, WIDE, "newton")
    assert one.counts.rounds == several.counts.rounds
    np.testing.assert_allclose(several.x, one.x, rtol=1e-9)


def test_a_run_that_is_stopped_goes_on_bit_for_bit(data, tmp_path):
    X, y = data
    objective, path = tether.GLM(X, y, Huber()), tmp_path / "run.npz"
    whole = tether.solve(objective, WIDE, "newton", rtol=1e-9)
    for rounds in range(3, 200, 7):
        tether.solve(objective, WIDE, "newton", rtol=1e-9, max_rounds=rounds, checkpoint=path)
    last = tether.solve(objective, WIDE, "newton", rtol=1e-9, checkpoint=path)
    assert np.array_equal(last.x, whole.x)
    assert last.counts.gradients == whole.counts.gradients and last.counts.rounds == whole.counts.rounds


def test_working_sets_have_models_above_too():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((150, 620))
    y = 1e4 * (X[:, :5] @ np.array([3.0, -2.0, 1.0, 1.0, -1.0]) + rng.standard_t(2, 150))
    penalty = tether.L1(0.3)
    found = tether.solve(tether.GLM(X, y, Huber()), None, "newton", penalty=penalty)
    assert found.success, found.message
    v = cp.Variable(620)
    straight = 1.35 * cp.norm1(X @ v - y / 1e4) / 150 + 0.3 * cp.norm1(v)
    assert found.fun == pytest.approx(
        1e4 * cp.Problem(cp.Minimize(straight)).solve(solver="CLARABEL"), rel=1e-4
    )
