"""Anderson: the extrapolation written out, its safeguard, and what stays feasible."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import tether
from tether.engines import Problem
from tether.methods import Anderson, DelayedASVRG, DelayedSVRG, Nesterov, ProxSkipSVRG
from tether.problem import Cut
from tether.requests import Arrived, Descend, Measured, Work

LENGTH, SIZE, ETA, DAMPING = 12, 2, 0.3, 1e-8


def _stage(problem, x, h, samples):
    """One stage of ProxSkip-SVRG: x' = Pi(w), h' = h + (x' - w) / (eta m)."""
    w, full = x, problem.gradient(x)
    for _ in range(LENGTH):
        batch = next(samples)
        w = w - ETA * (problem.gradient(w, batch) - problem.gradient(x, batch) + full - h)
    after = problem.project(w)
    return after, h + (after - w) / (ETA * LENGTH)


def _by_hand(problem, x0, stages, memory):
    """Return the points and duals that stages start from: G_k - sum_j gamma_j (G_{j+1} - G_j)."""
    samples = iter(problem.samples(LENGTH * stages, SIZE))
    x, h = problem.project(x0), np.zeros(len(x0))
    points, duals, misfits, starts = [], [], [], []
    for _ in range(stages):
        new_x, new_h = _stage(problem, x, h, samples)
        points.append(new_x)
        duals.append(new_h)
        misfits.append(new_x - x)
        first = max(0, len(misfits) - memory - 1)
        differences = np.array([misfits[j + 1] - misfits[j] for j in range(first, len(misfits) - 1)])
        x, h = new_x, new_h
        if len(differences):
            gram = differences @ differences.T
            damped = gram + DAMPING * np.trace(gram) / len(gram) * np.eye(len(gram))
            gamma = np.linalg.solve(damped, differences @ misfits[-1])
            for j, weight in zip(range(first, len(misfits) - 1), gamma, strict=True):
                x = x - weight * (points[j + 1] - points[j])
                h = h - weight * (duals[j + 1] - duals[j])
        starts.append((x, h))
    return starts


@pytest.mark.parametrize("memory", [1, 3, 10])
def test_points_and_duals_are_extrapolated_alike(strongly_convex, converse, x0, memory):
    inner = ProxSkipSVRG(stage_length=LENGTH, batch_size=SIZE, step_size=ETA, renew=False)
    method = Anderson(inner, memory=memory, damping=DAMPING)
    starts = []
    for moment in converse(strongly_convex.objective, strongly_convex.constraint, method, x0):
        if not moment.state.inner.measured:  # at the start of a stage
            weights = moment.state.weights
            starts.append((moment.x, weights @ moment.memory.duals[-len(weights) :]))
        if moment.state.stage == 5:
            break
    assert moment.state.shortened == 0
    expected = _by_hand(strongly_convex, x0, 5, memory)
    np.testing.assert_allclose(starts, expected, rtol=0, atol=1e-9)


INNER = [ProxSkipSVRG, DelayedSVRG, DelayedASVRG]


@pytest.fixture(scope="module")
def ill_conditioned():
    """Features on scales from 1 to 100, mu small."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 8)) * np.logspace(0, -2, 8)
    y = (X @ rng.standard_normal(8) + 0.1 * rng.standard_normal(200) > 0).astype(int)
    return tether.GLM(X, y, l2=1e-3), tether.Affine(rng.standard_normal((2, 8)), rng.standard_normal(2))


@pytest.mark.parametrize("inner", [ProxSkipSVRG, DelayedSVRG])
def test_extrapolation_saves_most_of_the_rounds_on_an_ill_conditioned_problem(ill_conditioned, inner):
    objective, constraint = ill_conditioned
    facts = tether.Serial().facts(Problem(objective, constraint))
    plain = inner(step_size=inner().prepare(facts._replace(cut=Cut)).step_size)  # no row comes in shares
    with_it = tether.solve(objective, constraint, Anderson(plain), tol=1e-6, max_rounds=400)
    without = tether.solve(objective, constraint, plain, tol=1e-6, max_rounds=400)
    assert with_it.success
    assert without.counts.rounds > 3 * with_it.counts.rounds


@pytest.mark.parametrize("interval", [30, 7], ids=["one leg", "many legs"])
@pytest.mark.parametrize("memory", [1, 2, 5])
@pytest.mark.parametrize("times", [100, 1e4])
@pytest.mark.parametrize("inner", INNER)
def test_a_far_too_large_step_is_mended(strongly_convex, inner, times, memory, interval):
    problem = strongly_convex
    inner = inner(stage_length=30, interval=interval)
    facts = tether.Serial().facts(Problem(problem.objective, problem.constraint))
    too_large = times * inner.prepare(facts).step_size
    method = Anderson(type(inner)(stage_length=30, interval=interval, step_size=too_large), memory=memory)
    solution = tether.solve(problem.objective, problem.constraint, method, tol=1e-10, max_rounds=600)
    assert solution.success
    assert np.isfinite(solution.history["value"]).any()


def _dual(moment):
    """The h that the start of a stage stands for; duals without weight may have overflowed."""
    weights, duals = moment.state.inner.weights, moment.memory.duals
    if duals is None:
        return np.zeros_like(moment.x)
    if weights is None:
        return duals[-1]
    used = weights != 0
    return weights[used] @ duals[-len(weights) :][used]


@pytest.mark.parametrize("renew", [False, True])
@pytest.mark.parametrize("interval", [None, 7], ids=["one leg", "many legs"])
@pytest.mark.parametrize("memory", [1, 2, 5])
def test_an_undone_stage_starts_again_from_its_point_and_its_dual(
    strongly_convex, converse, x0, memory, interval, renew
):
    inner = ProxSkipSVRG(stage_length=30, interval=interval, batch_size=1, renew=renew)
    facts = tether.Serial().facts(Problem(strongly_convex.objective, strongly_convex.constraint))
    step = inner.prepare(facts._replace(cut=Cut)).step_size  # given, so that no row comes in shares
    method = Anderson(replace(inner, step_size=step), memory=memory)
    moments = converse(strongly_convex.objective, strongly_convex.constraint, method, x0)
    undone, longest, point, dual, spoilt = 0, 0, None, None, False
    for _ in range(200):
        moment = next(moments)
        if moment.state.shortened > undone:
            undone, longest = moment.state.shortened, max(longest, len(moment.state.weights))
            np.testing.assert_array_equal(moment.x, point)
            np.testing.assert_allclose(_dual(moment), dual, rtol=0, atol=1e-12)
        elif isinstance(moment.reply, Measured) and moment.state.inner.measured:
            point, dual = moment.x, _dual(moment)
            if moment.state.mixed and moment.state.stage > memory and not spoilt:
                steep = moment.state.inner._replace(step_size=1e3)
                moment.state, spoilt = moment.state._replace(inner=steep), True
    assert undone >= 5
    assert renew or longest == memory + 2  # a mix of M + 1 duals was gone back to, time and again


def test_a_first_dual_that_misleads_is_dropped_before_the_step_is_shortened(strongly_convex, x0):
    problem = Problem(strongly_convex.objective, strongly_convex.constraint)
    method = Anderson(ProxSkipSVRG(renew=True)).prepare(tether.Serial().facts(problem))
    start = strongly_convex.project(x0)
    state, work = method.warm(method.start(start)), Work()
    assert method.ask(state).dual.seed
    state = method.tell(state, Measured(start, 1.0, 0.1, 1.0, start, start, work))
    state = method.tell(state, Arrived(start + 1, None, Work(steps=method.method.stage_length)))
    rose = method.tell(state, Measured(start + 1, 2.0, 0.1, 1.0, None, None, work))
    assert rose.inner.step_size == state.inner.step_size
    np.testing.assert_array_equal(method.ask(rose).point, start)
    np.testing.assert_array_equal(method.ask(rose).dual.weights, [0.0, 0.0])
    again = method.tell(rose, Measured(start, 1.0, 1.0, 1.0, None, None, work))
    assert isinstance(method.ask(again), Descend), "the dual is not taken from the gradient again"
    np.testing.assert_array_equal(method.ask(again).dual.weights, [0.0, 0.0])


def test_without_extrapolation_the_same_step_diverges(strongly_convex):
    problem = strongly_convex
    facts = tether.Serial().facts(Problem(problem.objective, problem.constraint))
    too_large = 1e4 * ProxSkipSVRG(stage_length=30).prepare(facts).step_size
    solution = tether.solve(
        problem.objective, problem.constraint, ProxSkipSVRG(stage_length=30, step_size=too_large)
    )
    assert solution.status is tether.Status.DIVERGED


@pytest.mark.parametrize("times", [1, 30])
@pytest.mark.parametrize("inner", INNER)
def test_no_accepted_start_is_higher_than_the_one_before(ill_conditioned, converse, inner, times):
    objective, constraint = ill_conditioned
    facts = tether.Serial().facts(Problem(objective, constraint))
    step = times * inner().prepare(facts).step_size
    moments = converse(objective, constraint, Anderson(inner(step_size=step)), np.zeros(8))
    values = [next(moments).state.value for _ in range(200)]
    assert all(later <= earlier + 1e-12 * max(1.0, abs(earlier)) for earlier, later in pairwise(values))
    assert values[-1] < values[0]


@pytest.mark.parametrize(
    "inner", [*INNER, lambda: ProxSkipSVRG(interval=30), lambda: DelayedSVRG(interval=30)]
)
def test_weights_sum_to_one_so_estimates_stay_feasible(ill_conditioned, converse, inner):
    objective, constraint = ill_conditioned
    moments = converse(objective, constraint, Anderson(inner()), np.ones(8))
    mixes = 0
    for _ in range(200):
        moment = next(moments)
        assert constraint.residual(moment.x) < 1e-9
        if moment.state.mixed:
            mixes += 1
            assert moment.state.weights.sum() == pytest.approx(
                1.0, abs=1e-6 * abs(moment.state.weights).max()
            )
    assert mixes > 20


@pytest.mark.parametrize("times", [1, 100], ids=["good step", "too large a step"])
@pytest.mark.parametrize("interval", [None, 30], ids=["one leg", "many legs"])
def test_duals_stay_normal_to_the_constraint(ill_conditioned, converse, interval, times):
    objective, constraint = ill_conditioned
    facts = tether.Serial().facts(Problem(objective, constraint))
    step = times * ProxSkipSVRG(interval=interval).prepare(facts).step_size
    method = Anderson(ProxSkipSVRG(interval=interval, step_size=step), memory=4)
    moments = converse(objective, constraint, method, np.ones(8))
    for _ in range(200):
        moment = next(moments)
    assert len(moment.memory.duals) == 6  # M + 1 mixed, and the newest may be undone
    for h in moment.memory.duals:
        assert np.linalg.norm(h) > 1e-4
        assert np.linalg.norm(constraint.tangent(h)) < 1e-10 * np.linalg.norm(h)


def test_only_stage_wise_methods_can_be_extrapolated():
    with pytest.raises(TypeError, match="stage-wise"):
        Anderson(Nesterov())
