"""One machine: work, project, settle, and say what it cost."""

from itertools import islice

import numpy as np
import pytest
from scipy import sparse

import tether
from tether.engines import Problem, Serial, Workers
from tether.engines.local_work import Memory
from tether.requests import Arrived, Average, Descend, Dual, Gradient, Measured, Work

N, P = 12, 5
A = np.random.default_rng(1).standard_normal((2, P))
B = np.array([1.0, -0.5])
START = np.linalg.pinv(A) @ B


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((N, P)), np.where(rng.random(N) < 0.5, 1.0, -1.0)
    return Problem(tether.GLM(X, y, loss="logistic", l2=0.1), tether.Affine(A, B), seed=4)


def project(x):
    return x - np.linalg.pinv(A) @ (A @ x - B)


def tangent(v):
    return v - np.linalg.pinv(A) @ (A @ v)


def test_facts_are_the_objectives_own_constants(problem):
    facts = Serial().facts(problem)
    assert (facts.n_samples, facts.dim, facts.seed) == (N, P, 4)
    known, own = facts.smoothness, problem.objective.smoothness
    assert (known.maximum, known.full, known.convexity, known.exact) == own


def test_only_one_machine_has_all_data_in_one_piece():
    assert Serial().local and not Workers().local
    assert not Serial().lacks


def test_projecting_goes_to_the_nearest_feasible_point(problem):
    x = np.arange(5.0)
    np.testing.assert_allclose(Serial().project(problem, x), project(x), atol=1e-13)


def test_a_gradient_comes_back_projected_with_its_certificate(problem):
    reply, _ = Serial().exchange(problem, Gradient(START), Memory())
    full = problem.objective.gradient(START)
    assert isinstance(reply, Measured)
    assert reply.point is START and reply.value == problem.objective.value(START)
    np.testing.assert_allclose(reply.gradient, tangent(full), atol=1e-13)
    np.testing.assert_allclose(reply.normal, full - tangent(full), atol=1e-13)
    assert reply.certificate == pytest.approx(tangent(full) @ tangent(full))
    assert reply.scale == pytest.approx(np.linalg.norm(full))
    assert reply.work == Work(steps=0, gradients=N, rounds=1, projections=1)


def test_a_gradient_without_a_projection_is_certified_by_the_dual(problem):
    h = A.T @ np.array([0.3, -0.2])
    request = Gradient(START, tangent=False, dual=Dual())
    reply, _ = Serial().exchange(problem, request, Memory(duals=h[None]))
    misfit = problem.objective.gradient(START) - h
    assert reply.gradient is None
    assert reply.certificate == pytest.approx(misfit @ misfit)
    assert reply.work == Work(gradients=N)


def test_the_certificate_of_a_dual_bounds_the_projected_gradient(problem):
    projected, _ = Serial().exchange(problem, Gradient(START), Memory())
    for scale in (0.0, 0.5, 1.0, 2.0):
        memory = Memory(duals=scale * projected.normal[None])
        reply, _ = Serial().exchange(problem, Gradient(START, tangent=False, dual=Dual()), memory)
        assert reply.certificate >= projected.certificate - 1e-14
        if scale == 1.0:
            assert reply.certificate == pytest.approx(projected.certificate)


def test_a_walk_comes_back_on_the_constraint(problem):
    request = Descend(START, steps=4, step_size=0.3, batch_size=2)
    reply, _ = Serial().exchange(problem, request, Memory())
    assert isinstance(reply, Arrived) and reply.average is None
    assert problem.constraint.residual(reply.end) < 1e-13
    assert np.linalg.norm(reply.end - START) > 1e-2
    assert reply.work == Work(steps=4, gradients=8, rounds=1, projections=1)


def test_an_average_is_a_second_vector_in_the_same_round(problem):
    request = Descend(START, 4, 0.3, 2, average=Average(0.0, collect=True))
    reply, memory = Serial().exchange(problem, request, Memory())
    np.testing.assert_allclose(reply.average, project(memory.total / 4), atol=1e-13)
    assert reply.work == Work(steps=4, gradients=8, rounds=1, projections=2)


def test_an_anchor_that_nobody_measured_costs_a_pass(problem):
    request = Descend(START, 3, 0.1, 2, anchor=START)
    unseen, memory = Serial().exchange(problem, request, Memory())
    seen, _ = Serial().exchange(problem, request, memory)
    assert (unseen.work.gradients, seen.work.gradients) == (N + 6, 6)
    np.testing.assert_array_equal(unseen.end, seen.end)


def test_the_dual_learns_what_the_projection_did(problem):
    request = Descend(START, 4, 0.3, None, dual=Dual(rate=2.5))
    reply, memory = Serial().exchange(problem, request, Memory())
    free = Problem(problem.objective, tether.Unconstrained(P), problem.seed)
    raw, _ = Serial().exchange(free, request, Memory())
    np.testing.assert_allclose(memory.duals, [2.5 * (reply.end - raw.end)], atol=1e-13)
    np.testing.assert_allclose(tangent(memory.duals[0]), 0.0, atol=1e-13)


def test_an_engine_and_the_memory_it_is_given_stay_as_they_are(problem):
    engine, memory = Serial(), Memory(duals=np.ones((1, P)), total=np.ones(P), weight=2.0)
    request = Descend(START, 4, 0.3, 2, average=Average(0.1, collect=True), dual=Dual(rate=1.0))
    first, _ = engine.exchange(problem, request, memory)
    again, _ = engine.exchange(problem, request, memory)
    np.testing.assert_array_equal(first.end, again.end)
    np.testing.assert_array_equal(first.average, again.average)
    np.testing.assert_array_equal(memory.duals, 1.0)
    np.testing.assert_array_equal(memory.total, 1.0)


@pytest.fixture
def network():
    """Exponential costs, a start far off, and a set whose projections tell rounding from the rest."""
    edges = [[i, i + 1] for i in range(99)] + [[i, (i + 7) % 100] for i in range(100)]
    supply = np.zeros(100)
    supply[0], supply[60] = 60.0, -60.0
    objective = tether.GLM(sparse.eye_array(199, format="csr"), np.ones(199), "poisson", l2=1e-5)
    return Problem(objective, tether.Flow(edges, supply))


def test_a_gradient_beyond_floating_point_certifies_nothing(network):
    with np.errstate(over="ignore", invalid="ignore"):
        reply, _ = Serial().exchange(network, Gradient(np.full(199, 800.0)), Serial().blank(network))
    assert reply.value == reply.certificate == np.inf


def test_what_a_trial_far_off_shows_is_not_remembered_by_auto(network):
    moments = islice(tether.iterate(network.objective, network.constraint), 8)
    looks = [(moment.reply.value, moment.state.certificate) for moment in moments]
    assert any(value == np.inf for value, _ in looks) and all(bound > 0.0 for _, bound in looks)
