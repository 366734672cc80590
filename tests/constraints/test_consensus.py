import numpy as np
import pytest

from tether.constraints import Consensus


def test_projection_is_the_mean_of_the_workers():
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 9.0])
    np.testing.assert_allclose(Consensus(3).project(x), [3, 5, 3, 5, 3, 5])
    np.testing.assert_allclose(Consensus(2).project(x), [2.5, 3.5, 6, 2.5, 3.5, 6])


def test_multipliers_sum_to_zero_over_the_workers():
    multipliers = Consensus(3).multipliers(np.arange(12.0) ** 2)
    np.testing.assert_allclose(multipliers.reshape(3, 4).sum(axis=0), 0, atol=1e-12)


def test_one_worker_agrees_with_itself():
    np.testing.assert_array_equal(Consensus(1).project(np.arange(4.0)), np.arange(4.0))
    assert Consensus(np.int64(1)).residual(np.arange(4.0)) == 0.0


def test_length_must_divide():
    with pytest.raises(
        ValueError, match=r"Consensus\(3\) got a vector of length 7; it needs a multiple of 3"
    ):
        Consensus(3).project(np.zeros(7))


@pytest.mark.parametrize("n", [0, -2, 2.0, "3"])
def test_number_of_blocks_must_be_a_positive_integer(n):
    with pytest.raises(ValueError, match=r"^n must be a whole number >= 1, got"):
        Consensus(n)
