"""Powers: exact on powers, with intervals that hold the truth as often as they say."""

import math

import numpy as np
import pytest

from tether.reproduce.fits import Power, power
from tether.reproduce.tables.sweep import Fit

X = np.array([1.0, 2.0, 5.0, 10.0, 30.0])


def test_a_power_is_found_exactly():
    found = power(X, 3.0 * X**-1.5)
    assert found.exponent == pytest.approx(-1.5) and found.half_width < 1e-12
    assert str(found) == "-1.50 ± 0.00"


def test_two_points_have_no_interval():
    found = power(X[:2], X[:2])
    assert found.half_width == math.inf and str(found) == "+1.00"


def test_the_interval_holds_the_truth_in_nineteen_of_twenty():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        runs = X**0.7 * np.exp(0.3 * rng.standard_normal((3, 5)))
        found = power(X, runs)
        inside += abs(found.exponent - 0.7) <= found.half_width
    assert 0.91 <= inside / 400 <= 0.985


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (Power(1.1, 0.01), "agrees"),
        (Power(1.4, 0.3), "agrees"),
        (Power(0.5, 0.1), "better"),
        (Power(1.5, 0.1), "worse"),
        (Power(1.0, 0.9), "unclear"),
        (None, "worse"),
    ],
)
def test_bounds_may_be_met_beaten_or_broken(measured, verdict):
    assert Fit(None, "steps", measured, 1.0).verdict == verdict
