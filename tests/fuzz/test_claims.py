"""The claims notice false answers, and the reference agrees with what can be known otherwise."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import tether

from . import claims
from .claims import run
from .formulas import FORMULAS
from .problems import random_problem
from .reference import Part, Plane, Sum, minimum


@pytest.fixture(scope="module")
def solved():
    """Return a problem with equations and gap, and its accurate solution."""
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((50, 6)), rng.standard_normal((2, 6))
    y = np.where(X[:, 0] + rng.standard_normal(50) > 0, 1, -1)
    part = Part(X, y, np.full(50, 1 / 50), FORMULAS["logistic"], 1, 0.1 * np.eye(6), np.zeros(6), 0.0, 1e-14)
    problem = random_problem(0)
    problem = replace(
        problem,
        drawn=replace(problem.drawn, objective=tether.GLM(X, y, l2=0.1), total=Sum((part,)), n_samples=50),
        bound=replace(
            problem.bound,
            constraint=tether.Affine(A, [1.0, 2.0]),
            plane=Plane(A, np.array([1.0, 2.0])),
            own_normal=False,
        ),
        method="lbfgs",
        settings={"x0": None, "tol": 1e-10, "seed": 0, "max_passes": 100.0, "max_rounds": 100},
    )
    return problem, run(problem)


def test_a_true_answer_breaks_no_claim(solved):
    assert [sentence for claim in claims.CLAIMS for sentence in claim(*solved)] == []


def falsified(solution):
    """Return what each claim is to notice."""
    x, counts = solution.x, solution.counts
    return {
        claims.x_is_feasible: {"x": x + 1e-8},
        claims.fun_is_the_value_at_x: {"fun": solution.fun + 1e-11},
        claims.gap_is_a_bound: {"x": x + 1e-3, "gap": 1e-10},
        claims.success_is_what_tol_asks: {"gap": 1e-9},
        claims.multipliers_are_those_of_the_gradient: {"multipliers": solution.multipliers * 1.0001},
        claims.x_is_no_worse_than_the_start: {"x": x + 10.0},
        claims.counts_only_grow: {"counts": counts._replace(gradients=counts.gradients + 1)},
        claims.budgets_are_kept: {"counts": counts._replace(gradients=50 * 102)},
    }


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.__name__)
def test_a_false_answer_is_noticed(solved, claim):
    problem, solution = solved
    assert list(claim(problem, replace(solution, **falsified(solution)[claim])))


def test_a_success_without_a_gap_is_measured_by_the_gradient(solved):
    problem, solution = solved
    away = replace(solution, x=solution.x + problem.plane.tangent(np.full(6, 1e-6)), gap=None)
    assert list(claims.success_is_what_tol_asks(problem, away))


def test_other_bits_are_noticed(solved):
    _, solution = solved
    assert not list(claims.same_bits(solution, solution))
    assert list(claims.same_bits(solution, replace(solution, x=np.nextafter(solution.x, 1.0))))


def test_warnings_and_errors_are_noticed(monkeypatch):
    def warn(problem):
        np.log(np.zeros(1))

    monkeypatch.setattr(claims, "run", warn)
    assert "divide by zero" in claims.violations(0)[1][0]


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_agree_with_finite_differences(name):
    rng = np.random.default_rng(0)
    formula, outputs = FORMULAS[name], 3 if name == "multinomial" else 1
    X, y = rng.standard_normal((9, 4)), rng.integers(0, 3, 9)
    if name in ("logistic", "tempered"):
        y = 2 * (y % 2) - 1
    part = Part(
        X, y, np.full(9, 1 / 9), formula, outputs, np.eye(4 * outputs), np.ones(4 * outputs), 1.0, 1e-14
    )
    x = rng.standard_normal(4 * outputs)
    slopes = approx_fprime(x, lambda x: float(part.value(x)), 1e-7)
    bends = approx_fprime(x, lambda x: part.gradient(x).astype(float), 1e-7)
    np.testing.assert_allclose(part.gradient(x).astype(float), slopes, atol=1e-5)
    np.testing.assert_allclose(part.second_derivative(x), bends, atol=1e-5)


def test_newton_solves_the_optimality_system_of_a_quadratic():
    rng = np.random.default_rng(0)
    root, A, b, g = (
        rng.standard_normal((7, 7)),
        rng.standard_normal((3, 7)),
        rng.standard_normal(3),
        np.ones(7),
    )
    H = root @ root.T
    part = Part(np.zeros((0, 7)), np.zeros(0), np.zeros(0), None, 1, H, g, 0.0, 1e-14)
    found = minimum(Sum((part,)), Plane(A, b), np.zeros(7))[0]
    system = np.block([[H, A.T], [A, np.zeros((3, 3))]])
    expected = np.linalg.solve(system, np.concatenate([-g, b]))[:7]
    np.testing.assert_allclose(found.astype(float), expected, rtol=1e-9)


def test_a_seed_gives_the_same_problem_twice():
    one, other = random_problem(5), random_problem(5)
    assert one.words == other.words
    assert one.total.value(one.start) == other.total.value(other.start)
