"""How fast second derivatives fall: what losses declare holds, and nothing smaller would."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

from tether.curvature import unpacked
from tether.objectives import GLM
from tether.objectives.losses import (
    LOSSES,
    Binomial,
    Gamma,
    Logistic,
    Multinomial,
    Poisson,
    SmoothedQuantile,
    Squared,
    Tweedie,
)


def test_built_in_losses_declare_what_is_known_of_them():
    assert {name: loss().concordance for name, loss in LOSSES.items()} == {
        "logistic": 1.0,
        "squared": 0.0,
        "multinomial": math.sqrt(2.0),
        "huber": math.inf,
        "poisson": 1.0,
        "binomial": 1.0,
        "gamma": 1.0,
        "tweedie": 0.5,
        "quantile-smoothed": 10.0,
    }


BOUNDED = [
    *(Logistic(), Poisson(), Squared(), Binomial(), Gamma()),
    *(Tweedie(1.2), Tweedie(1.9), SmoothedQuantile(0.3, 0.5)),
]


@pytest.mark.parametrize("loss", BOUNDED, ids=lambda loss: type(loss).__name__)
def test_the_third_derivative_is_bounded_by_the_second_and_reaches_its_bound(loss):
    z, h = np.linspace(-12.0, 12.0, 2001), 1e-5
    y = loss.prepare(np.ones(len(z)))
    third = (loss.curvatures(z + h, y) - loss.curvatures(z - h, y)) / (2 * h)
    ratios = np.abs(third) / loss.curvatures(z, y)
    assert ratios.max() <= loss.concordance * (1 + 1e-6) + 1e-8
    assert ratios.max() >= 0.999 * loss.concordance


def _third(p, v, u):
    """D^3[v, v, u] of log sum exp: a third joint moment about the mean."""
    return p @ ((v - p @ v) ** 2 * (u - p @ u))


def test_the_third_derivative_of_log_sum_exp_is_a_joint_moment():
    rng = np.random.default_rng(0)
    for _ in range(20):
        z, v, u = rng.standard_normal((3, 5))
        h = 1e-5

        def second(z, v=v):
            p = softmax(z)
            return p @ v**2 - (p @ v) ** 2

        numeric = (second(z + h * u) - second(z - h * u)) / (2 * h)
        assert numeric == pytest.approx(_third(softmax(z), v, u), abs=1e-8)


def test_the_constant_of_the_multinomial_loss_holds_and_no_smaller_one_does():
    rng, most = np.random.default_rng(0), 0.0
    for trial in range(20_000):
        outputs = int(rng.integers(2, 7))
        z, v, u = rng.standard_normal((3, outputs))
        z *= 10.0 ** rng.uniform(-1, 1.5)
        if trial % 2:  # the direction in which the second derivative along v changes fastest
            p = softmax(z)
            u = p * (v - p @ v) ** 2
            u -= p * u.sum()
        if trial % 4 == 3:  # and a v that has nearly all of its variance in the rarest classes
            v = (softmax(z) < np.sort(softmax(z))[1]).astype(float)
            u = v - np.eye(outputs)[np.argmax(z)]
        p = softmax(z)
        variance = p @ (v - p @ v) ** 2
        length = np.linalg.norm(u)
        if variance > 1e-12 and length > 1e-12:
            most = max(most, abs(_third(p, v, u)) / (length * variance))
    assert most <= Multinomial.concordance * (1 + 1e-9)
    assert most >= 0.999 * Multinomial.concordance


@pytest.mark.parametrize("loss", ["logistic", "poisson", "multinomial"])
def test_hessians_fall_no_faster_than_said_in_the_direction_of_the_longest_row(loss):
    """Also without a ridge, whose constant share would hide it, and where the bound is nearly reached."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((6, 4))
    X[0] *= 5.0
    y = [0, 1, 2, 0, 1, 2] if loss == "multinomial" else [1, 0, 1, 0, 1, 0]
    objective = GLM(X, y, loss, sample_weight=[1.0, 1.0, 0.5, 2.0, 1.0, 0.3])
    rate = objective.second_order.concordance
    constant = math.sqrt(2.0) if loss == "multinomial" else 1.0
    assert rate == pytest.approx(constant * np.linalg.norm(X, axis=1).max())
    for trial in range(60):
        x = rng.standard_normal(objective.dim) * (3.0 if trial % 3 else 0.1)
        v = np.outer(X[0], rng.standard_normal(objective.n_outputs)).ravel()
        v *= rng.uniform(0.001, 0.5) * rng.choice([-1, 1]) / np.linalg.norm(v)
        before, after = (unpacked(objective.curvature(at, "full")) for at in (x, x + v))
        least = np.linalg.eigvalsh(after - math.exp(-rate * np.linalg.norm(v)) * before)[0]
        assert least >= -1e-12 * max(np.abs(before).max(), np.abs(after).max())


def test_a_sample_without_weight_does_not_count_among_the_longest():
    X = np.diag([1.0, 2.0, 100.0])
    assert GLM(X, [0, 1, 1], sample_weight=[1.0, 1.0, 0.0]).second_order.concordance == 2.0
    assert GLM(X, [0, 1, 1]).second_order.concordance == 100.0
    assert GLM(X, [0, 1, 1], fit_intercept=True).second_order.concordance == math.sqrt(10_001.0)


@pytest.mark.parametrize("kind", ["dense", "sparse", "with ones"])
@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_hessians_fall_no_faster_than_their_reach_says_whatever_the_units(loss, kind):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((8, 4)) * [1e-3, 1.0, 30.0, 1e4]
    data = sparse.csr_array(X) if kind == "sparse" else X
    objective = GLM(data, [1, 0, 1, 0, 1, 0, 1, 1], loss, fit_intercept=kind == "with ones")
    largest = np.abs(X).max(axis=0)
    assert objective.reach == pytest.approx(np.append(largest, 1.0) if kind == "with ones" else largest)
    for _ in range(60):
        x, v = rng.standard_normal((2, objective.dim)) / objective.reach
        before, after = (unpacked(objective.curvature(at, "full")) for at in (x, x + 0.3 * v))
        units = np.outer(objective.reach, objective.reach)
        fallen = (after - math.exp(-0.3 * objective.reach @ np.abs(v)) * before) / units
        assert np.linalg.eigvalsh(fallen)[0] >= -1e-12 * np.abs(after / units).max()


def test_reach_is_not_known_of_several_outputs_and_of_losses_without_a_rate():
    X = np.eye(3)
    assert GLM(X, [0, 1, 2], "multinomial").reach is None
    assert GLM(X, [0.0, 1.0, 2.0], "huber").reach is None
    assert GLM(X, [0.0, 1.0, 2.0], "squared").reach is None
