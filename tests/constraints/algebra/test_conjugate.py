import numpy as np
import pytest

from tether.constraints.algebra.conjugate import Products, conjugate_gradients


def products(A):
    return Products(lambda x: A @ x, lambda y: A.T @ y)


def test_solution_meets_the_floor():
    rng = np.random.default_rng(0)
    A, r = rng.standard_normal((6, 15)), rng.standard_normal(6)
    solved = conjugate_gradients(products(A), r, 1e-12, 100)
    assert solved.converged
    assert np.linalg.norm(A @ (A.T @ solved.y) - r) <= 1e-11


def test_exact_preconditioner_needs_one_iteration():
    rng = np.random.default_rng(1)
    A, r = rng.standard_normal((6, 15)), rng.standard_normal(6)
    inverse = np.linalg.inv(A @ A.T)
    solved = conjugate_gradients(products(A), r, 1e-12, 100, precondition=lambda z: inverse @ z)
    assert solved.converged
    assert solved.iterations == 1
    np.testing.assert_allclose(solved.y, inverse @ r, atol=1e-12)


def test_nothing_to_solve_takes_no_iteration():
    solved = conjugate_gradients(products(np.eye(3)), np.zeros(3), 0.0, 100)
    assert solved.converged
    assert solved.iterations == 0


@pytest.mark.parametrize("limit", [1, 3])
def test_limit_ends_the_search_without_convergence(limit):
    A = np.diag([1.0, 10.0, 100.0, 1000.0, 1e4])
    solved = conjugate_gradients(products(A), np.ones(5), 1e-12, limit)
    assert not solved.converged
    assert solved.iterations == limit


def test_target_outside_the_range_is_given_up():
    A = np.array([[1.0, 0.0], [0.0, 0.0]])
    solved = conjugate_gradients(products(A), np.array([0.0, 1.0]), 1e-12, 100)
    assert not solved.converged
    np.testing.assert_array_equal(solved.y, np.zeros(2))
