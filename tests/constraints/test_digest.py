"""What defines a set changes its digest; how it is given does not."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from tether.constraints import Affine, Consensus, Constraint, Flow, Range, Unconstrained

A, B = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]), np.array([1.0, 2.0])
A_LITTLE_LATER = np.nextafter(A, 9.0)
EDGES, SUPPLY = [[0, 1], [1, 2], [0, 2]], [3.0, 0.0, -3.0]


class Halfway(Constraint):
    """x_1 = x_2, without a digest of its own."""

    def __init__(self, dim):
        self.dim = dim

    def project(self, x):
        return np.concatenate([np.full(2, x[:2].mean()), x[2:]])

    tangent = project

    def residual(self, x):
        return abs(x[0] - x[1])

    def multipliers(self, gradient):
        return gradient[:1] - gradient[1:2]


DIFFERENT = [
    lambda: Affine(A, B),
    lambda: Affine(A),
    lambda: Affine(A, [1.0, 2.5]),
    lambda: Affine(A_LITTLE_LATER, B),
    lambda: Affine(A[::-1], B[::-1]),
    lambda: Affine(A[:, ::-1], B),
    lambda: Affine(A[:1], B[:1]),
    lambda: Affine(sp.csr_array(A), B),
    lambda: Affine(sp.csr_array(A_LITTLE_LATER), B),
    lambda: Affine(aslinearoperator(A), B),
    lambda: Affine(aslinearoperator(A), [1.0, 2.5]),
    lambda: Affine(aslinearoperator(A + 1e-6), B),
    lambda: Range(A.T),
    lambda: Range(A),
    lambda: Range(A_LITTLE_LATER),
    lambda: Range(sp.csr_array(A)),
    lambda: Flow(EDGES, SUPPLY),
    lambda: Flow(EDGES, [3.0, 0.5, -3.5]),
    lambda: Flow([[1, 0], [1, 2], [0, 2]], SUPPLY),
    lambda: Consensus(2),
    lambda: Consensus(3),
    lambda: Unconstrained(),
    lambda: Halfway(3),
    lambda: Halfway(4),
]


def test_sets_that_differ_have_different_digests():
    digests = [make().digest() for make in DIFFERENT]
    assert len(set(digests)) == len(DIFFERENT)
    assert digests == [make().digest() for make in DIFFERENT]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil"])
def test_the_format_of_a_sparse_matrix_does_not_count(kind):
    assert Affine(sp.csr_array(A).asformat(kind), B).digest() == Affine(sp.csr_array(A), B).digest()


def test_stored_zeros_and_integers_do_not_count():
    stored = sp.csr_array(np.ones((2, 3)))
    stored.data[:] = A.ravel()
    assert Affine(stored, B).digest() == Affine(sp.csr_array(A), B).digest()
    assert Affine(A.astype(int), [1, 2]).digest() == Affine(A, B).digest()


def test_rounding_of_an_operator_does_not_count():
    assert Affine(aslinearoperator(A * (1 + 1e-15)), B).digest() == Affine(aslinearoperator(A), B).digest()


def test_a_set_of_any_length_must_say_itself_what_defines_it():
    with pytest.raises(TypeError, match="Halfway must have dim, or a digest"):
        Halfway(None).digest()
