"""The local half of a request, against the formulas written out."""

import numpy as np
import pytest

import tether
from tether.engines.local_work import Local, Memory, Worker, carry_out, dual_of, settle, without_caches, work
from tether.engines.sampling import Stream, batches
from tether.polyhedral import Pieces
from tether.requests import Average, Descend, Dual, Gradient, Pull

N, P = 12, 4
RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((N, P)), RNG.standard_normal(N)
OBJECTIVE = tether.GLM(X, Y, loss="squared", l2=0.1)
WORKER = Worker(OBJECTIVE, seed=5, number=2)
START, ANCHOR, CENTER = RNG.standard_normal((3, P))


def gradient(x, batch=slice(None)):
    rows = X[batch]
    return rows.T @ (rows @ x - Y[batch]) / len(rows) + 0.1 * x


def samples(clock, steps, batch_size, replacement=False):
    return batches(Stream(5, 2, N, replacement), clock=clock, steps=steps, batch_size=batch_size)[0]


def walk(request, memory=None):
    local, memory = work(WORKER, request, Memory() if memory is None else memory)
    return local.points, local, memory


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-12)


# --- the steps -------------------------------------------------------------------------------------------


def test_plain_steps_follow_the_workers_own_samples():
    x = START.copy()
    for batch in samples(7, 5, 3):
        x -= 0.1 * gradient(x, batch)
    (end,), local, _ = walk(Descend(START, 5, 0.1, 3, clock=7))
    close(end, x)
    assert (local.steps, local.gradients) == (5, 15)


def test_samples_can_be_drawn_with_replacement():
    x = START.copy()
    for batch in samples(0, 5, 3, replacement=True):
        x -= 0.1 * gradient(x, batch)
    (end,), _, _ = walk(Descend(START, 5, 0.1, 3, replacement=True))
    close(end, x)


def test_without_a_batch_size_every_step_uses_all_samples():
    x = START.copy()
    for _ in range(3):
        x -= 0.1 * gradient(x)
    (end,), local, _ = walk(Descend(START, 3, 0.1, None))
    close(end, x)
    assert local.gradients == 3 * N


def test_a_decaying_step_counts_from_the_clock():
    x = START.copy()
    for t, batch in enumerate(samples(6, 4, 2)):
        x -= 0.2 / (1 + 0.5 * (6 + t)) * gradient(x, batch)
    (end,), _, _ = walk(Descend(START, 4, 0.2, 2, clock=6, decay=0.5))
    close(end, x)


@pytest.mark.parametrize("shift", [None, CENTER], ids=["own gradient", "sent"])
@pytest.mark.parametrize("theta", [1.0, 0.6])
def test_variance_reduced_steps_with_momentum(theta, shift):
    h = gradient(ANCHOR) if shift is None else shift
    u = START.copy()
    for batch in samples(0, 5, 2):
        x = ANCHOR + theta * (u - ANCHOR)
        u -= 0.1 / theta * (gradient(x, batch) - gradient(ANCHOR, batch) + h)
    (end,), local, _ = walk(Descend(START, 5, 0.1, 2, anchor=ANCHOR, shift=shift, momentum=theta))
    close(end, u)
    assert local.gradients == N + 10


def test_the_first_gradient_can_be_taken_at_the_anchor():
    theta, u, average = 0.6, START.copy(), 0.0
    for t, batch in enumerate(samples(0, 5, 2)):
        x = ANCHOR if t == 0 else ANCHOR + theta * (u - ANCHOR)
        u -= 0.1 / theta * (gradient(x, batch) - gradient(ANCHOR, batch) + CENTER)
        average += (ANCHOR + theta * (u - ANCHOR)) / 5
    request = Descend(START, 5, 0.1, 2, anchor=ANCHOR, shift=CENTER, momentum=theta, from_anchor=True)
    (end, mean), local, _ = walk(request._replace(average=Average(0.0, after=True, collect=True)))
    close(end, u)
    close(mean, average)
    assert local.steps == 5 and local.gradients == N + 8, "the step at the anchor needs no sample"


def test_a_pull_adds_its_gradient_to_every_step():
    x = START.copy()
    for batch in samples(0, 4, 2):
        x -= 0.1 * (gradient(x, batch) + 0.7 * (x - CENTER))
    (end,), _, _ = walk(Descend(START, 4, 0.1, 2, pull=Pull(CENTER, 0.7)))
    close(end, x)


def test_steps_subtract_the_dual():
    h = RNG.standard_normal(P)
    x = START.copy()
    for batch in samples(0, 4, 2):
        x -= 0.1 * (gradient(x, batch) - h)
    (end,), local, _ = walk(Descend(START, 4, 0.1, 2, dual=Dual(1.0)), Memory(duals=h[None]))
    close(end, x)
    close(local.dual, h)


def test_the_walk_leaves_its_start_alone():
    before = START.copy()
    walk(Descend(START, 4, 0.1, 2, anchor=START))
    np.testing.assert_array_equal(START, before)


# --- running averages ------------------------------------------------------------------------------------


def test_the_weighted_average_goes_on_over_rounds_until_it_is_collected():
    x, passed = START.copy(), []
    for batch in samples(0, 7, 2):
        passed.append(x.copy())
        x -= 0.1 * gradient(x, batch)
    weights = (1 - 0.5 * 0.1) ** np.arange(6, -1, -1)
    (middle,), _, memory = walk(Descend(START, 3, 0.1, 2, average=Average(0.5)))
    request = Descend(middle, 4, 0.1, 2, clock=3, average=Average(0.5, collect=True))
    (end, average), _, memory = walk(request, memory)
    close(end, x)
    close(average, weights @ np.array(passed) / weights.sum())
    assert memory.weight == pytest.approx(weights.sum())


def test_a_fresh_average_forgets_what_was_before():
    old = Memory(total=np.full(P, 1e6), weight=99.0)
    (_, average), _, memory = walk(Descend(START, 1, 0.1, 2, average=Average(0.0, collect=True)), old)
    np.testing.assert_array_equal(average, START)
    assert memory.weight == 1.0


def test_a_worker_that_was_away_when_a_sum_began_starts_its_own():
    old = Memory(total=np.full(P, 1e6), weight=99.0, since=2)
    request = Descend(START, 1, 0.1, 2, clock=9, average=Average(0.0, since=6, collect=True))
    (_, average), _, memory = walk(request, old)
    np.testing.assert_array_equal(average, START)
    assert memory.weight == 1.0 and memory.since == 6


# --- what the anchor costs -------------------------------------------------------------------------------


def test_a_measured_anchor_is_paid_for_once():
    local, memory = work(WORKER, Gradient(ANCHOR), Memory())
    assert local.gradients == N
    close(local.direction, gradient(ANCHOR))
    _, local, memory = walk(Descend(START, 3, 0.1, 2, anchor=ANCHOR), memory)
    assert local.gradients == 6
    _, local, _ = walk(Descend(START, 3, 0.1, 2, anchor=START), memory)
    assert local.gradients == N + 6


def test_a_cache_lost_in_a_checkpoint_is_rebuilt_free_of_charge():
    _, memory = work(WORKER, Gradient(ANCHOR), Memory())
    request = Descend(START, 3, 0.1, 2, anchor=ANCHOR)
    (kept,), paid, _ = walk(request, memory)
    (rebuilt,), free, _ = walk(request, memory._replace(evaluation=None))
    np.testing.assert_array_equal(kept, rebuilt)
    assert paid.gradients == free.gradients == 6


# --- duals -----------------------------------------------------------------------------------------------


def test_the_dual_is_the_newest_or_a_mix_of_the_last():
    duals = RNG.standard_normal((4, P))
    memory = Memory(duals=duals)
    assert dual_of(None, memory) is None and dual_of(Dual(), Memory()) is None
    np.testing.assert_array_equal(dual_of(Dual(), memory), duals[3])
    close(dual_of(Dual(weights=np.array([0.5, -1.0, 1.5])), memory), [0.5, -1.0, 1.5] @ duals[1:])


def test_a_dual_without_weight_may_have_overflowed():
    duals = np.array([[1.0, 2.0], [np.inf, np.nan]])
    mixed = dual_of(Dual(weights=np.array([2.0, 0.0])), Memory(duals=duals))
    np.testing.assert_array_equal(mixed, [2.0, 4.0])


def settled(dual, memory, moved, used=None):
    raw = np.zeros(P)
    return settle(Descend(raw, 1, 0.1, None, dual=dual), Local((raw,), dual=used), (moved,), memory).duals


def test_the_first_dual_is_the_rate_times_the_move():
    np.testing.assert_array_equal(settled(Dual(3.0), Memory(), np.ones(P)), [3.0 * np.ones(P)])


def test_duals_are_added_renewed_and_forgotten():
    old = Memory(duals=np.array([[1.0] * P, [2.0] * P]))
    move, used = np.ones(P), np.full(P, 2.0)
    assert settled(Dual(3.0, keep=3), old, move, used)[:, 0].tolist() == [1.0, 2.0, 5.0]
    assert settled(Dual(3.0, keep=2), old, move, used)[:, 0].tolist() == [2.0, 5.0]
    assert settled(Dual(3.0, keep=3, renew=True), old, move, used)[:, 0].tolist() == [1.0, 5.0]


def test_requests_without_a_dual_teach_nothing():
    memory = Memory(duals=np.ones((1, P)))
    plain = Descend(START, 1, 0.1, None)
    assert settle(plain, Local((START,)), (ANCHOR,), memory) is memory
    assert settle(Gradient(START, dual=Dual(1.0)), Local(), (), memory) is memory


# --- what leaves the worker ------------------------------------------------------------------------------


def test_a_worker_reports_what_it_did_and_how_long_it_took():
    done = carry_out(WORKER, Gradient(START), Memory())
    close(done.upload.direction, gradient(START))
    close(done.upload.scale, np.linalg.norm(gradient(START)))
    assert done.upload.value == pytest.approx(OBJECTIVE.value(START)) and done.upload.gradients == N
    assert done.upload.seconds > 0 and done.upload.vectors == (done.upload.direction,)
    assert done.memory.anchor is START


def test_what_is_protected_is_what_leaves():
    def hide(local):
        return local._replace(points=(np.zeros(P),))

    request = Descend(START, 3, 0.1, 2)
    done = carry_out(WORKER, request, Memory(), hide)
    np.testing.assert_array_equal(done.upload.vectors, [np.zeros(P)])
    assert done.local.points is done.upload.points
    assert carry_out(WORKER, request, Memory()).upload.points[0].any()


def test_steps_that_overflow_raise_no_warning():
    done = carry_out(WORKER, Descend(START, 50, 1e300, 2), Memory())
    assert not np.isfinite(done.upload.points[0]).all()


def test_a_memory_without_caches_walks_the_same_way():
    request = Descend(START, 3, 0.1, 2, clock=1, anchor=ANCHOR)
    _, _, memory = walk(request._replace(clock=0, steps=1))
    assert memory.samples is not None and without_caches(memory).samples is None
    np.testing.assert_array_equal(walk(request, without_caches(memory))[0], walk(request, memory)[0])


# --- pieces ----------------------------------------------------------------------------------------------

PIECES = Pieces(
    np.array([-0.5, -np.inf, -np.inf, 0.0]),
    np.array([np.inf, 0.2, np.inf, 1.0]),
    np.array([0.0, 0.3, 0.5, 0.0]),
    np.array([0.1, 0.0, 0.5, 0.2]),
)


def test_every_step_ends_with_the_prox_of_the_pieces():
    h, x, full = RNG.standard_normal(P), START.copy(), gradient(ANCHOR)
    for batch in samples(0, 6, 2):
        g = gradient(x, batch) - gradient(ANCHOR, batch) + full - h + 0.7 * (x - CENTER)
        x = PIECES.prox(x - 0.1 * g, 0.1)
    request = Descend(START, 6, 0.1, 2, anchor=ANCHOR, pull=Pull(CENTER, 0.7), dual=Dual(1.0), pieces=PIECES)
    (end,), _, _ = walk(request, Memory(duals=h[None]))
    close(end, x)
    (free,), _, _ = walk(request._replace(pieces=None), Memory(duals=h[None]))
    assert np.abs(end - free).max() > 0.01


def test_the_step_at_the_anchor_ends_with_it_too():
    x = PIECES.prox(START - 0.1 * CENTER, 0.1)
    for batch in samples(0, 5, 2)[1:]:
        x = PIECES.prox(x - 0.1 * (gradient(x, batch) - gradient(ANCHOR, batch) + CENTER), 0.1)
    request = Descend(START, 5, 0.1, 2, anchor=ANCHOR, shift=CENTER, from_anchor=True, pieces=PIECES)
    (end,), _, _ = walk(request)
    close(end, x)


def test_pieces_do_not_go_with_momentum():
    request = Descend(START, 5, 0.1, 2, anchor=ANCHOR, momentum=0.5, pieces=PIECES)
    with pytest.raises(ValueError, match=r"^momentum must be 1 in a walk with pieces, .* got 0\.5\.$"):
        walk(request)
