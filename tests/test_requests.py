"""What replies say of themselves."""

import math

import numpy as np

from tether.requests import Measured, Work


def test_the_rounding_of_a_point_that_is_out_of_scale_is_left_out_without_a_word():
    far = Measured(np.full(3, 1e200), 2.0, 1.0, 1.0, None, None, Work())
    assert math.isclose(far.rounding, 2e-13)
