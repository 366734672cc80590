"""DelayedSGD against Algorithm 2 of the paper, written out."""

import numpy as np
import pytest

import tether
from tether.methods import DelayedSGD
from tether.requests import Arrived

LENGTH, STAGES, ETA = 10, 3, 0.3


def _times(interval):
    return set(range(interval, LENGTH, interval) if isinstance(interval, int) else interval) | {LENGTH}


def _algorithm_2(problem, x0, *, times, size, decay=0.0):
    """Return x at all projection times and the weighted average of the stages' iterates, projected."""
    steps = LENGTH * STAGES
    samples = problem.samples(steps, size)
    x, ends, seen, etas = problem.project(x0), [], [], []
    for t in range(steps):
        seen.append(x)
        etas.append(ETA / (1 + decay * t))
        x = x - etas[-1] * problem.gradient(x, samples[t])
        if t % LENGTH + 1 in times:
            x = problem.project(x)
            ends.append(x)
    fades = 1 - problem.mu * np.array(etas)
    weights = np.array([np.prod(fades[j + 1 :]) for j in range(steps)])
    return ends, problem.project(weights @ np.array(seen) / weights.sum())


def _states(moments):
    return [moment.state for moment in moments if isinstance(moment.reply, Arrived)]


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("interval", [1, 4, LENGTH, (2, 3, 7)])
def test_it_is_algorithm_2(by_hand, first_moments, x0, interval, size):
    method = DelayedSGD(interval=interval, step_size=ETA, batch_size=size, stage_length=LENGTH)
    states = _states(first_moments(by_hand, method, STAGES, x0=x0))
    ends, average = _algorithm_2(by_hand, x0, times=_times(interval), size=size)
    np.testing.assert_allclose([state.x for state in states], ends, rtol=0, atol=1e-12)
    np.testing.assert_allclose(states[-1].average, average, rtol=0, atol=1e-12)


def test_a_decaying_step_fades_the_average_by_the_step_it_takes(strongly_convex, first_moments, x0):
    method = DelayedSGD(interval=4, step_size=ETA, batch_size=2, stage_length=LENGTH, decay=0.1)
    states = _states(first_moments(strongly_convex, method, STAGES, x0=x0))
    ends, average = _algorithm_2(strongly_convex, x0, times=_times(4), size=2, decay=0.1)
    np.testing.assert_allclose([state.x for state in states], ends, rtol=0, atol=1e-12)
    np.testing.assert_allclose(states[-1].average, average, rtol=0, atol=1e-12)


def test_it_answers_with_the_projected_average_once_there_is_one(strongly_convex, first_moments):
    method = DelayedSGD(interval=4, step_size=ETA, stage_length=LENGTH)
    for moment in first_moments(strongly_convex, method, 2):
        answer = moment.state.x if moment.state.stage == 0 else moment.state.average
        np.testing.assert_array_equal(moment.x, answer)


def test_the_last_iterate_can_be_the_answer(strongly_convex, first_moments):
    method = DelayedSGD(interval=4, step_size=ETA, stage_length=LENGTH, output="last")
    for moment in first_moments(strongly_convex, method, 2):
        assert moment.state.average is None
        np.testing.assert_array_equal(moment.x, moment.state.x)


def test_answering_with_the_last_iterate_saves_a_vector_a_stage(strongly_convex, first_moments):
    counts = {
        output: first_moments(
            strongly_convex, DelayedSGD(interval=5, stage_length=LENGTH, batch_size=1, output=output), 2
        )[-1].counts
        for output in ("average", "last")
    }
    assert counts["average"].rounds == counts["last"].rounds
    assert counts["average"].projections == counts["last"].projections + 2


def test_the_practical_step_is_half_of_the_inverse_batch_smoothness(strongly_convex):
    objective = strongly_convex.objective
    facts = tether.Serial().facts(tether.engines.Problem(objective, strongly_convex.constraint))
    method = DelayedSGD(batch_size=3).prepare(facts)
    assert method.step_size == 0.5 / objective.smoothness.of_batch(3, objective.n_samples)
