"""Prescribed problems have exactly the constants that they are asked to have."""

import numpy as np
import pytest

from tether.reproduce.prescribed import (
    Prescribed,
    PrescribedWorkers,
    facts_of,
    workers_facts,
    workers_setting,
)
from tether.solve import solve
from tether.theory import heterogeneity

CASES = [
    Prescribed(40.0),
    Prescribed(1000.0, 64, equations=2),
    Prescribed(30.0, noise=2.0, feasible=True),
    Prescribed(1e5, flat=True),
    Prescribed(25.0, pull=3.0),
]


@pytest.mark.parametrize("problem", CASES, ids=repr)
def test_constants_are_exact(problem):
    objective, _ = problem.build()
    assert objective.smoothness.maximum == pytest.approx(1.0, abs=1e-12)
    assert objective.smoothness.convexity == pytest.approx(1 / problem.kappa, rel=1e-6)
    X, _, _ = problem.data()
    np.testing.assert_allclose(np.sum(X**2, axis=1), 1.0, rtol=1e-12)  # every sample has the same L


@pytest.mark.parametrize("problem", CASES, ids=repr)
def test_the_optimum_is_that_of_a_run(problem):
    objective, constraint = problem.build()
    solution = solve(objective, constraint, "lbfgs", tol=1e-13)
    facts = facts_of(problem)
    assert solution.fun == pytest.approx(facts.best, abs=1e-10)
    assert np.linalg.norm(solution.x) == pytest.approx(facts.distance, abs=1e-4)


@pytest.mark.parametrize("problem", CASES[:3], ids=repr)
def test_the_noise_is_what_theory_measures(problem):
    objective, constraint = problem.build()
    x = solve(objective, constraint, "lbfgs", tol=1e-15).x
    measured = heterogeneity(objective, constraint, x)
    np.testing.assert_allclose(facts_of(problem).noise, measured, rtol=1e-5, atol=1e-9)


def test_the_extreme_curvatures_survive_the_equations():
    problem = Prescribed(200.0)
    objective, constraint = problem.build()
    P = np.array([constraint.tangent(one) for one in np.eye(problem.dim)])
    H = np.array([objective.gradient(one) - objective.gradient(0 * one) for one in np.eye(problem.dim)])
    inside = np.linalg.eigvalsh(P @ H @ P)[problem.equations :]
    assert inside[0] == pytest.approx(1 / 200, rel=1e-6)
    assert inside[-1] == pytest.approx(problem.spectrum().max(), rel=1e-6)


def test_gradients_stay_feasible_where_they_should():
    objective, constraint = Prescribed(30.0, noise=1.0, feasible=True).build()
    x = constraint.project(np.random.default_rng(0).standard_normal(objective.dim))
    g = objective.gradient(x)
    assert np.linalg.norm(g - constraint.tangent(g)) < 1e-12 < np.linalg.norm(g)
    assert facts_of(Prescribed(30.0, noise=1.0, feasible=True)).noise.normal > 0.01


def test_a_pull_adds_to_the_gradient_across_and_moves_nothing():
    free, pulled = facts_of(Prescribed(25.0)), facts_of(Prescribed(25.0, pull=3.0))
    assert abs(np.sqrt(pulled.noise.gradient) - 3.0) < 0.5 > free.noise.gradient
    assert pulled.gap == pytest.approx(free.gap, rel=0.1)


def test_workers_have_the_same_constants_and_other_optima():
    problem = PrescribedWorkers(Prescribed(40.0, 64, equations=0), workers=3)
    facts, apart = workers_facts(problem)
    assert apart.dissimilarity > 1e-3
    federation, _ = problem.build()
    assert federation.smoothness.convexity == pytest.approx(1 / 40, rel=1e-6)
    assert solve(federation, method="lbfgs", tol=1e-13).fun == pytest.approx(facts.best, abs=1e-10)
    assert workers_setting(problem, 0.1).kappa == 40.0
    alike = PrescribedWorkers(Prescribed(40.0, 64, equations=0), workers=3, alike=True)
    assert workers_facts(alike)[1].dissimilarity < 1e-20


@pytest.mark.parametrize(("wrong", "said"), [({"kappa": 5.0}, "kappa"), ({"samples": 100}, "power of two")])
def test_what_cannot_be_built_is_said(wrong, said):
    with pytest.raises(ValueError, match=said):
        Prescribed(**{"kappa": 40.0, **wrong}).data()
