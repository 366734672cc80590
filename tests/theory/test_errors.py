"""Error bounds against the proofs worked out by hand, their limits and what they refuse."""

import math
from dataclasses import replace

import pytest

from tether.theory import (
    Heterogeneity,
    Setting,
    asvrg_step_size,
    error_bound,
    momentum,
    momentum_sequence,
    restart_length,
)

NOISE = Heterogeneity(tangent=2.0, normal=3.0, gradient=5.0)
CONVEX = Setting(4.0, 1000, 0.01, distance=3.0, initial_gap=7.0, noise=NOISE)
STRONG = replace(CONVEX, convexity=0.5)


def test_the_three_errors_of_theorem_3_1():
    bound = error_bound("dp-sgd", CONVEX, 100, step_size=0.01, interval=5, feasible_gradients=True)
    assert bound.optimisation == pytest.approx(2 * 9 / (0.01 * 100))
    assert bound.statistical == pytest.approx(6 * 0.01 * 2)
    assert bound.residual == pytest.approx(12 * 4 * 4 * 0.01**2 * 3)
    assert bound.total == pytest.approx(sum(bound))


def test_theorem_3_2_adds_the_pull_of_the_gradient():
    bound = error_bound("dp-sgd", STRONG, 100, step_size=0.01, interval=5)
    keep = 1 - 0.5 * 0.01
    weight = sum(keep**j for j in range(100))
    assert bound.optimisation == pytest.approx(2 * 9 * keep**100 / (0.01 * weight))
    assert bound.residual == pytest.approx(36 * 4 * 4 * 0.01**2 * (3 + 5 * 5) / keep)


def test_immediate_projections_leave_no_residual_error():
    assert error_bound("p-sgd", STRONG, 100, step_size=0.01).residual == 0.0


def test_theorem_4_1():
    convex = error_bound("dp-svrg", CONVEX, 1000, step_size=0.01, interval=5, stage_length=50)
    assert tuple(convex) == pytest.approx((4 * 9 / (0.01 * 50 * 20) + 7 / 20, 0.0, 0.0))
    strong = error_bound("dp-svrg", STRONG, 1000, step_size=0.01, interval=5, stage_length=50)
    assert strong.total == pytest.approx((2 * 9 / 0.01 + 7) * math.exp(-50 * 0.5 * 0.01 * 20))
    long = error_bound("dp-svrg", STRONG, 1000, step_size=0.01, interval=5, stage_length=500)
    assert long.total == pytest.approx((2 * 9 / 0.01 + 7) * math.exp(-0.5 * 2))


def test_theorem_5_1_halves_with_every_restart():
    eta = asvrg_step_size(4.0, convexity=0.5, interval=3, stage_length=30)
    theta = momentum(eta, smoothness=4.0, convexity=0.5, stage_length=30, interval=3)
    length = restart_length(theta, step_size=eta, convexity=0.5, stage_length=30)
    settings = {"step_size": eta, "interval": 3, "stage_length": 30}
    for restarts in (0, 1, 4):
        steps = 30 * (restarts * length + length // 2)
        assert error_bound("dp-asvrg", STRONG, steps, **settings).total == 7.0 * 0.5**restarts


def test_theorem_5_2_ends_with_the_theta_before_the_last():
    eta = asvrg_step_size(4.0)
    thetas = momentum_sequence(eta, 10, smoothness=4.0)
    bound = error_bound("p-asvrg", CONVEX, 10 * 30, step_size=eta, stage_length=30)
    assert bound.total == pytest.approx((7 / thetas[0] ** 2 + 9 / (2 * eta * 30)) * thetas[9] ** 2)


@pytest.mark.parametrize("method", ["dp-svrg", "dp-asvrg"])
def test_less_than_a_stage_leaves_the_gap(method):
    eta = asvrg_step_size(4.0, convexity=0.5, interval=3, stage_length=30)
    assert error_bound(method, STRONG, 29, step_size=eta, interval=3, stage_length=30).total == 7.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: error_bound("nesterov", STRONG, 10, step_size=0.1), "got 'nesterov': no bound is known"),
        (lambda: error_bound("dp-svrg", STRONG, 10, step_size=0.1), "stage_length is needed"),
        (lambda: error_bound("dp-sgd", replace(STRONG, noise=None), 10, step_size=0.1), "needs Setting"),
        (lambda: error_bound("dp-sgd", STRONG, 0, step_size=0.1), "steps must be"),
        (lambda: error_bound("dp-sgd", STRONG, 10, step_size=-1.0), "step_size must be"),
    ],
)
def test_bad_arguments_are_named_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
