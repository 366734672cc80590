import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from tether.constraints import Range


def test_differences_of_a_vector_are_in_the_range_of_the_difference_matrix():
    D = np.diff(np.eye(6), axis=0)
    D = np.vstack([D, D[0] + D[1]])
    inside = D @ np.arange(6.0) ** 2
    for constraint in (Range(D), Range(sp.csc_matrix(D))):
        assert constraint.residual(inside) <= 1e-12
        assert constraint.residual(inside + np.eye(6)[5]) > 0.1


def test_matrix_of_full_row_rank_restrains_nothing():
    D = np.random.default_rng(0).standard_normal((4, 7))
    x = np.arange(4.0)
    for constraint in (Range(D), Range(sp.coo_array(D))):
        np.testing.assert_array_equal(constraint.project(x), x)
    assert repr(Range(D)) == "Range(4 x 7, dense, rank 4)"


def test_vector_is_one_column():
    assert Range([3.0, 4.0]).shape == (2, 1)
    np.testing.assert_allclose(Range([3.0, 4.0]).project(np.array([5.0, 0.0])), [1.8, 2.4], atol=1e-14)


def test_range_of_zeros_is_the_origin():
    for D in (np.zeros((3, 2)), sp.csr_array((3, 2))):
        np.testing.assert_array_equal(Range(D).project(np.arange(3.0)), np.zeros(3))


@pytest.mark.parametrize(
    ("D", "message"),
    [
        ([[np.nan]], r"^D must be finite, got nan at \[0, 0\]"),
        (np.ones((2, 2, 2)), "^D must have two axes"),
        (np.zeros((0, 2)), "^D must have a row for each variable"),
        ([["a"]], "^D must hold real numbers"),
        ([[1.0, 2.0], [1.0]], "^D must be a rectangular array"),
    ],
)
def test_bad_matrix_is_refused_with_one_sentence(D, message):
    with pytest.raises(ValueError, match=message):
        Range(D)


def test_operator_is_refused():
    with pytest.raises(TypeError, match="dense or a sparse matrix"):
        Range(aslinearoperator(np.eye(2)))
