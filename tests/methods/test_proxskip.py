"""ProxSkip and ProxSkipSVRG against their loops, written out; Scaffnew as a special case."""

import numpy as np
import pytest
from scipy.linalg import block_diag

import tether
from tether.methods import ProxSkip, ProxSkipSVRG
from tether.requests import Arrived, Measured

GAMMA, ROUNDS = 0.4, 8


def _walked(moments):
    return [moment.state.x for moment in moments if isinstance(moment.reply, Arrived)]


def _proxskip(problem, x0, interval, rounds=ROUNDS, gamma=GAMMA):
    """Return x at the projections; in the general form, with the prox at the shifted point."""
    x, h = problem.project(x0), np.zeros(len(x0))
    p, ends = 1 / interval, []
    for t in range(1, rounds * interval + 1):
        forward = x - gamma * (problem.gradient(x) - h)
        if t % interval == 0:
            x = problem.project(forward - gamma / p * h)
            h = h + p / gamma * (x - forward)
            ends.append(x)
        else:
            x = forward
    return ends


@pytest.mark.parametrize("interval", [1, 3, 8])
def test_proxskip_is_the_published_loop_with_every_p_th_coin_up(by_hand, first_moments, x0, interval):
    moments = first_moments(by_hand, ProxSkip(interval=interval, step_size=GAMMA), ROUNDS, x0=x0)
    np.testing.assert_allclose(_walked(moments), _proxskip(by_hand, x0, interval), rtol=0, atol=1e-12)


def test_proxskip_with_interval_1_is_projected_gradient_descent(by_hand, first_moments, x0):
    moments = first_moments(by_hand, ProxSkip(interval=1, step_size=GAMMA), ROUNDS, x0=x0)
    x, expected = by_hand.project(x0), []
    for _ in range(ROUNDS):
        x = by_hand.project(x - GAMMA * by_hand.gradient(x))
        expected.append(x)
    np.testing.assert_allclose(_walked(moments), expected, rtol=0, atol=1e-12)


def test_with_consensus_proxskip_is_scaffnew(first_moments):
    clients, dim, interval, gamma = 3, 2, 4, 0.2
    rng = np.random.default_rng(2)
    roots = rng.standard_normal((clients, dim, 4))
    hessians, linear = roots @ roots.transpose(0, 2, 1), rng.standard_normal((clients, dim))
    start = rng.standard_normal(dim)
    # f_k(x) = x^T C_k x / 2 + g_k^T x on client k; the stacked F is the mean of the f_k.
    stacked = tether.Quadratic(matrix=block_diag(*hessians) / (2 * clients), linear=linear.ravel() / clients)
    method = ProxSkip(interval=interval, step_size=clients * gamma)
    ends = []
    for moment in tether.iterate(stacked, tether.Consensus(clients), method, x0=np.tile(start, clients)):
        if isinstance(moment.reply, Arrived):
            ends.append(moment.x.reshape(clients, dim))
        if moment.counts.stages == ROUNDS:
            break

    x, h = np.tile(start, (clients, 1)), np.zeros((clients, dim))
    expected = []
    for t in range(1, ROUNDS * interval + 1):
        gradients = np.einsum("kij,kj->ki", hessians, x) + linear
        local = x - gamma * (gradients - h)
        if t % interval == 0:
            x = np.tile(np.mean(local - gamma * interval * h, axis=0), (clients, 1))
            h = h + (x - local) / (gamma * interval)
            expected.append(x)
        else:
            x = local
    np.testing.assert_allclose(ends, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("random", [False, True])
def test_the_dual_of_proxskip_becomes_the_gradient_at_the_optimum(strongly_convex, random):
    problem = strongly_convex
    solution = tether.solve(problem.objective, problem.constraint, ProxSkip(random=random), tol=1e-22)
    gradient = problem.gradient(solution.x)
    np.testing.assert_allclose(problem.matrix.T @ solution.multipliers, gradient, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", [ProxSkip, ProxSkipSVRG])
def test_coins_differ_from_counting_and_reach_the_same_optimum(strongly_convex, method):
    problem = strongly_convex
    solutions = [
        tether.solve(problem.objective, problem.constraint, method(interval=3, random=random), tol=1e-20)
        for random in (False, True)
    ]
    assert all(solution.success for solution in solutions)
    assert solutions[0].counts.steps != solutions[1].counts.steps
    np.testing.assert_allclose(solutions[0].x, solutions[1].x, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", [ProxSkip, ProxSkipSVRG])
def test_coins_come_up_once_in_interval_steps_on_average(strongly_convex, first_moments, method):
    moments = first_moments(strongly_convex, method(interval=5, random=True, step_size=1e-3), 150)
    legs = [moment.reply.work.steps for moment in moments if isinstance(moment.reply, Arrived)]
    assert len(legs) >= 150 and len(set(legs)) > 5
    # The mean of n geometric waiting times has standard deviation sqrt(20 / n).
    assert abs(np.mean(legs) - 5) < 4 * np.sqrt(20 / len(legs))


def test_the_coin_follows_the_runs_seed_unless_it_has_its_own(strongly_convex, first_moments):
    def legs(method, seed):
        moments = first_moments(strongly_convex, method, 20, seed=seed)
        return [moment.reply.work.steps for moment in moments if isinstance(moment.reply, Arrived)]

    coin = ProxSkip(interval=5, random=True)
    assert legs(coin, 0) == legs(coin, 0) != legs(coin, 1)
    own = ProxSkip(interval=5, random=True, seed=7)
    assert legs(own, 0) == legs(own, 1)


def _proxskip_svrg(problem, x0, *, interval, length, size, eta, stages):
    """Return x at the projections; stages start at projected points, their last leg may be short."""
    samples = iter(problem.samples(length * stages, size))
    x, h, ends = problem.project(x0), np.zeros(len(x0)), []
    for _ in range(stages):
        anchor, full, since = x, problem.gradient(x), 0
        for t in range(1, length + 1):
            batch = next(samples)
            estimate = problem.gradient(x, batch) - problem.gradient(anchor, batch) + full
            forward = x - eta * (estimate - h)
            since += 1
            if t % interval == 0 or t == length:
                x = problem.project(forward - eta * since * h)
                h = h + (x - forward) / (eta * since)
                ends.append(x)
                since = 0
            else:
                x = forward
    return ends


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize(("interval", "legs"), [(10, 1), (5, 2), (4, 3), (1, 10)])
def test_proxskip_svrg_is_proxskip_with_variance_reduced_steps(
    by_hand, first_moments, x0, interval, legs, size
):
    method = ProxSkipSVRG(interval=interval, stage_length=10, step_size=GAMMA, batch_size=size, renew=False)
    moments = first_moments(by_hand, method, 4, x0=x0)
    ends = _proxskip_svrg(by_hand, x0, interval=interval, length=10, size=size, eta=GAMMA, stages=4)
    assert len(ends) == 4 * legs
    np.testing.assert_allclose(_walked(moments), ends, rtol=0, atol=1e-12)


def test_proxskip_svrg_projects_once_a_stage_when_the_interval_is_open(strongly_convex, first_moments):
    moments = first_moments(strongly_convex, ProxSkipSVRG(renew=False), 5)
    assert moments[-1].counts.rounds == 1 + 5
    assert moments[-1].counts.projections == 1 + 5


def _renewals(problem, converse, x0, length):
    """Return the moments right after a renewal of h was decided, each with the moment before it."""
    method = ProxSkipSVRG(batch_size=1, stage_length=length, renew=True)
    moments = converse(problem.objective, problem.constraint, method, 5 * x0)
    pairs, before = [], None
    for _ in range(120):
        moment = next(moments)
        if isinstance(moment.reply, Measured) and moment.reply.gradient is not None:
            pairs.append((before, moment))
        before = moment
    return pairs


@pytest.fixture
def renewals(convex, converse, x0):
    return _renewals(convex, converse, x0, 24)


def test_a_renewal_projects_the_gradient_once_and_makes_no_pass(renewals):
    assert len(renewals) >= 2
    for before, moment in renewals:
        assert moment.reply.work[:4] == (0, 0, 1, 1)
        np.testing.assert_array_equal(moment.x, before.x)


def test_a_renewal_that_helps_takes_the_normal_part_of_the_gradient_for_h(strongly_convex, converse, x0):
    problem = strongly_convex
    pairs = _renewals(problem, converse, x0, 500)  # long stages leave x at its optimum for a wrong h
    taken = [moment for _, moment in pairs if moment.state.weights is None]
    assert taken
    for moment in taken:
        gradient = problem.gradient(moment.x)
        normal = gradient - problem.tangent(gradient)
        np.testing.assert_allclose(moment.memory.duals[-1], normal, rtol=0, atol=1e-13)


def test_a_renewal_that_does_not_help_leaves_h_as_it_was(renewals):
    refused = [(before, moment) for before, moment in renewals if moment.state.weights is not None]
    assert refused
    for before, moment in refused:
        weights = moment.state.weights
        h = weights @ moment.memory.duals[-len(weights) :]
        np.testing.assert_array_equal(h, before.memory.duals[-1])


def test_after_each_renewal_that_does_not_help_the_next_comes_later(renewals):
    patience = [moment.state.patience for _, moment in renewals]
    useful = [moment.state.weights is None for _, moment in renewals]
    for one, later, helped in zip(patience, patience[1:], useful[1:], strict=False):
        assert later == (1 if helped else 2 * one)


@pytest.mark.parametrize("random", [False, True])
@pytest.mark.parametrize("interval", [None, 5])
def test_renewals_do_not_keep_it_from_the_optimum(by_hand, interval, random):
    method = ProxSkipSVRG(interval=interval, random=random, renew=True)
    solution = tether.solve(by_hand.objective, by_hand.constraint, method, tol=1e-7, max_passes=5000)
    assert solution.success


def test_proxskip_measures_without_projecting(strongly_convex):
    problem = strongly_convex
    solution = tether.solve(problem.objective, problem.constraint, ProxSkip(interval=3), max_rounds=10, tol=0)
    measured = np.isfinite(solution.history["value"])
    assert measured.sum() > 5
    assert solution.counts.projections == 10  # the start and the ends of nine walks


def test_an_open_interval_is_the_root_of_the_condition_number(strongly_convex):
    problem = strongly_convex
    constants = problem.objective.smoothness
    facts = tether.Serial().facts(tether.engines.Problem(problem.objective, problem.constraint))
    method = ProxSkip().prepare(facts)
    assert method.interval == round(np.sqrt(constants.full / constants.convexity))
    assert method.step_size == 1 / constants.full
