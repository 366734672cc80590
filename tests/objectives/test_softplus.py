"""Losses of classes and their slopes keep their digits where they are next to 0."""

import math

import numpy as np
import pytest

from tether.objectives.losses import Logistic, Multinomial
from tether.objectives.losses.softplus import sigmoid, sigmoid_slope, softplus

FAR = np.array([-np.inf, -800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 800.0, np.inf])


def test_softplus_and_its_derivatives_keep_their_digits():
    with np.errstate(all="raise", under="ignore"):
        values, slopes, curvatures = softplus(FAR), sigmoid(FAR), sigmoid_slope(FAR)
    for z, value, slope, curvature in zip(FAR, values, slopes, curvatures, strict=True):
        small = math.exp(-abs(z))
        assert value == pytest.approx(max(z, 0.0) + math.log1p(small), rel=1e-15)
        assert slope == pytest.approx((small if z < 0 else 1.0) / (1.0 + small), rel=1e-15)
        assert curvature == pytest.approx(small / (1.0 + small) ** 2, rel=1e-15)


def test_numbers_that_are_none_stay_so():
    nothing = np.array([np.nan])
    assert all(np.isnan(function(nothing)).all() for function in (softplus, sigmoid, sigmoid_slope))


@pytest.mark.parametrize("gap", [1.0, 30.0, 60.0, 700.0, 2000.0])
def test_two_classes_are_those_of_the_logistic_loss_however_sure_it_is(gap):
    z, y = np.array([[gap, 0.0], [0.0, gap]]), np.array([0, 0])
    many, two = Multinomial(), Logistic()
    with np.errstate(all="raise", under="ignore"):
        values, slopes = many.values(z, y), many.slopes(z, y)
    margin, ones = np.array([gap, -gap]), np.ones(2)
    np.testing.assert_allclose(values, two.values(margin, ones), rtol=1e-14)
    np.testing.assert_allclose(slopes[:, 0], two.slopes(margin, ones), rtol=1e-14)
    np.testing.assert_array_equal(slopes.sum(axis=1), 0.0)
