"""Quadratics whose matrix is at hand are solved by one linear system."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat

import tether
from tether.shortcuts.optimality_system import direct_solution

#: The published optimal values.
MAROS_MESZAROS = {
    "AUG2DC": 1.81836807e6,
    "AUG3DC": 7.71262439e2,
    "DTOC3": 2.35262481e2,
    "GENHS28": 9.27173694e-1,
    "HS51": 0.0,
}


def quadratic(rng, p):
    root = rng.standard_normal((p, p))
    return tether.Quadratic(matrix=root @ root.T / p + 0.1 * np.eye(p), linear=rng.standard_normal(p))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_answer_solves_the_kkt_system(kind):
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((4, 12)), rng.standard_normal(4)
    objective, constraint = quadratic(rng, 12), tether.Affine(kind(A), b)
    system = np.block([[objective.hessian()[0], A.T], [A, np.zeros((4, 4))]])
    expected = np.linalg.solve(system, np.concatenate([-objective.linear, b]))[:12]
    np.testing.assert_allclose(direct_solution(objective, constraint), expected, atol=1e-11)
    sol = tether.solve(objective, constraint, tol=1e-12)
    assert sol.success and sol.counts.rounds == 2
    np.testing.assert_allclose(sol.x, expected, atol=1e-11)


def test_redundant_rows_and_no_constraint_are_no_obstacle():
    rng = np.random.default_rng(1)
    objective, row = quadratic(rng, 6), rng.standard_normal((1, 6))
    doubled = tether.solve(objective, tether.Affine(np.vstack([row, 2 * row]), [1.0, 2.0]), tol=1e-12)
    single = tether.solve(objective, tether.Affine(row, [1.0]), "lbfgs", tol=1e-14)
    np.testing.assert_allclose(doubled.x, single.x, atol=1e-8)
    free = tether.solve(objective, tol=1e-12)
    np.testing.assert_allclose(free.x, np.linalg.solve(objective.hessian()[0], -objective.linear), atol=1e-10)


def test_a_flow_with_quadratic_costs_is_solved_directly():
    edges = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [1, 3]])
    constraint = tether.Flow(edges, [1.0, 0.0, 0.0, -1.0])
    objective = tether.Quadratic(matrix=np.diag([1.0, 2.0, 3.0, 4.0, 5.0]))
    found, expected = (
        tether.solve(objective, constraint),
        tether.solve(objective, constraint, "lbfgs", tol=1e-14),
    )
    assert found.counts.rounds == 2
    np.testing.assert_allclose(found.x, expected.x, atol=1e-7)


def test_what_has_no_matrix_is_left_to_the_methods():
    rng = np.random.default_rng(2)
    logistic = tether.GLM(rng.standard_normal((30, 4)), np.arange(30) % 2)
    assert direct_solution(logistic, tether.Unconstrained(4)) is None


@pytest.mark.parametrize("weighted", [False, True])
def test_constrained_least_squares_and_factors_are_solved_directly(weighted):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((200, 6)), rng.standard_normal(200)
    constraint = tether.Affine(np.ones((1, 6)), [1.0])
    weights = rng.random(200) if weighted else None
    regression = tether.GLM(X, y, loss="squared", l2=0.1, fit_intercept=False, sample_weight=weights)
    for objective in (regression, tether.Quadratic(factors=X, linear=y[:6])):
        found = tether.solve(objective, constraint, tol=1e-12)
        expected = tether.solve(objective, constraint, "lbfgs", tol=1e-14)
        assert found.success and found.counts.rounds == 2
        assert "solved directly" in found.message
        np.testing.assert_allclose(found.x, expected.x, atol=1e-7)


@pytest.mark.data
@pytest.mark.skipif("TETHER_DATA" not in os.environ, reason="TETHER_DATA is not set")
@pytest.mark.parametrize("name", MAROS_MESZAROS)
def test_maros_meszaros_problems_reach_their_published_values(name):
    file = loadmat(Path(os.environ["TETHER_DATA"]) / "maros_meszaros" / f"{name}.mat")
    lower, upper = np.ravel(file["l"]), np.ravel(file["u"])
    equal = lower == upper
    objective = tether.Quadratic(
        matrix=sparse.csr_array(file["P"]) / 2,
        linear=np.ravel(file["q"]).astype(float),
        constant=float(np.ravel(file["r"])[0]),
    )
    constraint = tether.Affine(sparse.csr_array(file["A"])[equal], lower[equal].astype(float))
    for method in ("auto", "lbfgs"):
        sol = tether.solve(objective, constraint, method, tol=1e-9)
        assert sol.success
        assert sol.fun == pytest.approx(MAROS_MESZAROS[name], rel=1e-8, abs=1e-9)
        if method == "auto":  # three of the matrices are singular, all of them positive on the constraint
            assert sol.gap is not None and sol.gap <= 1e-9 * max(1.0, abs(sol.fun))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("equations", [0, 1, 7, 40])
def test_a_diagonal_matrix_makes_the_answer_a_projection(kind, equations):
    rng, p = np.random.default_rng(equations), 40
    diagonal, g = 10.0 ** rng.uniform(-3, 3, p), rng.standard_normal(p)
    A = rng.standard_normal((equations, p)) * (rng.random((equations, p)) < 0.6)
    b = A @ rng.standard_normal(p)
    constraint = tether.Affine(kind(A), b) if equations else None
    sol = tether.solve(tether.Quadratic(matrix=kind(np.diag(diagonal / 2)), linear=g), constraint, tol=1e-10)
    system = np.block([[np.diag(diagonal), A.T], [A, np.zeros((equations, equations))]])
    expected = np.linalg.lstsq(system, np.concatenate([-g, b]), rcond=None)[0][:p]
    assert sol.success and "solved directly" in sol.message and sol.counts.rounds == 2
    np.testing.assert_allclose(sol.x, expected, rtol=1e-7, atol=1e-7)


def test_many_variables_with_few_dense_equations_are_calibrated_directly():
    rng = np.random.default_rng(0)
    weights, A = rng.uniform(0.5, 2.0, 20_000), rng.standard_normal((12, 20_000))
    b, g = rng.standard_normal(12), rng.standard_normal(20_000)
    objective = tether.Quadratic(matrix=sparse.diags_array(weights / 2).tocsr(), linear=g)
    sol = tether.solve(objective, tether.Affine(A, b), tol=1e-12)
    multipliers = np.linalg.solve((A / weights) @ A.T, b + (A / weights) @ g)
    np.testing.assert_allclose(sol.x, (A.T @ multipliers - g) / weights, atol=1e-11)
    np.testing.assert_allclose(sol.multipliers, multipliers, atol=1e-11)
    assert "solved directly" in sol.message


@pytest.mark.parametrize("smallest", [0.0, 1e-15])
def test_a_diagonal_with_a_vanishing_entry_is_not_scaled_by_it(smallest):
    objective = tether.Quadratic(matrix=np.diag([1.0, 2.0, smallest]), linear=[1.0, 0.0, 0.0])
    sol = tether.solve(objective, tether.Affine([1.0, 1.0, 1.0], 1.0), tol=1e-8)
    np.testing.assert_allclose(sol.x, [-0.5, 0.0, 1.5], atol=1e-6)


def test_a_large_diagonal_knows_its_eigenvalues():
    objective = tether.Quadratic(matrix=sparse.diags_array(np.linspace(1.0, 3.0, 5_000)).tocsr())
    assert objective.smoothness == (6.0, 6.0, 2.0, True)


def test_long_independent_rows_need_no_factorisation_beside_the_schur_complement():
    rng = np.random.default_rng(3)
    A, weights, g = rng.standard_normal((4, 300)), rng.uniform(0.5, 2.0, 300), rng.standard_normal(300)
    b = rng.standard_normal(4)
    constraint = tether.Affine(A, b)
    objective = tether.Quadratic(matrix=sparse.diags_array(weights / 2).tocsr(), linear=g)
    sol = tether.solve(objective, constraint, tol=1e-12)
    multipliers = np.linalg.solve((A / weights) @ A.T, b + (A / weights) @ g)
    np.testing.assert_allclose(sol.x, (A.T @ multipliers - g) / weights, atol=1e-12)
    np.testing.assert_allclose(sol.multipliers, multipliers, atol=1e-12)
    assert sol.success and sol.residual < 1e-12
    assert "_bases" not in vars(constraint._rows)


def test_a_solved_system_certifies_its_answer_without_second_derivatives():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 8)) * 10.0 ** np.linspace(-3, 3, 8)  # so that l2 alone proves little
    objective = tether.GLM(X, X @ rng.standard_normal(8) + rng.standard_normal(200), "squared", l2=1e-9)
    sol = tether.solve(objective, tether.Affine(rng.standard_normal((2, 8)), [1.0, 2.0]), tol=1e-9)
    assert sol.success and sol.gap <= 1e-9
    assert sol.counts.gradients == 200
    assert "Hessian" not in sol.message
