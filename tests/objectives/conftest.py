"""One small problem of every kind; the conformance suite runs over all of them."""

import numpy as np
import pytest
from scipy import sparse

from tether.curvature import unpacked
from tether.objectives import GLM, FiniteSum, Quadratic, Separable, from_jax, from_torch
from tether.objectives.losses import Huber

N, D, K = 40, 6, 3


def _data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.6)
    X[7] = 0.0  # an empty row, which sparse gathers have to survive
    return X, X @ rng.standard_normal(D) + 0.3 * rng.standard_normal(N), rng


def _labels(loss, response):
    if loss == "logistic":
        return (response > 0).astype(int)
    if loss == "multinomial":
        return np.digitize(response, [-0.5, 0.5])
    return np.abs(np.round(response)) if loss == "poisson" else response


def _glm(loss, make=np.asarray, **options):
    def build():
        X, response, _ = _data()
        return GLM(make(X), _labels(loss, response), loss, l2=0.1, **options)

    return build


def _weighted(loss, make=np.asarray):
    return _glm(loss, make, fit_intercept=True, sample_weight=np.random.default_rng(1).random(N) + 0.1)


def _huber():
    X, response, _ = _data()
    return GLM(X, response, Huber(delta=0.4))


def _factors(make=np.asarray):
    X, _, rng = _data()
    return Quadratic(factors=make(X), linear=rng.standard_normal(D), constant=2.0)


def _matrix(make=np.asarray):
    X, _, rng = _data()
    return Quadratic(matrix=make(X.T @ X / N), linear=rng.standard_normal(D))


def _finite_sum(make=None):
    X, response, _ = _data()
    y = _labels("logistic", response)
    twin = GLM(X, y, l2=0.1)

    def value(x, batch):
        return GLM(X[batch], y[batch], l2=0.1).value(x)

    def hessian(x, batch):
        return make(unpacked(twin.curvature(x, "full", batch)))

    return FiniteSum(
        twin.batch_gradient, value, N, D, convexity=0.1, hessian=None if make is None else hessian
    )


def _separable():
    """The mean over samples of sum_j log cosh(x_j - t_ij), whose Hessian is diagonal."""
    _, _, rng = _data()
    targets = rng.standard_normal((N, D))

    def value(x, batch):
        return float(np.log(np.cosh(x - targets[batch])).sum(axis=1).mean())

    def gradient(x, batch):
        return np.tanh(x - targets[batch]).mean(axis=0)

    def hessian(x, batch):
        return (1.0 / np.cosh(x - targets[batch]) ** 2).mean(axis=0)

    return FiniteSum(gradient, value, N, D, smoothness=1.0, hessian=hessian)


def _jax():
    import jax.numpy as jnp

    X, response, _ = _data()

    def loss(params, sample):
        z = sample["a"] @ params["w"] + params["b"]
        return jnp.logaddexp(0.0, -sample["y"] * z)

    data = {"a": X, "y": np.where(response > 0, 1.0, -1.0)}
    return from_jax(loss, data, {"w": np.zeros(D), "b": 0.0}, l2=0.1)


def _torch():
    import torch

    X, response, _ = _data()
    data = torch.tensor(X), torch.tensor(_labels("multinomial", response))
    return from_torch(torch.nn.Linear(D, K), torch.nn.CrossEntropyLoss(), data, l2=0.1)


CASES = {
    **{loss: _glm(loss) for loss in ("logistic", "squared", "multinomial", "huber", "poisson")},
    "logistic-csr": _glm("logistic", sparse.csr_array),
    "multinomial-csr": _glm("multinomial", sparse.csr_array),
    "logistic-weighted-intercept": _weighted("logistic"),
    "squared-weighted-intercept-csr": _weighted("squared", sparse.csr_array),
    "multinomial-weighted-intercept": _weighted("multinomial"),
    "multinomial-weighted-intercept-csr": _weighted("multinomial", sparse.csr_array),
    "huber-small-delta": _huber,
    "factors": _factors,
    "factors-csr": lambda: _factors(sparse.csr_array),
    "matrix": _matrix,
    "matrix-csc": lambda: _matrix(sparse.csc_array),
    "finite-sum": _finite_sum,
    "finite-sum-hessian": lambda: _finite_sum(np.asarray),
    "finite-sum-sparse-hessian": lambda: _finite_sum(sparse.csr_array),
    "finite-sum-diagonal-hessian": _separable,
    "matrix-diagonal": lambda: Quadratic(matrix=sparse.diags_array(np.arange(1.0, 1.0 + D))),
    "factors-one-entry": lambda: Quadratic(factors=sparse.csr_array(np.eye(N, D))),
    "separable-quadratic": lambda: Separable("quadratic", weights=np.linspace(0.5, 2.0, D), center=0.3),
    "separable-logcosh": lambda: Separable("logcosh", scale=np.linspace(0.5, 2.0, D), lower=-9.0, upper=9.0),
    "jax": _jax,
    "torch": _torch,
}


@pytest.fixture(params=CASES, scope="module")
def objective(request):
    return CASES[request.param]()


@pytest.fixture
def rng():
    return np.random.default_rng(3)
