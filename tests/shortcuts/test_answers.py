"""Data that is projected once gives the answer of the problem as it was written."""

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.optimize import LinearConstraint

import tether
from tether import Status, shortcuts
from tether.problem import Problem
from tether.run import closing
from tether.shortcuts import projected_data
from tether.tolerance import Tolerance

N, P, FREE = 2_000, 120, 12  # samples, variables, directions that the equations leave


def projected(objective, constraint):
    problem = Problem(objective, constraint)
    straight = shortcuts.Way(
        problem=problem, original=problem, method=tether.methods.Auto(), asked=Tolerance()
    )
    return projected_data.with_projected_data(straight, warm=False)


def way_of(case):
    return projected(case.objective, case.constraint)


CASES = {
    "logistic": {},
    "b = 0": {"b": False},
    "intercept": {"intercept": True},
    "intercept, b = 0, weights": {"intercept": True, "b": False, "weighted": True},
    "huber": {"loss": "huber"},
    "huber, weights": {"loss": "huber", "weighted": True},
    "poisson": {"loss": "poisson"},
    "poisson, intercept": {"loss": "poisson", "intercept": True},
    "least squares": {"loss": "squared", "p": 520},
    "least squares, no ridge": {"loss": "squared", "p": 520, "l2": 0.0},
    "float32": {"dtype": np.float32},
    "float32, intercept": {"dtype": np.float32, "intercept": True},
}


@pytest.mark.parametrize("label", CASES)
def test_the_answer_is_the_optimum_on_the_constraint(label, make_case, was_projected):
    case = make_case(**CASES[label])
    single = "float32" in label  # where rounding hides more than 1e-11
    sol, best = case.solve(tol=1e-10 if single else 1e-11), case.optimum()
    assert sol.success and was_projected(sol)
    np.testing.assert_allclose(sol.x, best, atol=2e-5)
    value, gradient = case.at(sol.x)
    assert sol.fun == pytest.approx(value, rel=1e-12)
    assert 0.0 <= value - case.at(best)[0] + 1e-14 <= sol.gap + 2e-14
    assert sol.gap <= (1e-10 if single else 1e-11)
    assert (
        sol.residual == pytest.approx(np.linalg.norm(case.A @ sol.x - case.b), abs=1e-12)
        and sol.residual < 1e-11
    )
    np.testing.assert_allclose(case.A.T @ sol.multipliers, gradient, atol=1e-5)
    multipliers = np.linalg.lstsq(case.A.T, case.at(best)[1], rcond=None)[0]
    np.testing.assert_allclose(sol.multipliers, multipliers, atol=1e-4)


def test_the_same_answer_comes_without_the_presolve(case, monkeypatch, was_projected):
    with_it = case.solve()
    monkeypatch.setattr(shortcuts, "SHORTCUTS", ())
    without = case.solve()
    assert without.success and not was_projected(without)
    np.testing.assert_allclose(with_it.x, without.x, atol=1e-5)
    np.testing.assert_allclose(with_it.multipliers, without.multipliers, atol=1e-4)


@pytest.mark.parametrize("kind", ["dense", "sparse", "LinearConstraint"])
def test_equations_that_others_imply_change_nothing(case, kind):
    A, b = np.vstack([case.A, case.A[3] - 2 * case.A[5], 0 * case.A[:1]]), None
    b = np.concatenate([case.b, [case.b[3] - 2 * case.b[5], 0.0]])
    constraint = {
        "dense": lambda: tether.Affine(A, b),
        "sparse": lambda: tether.Affine(sparse.csr_array(A), b),
        "LinearConstraint": lambda: LinearConstraint(A, b, b),
    }[kind]()
    sol = tether.solve(case.objective, constraint, tol=1e-11)
    assert sol.success and f"from {P} columns to {FREE + 1}" in sol.message
    np.testing.assert_allclose(sol.x, case.optimum(), atol=2e-5)
    np.testing.assert_allclose(A.T @ sol.multipliers, case.at(sol.x)[1], atol=1e-5)


def test_the_range_of_a_narrow_matrix_is_projected_on_too(make_case):
    case = make_case(b=False)
    sol = tether.solve(
        case.objective, tether.Range(linalg.null_space(case.A) @ np.triu(np.ones((FREE, FREE)))), tol=1e-11
    )
    assert sol.success and f"from {P} columns to {FREE}" in sol.message
    np.testing.assert_allclose(sol.x, case.optimum(), atol=2e-5)


def test_a_flow_with_few_cycles_is_found_in_the_space_of_cycles(case):
    rng, nodes = np.random.default_rng(0), P - FREE + 1
    path, chords = np.arange(nodes - 1), rng.permutation(nodes - 1)[:FREE]
    tails, heads = np.concatenate([path, chords]), np.concatenate([path + 1, (chords + nodes // 2) % nodes])
    flow = tether.Flow(np.column_stack([tails, heads]), np.eye(1, nodes)[0] - np.eye(1, nodes, nodes - 1)[0])
    sol = tether.solve(case.objective, flow, tol=1e-11)
    assert sol.success and f"from {P} columns to {FREE + 1}" in sol.message and sol.residual < 1e-11
    np.testing.assert_allclose(sol.multipliers[tails] - sol.multipliers[heads], case.at(sol.x)[1], atol=1e-5)


def test_the_basis_is_orthonormal_and_spans_the_feasible_points(case):
    reduced = way_of(case)
    B = reduced.basis
    np.testing.assert_allclose(B.T @ B, np.eye(FREE + 1), atol=1e-14)
    np.testing.assert_allclose(case.A @ B[:, :-1], 0.0, atol=1e-13)
    x = case.constraint.project(np.random.default_rng(0).standard_normal(P))
    v = reduced.lower(x)
    np.testing.assert_allclose(reduced.lift(v), x, atol=1e-12)
    assert reduced.problem.constraint.residual(v) < 1e-12
    assert reduced.problem.objective.value(v) == pytest.approx(case.at(x)[0], rel=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_projected_data_keeps_its_precision(dtype, make_case):
    case = make_case(dtype=dtype, intercept=True)
    reduced = way_of(case)
    data = reduced.problem.objective.design.matrix
    assert data.dtype == dtype
    np.testing.assert_allclose(data, case.wide @ reduced.basis, atol=20 * np.finfo(dtype).eps)


def test_whatever_is_lifted_is_feasible(case):
    reduced = way_of(case)
    off = np.random.default_rng(0).standard_normal(FREE + 1)
    assert reduced.problem.constraint.residual(off) > 0.1
    assert case.constraint.residual(reduced.lift(off)) < 1e-12


def test_an_accuracy_that_is_lost_on_the_way_back_is_no_success(case, monkeypatch):
    kept = case.solve(tol=1e-4)
    inside = tether.solve(*way_of(case).problem[:2], tol=0.99e-4)
    assert kept.success and inside.success
    assert kept.counts.audit_gradients == inside.counts.audit_gradients + N
    assert kept.counts.audits == inside.counts.audits + 1
    monkeypatch.setattr(projected_data.ProjectedData, "convexity", lambda way, facts: 1e-12)
    monkeypatch.setattr(closing, "SAME_VALUE", -1.0)
    lost = case.solve(tol=1e-4)
    assert lost.status is Status.EXHAUSTED and lost.gap > 1e-4
    assert lost.message.startswith("rounding errors allow no further progress: the gap is certainly below")
    assert "tol = 0.0001 was asked for; auto chose" in lost.message


def test_the_gap_of_least_squares_uses_the_curvature_that_is_left(make_case):
    case = make_case(loss="squared", p=520, l2=0.0)
    B = way_of(case).basis
    sol = case.solve(max_rounds=3, tol=0.0)
    gradient = case.at(sol.x)[1]
    tangent = B[:, :-1].T @ gradient
    least = np.linalg.eigvalsh(B.T @ case.wide.T @ case.wide @ B / N)[0]
    assert sol.gap <= tangent @ tangent / (2 * least) * (1 + 1e-6) + 1e-25
    assert sol.fun - case.at(case.optimum())[0] <= sol.gap + 1e-14 * abs(sol.fun)  # F rounded


def test_dense_equations_project_several_directions_at_once(case):
    directions = np.random.default_rng(0).standard_normal((P, 3))
    one_by_one = np.column_stack([case.constraint.tangent(d) for d in directions.T])
    np.testing.assert_allclose(case.constraint.tangent(directions), one_by_one, atol=1e-13)


def test_curvature_that_the_equations_forbid_does_not_limit_the_step(make_case):
    case = make_case()
    loud = case.X + 100.0 * np.random.default_rng(0).standard_normal((N, 1)) * (
        case.A[0] / np.linalg.norm(case.A[0])
    )
    objective = tether.GLM(loud, case.y, l2=case.l2)
    b = np.concatenate([[0.0], case.b[1:]])
    reduced = projected(objective, tether.Affine(case.A, b))
    assert reduced.problem.objective.smoothness.maximum < 0.01 * objective.smoothness.maximum
