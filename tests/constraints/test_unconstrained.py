import numpy as np

from tether.constraints import Unconstrained


def test_there_are_no_multipliers():
    for constraint in (Unconstrained(), Unconstrained(3)):
        assert constraint.multipliers(np.arange(3.0)).shape == (0,)


def test_there_are_no_equations():
    A, b = Unconstrained(3).equations
    assert A.shape == (0, 3) and b.shape == (0,)
    assert Unconstrained().equations is None


def test_every_point_is_feasible():
    assert Unconstrained().residual(np.array([1e9, -3.0])) == 0.0
    assert repr(Unconstrained(4)) == "Unconstrained(4)"
