"""What an objective says of its identity: a digest of its data, and the names of its variables."""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse

import tether
from tether.objectives import GLM, FiniteSum, Quadratic, Smoothness, from_jax, from_torch
from tether.objectives.losses import Huber
from tether.objectives.weighted import Weighted

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((30, 4)), RNG.standard_normal(30)
OTHER = X.copy()
OTHER[17, 2] += 1e-6
CORRECTED = Y.copy()
CORRECTED[3] += 1e-6


def finite_sum(rows=X, y=Y, scale=1.0, **options):
    twin = GLM(rows, y, "squared")
    return FiniteSum(
        lambda x, batch: scale * twin.batch_gradient(x, batch),
        lambda x, batch: scale * 0.5 * np.mean((rows[batch] @ x - y[batch]) ** 2),
        30,
        4,
        **options,
    )


def in_jax(rows=X, y=Y, power=2, start=0.0, **options):
    def loss(w, sample):
        return jnp.abs(sample["a"] @ w - sample["y"]) ** power

    return from_jax(loss, {"a": rows, "y": y}, np.full(4, start), **options)


def in_torch(rows=X, y=Y, loss=torch.nn.MSELoss, seed=0, **options):
    torch.manual_seed(seed)
    data = torch.tensor(rows), torch.tensor(y)[:, None]
    return from_torch(torch.nn.Linear(4, 1, bias=False), loss(), data, **options)


def squared(rows=X, y=Y, **options):
    return GLM(rows, y, "squared", **options)


TOLD = [
    {"smoothness": 100.0},
    {"smoothness": 200.0},
    {"smoothness": Smoothness(200.0, 100.0, 0.0)},
    {"convexity": 0.02},
    {"convexity": 0.01},
    {"convex": True},
    {"convex": False},
]

DIFFERENT = {
    "glm": [
        squared(),
        squared(OTHER),
        squared(y=CORRECTED),
        squared(l2=0.1),
        squared(fit_intercept=True),
        squared(sample_weight=np.arange(1.0, 31.0)),
        squared(X.astype(np.float32)),
        GLM(X, Y, "huber"),
        GLM(X, Y, Huber(2.0)),
        squared(sparse.csr_array(X)),
        GLM(X, Y > 0, "logistic"),
        GLM(X, Y > 0, "multinomial"),
        GLM(X, Y > 0, "multinomial", n_classes=3),
    ],
    "quadratic": [
        Quadratic(factors=X),
        Quadratic(factors=OTHER),
        Quadratic(factors=X, linear=np.ones(4)),
        Quadratic(factors=X, constant=1.0),
        Quadratic(matrix=X.T @ X),
        Quadratic(matrix=sparse.csr_array(X.T @ X)),
    ],
    "workers": [
        tether.Federation([squared(), squared()]),
        tether.Federation([squared(), squared(OTHER)]),
        tether.Federation([squared(), squared(), squared()]),
        Weighted(squared(), 2.0),
        Weighted(squared(), 3.0),
    ],
    "functions": [
        finite_sum(),
        finite_sum(OTHER),
        finite_sum(y=CORRECTED),
        finite_sum(scale=2.0),
        *(finite_sum(**told) for told in TOLD),
    ],
    "jax": [
        in_jax(),
        in_jax(OTHER),
        in_jax(y=CORRECTED),
        in_jax(power=4),
        in_jax(start=1.0),
        in_jax(l2=0.1),
        *(in_jax(**told) for told in TOLD),
    ],
    "torch": [
        in_torch(),
        in_torch(OTHER),
        in_torch(y=CORRECTED),
        in_torch(loss=torch.nn.SmoothL1Loss),
        in_torch(seed=1),
        in_torch(l2=0.1),
        *(in_torch(**told) for told in TOLD),
    ],
}


@pytest.mark.parametrize("kind", DIFFERENT)
def test_objectives_that_differ_have_different_digests(kind):
    digests = [objective.digest() for objective in DIFFERENT[kind]]
    assert len(set(digests)) == len(digests)
    assert all(int(digest, 16) for digest in digests)


@pytest.mark.parametrize("make", [squared, finite_sum, in_jax, in_torch, lambda: Quadratic(factors=X.copy())])
def test_the_same_objective_built_twice_has_one_digest(make):
    assert make().digest() == make().digest()


def test_a_loss_of_ones_own_is_known_by_what_it_computes():
    class Scaled(tether.objectives.losses.Loss):
        def __init__(self, scale):
            self.scale = scale

        def values(self, z, y):
            return 0.5 * self.scale * (z - y) ** 2

        def slopes(self, z, y):
            return self.scale * (z - y)

        def curvatures(self, z, y):
            return np.full_like(z, self.scale)

    assert GLM(X, Y, Scaled(1.0)).digest() == GLM(X, Y, Scaled(1.0)).digest()
    assert GLM(X, Y, Scaled(1.0)).digest() != GLM(X, Y, Scaled(1.1)).digest()


def test_a_setting_of_a_loss_that_no_sample_feels_counts():
    class Mine(Huber):
        pass

    assert GLM(X, Y, Mine(50.0)).digest() == GLM(X, Y, Mine(50.0)).digest()
    assert GLM(X, Y, Mine(50.0)).digest() != GLM(X, Y, Mine(500.0)).digest()


def test_the_columns_of_a_data_frame_are_the_names():
    frame = pd.DataFrame(X, columns=["age", "height", 3, "weight"])
    assert squared(frame).names == ("age", "height", "3", "weight")
    assert squared(frame, fit_intercept=True).names == ("age", "height", "3", "weight", "intercept")
    assert Quadratic(factors=frame).names == ("age", "height", "3", "weight")
    assert GLM(frame, np.arange(30) % 3, "multinomial").names == ()  # none has a variable of its own
    assert squared().names is None and finite_sum().names is None
    assert squared(frame, fit_intercept=True).with_rows(X).names is None


def test_workers_have_to_agree_on_names():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    both = tether.Federation([squared(frame), squared(), squared(frame)])
    assert both.names == both.workers[0].names == ("a", "b", "c", "d")
    with pytest.raises(ValueError, match=r"^objectives must name their columns alike.*worker 1"):
        tether.Federation([squared(frame), squared(frame[["b", "a", "c", "d"]])])
