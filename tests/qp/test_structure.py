"""Larger programs of the kinds that are met: each against what is known of it."""

import numpy as np
import pytest
from scipy import optimize, sparse

from tether.polyhedral import Pieces, Polyhedral
from tether.qp import Program, Status, solve_program
from tether.qp.kkt import CholeskyFactor, DenseFactor, DiagonalFactor, SparseFactor


def _differences(p, order):
    D = sparse.eye_array(p, format="csr")
    for _ in range(order):
        D = D[1:] - D[:-1]
    return sparse.csr_array(D)


def test_nonnegative_least_squares_is_that_of_scipy():
    rng = np.random.default_rng(0)
    X, target = rng.normal(size=(400, 250)), rng.normal(size=400)
    program = Program(X.T @ X, -X.T @ target, None, Polyhedral.separable(Pieces.of(250, lower=0.0)))
    answer = solve_program(program)
    expected, _ = optimize.nnls(X, target)
    np.testing.assert_allclose(answer.x, expected, atol=1e-10)
    assert ((answer.x == 0.0) == (expected == 0.0)).all()
    assert answer.iterations < 12  # active sets alone


def test_a_lasso_is_that_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 220))
    target = X[:, :10].sum(axis=1) + rng.normal(size=300)
    psi = Polyhedral.separable(Pieces.of(220, left=0.1, right=0.1))
    answer = solve_program(Program(X.T @ X / 300, -X.T @ target / 300, None, psi))
    lasso = linear_model.Lasso(alpha=0.1, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(X, target)
    np.testing.assert_allclose(answer.x, lasso.coef_, atol=1e-7)


@pytest.mark.parametrize("order", [1, 2])
def test_trend_filtering_has_a_certificate(order):
    p = 3_000
    rng = np.random.default_rng(0)
    signal = np.abs((np.linspace(0.0, 7.0, p)) % 2.0 - 1.0) + 0.3 * rng.normal(size=p)
    D = _differences(p, order)
    program = Program(
        np.ones(p), -signal, None, Polyhedral(Pieces.of(p), D, Pieces.of(p - order, left=5.0, right=5.0))
    )
    answer = solve_program(program)
    assert answer.status is Status.SOLVED
    y = answer.duals.rows
    assert (np.abs(y) <= 5.0).all()
    np.testing.assert_allclose(answer.x, signal - D.T @ y, atol=1e-10)
    assert program.polyhedral.misfit(answer.x, answer.duals) < 1e-8 * abs(program.value(answer.x))
    assert 0 < (np.abs(D @ answer.x) > 1e-6).sum() < p // 10


def test_few_dense_equations_are_met_with_bounds_and_slopes():
    rng = np.random.default_rng(0)
    A, z = rng.normal(size=(20, 2_000)), rng.normal(size=2_000)
    b = A @ np.clip(0.3 * rng.normal(size=2_000), -0.5, 0.5)
    psi = Polyhedral.separable(Pieces.of(2_000, -0.5, 0.5, 0.1, 0.2))
    program = Program(1.0 + rng.random(2_000), -z, (A, b), psi)
    answer = solve_program(program)
    assert answer.status is Status.SOLVED and answer.iterations < 12
    np.testing.assert_allclose(A @ answer.x, b, atol=1e-11)
    gradient = program.gradient(answer.x) + answer.duals.coordinates - A.T @ answer.equalities
    np.testing.assert_allclose(gradient, 0.0, atol=1e-11)
    assert (answer.x == 0.0).sum() > 100 and (np.abs(answer.x) == 0.5).sum() > 100


def test_no_variable_may_be_left():
    program = Program(np.ones(3), np.ones(3), None, Polyhedral.separable(Pieces.of(3, 2.0, 2.0)))
    answer = solve_program(program)
    assert answer.status is Status.SOLVED
    np.testing.assert_array_equal(answer.x, 2.0)
    np.testing.assert_array_equal(answer.duals.coordinates, -3.0)


def test_without_psi_and_equations_a_program_is_a_linear_system():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(9, 6))
    P, q = factors.T @ factors, rng.normal(size=6)
    answer = solve_program(Program(P, q, None, Polyhedral.separable(Pieces.of(6))))
    np.testing.assert_allclose(answer.x, np.linalg.solve(P, -q), rtol=1e-10)


def test_time_that_is_used_up_is_said():
    rng = np.random.default_rng(0)
    K = sparse.random_array((600, 400), density=0.01, rng=rng, format="csr")
    psi = Polyhedral(Pieces.of(400), K, Pieces.of(600, left=1.0, right=1.0))
    answer = solve_program(Program(np.ones(400), rng.normal(size=400), None, psi), seconds=0.0)
    assert answer.status is Status.BUDGET and np.isfinite(answer.x).all()


@pytest.mark.parametrize("rank", [6, 4])
def test_all_factorisations_solve_the_same_system(rank):
    rng = np.random.default_rng(0)
    H, C = 0.5 + rng.random(12), rng.normal(size=(6, rank)) @ rng.normal(size=(rank, 12))
    f, g = rng.normal(size=12), C @ rng.normal(size=12)
    factors = (
        DenseFactor(np.diag(H), C),
        DiagonalFactor(H, C),
        DiagonalFactor(H, sparse.csr_array(C)),
        SparseFactor(sparse.csc_array(np.diag(H)), sparse.csr_array(C)),
    )
    for factor in factors:
        u, v = factor.solve(f, g)
        np.testing.assert_allclose(H * u + C.T @ v, f, atol=1e-5)
        np.testing.assert_allclose(C @ u, g, atol=1e-5)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array])
def test_the_lengths_of_rows_make_no_difference(wrap):
    rng = np.random.default_rng(1)
    p, inside = 30, 0.3 * rng.standard_normal(30)
    A, K = rng.standard_normal((12, p)), rng.standard_normal((4, p))
    box = Pieces.of(p, inside - 0.1 * rng.random(p), inside + 0.1 * rng.random(p))
    linear, low = rng.standard_normal(p), K @ inside - 0.01

    def answer(a, k):
        rows = Pieces.of(4, k * low, left=0.1 / k, right=0.2 / k)
        psi = Polyhedral(box, wrap(k[:, None] * K), rows)
        return solve_program(Program(np.ones(p), linear, (wrap(a[:, None] * A), a * (A @ inside)), psi))

    a, k = 2.0 ** rng.integers(-25, 25, 12), 2.0 ** rng.integers(-25, 25, 4)
    plain, uneven = answer(np.ones(12), np.ones(4)), answer(a, k)
    assert uneven.status is Status.SOLVED
    np.testing.assert_allclose(uneven.x, plain.x, atol=1e-12)
    np.testing.assert_allclose(a * uneven.equalities, plain.equalities, atol=1e-9)
    np.testing.assert_allclose(k * uneven.duals.rows, plain.duals.rows, atol=1e-9)


@pytest.mark.parametrize(("lower", "slope"), [(0.0, 0.0), (-np.inf, 0.2), (-0.1, 0.1)])
def test_small_programs_with_an_easy_face_take_few_systems(lower, slope):
    rng = np.random.default_rng(0)
    for p in (5, 20, 50):
        X, target = rng.normal(size=(20 * p, p)), rng.normal(size=20 * p)
        psi = Polyhedral.separable(Pieces.of(p, lower, left=slope, right=slope))
        program = Program(X.T @ X / len(X), -X.T @ target / len(X), None, psi)
        answer = solve_program(program)
        assert answer.status is Status.SOLVED and answer.iterations <= 4
        gradient = program.gradient(answer.x)
        assert np.abs(gradient + answer.duals.coordinates).max() < 1e-14
        assert psi.misfit(answer.x, answer.duals) < 1e-16


def test_a_factor_without_delta_is_exact_and_a_singular_one_still_refined():
    rng = np.random.default_rng(0)
    B, C = rng.normal(size=(40, 20)), rng.normal(size=(3, 20))
    f, g = rng.normal(size=20), rng.normal(size=3)
    H = B.T @ B / 40
    u, v = CholeskyFactor(H, C).solve(f, g)
    assert max(np.abs(H @ u + C.T @ v - f).max(), np.abs(C @ u - g).max()) < 1e-12
    singular = B[:10].T @ B[:10] / 40  # positive on the plane C u = 0 no more
    u, v = CholeskyFactor(singular, C).solve(f, g)
    assert np.isfinite(u).all() and np.isfinite(v).all()


def test_a_minimum_that_is_not_unique_is_found_all_the_same():
    rng = np.random.default_rng(0)
    X, target = rng.normal(size=(15, 40)), rng.normal(size=15)
    for lower, slope in ((0.0, 0.0), (-np.inf, 0.05), (-1.0, 0.0)):
        psi = Polyhedral.separable(Pieces.of(40, lower, left=slope, right=slope))
        program = Program(X.T @ X, -X.T @ target, (np.ones((1, 40)), np.ones(1)), psi)
        answer = solve_program(program)
        assert answer.status is Status.SOLVED
        pull = program.gradient(answer.x) + answer.duals.coordinates - answer.equalities
        assert np.abs(pull).max() < 1e-11 and psi.misfit(answer.x, answer.duals) < 1e-12
        assert abs(answer.x.sum() - 1.0) < 1e-13
