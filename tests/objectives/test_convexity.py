"""Nothing is concluded from convexity where gradients show that there is none."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, WeightedRandomSampler

import tether
from tether.objectives import FiniteSum, Smoothness, from_jax, from_torch
from tether.objectives.pool import Card, Pool

N, D, K = 60, 5, 3
RNG = np.random.default_rng(0)
X, CLASSES = RNG.standard_normal((N, D)), np.arange(N) % K


def perceptron(**options):
    torch.manual_seed(0)
    layers = torch.nn.Linear(D, 8), torch.nn.Tanh(), torch.nn.Linear(8, K)
    data = torch.tensor(X), torch.tensor(CLASSES)
    return from_torch(torch.nn.Sequential(*layers), torch.nn.CrossEntropyLoss(), data, **options)


def perceptron_in_jax(**options):
    def loss(params, sample):
        hidden = jnp.tanh(sample["a"] @ params["in"])
        z = hidden @ params["out"]
        return jax.nn.logsumexp(z) - z[sample["y"]]

    rng = np.random.default_rng(1)
    params = {"in": 0.3 * rng.standard_normal((D, 8)), "out": 0.3 * rng.standard_normal((8, K))}
    return from_jax(loss, {"a": X, "y": CLASSES}, params, **options)


def from_value(f, slope, n=4, **options):
    """A finite sum of one variable whose samples are all alike."""
    return FiniteSum(lambda x, batch: slope(x), lambda x, batch: float(f(x)[0]), n, 1, **options)


def wave(**options):
    return from_value(np.cos, lambda x: -np.sin(x), **options)


def parabola(**options):
    return from_value(lambda x: x**2, lambda x: 2.0 * x, **options)


@pytest.mark.parametrize("make", [perceptron, perceptron_in_jax])
def test_a_network_has_no_strong_convexity_whatever_its_penalty(make):
    objective = make(l2=1e-2)
    assert not objective.convex and not objective.proven_convex
    assert "gradient grows at rate -" in objective.nonconvexity
    assert objective.smoothness.convexity == 0.0
    assert objective.initial.any()


@pytest.mark.parametrize("make", [perceptron, perceptron_in_jax])
def test_what_the_user_says_of_convexity_is_believed(make):
    assert make(l2=0.1, convex=True).smoothness.convexity == 0.1
    assert make(l2=0.1, convex=False).smoothness.convexity == 0.0
    assert make(convex=False).nonconvexity == "convex=False was given"
    with pytest.raises(ValueError, match=r"^convex must be True, False or None"):
        make(convex="yes")


def test_the_constants_of_a_network_are_those_near_its_parameters():
    objective = perceptron(l2=1e-2)
    rng = np.random.default_rng(2)
    for _ in range(5):
        step = rng.standard_normal(objective.dim)
        step *= 1e-3 / np.linalg.norm(step)
        change = objective.gradient(objective.initial + step) - objective.gradient(objective.initial)
        assert np.linalg.norm(change) <= objective.smoothness.full * np.linalg.norm(step)


def test_a_finite_sum_is_looked_at():
    assert not wave().convex
    assert wave(smoothness=1.0, convexity=0.5).smoothness == (1.0, 1.0, 0.0, True)
    assert wave(smoothness=Smoothness(1.0, 1.0, 0.5)).smoothness.convexity == 0.0
    assert wave(convex=True, smoothness=1.0, convexity=0.5).smoothness.convexity == 0.5


def test_a_finite_sum_with_known_constants_is_looked_at_once_and_not_in_a_run():
    calls = []

    def gradient(x, batch):
        calls.append(len(batch))
        return 2.0 * x

    objective = FiniteSum(gradient, lambda x, batch: float(x @ x), 4, 1, smoothness=2.0, convexity=2.0)
    seen = len(calls)
    assert objective.convex and objective.smoothness.convexity == 2.0
    assert len(calls) == seen > 10


def test_more_convexity_than_there_is_is_not_believed():
    assert parabola(smoothness=2.0, convexity=2.0).smoothness.convexity == 2.0
    claimed = parabola(smoothness=3.0, convexity=2.5)
    assert not claimed.convex and claimed.smoothness.convexity == 0.0
    assert "at rate 2, where convexity asks for at least 2.5" in claimed.nonconvexity


def test_a_convex_sum_of_terms_that_are_not_is_convex():
    """More terms than are looked at, which alone would say no."""
    n, signs = 2000, np.where(np.arange(2000) < 400, -2.0, 1.0)
    quadratic = FiniteSum(
        lambda x, batch: signs[batch].mean() * x,
        lambda x, batch: 0.5 * signs[batch].mean() * float(x @ x),
        n,
        3,
    )
    assert quadratic.convex
    with np.errstate(all="raise"):
        assert quadratic.gradient(np.ones(3)) == pytest.approx(0.4 * np.ones(3))


def test_a_function_that_is_not_finite_everywhere_may_be_convex():
    log = from_value(lambda x: x - np.log(x + 2.0), lambda x: 1.0 - 1.0 / (x + 2.0))
    assert log.convex


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_no_curvature(dtype):
    flat = np.ones(400)

    def gradient(x, batch):
        return (flat.astype(dtype) * dtype(flat @ x - 1e3)).astype(np.float64)

    assert FiniteSum(gradient, lambda x, batch: 0.5 * float(flat @ x - 1e3) ** 2, 3, 400).convex


def test_models_that_are_convex_by_construction_say_so():
    y = X @ np.ones(D)
    glm, quadratic = tether.GLM(X, y, "squared"), tether.Quadratic(factors=X)
    assert glm.proven_convex and quadratic.proven_convex and glm.convex and glm.nonconvexity == ""
    assert not parabola().proven_convex
    assert tether.Federation([glm, glm]).proven_convex


def test_one_worker_that_is_not_convex_takes_the_certificate_of_all():
    federation = tether.Federation([parabola(convexity=2.0), parabola(convexity=2.0), wave(n=8)])
    assert federation.smoothness.convexity == 0.0
    assert not federation.convex and not federation.proven_convex
    assert federation.nonconvexity.startswith("worker 2: ")
    assert all(worker.unweighted.nonconvexity == worker.nonconvexity for worker in federation.workers)
    good = Pool([Card.of(parabola(convexity=2.0))] * 2)
    assert good.convex and not good.proven_convex and good.smoothness.convexity == 2.0


def test_the_constants_of_a_worker_alone_are_its_own_while_it_is_convex():
    y = X @ np.ones(D)
    alone = tether.GLM(X, y, "squared", l2=0.1)
    shared, own = Pool([alone]).constants(), alone.constants()
    for name in ("convexity", "maximum", "full", "most", "exact", "known"):
        assert getattr(shared, name) == getattr(own, name)
    assert Pool([wave(n=8)]).constants().convexity == 0.0


def test_workers_start_where_the_first_of_them_says():
    federation = tether.Federation([perceptron(), perceptron()])
    np.testing.assert_array_equal(federation.initial, perceptron().initial)
    np.testing.assert_array_equal(federation.workers[0].initial, perceptron().initial)
    assert tether.Federation([parabola(), parabola()]).initial is None


def linear(dataset, **options):
    torch.manual_seed(0)
    return from_torch(torch.nn.Linear(D, K), torch.nn.CrossEntropyLoss(), dataset, **options)


PAIR = TensorDataset(torch.tensor(X), torch.tensor(CLASSES))


class Stream(IterableDataset):
    def __iter__(self):
        return iter(zip(*PAIR.tensors, strict=True))


LOADERS = {
    "in order": DataLoader(PAIR, batch_size=7),
    "shuffled": DataLoader(PAIR, batch_size=7, shuffle=True),
    "no rest to drop": DataLoader(PAIR, batch_size=6, drop_last=True),
    "one by one": DataLoader(PAIR, batch_size=None),
    "a stream": DataLoader(Stream(), batch_size=7),
    "no loader but a stream": Stream(),
}


@pytest.mark.parametrize("kind", LOADERS)
def test_a_loader_is_its_data(kind):
    loaded, plain = linear(LOADERS[kind]), linear(PAIR)
    x = np.ones(plain.dim)
    assert loaded.n_samples == N
    np.testing.assert_array_equal(loaded.gradient(x), plain.gradient(x))
    np.testing.assert_array_equal(
        loaded.batch_gradient(x, np.arange(3)), plain.batch_gradient(x, np.arange(3))
    )


BAD_LOADERS = {
    "a rest is dropped": (DataLoader(PAIR, batch_size=7, drop_last=True), "leaves out 4 of 60"),
    "samples are drawn": (
        DataLoader(PAIR, sampler=WeightedRandomSampler(np.ones(N).tolist(), N)),
        "WeightedRandomSampler",
    ),
    "batches are drawn": (DataLoader(PAIR, batch_sampler=[[0, 1], [2, 3]]), "sampler of its own"),
    "no pairs": (DataLoader(TensorDataset(torch.tensor(X)), batch_size=7), "pairs"),
    "nothing": (DataLoader(TensorDataset(torch.zeros(0, D), torch.zeros(0)), batch_size=7), "at least one"),
    "a number": (3, "got int"),
    "words": ([("a", "b"), ("c", "d")], "pairs"),
    "unequal samples": ([(torch.zeros(2), 0), (torch.zeros(3), 0)], "laid together"),
}


@pytest.mark.parametrize("mistake", BAD_LOADERS)
def test_a_loader_that_is_not_its_data_is_refused(mistake):
    dataset, words = BAD_LOADERS[mistake]
    with pytest.raises(ValueError, match=rf"^dataset must [^\n]*{words}[^\n]*\.$"):
        linear(dataset)


class DoubleWell(torch.nn.Module):
    """One weight that starts at 1, between which and the lower valley lies a hill."""

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))

    def forward(self, inputs):
        return (self.w**4 / 4 - self.w**2 / 2 + 0.1 * self.w).expand(len(inputs), 1)


def test_a_hill_on_either_side_of_the_start_is_seen():
    data = torch.zeros((4, 1)), torch.zeros((4, 1))
    objective = from_torch(DoubleWell(), lambda out, target: out.mean(), data, l2=0.05)
    assert not objective.convex
    assert tether.solve(objective).gap is None


def test_where_a_function_is_not_defined_its_gradient_shows_nothing():
    log = from_value(lambda x: [x[0] - math.log(x[0] + 2.0)], lambda x: 1.0 - 1.0 / (x + 2.0))
    assert log.convex


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_dent_on_one_side_of_zero_is_seen(side):
    def slope(x):
        return x + side * 3.0 * np.exp(-20.0 * (x - side * 0.75) ** 2)

    assert not from_value(lambda x: 0.0 * x, slope).convex  # values are asked for being finite only


def test_a_dent_around_zero_is_seen_from_a_start_far_off():
    def loss(w, sample):
        return jnp.sum(jnp.sqrt(1.0 + w**2) - 2.0 * jnp.exp(-(w**2))) + 0.0 * sample

    assert not from_jax(loss, np.zeros(4), np.full(1, 300.0)).convex
