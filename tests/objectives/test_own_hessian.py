"""A Hessian of the user's own is what is answered, or it is refused."""

import math

import numpy as np
import pytest
from scipy import sparse

from tether.curvature import packed
from tether.objectives import FiniteSum

N = 50
POINTS = np.random.default_rng(0).standard_normal((N, 4))


def _sum(hessian, **options):
    """The mean over i of sum_j (x_j - t_ij)^4 / 12 + (sum_j x_j)^2 / 2."""

    def value(x, batch):
        return float(((x - POINTS[batch]) ** 4).sum(axis=1).mean() / 12 + 0.5 * x.sum() ** 2)

    def gradient(x, batch):
        return ((x - POINTS[batch]) ** 3).mean(axis=0) / 3 + x.sum()

    return FiniteSum(gradient, value, N, 4, smoothness=10.0, hessian=hessian, **options)


def true(x, batch):
    return np.diag(((x - POINTS[batch]) ** 2).mean(axis=0)) + 1.0


def test_a_hessian_of_ones_own_is_what_is_answered():
    x = np.random.default_rng(1).standard_normal(4)
    for make in (np.asarray, sparse.csr_array, sparse.coo_matrix, lambda H: H.astype(np.float32)):
        objective = _sum(lambda x, batch, make=make: make(true(x, batch)))
        found = objective.curvature(x, "full")
        np.testing.assert_allclose(found, packed(true(x, np.arange(N))), rtol=1e-6)
        np.testing.assert_allclose(
            objective.curvature(x, "diagonal", np.arange(3)), true(x, [0, 1, 2]).diagonal(), rtol=1e-6
        )
        assert not objective.second_order.separable and objective.second_order.concordance == math.inf


FALSE_HESSIANS = {
    "a vector too long": (lambda x, b: np.ones(5), "must return a symmetric matrix"),
    "a column": (lambda x, b: np.ones((4, 1)), "must return a symmetric matrix"),
    "complex": (lambda x, b: true(x, b) + 0j, "must return a symmetric matrix"),
    "nothing": (lambda x, b: None, "must return a symmetric matrix"),
    "rows of unequal length": (lambda x, b: [[1.0], [1.0, 2.0]], "must return a symmetric matrix"),
    "not finite": (lambda x, b: true(x, b) / 0.0, "must be finite|mean over the batch"),
    "a triangle": (lambda x, b: np.tril(true(x, b)), "must be symmetric"),
    "half": (lambda x, b: 0.5 * true(x, b), "must be the derivative"),
    "a sign": (lambda x, b: -true(x, b), "must be the derivative"),
    "only the diagonal": (lambda x, b: true(x, b).diagonal(), "must be the derivative"),
    "right at zero only": (lambda x, b: true(0.0 * x, b), "must be the derivative"),
    "one entry": (lambda x, b: true(x, b) + 0.1 * np.diag([1.0, 0, 0, 0]), "must be the derivative"),
    "a sum": (lambda x, b: len(b) * true(x, b), "must return the mean over the batch"),
}


@pytest.mark.parametrize("mistake", FALSE_HESSIANS)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_a_false_hessian_is_refused_in_a_sentence(mistake):
    hessian, words = FALSE_HESSIANS[mistake]
    with pytest.raises(ValueError, match=rf"^hessian\(x, batch\) ({words})[^\n]*\.$"):
        _sum(hessian)


@pytest.mark.parametrize("wrong", [3, lambda x: x])
def test_a_hessian_that_is_no_function_of_two_arguments_is_refused(wrong):
    with pytest.raises(ValueError, match=r"^hessian must be a function of"):
        _sum(wrong)
