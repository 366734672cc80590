"""DelayedSVRG against Algorithm 3 of the paper, written out."""

import numpy as np
import pytest

from tether.methods import DelayedSVRG
from tether.requests import Arrived

LENGTH, STAGES, ETA = 10, 3, 0.3


def _times(interval):
    return set(range(interval, LENGTH, interval) if isinstance(interval, int) else interval) | {LENGTH}


def _algorithm_3(problem, x0, *, times, size, anchor_is_last=False):
    """Return x at all projection times and the anchors."""
    samples = iter(problem.samples(LENGTH * STAGES, size))
    x = anchor = problem.project(x0)
    fade = 1 - problem.mu * ETA
    ends, anchors = [], []
    for _ in range(STAGES):
        h = problem.tangent(problem.gradient(anchor))
        seen = []
        for t in range(LENGTH):
            seen.append(x)
            batch = next(samples)
            x = x - ETA * (problem.gradient(x, batch) - problem.gradient(anchor, batch) + h)
            if t + 1 in times:
                x = problem.project(x)
                ends.append(x)
        weighted = sum(fade**i * seen[LENGTH - 1 - i] for i in range(LENGTH))
        average = weighted / sum(fade**j for j in range(LENGTH))
        anchor = x if anchor_is_last else problem.project(average)
        anchors.append(anchor)
    return ends, anchors


def _stage_ends(moments):
    return [m.state for m in moments if isinstance(m.reply, Arrived) and m.state.anchored.step == 0]


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("interval", [1, 4, LENGTH, (2, 3, 7)])
def test_it_is_algorithm_3(by_hand, first_moments, x0, interval, size):
    method = DelayedSVRG(interval=interval, step_size=ETA, batch_size=size, stage_length=LENGTH)
    moments = first_moments(by_hand, method, STAGES, x0=x0)
    ends, anchors = _algorithm_3(by_hand, x0, times=_times(interval), size=size)
    walked = [moment.state.x for moment in moments if isinstance(moment.reply, Arrived)]
    np.testing.assert_allclose(walked, ends, rtol=0, atol=1e-12)
    np.testing.assert_allclose([s.anchored.anchor for s in _stage_ends(moments)], anchors, rtol=0, atol=1e-12)


def test_the_answer_is_the_last_anchor_or_for_mu_0_the_mean_of_the_anchors(by_hand, first_moments, x0):
    method = DelayedSVRG(interval=4, step_size=ETA, batch_size=2, stage_length=LENGTH)
    answer = first_moments(by_hand, method, STAGES, x0=x0)[-1].x
    _, anchors = _algorithm_3(by_hand, x0, times=_times(4), size=2)
    expected = anchors[-1] if by_hand.mu > 0 else np.mean(anchors, axis=0)
    np.testing.assert_allclose(answer, expected, rtol=0, atol=1e-12)


def test_the_last_iterate_can_be_the_anchor(strongly_convex, first_moments, x0):
    method = DelayedSVRG(interval=4, step_size=ETA, batch_size=2, stage_length=LENGTH, anchor="last")
    states = _stage_ends(first_moments(strongly_convex, method, STAGES, x0=x0))
    _, anchors = _algorithm_3(strongly_convex, x0, times=_times(4), size=2, anchor_is_last=True)
    np.testing.assert_allclose([state.anchored.anchor for state in states], anchors, rtol=0, atol=1e-12)


def test_an_open_interval_projects_once_a_stage(strongly_convex, first_moments):
    moments = first_moments(strongly_convex, DelayedSVRG(stage_length=7), 3)
    assert [m.reply.work.steps for m in moments if isinstance(m.reply, Arrived)] == [7, 7, 7]


def test_the_practical_step_shrinks_with_the_spread_of_single_samples(strongly_convex, first_moments):
    constants = strongly_convex.objective.smoothness
    state = first_moments(strongly_convex, DelayedSVRG(batch_size=3), 1)[0].state
    assert state.anchored.step_size == pytest.approx(
        1 / (constants.full + 5.5 * constants.maximum / 3), rel=1e-14
    )
