"""Nesterov's method written out."""

import numpy as np
import pytest

import tether
from tether.methods import Nesterov


def _by_hand(problem, x0, L, steps):
    """Accelerated gradient with momentum (t - 1) / t', restarted when it points uphill."""
    x = y = problem.project(x0)
    t, xs, restarts = 1.0, [], 0
    for _ in range(steps):
        g = problem.tangent(problem.gradient(y))
        new = y - g / L
        if g @ (new - x) > 0:
            t, restarts = 1.0, restarts + 1
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        y = new + (t - 1) / following * (new - x)
        x, t = new, following
        xs.append(x)
    return xs, restarts


def test_it_is_nesterovs_method_with_restarts(by_hand, converse, x0):
    L = 1.1 * by_hand.objective.smoothness.full
    moments = converse(by_hand.objective, by_hand.constraint, Nesterov(smoothness=L), x0)
    xs = [next(moments).x for _ in range(60)]
    expected, restarts = _by_hand(by_hand, x0, L, 60)
    assert restarts >= 2
    np.testing.assert_allclose(xs, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_too_small_a_smoothness_is_found_out(strongly_convex, share):
    problem = strongly_convex
    L = problem.objective.smoothness.full
    solution = tether.solve(
        problem.objective, problem.constraint, Nesterov(smoothness=share * L), tol=1e-12, max_rounds=400
    )
    assert solution.success


def test_momentum_pays_on_an_ill_conditioned_problem():
    objective = tether.Quadratic(matrix=np.diag(np.logspace(0, -3, 12)), linear=np.ones(12))
    constraint = tether.Affine(np.ones((1, 12)), [1.0])
    rounds = [
        tether.solve(objective, constraint, method, tol=1e-8, max_rounds=20_000).counts.rounds
        for method in (Nesterov(), tether.methods.ProxSkip(interval=1))
    ]
    assert 10 * rounds[0] < rounds[1]
