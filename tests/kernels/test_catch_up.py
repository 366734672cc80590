"""Many steps in closed form against the same steps one by one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.kernels.catch_up import powers, shrunk, within
from tether.kernels.sparse_pieces import enter, read_off

MOMENTS = (0, 1, 2, 3, 10, 255, 256, 257, 1_000, 10_000, 65_536)
LOSSES = (0.0, 1e-12, 1e-5, 1e-3, 0.1, 0.999)


def at_once(w, below, above, lower, upper, loss, n):
    """n steps as kernels take them, of many coordinates."""
    walls = np.stack([lower, upper], axis=1)
    x, near_and_far = np.empty((len(w), 1)), powers(loss, int(n))
    table = np.stack([w, below, above, np.zeros(len(w))], axis=1)
    read_off(table, walls, float(n), *near_and_far, loss, x)
    return x[:, 0]


def one_by_one(w, below, above, lower, upper, loss, moments):
    """The same steps, one after the other, in more digits."""
    w, below, above, lower, upper = (part.astype(np.longdouble) for part in (w, below, above, lower, upper))
    loss, found = np.longdouble(loss), {}
    for n in range(max(moments) + 1):
        if n in moments:
            found[n] = w.astype(float)
        y = w - loss * w
        w = y - np.minimum(np.maximum(y, below), above)
        w = np.minimum(np.maximum(w, lower), upper)
    return found


def cases(count, seed):
    """Coordinates that rest, fall, rise, meet zero early and late, and meet walls, with some of each."""
    rng = np.random.default_rng(seed)
    sign, size = rng.choice([-1.0, 1.0], count), 10.0 ** rng.uniform(-4, 1, count)
    drift = rng.choice([-1.0, 0.0, 1.0], count) * 10.0 ** rng.uniform(-7, -1, count)
    left, right = rng.choice([0.0, 0.3, 3.0, 100.0], (2, count)) * np.abs(drift)
    lower = np.where(rng.random(count) < 0.4, -(10.0 ** rng.uniform(-3, 1, count)), -np.inf)
    upper = np.where(rng.random(count) < 0.4, 10.0 ** rng.uniform(-3, 1, count), np.inf)
    inward = rng.random(count) < 0.1
    lower = np.where(inward, 0.1, lower)
    upper = np.where(inward, 0.1 + np.abs(upper), upper)
    w = np.clip(sign * size * (rng.random(count) > 0.1), lower, upper)
    return w, drift - left, drift + right, lower, upper


@pytest.mark.parametrize("loss", LOSSES)
def test_many_steps_at_once_are_these_steps_one_by_one(loss):
    given = cases(250, seed=1)
    slow = one_by_one(*given, loss, MOMENTS)
    for n in MOMENTS:
        fast = at_once(*given, loss, n)
        np.testing.assert_array_less(np.abs(fast - slow[n]), 1e-13 * (1e-3 + np.abs(given[0]) + np.abs(fast)))
        np.testing.assert_array_equal(fast == 0.0, slow[n] == 0.0)


def test_the_test_above_sees_every_kind_of_path():
    w, below, above, lower, upper = cases(250, seed=1)
    end = at_once(w, below, above, lower, upper, 1e-5, 1_000)
    assert min(np.sum((w > 0) & (end < 0)), np.sum((w < 0) & (end > 0))) > 5
    assert min(np.sum((w > 0) & (end == 0)), np.sum((w < 0) & (end == 0))) > 10
    assert min(np.sum((w != lower) & (end == lower)), np.sum((w != upper) & (end == upper))) > 3
    assert np.sum((w == 0) & (end == 0)) > 5
    assert np.sum((w == 0) & (end != 0)) > 5


NUMBERS = st.floats(-3.0, 3.0, allow_subnormal=False)
SLOPES = st.floats(0.0, 3.0, allow_subnormal=False)
WALLS = st.floats(0.0, 2.0) | st.just(math.inf)


@given(
    w=NUMBERS,
    drift=NUMBERS,
    left=SLOPES,
    right=SLOPES,
    lower=WALLS,
    upper=WALLS,
    eta=st.sampled_from([1.0, 0.1, 1e-3]),
    loss=st.floats(0.0, 0.99) | st.just(0.0),
    n=st.integers(0, 300),
)
def test_whatever_the_numbers_steps_at_once_are_steps_one_by_one(
    w, drift, left, right, lower, upper, eta, loss, n
):
    lower, upper = -lower, upper
    given = [
        np.array([part])
        for part in (min(max(w, lower), upper), eta * (drift - left), eta * (drift + right), lower, upper)
    ]
    fast, slow = at_once(*given, loss, n), one_by_one(*given, loss, (n,))[n]
    np.testing.assert_allclose(fast, slow, atol=1e-12, rtol=1e-13)


@pytest.mark.parametrize("w", [-7e-182, 7e-182, -1e-300, 1e-200])
@pytest.mark.parametrize("tiny", [6e-234, 1e-308, 1e-150])
def test_tiny_numbers_of_one_sign_do_not_pass_zero(w, tiny):
    """Their product underflows to zero; steps through zero are counted by a logarithm of what is then < 0."""
    for sign in (1.0, -1.0):
        below, above = sorted((sign * tiny, sign * 0.0128))
        given = [np.array([part]) for part in (w, below, above, -math.inf, math.inf)]
        for n in (1, 162, 300):
            fast, slow = at_once(*given, 0.117, n), one_by_one(*given, 0.117, (n,))[n]
            np.testing.assert_allclose(fast, slow, atol=1e-12, rtol=1e-13)


@given(y=NUMBERS, drift=NUMBERS, left=SLOPES, right=SLOPES)
def test_what_a_step_takes_is_the_prox_of_a_piece(y, drift, left, right):
    moved = shrunk.py_func(y, drift - left, drift + right)
    z = y - drift
    expected = max(z - right, 0.0) if z > 0.0 else min(z + left, 0.0)
    assert moved == pytest.approx(expected, abs=1e-14)


def test_coordinates_beyond_their_walls_take_one_plain_step_first():
    """T(w) is not T of w put back: from far outside one step leads to the wall, and the next one off it."""
    table = np.array([[5.0, 0.25, 0.25, 0.0], [5.0, 0.25, 0.25, 1.0], [0.5, 0.25, 0.25, 0.0]])
    enter(table, np.array([[0.0, 1.0]] * 3), 1.0)
    np.testing.assert_array_equal(table[:, 0], [1.0, 5.0, 0.5])  # the second has been moved by a sample
    np.testing.assert_array_equal(table[:, 3], [1.0, 1.0, 0.0])


def test_what_is_not_a_number_stays_so():
    nan, one = np.array([math.nan]), np.array([1.0])
    assert np.isnan(at_once(nan, -one, one, -one, one, 0.1, 5)).all()
    assert np.isnan(at_once(one, nan, nan, -one, one, 0.1, 5)).all()
    assert math.isnan(within.py_func(math.nan, -1.0, 1.0))


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_slopes_without_end_hold_a_coordinate_at_zero(n):
    w, large, walls = np.array([0.0]), np.array([1e300]), np.array([math.inf])
    np.testing.assert_array_equal(at_once(w, -large, large, -walls, walls, 0.1, n), 0.0)


@pytest.mark.parametrize("n", [0, 1, 2, 300])
@pytest.mark.parametrize("loss", [0.0, 1e-3])
def test_coordinates_next_to_zero_are_no_exception(n, loss):
    w = np.array([1e-200, -1e-200, 1e-300, 1.0, 1.0])
    below, above = np.array([0.1, -0.2, 0.1, 1e-300, 0.1]), np.array([0.2, -0.1, 0.2, 2e-300, 1e300])
    walls = np.full(5, math.inf)
    fast = at_once(w, below, above, -walls, walls, loss, n)
    slow = one_by_one(w, below, above, -walls, walls, loss, (n,))[n]
    np.testing.assert_allclose(fast, slow, rtol=1e-12)
