"""DelayedSGD against Algorithm 2 of the paper, written out."""

from itertools import accumulate

import numpy as np
import pytest

import tether
from tether.methods import DelayedSGD
from tether.requests import Arrived

STEPS, ETA = 60, 0.3

#: What users write, and the projection times in the first 60 steps.
SETS = {
    1: range(1, STEPS + 1),
    4: range(4, STEPS + 1, 4),
    7: range(7, STEPS + 1, 7),
    20: [20, 40, 60],
    (2, 3, 7): [time for time in range(1, STEPS + 1) if time % 7 in (2, 3, 0)],
    (3, 5, 20): [3, 5, 20, 23, 25, 40, 43, 45, 60],
}


def _algorithm_2(problem, x0, *, times, size, decay=0.0):
    """Return x at the projection times, and at each the projected weighted average of all iterates so far."""
    samples = problem.samples(STEPS, size)
    x, fades, seen, ends, averages = problem.project(x0), [], [], [], []
    for t in range(STEPS):
        eta = ETA / (1 + decay * t)
        seen.append(x)
        fades.append(1 - problem.mu * eta)
        x = x - eta * problem.gradient(x, samples[t])
        if t + 1 in times:
            x = problem.project(x)
            weights = np.array([np.prod(fades[j + 1 :]) for j in range(t + 1)])
            ends.append(x)
            averages.append(problem.project(weights @ np.array(seen) / weights.sum()))
    return ends, averages


def _walks(problem, method, count, **options):
    """Return the states after the first walks."""
    moments = tether.iterate(problem.objective, problem.constraint, method, **options)
    states = []
    while len(states) < count:
        moment = next(moments)
        if isinstance(moment.reply, Arrived):
            states.append(moment.state)
    return states


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("interval", SETS, ids=str)
def test_it_is_algorithm_2(by_hand, x0, interval, size):
    times = SETS[interval]
    method = DelayedSGD(interval=interval, step_size=ETA, batch_size=size, stage_length=13)
    states = _walks(by_hand, method, len(times), x0=x0)
    assert [state.clock for state in states] == list(times)
    ends, averages = _algorithm_2(by_hand, x0, times=times, size=size)
    np.testing.assert_allclose([state.x for state in states], ends, rtol=0, atol=1e-12)
    due = [min(time for time in times if time >= end) for end in range(13, times[-1] + 1, 13)]
    for state, average in zip(states, averages, strict=True):
        if state.clock in due:
            np.testing.assert_allclose(state.average, average, rtol=0, atol=1e-12)
    assert states[-1].stage == len(set(due))


def test_a_decaying_step_fades_the_average_by_the_step_it_takes(strongly_convex, x0):
    method = DelayedSGD(interval=4, step_size=ETA, batch_size=2, stage_length=10, decay=0.1)
    states = _walks(strongly_convex, method, 15, x0=x0)
    ends, averages = _algorithm_2(strongly_convex, x0, times=SETS[4], size=2, decay=0.1)
    np.testing.assert_allclose([state.x for state in states], ends, rtol=0, atol=1e-12)
    np.testing.assert_allclose(states[-1].average, averages[-1], rtol=0, atol=1e-12)


def _clocks(method, n_samples=24, count=4):
    rng = np.random.default_rng(0)
    objective = tether.GLM(rng.standard_normal((n_samples, 3)), rng.integers(0, 2, n_samples), l2=0.1)
    problem = tether.engines.Problem(objective, tether.Affine(np.ones((1, 3))))
    engine = tether.Serial()
    algorithm, memory = method.prepare(engine.facts(problem)), engine.blank(problem)
    state, clocks = algorithm.start(np.zeros(3)), []
    while len(clocks) < count:
        reply, memory = engine.exchange(problem, algorithm.ask(state), memory)
        state = algorithm.tell(state, reply)
        clocks.append(algorithm.clock(state))
    return clocks


def test_projection_times_know_nothing_of_passes():
    assert _clocks(DelayedSGD(interval=7, batch_size=1), n_samples=13) == [7, 14, 21, 28]
    assert _clocks(DelayedSGD(interval=(3, 5, 20), batch_size=1), n_samples=13, count=6) == [
        3,
        5,
        20,
        23,
        25,
        40,
    ]


def test_a_walk_may_be_longer_than_a_pass():
    assert _clocks(DelayedSGD(interval=100, batch_size=1), n_samples=13) == [100, 200, 300, 400]


def test_a_federation_takes_all_steps_of_the_interval_in_every_walk():
    rng = np.random.default_rng(0)
    workers = [tether.GLM(rng.standard_normal((25, 3)), rng.integers(0, 2, 25), l2=0.1) for _ in range(3)]
    moments = tether.iterate(tether.Federation(workers), None, DelayedSGD(interval=10, batch_size=5))
    walks = []
    while len(walks) < 60:
        moment = next(moments)
        walks += [moment.reply.work.steps] if isinstance(moment.reply, Arrived) else []
    assert walks == [10] * 60
    assert list(accumulate(walks))[-1] == moment.counts.steps == 600


def test_it_answers_with_the_projected_average_once_there_is_one(strongly_convex, first_moments):
    method = DelayedSGD(interval=4, step_size=ETA, stage_length=10)
    for moment in first_moments(strongly_convex, method, 2):
        answer = moment.state.x if moment.state.stage == 0 else moment.state.average
        np.testing.assert_array_equal(moment.x, answer)


def test_the_last_iterate_can_be_the_answer(strongly_convex, first_moments):
    method = DelayedSGD(interval=4, step_size=ETA, stage_length=10, output="last")
    for moment in first_moments(strongly_convex, method, 2):
        assert moment.state.average is None
        np.testing.assert_array_equal(moment.x, moment.state.x)


def test_answering_with_the_last_iterate_saves_a_vector_a_stage(strongly_convex, first_moments):
    counts = {
        output: first_moments(
            strongly_convex, DelayedSGD(interval=5, stage_length=10, batch_size=1, output=output), 2
        )[-1].counts
        for output in ("average", "last")
    }
    assert counts["average"].rounds == counts["last"].rounds
    assert counts["average"].projections == counts["last"].projections + 2


def test_starting_anew_forgets_the_average_of_before(strongly_convex, x0):
    problem = tether.engines.Problem(strongly_convex.objective, strongly_convex.constraint)
    engine = tether.Serial()
    algorithm = strongly_convex.prepare(DelayedSGD(interval=4, stage_length=4, batch_size=1, step_size=ETA))
    state, memory = algorithm.start(strongly_convex.project(x0)), engine.blank(problem)
    for _ in range(3):
        reply, memory = engine.exchange(problem, algorithm.ask(state), memory)
        state = algorithm.tell(state, reply)
    anew = algorithm.start(state.x, algorithm.clock(state))
    kept, _ = engine.exchange(problem, algorithm.ask(anew), memory)
    fresh, _ = engine.exchange(problem, algorithm.ask(anew), engine.blank(problem))
    np.testing.assert_array_equal(kept.average, fresh.average)


def test_the_practical_step_is_half_of_the_inverse_batch_smoothness(strongly_convex):
    objective = strongly_convex.objective
    algorithm = strongly_convex.prepare(DelayedSGD(batch_size=3))
    assert algorithm.step_size == 0.5 / objective.smoothness.of_batch(3, objective.n_samples)


def test_the_proven_step_is_that_of_the_longest_walk(strongly_convex):
    constants = strongly_convex.objective.smoothness
    for interval, gap in ((100, 100), ((3, 5, 20), 15)):
        method = DelayedSGD(interval=interval, stage_length=6, parameters="theory")
        proven = tether.theory.step_size(
            "dp-sgd", smoothness=constants.maximum, convexity=constants.convexity, interval=gap
        )
        assert strongly_convex.prepare(method).step_size == proven
