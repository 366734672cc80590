"""What workers send is checked for form, and what they say cannot change what accuracies mean."""

import numpy as np
import pytest

import tether
from tether.engines.averaging import form_reply
from tether.engines.centre import Projector
from tether.engines.uploads import BadUpload, Upload, check_cost, check_form, limited, mean, overflow, scaled
from tether.methods import DelayedSGD
from tether.objectives.base import Evaluation, Objective, Smoothness
from tether.objectives.pool import Card
from tether.requests import Average, Descend, Gradient
from tether.run.solution import Status

DIM = 3
X = np.arange(1.0, DIM + 1)
GRADIENT = Gradient(np.zeros(DIM))
NUMBERS = Gradient(np.zeros(DIM), tangent=False)
WALK = Descend(np.zeros(DIM), steps=4, step_size=0.1, batch_size=2)
COLLECT = WALK._replace(average=Average(0.0, collect=True))

CARD = Card(10, 10.0, DIM, 1, 1, tether.Smoothness(1.0, 1.0, 0.0))
GOOD = {
    "gradient": (GRADIENT, Upload((), X, 1.0, 2.0, 3.0, 0, 10)),
    "numbers": (NUMBERS, Upload((), None, 1.0, 2.0, 3.0, 0, 10)),
    "walk": (WALK, Upload((X,), None, steps=4, gradients=8)),
    "collect": (COLLECT, Upload((X, X), None, steps=4, gradients=8)),
}

BAD = {
    "broadcast": ("gradient", {"direction": np.ones(1)}, r"shape \(1,\)"),
    "long": ("gradient", {"direction": np.ones(3_000)}, r"shape \(3000,\)"),
    "a column": ("gradient", {"direction": X[:, None]}, r"shape \(3, 1\)"),
    "integers": ("gradient", {"direction": np.arange(3)}, "int64"),
    "complex": ("gradient", {"direction": X + 1j}, "complex128"),
    "no gradient": ("gradient", {"direction": None}, "0 gradients where 0 and 1"),
    "a surplus point": ("gradient", {"points": (X,)}, "1 points and 1 gradients"),
    "a surplus gradient": ("numbers", {"direction": X}, "1 gradients where 0 and 0"),
    "no point": ("walk", {"points": ()}, "0 points"),
    "two points": ("walk", {"points": (X, X)}, "2 points"),
    "no average": ("collect", {"points": (X,)}, "1 points and 0 gradients where 2"),
    "a short point": ("walk", {"points": (X[:1],)}, r"shape \(1,\)"),
    "fewer steps": ("walk", {"steps": 3}, "3 steps where 4"),
    "steps of a gradient": ("gradient", {"steps": 1}, "1 steps where 0"),
    "negative gradients": ("walk", {"gradients": -1}, "gradients = -1"),
    "negative misfit": ("gradient", {"misfit": -1.0}, "misfit = -1"),
    "negative scale": ("numbers", {"scale": -1.0}, "scale = -1"),
    "negative seconds": ("walk", {"seconds": -1.0}, "seconds = -1"),
}


@pytest.mark.parametrize("name", GOOD)
def test_an_honest_upload_passes(name):
    check_form(1, *GOOD[name])
    check_cost(1, *GOOD[name], CARD)
    assert overflow(*GOOD[name]) == ""


@pytest.mark.parametrize("name", BAD)
def test_a_malformed_upload_is_refused_and_names_the_worker(name):
    kind, changes, words = BAD[name]
    request, upload = GOOD[kind]
    with pytest.raises(BadUpload, match=f"worker 7 .*{words}"):
        check_form(7, request, upload._replace(**changes))


@pytest.mark.parametrize("kind", GOOD)
def test_an_absurd_cost_is_refused(kind):
    request, upload = GOOD[kind]
    with pytest.raises(BadUpload, match="worker 2 reports 1000 component gradients"):
        check_cost(2, request, upload._replace(gradients=1000), CARD)


@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("kind", ["gradient", "walk", "collect"])
def test_a_vector_that_has_no_length_is_noticed(kind, entry):
    request, upload = GOOD[kind]
    vector = np.array([1.0, entry, 1.0])
    changed = {"direction": vector} if upload.points == () else {"points": (*upload.points[:-1], vector)}
    assert "a vector" in overflow(request, upload._replace(**changed))


@pytest.mark.parametrize("name", ["value", "misfit", "scale"])
def test_a_number_of_a_gradient_that_is_not_finite_is_noticed(name):
    request, upload = GOOD["numbers"]
    assert "nan" in overflow(request, upload._replace(**{name: np.nan}))


# --- what accuracies are relative to ---------------------------------------------------------------------


@pytest.mark.parametrize("lie", [-1e6, 1e6, 0.0])
def test_one_workers_loss_does_not_choose_the_size_of_f(lie):
    honest = [GOOD["gradient"][1]._replace(value=value) for value in (0.4, 0.5, 0.6)]
    reply, _ = form_reply(
        Projector(tether.Unconstrained(DIM)), GRADIENT, [*honest[:2], honest[2]._replace(value=lie)]
    )
    assert 0.4 <= reply.size <= 0.6


def test_of_two_workers_the_smaller_loss_is_the_size_of_f():
    honest, liar = GOOD["gradient"][1], GOOD["gradient"][1]._replace(value=-1e6)
    reply, _ = form_reply(Projector(tether.Unconstrained(DIM)), GRADIENT, [liar, honest])
    assert reply.size == honest.value


def test_one_workers_norm_does_not_choose_the_scale_of_a_reply_without_a_vector():
    uploads = [GOOD["numbers"][1]._replace(scale=scale) for scale in (2.0, 3.0, 1e9)]
    reply, _ = form_reply(Projector(tether.Unconstrained(DIM)), NUMBERS, uploads)
    assert reply.scale == 3.0


# --- means ---------------------------------------------------------------------------------------------


def test_the_mean_of_one_vector_is_that_vector_and_of_more_a_new_one():
    assert mean([X]) is X
    np.testing.assert_array_equal(mean([X, 3.0 * X]), 2.0 * X)
    np.testing.assert_array_equal(X, np.arange(1.0, DIM + 1))


# --- the bound on changes --------------------------------------------------------------------------------


def test_a_long_gradient_keeps_its_direction_and_loses_its_length():
    upload, factors = limited(GRADIENT, GOOD["gradient"][1], 0.5)
    np.testing.assert_allclose(upload.direction, 0.5 * X / np.linalg.norm(X))
    assert factors == (0.5 / np.linalg.norm(X),)


def test_a_long_change_is_shortened_from_the_start_of_the_walk():
    walk = COLLECT._replace(start=np.full(DIM, 100.0))
    near, far = np.array([100.0, 100.1, 100.0]), np.array([100.0, 100.0, 150.0])
    upload, factors = limited(walk, Upload((near, far), None, steps=4), 2.0)
    np.testing.assert_array_equal(upload.points[0], near)
    np.testing.assert_allclose(upload.points[1], [100.0, 100.0, 102.0])
    assert factors == (1.0, 2.0 / 50.0)
    np.testing.assert_array_equal(scaled(walk, far, factors[1]), upload.points[1])


# --- workers in one process ------------------------------------------------------------------------------


class Own(Objective):
    """A sum of the user's own, whose gradients have a given length."""

    n_samples, dim = 4, DIM

    def __init__(self, length):
        self.length = length

    def evaluate(self, x):
        return Evaluation(0.0, np.ones(self.length))

    def batch_gradient(self, x, batch, anchor=None, slopes=None):
        return np.zeros(DIM)

    @property
    def smoothness(self):
        return Smoothness(1.0, 1.0, 0.1)


def local():
    rng = np.random.default_rng(0)
    return tether.GLM(rng.standard_normal((20, DIM)), rng.standard_normal(20), "squared", l2=0.1)


def test_a_worker_in_this_process_with_a_malformed_gradient_is_named():
    with pytest.raises(BadUpload, match=r"worker 1 sent an array of shape \(1,\)"):
        tether.solve(tether.Federation([Own(DIM), Own(1)]), method="nesterov")


def test_walks_that_overflow_in_this_process_are_a_divergence():
    method = DelayedSGD(step_size=1e200, interval=10)
    assert tether.solve(tether.Federation([local(), local()]), method=method).status is Status.DIVERGED
