"""DelayedASVRG against Algorithm 4 of the paper and the methods it contains, all written out."""

from itertools import pairwise

import numpy as np
import pytest

from tether import theory
from tether.methods import DelayedASVRG, DelayedSVRG
from tether.requests import Arrived

LENGTH, STAGES, ETA, THETA = 10, 4, 0.3, 0.8
FIRST_STEPS = ["anchor", "coupled"]


def _times(interval):
    return set(range(interval, LENGTH, interval) if isinstance(interval, int) else interval) | {LENGTH}


def _algorithm_4(problem, x0, *, times, size, thetas, coupled=False, restart=None, eta=ETA, before=False):
    """Return u at all projection times and the anchors; `coupled` couples the first x of a stage to u too.

    `before` averages x_0..x_{m-1}, as Local ASVRG is printed.
    """
    samples = iter(problem.samples(LENGTH * STAGES, size))
    u = anchor = problem.project(x0)
    ends, anchors = [], []
    for s in range(STAGES):
        theta = thetas[s]
        h = problem.tangent(problem.gradient(anchor))
        x = anchor + theta * (u - anchor) if coupled else anchor
        total = np.zeros_like(x)
        for t in range(LENGTH):
            batch = next(samples)
            g = problem.gradient(x, batch) - problem.gradient(anchor, batch) + h
            total += before * x
            u = u - eta / theta * g
            x = anchor + theta * (u - anchor)
            if t + 1 in times:
                x, u = problem.project(x), problem.project(u)
                ends.append(u)
            total += (not before) * x
        anchor = problem.project(total / LENGTH)
        anchors.append(anchor)
        if restart and (s + 1) % restart == 0:
            u = anchor = np.mean(anchors[-restart:], axis=0)
    return ends, anchors


def _walked(moments):
    return [moment.state.u for moment in moments if isinstance(moment.reply, Arrived)]


def _stage_ends(moments):
    return [m.state for m in moments if isinstance(m.reply, Arrived) and m.state.anchored.step == 0]


@pytest.mark.parametrize("first_step", FIRST_STEPS)
@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("interval", [1, 4, LENGTH, (2, 3, 7)])
def test_it_is_algorithm_4(by_hand, first_moments, x0, interval, size, first_step):
    method = DelayedASVRG(
        interval=interval,
        step_size=ETA,
        momentum=THETA,
        batch_size=size,
        stage_length=LENGTH,
        first_step=first_step,
    )
    moments = first_moments(by_hand, method, STAGES, x0=x0)
    ends, anchors = _algorithm_4(
        by_hand,
        x0,
        times=_times(interval),
        size=size,
        thetas=[THETA] * STAGES,
        coupled=first_step == "coupled",
    )
    assert len(ends) == STAGES * len(_times(interval))
    np.testing.assert_allclose(_walked(moments), ends, rtol=0, atol=1e-12)
    np.testing.assert_allclose([s.anchored.anchor for s in _stage_ends(moments)], anchors, rtol=0, atol=1e-12)
    np.testing.assert_allclose(moments[-1].x, anchors[-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("first_step", FIRST_STEPS)
@pytest.mark.parametrize("interval", [1, 4, LENGTH])
def test_anchors_may_average_the_iterates_before_the_steps(by_hand, first_moments, x0, interval, first_step):
    method = DelayedASVRG(
        interval=interval,
        step_size=ETA,
        momentum=THETA,
        batch_size=2,
        stage_length=LENGTH,
        first_step=first_step,
        average="before",
    )
    moments = first_moments(by_hand, method, STAGES, x0=x0)
    coupled, times = first_step == "coupled", _times(interval)
    _, anchors = _algorithm_4(
        by_hand, x0, times=times, size=2, thetas=[THETA] * STAGES, coupled=coupled, before=True
    )
    np.testing.assert_allclose([s.anchored.anchor for s in _stage_ends(moments)], anchors, rtol=0, atol=1e-12)


def test_a_restart_goes_on_from_the_mean_of_the_anchors_and_answers_with_it(
    strongly_convex, first_moments, x0
):
    method = DelayedASVRG(
        interval=4, step_size=ETA, momentum=THETA, batch_size=2, stage_length=LENGTH, restart=2
    )
    states = _stage_ends(first_moments(strongly_convex, method, STAGES, x0=x0))
    _, anchors = _algorithm_4(
        strongly_convex, x0, times=_times(4), size=2, thetas=[THETA] * STAGES, restart=2
    )
    first, second = np.mean(anchors[:2], axis=0), np.mean(anchors[2:4], axis=0)
    expected = [anchors[0], first, anchors[2], second]
    np.testing.assert_allclose([state.anchored.anchor for state in states], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose([state.anchored.mean for state in states], expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(states[1].u, states[1].anchored.anchor)
    assert [state.anchored.averaged for state in states] == [1, 0, 1, 0]
    assert strongly_convex.prepare(method).estimate(states[2]) is states[2].anchored.mean


def test_theory_restarts_after_the_stages_of_theorem_5_1(strongly_convex, first_moments):
    mu, L = strongly_convex.mu, strongly_convex.objective.smoothness.maximum
    method = DelayedASVRG(parameters="theory", stage_length=200, interval=1, batch_size=1)
    eta = theory.step_size("dp-asvrg", smoothness=L, convexity=mu, stage_length=200)
    theta = np.sqrt(eta * mu * 200)
    period = int(np.ceil(4 * theta / (eta * mu * 200)))
    assert 2 <= period <= 20
    states = _stage_ends(first_moments(strongly_convex, method, 2 * period + 1))
    assert [s.anchored.averaged for s in states] == [*range(1, period), 0] * 2 + [1]
    np.testing.assert_allclose([s.momentum for s in states], theta, rtol=1e-14)


@pytest.mark.parametrize("interval", [1, 2])
def test_theory_lets_theta_fall_stage_by_stage_when_mu_is_0(convex, first_moments, x0, interval):
    method = DelayedASVRG(parameters="theory", stage_length=LENGTH, interval=interval, batch_size=1)
    moments = first_moments(convex, method, STAGES, x0=x0)
    states = _stage_ends(moments)
    L, eta = convex.objective.smoothness.maximum, states[0].anchored.step_size
    delta = 9 * (interval**2 - 1) * (eta * L) ** 2
    thetas = [1 - 2 * eta * L / (1 - eta * L)]
    for _ in range(STAGES):
        square = thetas[-1] ** 2
        root = np.sqrt((1 + delta) / (1 - delta) * square + square**2 / (4 * (1 - delta) ** 2))
        thetas.append(root - square / (2 * (1 - delta)))
    assert all(later < earlier for earlier, later in pairwise(thetas))
    np.testing.assert_allclose([state.momentum for state in states], thetas[1:], rtol=1e-12)
    _, anchors = _algorithm_4(convex, x0, times=_times(interval), size=1, thetas=thetas, eta=eta)
    np.testing.assert_allclose([state.anchored.anchor for state in states], anchors, rtol=0, atol=1e-12)


@pytest.mark.parametrize("first_step", FIRST_STEPS)
def test_with_theta_1_the_first_stage_takes_the_steps_of_dp_svrg(
    strongly_convex, first_moments, x0, first_step
):
    shared = {"interval": (2, 3, 7), "step_size": ETA, "batch_size": 3, "stage_length": LENGTH}
    asvrg = DelayedASVRG(**shared, momentum=1.0, first_step=first_step)
    svrg = DelayedSVRG(**shared)
    ours = _walked(first_moments(strongly_convex, asvrg, 1, x0=x0))
    theirs = [m.state.x for m in first_moments(strongly_convex, svrg, 1, x0=x0)[1:]]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)


def test_with_theta_1_later_stages_take_the_steps_of_dp_svrg_from_their_own_anchors(
    strongly_convex, first_moments, x0
):
    problem = strongly_convex
    method = DelayedASVRG(
        interval=5, step_size=ETA, momentum=1.0, batch_size=3, stage_length=LENGTH, first_step="coupled"
    )
    moments = first_moments(problem, method, STAGES, x0=x0)
    samples = iter(problem.samples(LENGTH * STAGES, 3))
    x, anchors, ends = problem.project(x0), [problem.project(x0)], []
    anchors += [state.anchored.anchor for state in _stage_ends(moments)]
    for anchor in anchors[:-1]:
        h = problem.tangent(problem.gradient(anchor))
        for t in range(LENGTH):
            batch = next(samples)
            x = x - ETA * (problem.gradient(x, batch) - problem.gradient(anchor, batch) + h)
            if t + 1 in (5, 10):
                x = problem.project(x)
                ends.append(x)
    np.testing.assert_allclose(_walked(moments), ends, rtol=0, atol=1e-12)


def _full_batch(problem, first_step):
    return DelayedASVRG(
        interval=1,
        stage_length=1,
        batch_size=problem.objective.n_samples,
        step_size=ETA,
        momentum=THETA,
        first_step=first_step,
    )


def test_one_coupled_full_step_a_stage_is_nesterovs_method(by_hand, first_moments, x0):
    method = _full_batch(by_hand, "coupled")
    moments = first_moments(by_hand, method, 12, x0=x0)
    x = y = by_hand.project(x0)
    expected = []
    for _ in range(12):
        new = y - ETA * by_hand.tangent(by_hand.gradient(y))
        y = new + (1 - THETA) * (new - x)
        x = new
        expected.append(x)
    np.testing.assert_allclose(
        [s.anchored.anchor for s in _stage_ends(moments)], expected, rtol=0, atol=1e-12
    )


def test_one_full_step_from_the_anchor_a_stage_is_the_heavy_ball_method(by_hand, first_moments, x0):
    method = _full_batch(by_hand, "anchor")
    moments = first_moments(by_hand, method, 12, x0=x0)
    x = last = by_hand.project(x0)
    expected = []
    for _ in range(12):
        new = x - ETA * by_hand.tangent(by_hand.gradient(x)) + (1 - THETA) * (x - last)
        last, x = x, new
        expected.append(x)
    np.testing.assert_allclose(
        [s.anchored.anchor for s in _stage_ends(moments)], expected, rtol=0, atol=1e-12
    )
