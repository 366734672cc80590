"""Nesterov's method written out."""

import numpy as np
import pytest

import tether
from tether.methods import Nesterov
from tether.problem import Facts
from tether.requests import Measured, Work


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


STANDING = {
    "at the optimum": (np.eye(3), np.ones(3), Nesterov()),
    "steps too short to see": (np.diag([1.0, 2.0, 3.0]), np.arange(3.0), Nesterov(smoothness=1e20)),
}


@pytest.mark.parametrize("kind", STANDING)
def test_it_is_exhausted_once_neither_of_its_points_moves(converse, kind):
    matrix, linear, method = STANDING[kind]
    objective = tether.Quadratic(matrix=matrix, linear=linear)
    constraint = tether.Affine(np.ones((1, 3)), [1.0])
    algorithm = method.prepare(tether.Serial().facts(tether.engines.Problem(objective, constraint)))
    moments = converse(objective, constraint, method, np.zeros(3))
    before = constraint.project(np.zeros(3))
    for _ in range(20):
        moment = next(moments)
        if algorithm.exhausted(moment.state):
            break
        before = moment.x
    assert algorithm.exhausted(moment.state)
    np.testing.assert_array_equal(moment.x, before)


@pytest.mark.parametrize("kind", STANDING)
def test_a_run_without_tolerance_ends_where_it_stands_still(kind):
    matrix, linear, method = STANDING[kind]
    objective = tether.Quadratic(matrix=matrix, linear=linear)
    solution = tether.solve(objective, tether.Affine(np.ones((1, 3)), [1.0]), method, tol=0)
    assert solution.status is tether.Status.EXHAUSTED
    assert solution.counts.rounds <= 20


def test_a_gradient_with_stale_parts_does_not_exhaust_it():
    x, work = np.zeros(2), Work(rounds=1)
    algorithm = Nesterov(smoothness=1.0).prepare(Facts(1, 2, tether.Smoothness(1.0, 1.0, 0.0)))
    reply = Measured(x, 0.0, 0.0, 0.0, x, x, work)
    assert algorithm.exhausted(algorithm.tell(algorithm.start(x), reply))
    stale = reply._replace(complete=False)
    assert not algorithm.exhausted(algorithm.tell(algorithm.start(x), stale))
