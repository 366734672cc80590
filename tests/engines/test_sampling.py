"""Which samples a step sees: a pure function of seed, worker and clock."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tether
from tether.engines import sampling
from tether.engines.sampling import Stream, batches


def draw(clock, steps, batch_size, *, seed=0, worker=0, n=10, replacement=False):
    return batches(Stream(seed, worker, n, replacement), clock=clock, steps=steps, batch_size=batch_size)[0]


def test_a_row_a_step():
    rows = draw(0, 7, 3)
    assert rows.shape == (7, 3) and rows.dtype == np.int64


@pytest.mark.parametrize("batch_size", [1, 2, 3, 7, 10])
def test_every_pass_is_a_permutation_whatever_the_batches(batch_size):
    stream = draw(0, 70, batch_size).ravel()
    for start in range(0, len(stream) - 9, 10):
        assert sorted(stream[start : start + 10]) == list(range(10))


def test_every_pass_has_another_order():
    passes = draw(0, 50, 10).tolist()
    assert len({tuple(order) for order in passes}) == 50


def test_seed_and_worker_decide_the_order():
    orders = [draw(0, 1, 10, seed=seed, worker=worker).tolist() for seed in range(4) for worker in range(4)]
    assert len({tuple(order[0]) for order in orders}) == 16


@given(
    st.integers(1, 30),
    st.integers(1, 12),
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
    st.integers(0, 40),
    st.booleans(),
)
def test_cutting_a_run_into_other_rounds_draws_the_same_samples(n, batch_size, rounds, clock, replacement):
    options = {"n": n, "replacement": replacement, "seed": 3}
    whole = draw(clock, sum(rounds), batch_size, **options)
    parts = []
    for steps in rounds:
        parts.append(draw(clock, steps, batch_size, **options))
        clock += steps
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_the_order_of_the_questions_does_not_matter():
    forward = [draw(clock, 3, 4).copy() for clock in range(30)]
    backward = [draw(clock, 3, 4).copy() for clock in reversed(range(30))]
    np.testing.assert_array_equal(forward, backward[::-1])


def test_a_batch_that_straddles_two_passes_ends_the_one_and_begins_the_other():
    rows = draw(0, 5, 4)  # samples 8..11 of the stream
    first, second = draw(0, 1, 10)[0], draw(1, 1, 10)[0]
    np.testing.assert_array_equal(rows[2], [*first[8:], *second[:2]])


def test_a_batch_larger_than_the_data_spans_several_passes():
    (row,) = draw(0, 1, 25)
    assert np.bincount(row, minlength=10).min() == 2 and np.bincount(row, minlength=10).max() == 3


def test_samples_drawn_with_replacement_are_independent_and_uniform():
    stream = draw(0, 4000, 10, replacement=True).ravel()
    passes = stream.reshape(-1, 10)
    distinct = np.mean([len(set(row)) for row in passes])
    assert abs(distinct - 10 * (1 - 0.9**10)) < 0.1, "a pass misses about a third of the samples"
    counts = np.bincount(stream, minlength=10)
    assert np.abs(counts - 4000).max() < 5 * np.sqrt(4000 * 0.9)
    after = np.bincount(10 * stream[:-1] + stream[1:], minlength=100)
    assert np.abs(after - 400).max() < 5 * np.sqrt(400)


def test_nobody_can_change_the_stream():
    rows = draw(0, 2, 5)
    with pytest.raises(ValueError, match="read-only"):
        rows[0, 0] = 99


OTHERS = [Stream(3, 0, 7, False), Stream(4, 0, 7, False), Stream(3, 0, 7, True), Stream(3, 1, 7, False)]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("batch_size", [1, 5, 7, 20])
def test_what_is_known_of_a_stream_saves_work_and_changes_nothing(batch_size, other):
    stream, (_, known) = Stream(3, 0, 7, False), batches(other, clock=0, steps=1, batch_size=1)
    for clock in range(0, 20, 2):
        drawn, known = batches(stream, clock=clock, steps=2, batch_size=batch_size, known=known)
        np.testing.assert_array_equal(drawn, draw(clock, 2, batch_size, seed=3, n=7))
        _, same = batches(stream, clock=known.number, steps=1, batch_size=7, known=known)
        assert same is known


@pytest.mark.slow
def test_a_run_keeps_no_order_alive_when_it_is_over():
    workers, size = 40, 5_000
    parts = [
        tether.GLM(np.ones((size, 1)), np.arange(size) % 2 + k, "squared", l2=1.0) for k in range(workers)
    ]
    federation = tether.Federation(parts)
    tracemalloc.start()
    try:
        tether.solve(federation, method="dp-svrg", tol=0.0, max_rounds=4)
        found = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, sampling.__file__)])
    finally:
        tracemalloc.stop()
    assert sum(trace.size for trace in found.traces) < 8 * size, "one of eighty orders"
