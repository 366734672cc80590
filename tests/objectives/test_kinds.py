"""Workers of a federation share everything but their data."""

import json

import numpy as np
import pytest

import tether
from tether.objectives.losses import Huber, Multinomial, Squared

DIM = 4


def data(seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((40, DIM)), rng.standard_normal(40)


def local(seed, l2=0.1):
    return tether.GLM(*data(seed), "squared", l2=l2)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (local(1, l2=0.2), "l2 is 0.1 on worker 0 and 0.2 on worker 1; give all the same settings"),
        (tether.GLM(*data(1), Huber(1.0), l2=0.1), "loss is 'Squared' on worker 0 and 'Huber' on worker 1"),
        (tether.GLM(*data(1), "squared", l2=0.1, fit_intercept=True), "fit_intercept is False on worker 0"),
        (tether.Quadratic(matrix=np.eye(DIM)), "objective is 'GLM' on worker 0 and 'Quadratic' on worker 1"),
    ],
)
def test_workers_whose_objectives_differ_in_more_than_data_are_refused(other, words):
    with pytest.raises(ValueError, match="^objectives may differ in their data only: " + words):
        tether.Federation([local(0), other])


def test_losses_of_one_class_with_other_settings_are_different_losses():
    one, other = (tether.GLM(*data(k), Huber(delta)) for k, delta in enumerate((1.0, 2.0)))
    with pytest.raises(ValueError, match=r"delta is 1.0 on worker 0 and 2.0 on worker 1"):
        tether.Federation([one, other])


class Bent(Squared):
    def __init__(self, setting, buffer=0.0):
        vars(self).update(setting=setting, _buffer=np.full(2, buffer))


@pytest.mark.parametrize(
    ("one", "other"),
    [(np.float32(1.0), np.float32(2.0)), (np.int64(1), np.int64(2)), (np.array([1.0, 2.0]), np.arange(2.0))],
)
def test_settings_of_a_loss_may_be_numpy_numbers_and_arrays(one, other):
    workers = [tether.GLM(*data(k), Bent(setting)) for k, setting in enumerate((one, other, one.copy()))]
    with pytest.raises(ValueError, match=r"setting is .* on worker 0 and .* on worker 1"):
        tether.Federation(workers[:2])
    assert tether.Federation(workers[::2]).n_samples == 80
    assert json.loads(json.dumps(workers[0].kind())) == workers[0].kind()


def test_a_buffer_of_a_loss_is_no_setting():
    assert Bent(1.0, buffer=1.0).kind() == Bent(1.0, buffer=2.0).kind()


def test_rows_and_outputs_of_equal_product_are_different_models():
    wide = tether.GLM(np.eye(4), [0, 1, 0, 1], Multinomial(2))
    many = tether.GLM(np.eye(2), [0, 1], Multinomial(4))
    with pytest.raises(ValueError, match="n_outputs is 2 on worker 0 and 4 on worker 1"):
        tether.Federation([wide, many])


def test_quadratics_by_factors_and_by_matrix_are_different_sums():
    with pytest.raises(ValueError, match="form is 'factors' on worker 0 and 'matrix' on worker 1"):
        tether.Federation([tether.Quadratic(factors=np.eye(2)), tether.Quadratic(matrix=np.eye(2))])


def test_classes_may_be_counted_by_one_worker_and_given_to_another():
    X = np.eye(3)
    workers = [tether.GLM(X, [0, 1, 2], "multinomial"), tether.GLM(X, [0, 1, 1], Multinomial(3))]
    assert tether.Federation(workers).kind() == workers[1].kind()


def test_an_l2_that_was_computed_may_differ_in_the_last_bits():
    assert tether.Federation([local(0, l2=0.1), local(1, l2=np.nextafter(0.1, 1.0))]).n_samples == 80
