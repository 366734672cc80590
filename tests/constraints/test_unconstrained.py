import numpy as np

from tether.constraints import Unconstrained


def test_normal_is_zero_against_any_gradient():
    gradient = np.arange(3.0)
    for constraint in (Unconstrained(), Unconstrained(3)):
        normal = constraint.normal(constraint.multipliers(gradient))
        np.testing.assert_array_equal(gradient - normal, gradient)


def test_every_point_is_feasible():
    assert Unconstrained().residual(np.array([1e9, -3.0])) == 0.0
    assert repr(Unconstrained(4)) == "Unconstrained(4)"
