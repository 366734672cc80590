"""When a run is over: accuracy, budgets, divergence, and which of two points is better."""

import math

import numpy as np
import pytest

import tether
from tether.objectives.base import Smoothness
from tether.problem import Facts
from tether.requests import Arrived, Measured, Work
from tether.run.budgets import Budgets
from tether.run.seen import Incumbent, Reference, Tangent, better, contradiction, lowest_value
from tether.run.solution import Counts, Status
from tether.run.verdict import Accuracy, falls_for_ever, has_diverged
from tether.tolerance import Tolerance

NAN, INF = math.nan, math.inf


def measured(value=1.0, certificate=1.0, scale=1.0):
    return Measured(np.zeros(2), value, certificate, scale, None, None, Work())


FACTS = Facts(n_samples=10, dim=2, smoothness=Smoothness(1.0, 1.0, 0.5))


def accuracy(tol=1e-3, rtol=None, convexity=0.5, **known):
    return Accuracy(Tolerance(tol, rtol), convexity, **known)


def relative(**known):
    return accuracy(tol=None, rtol=1e-3, **known)


def budgets(passes=None, rounds=None, seconds=None):
    return Budgets(passes, rounds, seconds)


@pytest.mark.parametrize("convexity", [0.0, 0.5])
@pytest.mark.parametrize(
    ("value", "certificate", "scale"),
    [(INF, INF, INF), (NAN, 0.0, 1.0), (INF, 0.0, 1.0), (1.0, INF, INF), (1.0, NAN, 1.0)],
)
def test_a_point_that_is_not_finite_is_never_accurate(convexity, value, certificate, scale):
    assert not accuracy(convexity=convexity).is_met(measured(value, certificate, scale))


def test_a_long_gradient_is_no_size_of_f():
    """Rounding of ||grad F|| = 1e11 may hide a gap; that makes no point with a large one accurate."""
    assert not relative(convexity=1e-6).is_met(measured(value=8.0, certificate=1e-5, scale=1e11))


@pytest.mark.parametrize("method", ["lbfgs", "newton", "nesterov"])
def test_a_slope_that_equations_hide_is_no_size_of_f(method):
    """F is 0 where the run begins and -500,000 at its minimum, beside a gradient that the equation bears."""
    objective = tether.Quadratic(matrix=0.5e-6 * np.eye(3), linear=np.array([1e11, 1.0, 0.0]))
    sol = tether.solve(objective, tether.Affine(np.eye(3)[:1], [0.0]), method, rtol=1e-6)
    assert not sol.success or sol.fun <= -499_999.0


@pytest.mark.parametrize("method", ["auto", "lbfgs", "newton"])
@pytest.mark.parametrize("rows", [[[1.0, 0.0, 0.0]], [[1 / 7, 2 / 7, 3 / 7]]])
def test_a_minimum_where_f_is_zero_but_for_rounding_is_found(method, rows):
    objective = tether.Quadratic(matrix=0.5 * np.eye(3), linear=1e3 * np.array(rows[0]))
    sol = tether.solve(objective, tether.Affine(rows, [0.0]), method)
    assert sol.success and abs(sol.fun) < 1e-20


def test_a_gap_that_overflowed_is_not_accurate_next_to_a_size_that_did():
    """With ||grad F|| = 1e160 the bound on the gap and what rounding makes of F are both infinite."""
    steep = measured(value=1e155, certificate=1e306, scale=1e160)
    assert not relative(convexity=1e-9).is_met(steep)


def test_the_gap_is_the_certificate_over_twice_the_convexity():
    assert accuracy(convexity=0.5).gap(measured(certificate=3.0)) == pytest.approx(3.0)
    assert math.isnan(accuracy(convexity=0.0).gap(measured(certificate=3.0)))


def test_the_gap_counts_what_rounding_may_hide():
    assert accuracy(convexity=0.5).gap(measured(certificate=0.0, scale=1e6)) > 0


def decides(rule, limit, value=1.0, scale=1.0, slopes=False):
    """Whether a certificate just within a limit is good enough, and one just beyond it is not."""
    near, far = (((limit * f) ** 2 if slopes else limit * f) for f in (0.999, 1.001))
    return rule.is_met(measured(value, near, scale)) and not rule.is_met(measured(value, far, scale))


@pytest.mark.parametrize("value", [0.0, -200.0, 1e-9])
def test_tol_is_in_the_units_of_f(value):
    assert decides(accuracy(), 1e-3, value)
    assert decides(accuracy(convexity=0.0), 1e-3, value, slopes=True)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_rtol_is_relative_to_f_or_to_its_fall(unit):
    assert decides(relative(), 0.2 * unit, 200.0 * unit, scale=0.0)
    assert decides(relative(), 0.2 * unit, -200.0 * unit, scale=0.0)
    fallen = relative(reference=Reference(300.0 * unit, 300.0 * unit, 0.0))
    assert decides(fallen, 0.296 * unit, 4.0 * unit, scale=0.0)
    assert decides(fallen, 0.2 * unit, 200.0 * unit, scale=0.0)


def test_a_fall_from_where_f_was_enormous_is_no_measure_of_f():
    far = relative(reference=Reference(1e15, 1e15, 1e9, np.ones(2)))
    assert decides(far, 0.1, 1.0, scale=0.0)
    flat = relative(reference=Reference(1e9, 1e9, 1e9, np.ones(2)), convexity=0.0)
    assert flat.is_met(measured(1e9, 1e10, 1.0)) and not flat.is_met(measured(1.0, 1e10, 1.0))


def test_a_start_below_the_point_or_nowhere_is_no_measure():
    for start in (-300.0, INF, NAN):
        rule = relative(reference=Reference(start, abs(start), 0.0))
        assert decides(rule, 1e-3, 1.0, scale=0.0)


def test_where_a_start_is_given_the_distance_from_the_origin_says_how_far_f_must_have_fallen():
    rule = relative(origin=lambda: np.array([20.0, 0.0]))  # mu/2 ||x - o||^2 = 100
    assert decides(rule, 0.1, 0.0, scale=0.0)
    assert decides(rule, 0.2, 200.0, scale=0.0)


@pytest.mark.parametrize("scale", [1e-9, 70.0])
def test_without_convexity_rtol_is_relative_to_gradients_here_or_where_the_run_began(scale):
    assert decides(relative(convexity=0.0), 1e-3 * scale, 1e9, scale, slopes=True)
    rule = relative(convexity=0.0, reference=Reference(1.0, 1.0, 500.0))
    assert decides(rule, 0.5, 1e9, scale, slopes=True)


def test_either_of_two_accuracies_is_enough():
    assert decides(accuracy(tol=1e-3, rtol=1e-3), 0.2, 200.0)
    assert decides(accuracy(tol=0.5, rtol=1e-3), 0.5, 200.0)


def test_the_minimum_at_the_origin_can_be_reached():
    assert relative().is_met(measured(0.0, 0.0, scale=1.0)), (
        "F = 0 there, and grad F normal to the constraint"
    )


def test_a_zero_tolerance_is_met_by_an_exact_optimum_only():
    assert accuracy(tol=0.0).is_met(measured(certificate=0.0, scale=0.0))
    assert not accuracy(tol=0.0).is_met(measured(certificate=1e-300, scale=0.0))


def test_every_budget_has_its_own_status():
    counts = Counts(rounds=5, gradients=40)
    assert budgets(rounds=5).spent(counts, 0.0, FACTS) is Status.MAX_ROUNDS
    assert budgets(passes=4.0).spent(counts, 0.0, FACTS) is Status.MAX_PASSES
    assert budgets(seconds=2.0).spent(counts, 2.0, FACTS) is Status.MAX_SECONDS
    assert budgets(rounds=6, passes=4.1, seconds=2.0).spent(counts, 1.9, FACTS) is None
    assert budgets().spent(counts, 1e9, FACTS) is None


def test_the_fraction_is_that_of_the_tightest_budget():
    counts = Counts(rounds=5, gradients=40)
    assert budgets(rounds=50, passes=8.0, seconds=10.0).fraction(counts, 1.0, FACTS) == 0.5
    assert budgets(rounds=4).fraction(counts, 0.0, FACTS) == 1.0
    assert budgets().fraction(counts, 5.0, FACTS) == 0.0


@pytest.mark.parametrize(
    ("value", "first", "diverged"),
    [(1000.0, 0.5, False), (1001.0, 0.5, True), (-9e9, 0.0, False), (1e9, 1e6, False), (2e9, 1e6, True)],
)
def test_a_run_has_diverged_when_it_is_far_above_its_start(value, first, diverged):
    assert has_diverged(measured(value), first) == diverged


@pytest.mark.parametrize("bad", [measured(NAN), measured(INF), measured(1.0, NAN)])
def test_a_run_has_diverged_when_a_measurement_is_not_finite(bad):
    assert has_diverged(bad, None)


@pytest.mark.parametrize("entry", [NAN, INF, -INF])
def test_a_run_has_diverged_when_a_walk_ends_nowhere(entry):
    assert has_diverged(Arrived(np.array([0.0, entry]), None, Work()), 1.0)
    assert not has_diverged(Arrived(np.array([0.0, 1e200]), None, Work()), 1.0)


def incumbent(value, certificate):
    return Incumbent(np.zeros(2), value, certificate, 1.0, None)


def test_the_lower_point_is_better_and_the_certificate_decides_a_draw():
    low, high = incumbent(1.0, 9.0), incumbent(2.0, 1.0)
    sure = incumbent(1.0 + 1e-15, 1.0)
    assert better(low, None) is low
    assert better(low, high) is low and better(high, low) is low
    assert better(sure, low) is sure and better(low, sure) is sure


def far(value, norm=1e7):
    return measured(value)._replace(point=np.array([norm, 0.0]))


def flat(curvature):
    return Smoothness(curvature, curvature, 0.0)


def test_the_lowest_value_is_that_of_a_parabola_as_flat_as_rounding_shows():
    reply = measured(5.0, certificate=4.0, scale=0.0)
    assert lowest_value(reply, flat(2.0)) == pytest.approx(5.0 - 4.0 / (2 * 1e-13 * 2.0))
    assert lowest_value(reply, flat(0.0)) == lowest_value(reply, flat(1.0)), (
        "a linear F has no curvature at all"
    )


@pytest.mark.parametrize("bad", [measured(NAN), measured(INF), measured(1.0, NAN), measured(1.0, INF)])
def test_a_point_that_is_not_finite_bounds_nothing(bad):
    assert lowest_value(bad, flat(1.0)) == -INF


@pytest.mark.parametrize(
    ("reply", "first", "lowest", "falls"),
    [
        (far(-3e9), 1.0, -1e9, True),
        (far(-1.5e9), 1.0, -1e9, False),  # rounding may hide as much
        (far(-3e9), 1.0, -INF, False),
        (far(-3e9), -1e7, -1e9, False),  # it began low
        (far(-900.0), 1.0, 0.5, False),
        (far(-1001.0), 1.0, 0.5, True),
        (far(-3e9, norm=9e5), 1.0, -1e9, False),
        (far(-INF), 1.0, -1e9, False),
        (far(NAN), 1.0, -1e9, False),
    ],
)
def test_a_run_falls_for_ever_when_it_is_below_its_start_and_its_bound_and_far_out(
    reply, first, lowest, falls
):
    assert falls_for_ever(reply, first, lowest) == falls


def test_accuracies_are_relative_to_the_size_that_workers_cannot_choose():
    loud = measured(value=-1e6, certificate=0.5)
    assert relative().is_met(loud)
    assert not relative().is_met(loud._replace(size=2.0))
    fallen = relative(reference=Reference(1e6, 2.0, 0.0))
    assert not fallen.is_met(measured(1.0, certificate=0.5)._replace(size=2.0))


def tangent(x, curvature=1.0):
    x = np.array([x, 0.0])
    return Tangent(x, 0.5 * curvature * x[0] ** 2, curvature * x, abs(curvature * x[0]))


def test_two_points_of_a_convex_function_do_not_contradict_it():
    assert contradiction(tangent(-1.0), tangent(2.0), 1.0) == ""
    assert contradiction(tangent(1.0), tangent(1.0), 1.0) == ""


@pytest.mark.parametrize("curvature", [-1.0, 0.5])
def test_curvature_below_what_was_claimed_is_seen(curvature):
    assert "its curvature" in contradiction(tangent(-1.0, curvature), tangent(2.0, curvature), 1.0)


def test_a_value_below_the_tangent_bound_is_seen():
    low = tangent(2.0)._replace(value=-3.0)
    assert "tangent bound" in contradiction(tangent(-1.0), low, 0.0)
