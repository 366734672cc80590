"""Claims pass on curves that bear them out, and fail on curves that do not."""

import math

import numpy as np
import pytest

from tether.reproduce import claims

X = np.arange(1.0, 41.0)
FAST, SLOW = 1.0 + 2.0 / X, 1.0 + 4.0 / np.sqrt(X)


def test_a_curve_that_is_below_everywhere_is_said_to_be(curve):
    fast, slow = curve("fast", FAST, best=1.0), curve("slow", SLOW, best=1.0)
    assert claims.always_below(fast, slow).holds is True
    assert claims.always_below(slow, fast).holds is False
    crossing = curve("crossing", np.where(X < 30, 0.5 * FAST + 0.5, 2 * SLOW), best=1.0)
    verdict = claims.always_below(crossing, slow)
    assert verdict.holds is False and "28 of 39 budgets" in verdict.numbers


def test_an_end_below_another_needs_more_than_what_seeds_differ_by(curve):
    rng = np.random.default_rng(0)
    noise = 0.01 * rng.standard_normal((5, len(X)))
    low, high = curve("low", FAST + noise), curve("high", SLOW + noise[::-1])
    assert claims.ends_below(low, high).holds is True
    assert claims.ends_below(high, low).holds is False
    level = curve("level", FAST + noise[::-1])
    assert claims.ends_below(low, level).holds is None
    assert claims.ends_below(curve("one", FAST), curve("other", SLOW)).holds is None  # no interval


def test_fluctuation_is_what_is_no_smooth_fall(curve):
    wiggle = 0.05 * (-1.0) ** np.arange(len(X))
    calm, wild = curve("calm", FAST, best=0.5), curve("wild", FAST + wiggle, best=0.5)
    assert claims.calmer(calm, wild).holds is True
    assert claims.calmer(wild, calm).holds is False
    assert claims.calmer(curve("a", FAST[:3]), curve("b", FAST[:3])).holds is None


def test_slow_then_fast_has_to_cross(curve):
    early = curve("early", 2.0 - 0.01 * X)
    late = curve("late", np.where(X < 20, 2.5, 1.0))
    assert claims.slow_then_fast(late, early).holds is True
    assert claims.slow_then_fast(early, late).holds is False
    assert claims.slow_then_fast(curve("lower", 1.0 - 0.01 * X), early).holds is False


def test_much_slower_means_twice_the_gap_and_then_below(curve):
    early = curve("early", np.full(40, 1.0))
    late = curve("late", np.where(X < 20, 3.0, 0.5))
    assert claims.much_slower_then_below(late, early, within=20).holds is True
    level = curve("level", np.where(X < 20, 1.1, 0.5))
    assert claims.much_slower_then_below(level, early, within=20).holds is False
    never = curve("never", np.where(X < 20, 3.0, 1.5))
    assert claims.much_slower_then_below(never, early, within=20).holds is False


def test_much_slower_may_look_at_what_is_returned(curve):
    early = curve("early", np.full(40, 1.0))
    late = curve("late", np.full(40, 0.9), answers=np.where(X < 20, 3.0, 0.5))
    assert claims.much_slower_then_below(late, early, within=20).holds is False
    assert claims.much_slower_then_below(late, early, within=20, of="value").holds is True


def test_alike_is_within_five_percent(curve):
    near = [curve(str(scale), scale * FAST, best=0.5) for scale in (1.0, 1.02, 1.04)]
    assert claims.alike(near, after=5).holds is True
    assert claims.alike([*near, curve("far", 1.1 * FAST, best=0.5)], after=5).holds is False
    assert claims.alike(near, after=100).holds is None


def test_faster_with_more_allows_a_tenth_of_exceptions(curve):
    rising = [curve(f"E = {E}", 1 + 1 / (E * X)) for E in (1, 2, 4)]
    assert claims.faster_with_more(rising, after=2).holds is True
    assert claims.faster_with_more(rising[::-1], after=2).holds is False
    assert claims.faster_with_more(rising, after=100).holds is None


def test_curves_spread_by_the_ratio_of_their_gaps(curve):
    wide = [curve(str(scale), scale / X) for scale in (1, 5)]
    narrow = [curve(str(scale), scale / X) for scale in (1, 2)]
    assert claims.spread_more(wide, narrow).holds is True
    verdict = claims.spread_more(narrow, wide)
    assert verdict.holds is False and "2.00 against 5.00" in verdict.numbers


def test_a_curve_stalls_while_another_goes_on(curve):
    stuck, falling = curve("stuck", 0.1 + np.exp(-X)), curve("falling", np.exp(-X))
    assert claims.stalls(stuck, falling).holds is True
    assert claims.stalls(falling, stuck).holds is False
    assert claims.stalls(stuck, stuck).holds is False


def test_curves_with_other_looks_are_compared_at_those_of_the_coarser(curve):
    fine = curve("fine", FAST)
    coarse = curve("coarse", SLOW[::5], rounds=X[::5])
    np.testing.assert_array_equal(claims.budgets(fine, coarse), X[::5][1:])
    assert fine.at(7.5)[0] == FAST[6]


def test_the_interval_of_a_mean_is_students():
    assert claims.half_width(np.array([1.0])) == math.inf
    assert claims.half_width(np.array([0.0, 2.0])) == pytest.approx(12.706, rel=1e-3)
