"""What is asked of arrays in every round."""

import numpy as np

from tether.arrays import same


def test_arrays_with_the_same_entries_are_the_same():
    one = np.array([1.0, -0.0, np.inf])
    assert same(one, one)
    assert same(one, np.array([1.0, 0.0, np.inf]))
    assert not same(one, np.array([1.0, 0.0, -np.inf]))
    assert not same(one, one[:2])
    assert not same(None, one)


def test_an_array_with_what_is_no_number_is_the_same_as_itself_alone():
    broken = np.array([1.0, np.nan])
    assert same(broken, broken)
    assert not same(broken, broken.copy())
