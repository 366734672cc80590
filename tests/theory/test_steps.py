"""Step sizes: hand-computed values, limits, and the inequalities that the proofs need."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.theory import Heterogeneity, asvrg_step_size, horizon_step_size, step_size

QUIET = Heterogeneity(0.0, 0.0, 0.0)
intervals = st.integers(1, 2000)
ratios = st.floats(1e-8, 1e4)  # m / kappa


def test_sgd_step_is_the_minimum_of_theorem_3_2():
    assert step_size("dp-sgd", smoothness=2.0) == pytest.approx(1 / 20)
    assert step_size("dp-sgd", smoothness=2.0, convexity=0.5, interval=5) == pytest.approx(1 / 200.5)


def test_sgd_with_feasible_gradients_takes_the_step_of_theorem_3_1():
    args = {"smoothness": 2.0, "convexity": 0.5, "feasible_gradients": True}
    assert step_size("dp-sgd", interval=2, **args) == pytest.approx(1 / 20)
    assert step_size("dp-sgd", interval=5, **args) == pytest.approx(1 / 64.5)


def test_svrg_step_is_the_minimum_of_theorem_4_1():
    assert step_size("dp-svrg", smoothness=1.0, interval=1) == pytest.approx(1 / 24)
    assert step_size("dp-svrg", smoothness=1.0, convexity=0.1, interval=10) == pytest.approx(1 / 456.1)


def test_svrg_step_keeps_the_variance_factor_below_one_half():
    for E in (1, 2, 7, 100):
        L, mu = 3.0, 0.2
        eta = step_size("dp-svrg", smoothness=L, convexity=mu, interval=E)
        assert 12 * L * eta * (2 * E - 1) / (1 - mu * eta) <= 0.5 + 1e-12


def test_accelerated_steps_by_hand():
    args = {"smoothness": 2.0, "convexity": 0.02}  # kappa = 100
    assert step_size("dp-asvrg", stage_length=100, **args) == pytest.approx(0.1)  # 1/(5L)
    assert step_size("dp-asvrg", stage_length=400, **args) == pytest.approx(1 / 32)  # 1/(4 (m/kappa) L)
    long = step_size("dp-asvrg", interval=5, stage_length=300, **args)
    assert long == pytest.approx(0.5 / (3 + math.sqrt(9 + 18 * 24)) / 2)
    tiny = step_size("dp-asvrg", smoothness=1.0, convexity=1e-6, interval=5, stage_length=5)
    assert tiny == pytest.approx((5e-6 / 24**2) ** (1 / 3))


def test_accelerated_steps_without_strong_convexity_by_hand():
    assert step_size("dp-asvrg", smoothness=4.0) == pytest.approx(0.05)
    assert step_size("dp-asvrg", smoothness=1.0, interval=2, stages=1) == pytest.approx(1 / 9)
    many = step_size("dp-asvrg", smoothness=1.0, interval=2, stages=999)
    assert many == pytest.approx(math.sqrt(math.log(1000) / 1000 / 27))


def test_deterministic_steps_are_one_over_the_smoothness():
    assert step_size("nesterov", smoothness=4.0) == step_size("proxskip", smoothness=4.0, interval=9) == 0.25
    assert step_size("projected-gradient", smoothness=4.0) == 0.25
    assert step_size("proxskip-svrg", smoothness=4.0) == pytest.approx(1 / 24)


@pytest.mark.parametrize("family", ["sgd", "svrg", "asvrg"])
def test_one_analysis_serves_the_immediate_the_delayed_and_the_federated_method(family):
    args = {"smoothness": 1.0, "convexity": 0.01, "stage_length": 50}
    delayed = step_size(f"dp-{family}", **args)
    assert step_size(f"p-{family}", **args) == step_size(f"local-{family}", **args) == delayed


@given(E=intervals, ratio=ratios, method=st.sampled_from(["dp-sgd", "dp-svrg", "dp-asvrg"]))
def test_longer_intervals_never_allow_longer_steps(E, ratio, method):
    m = 4000
    args = {"smoothness": 1.0, "convexity": min(1.0, ratio / m), "stage_length": m}
    assert step_size(method, interval=E + 1, **args) <= step_size(method, interval=E, **args)


@given(E=intervals, stages=st.integers(1, 10**6))
def test_the_step_is_positive_for_any_number_of_stages(E, stages):
    assert 0 < asvrg_step_size(1.0, interval=E, stages=stages) <= 0.2


def test_a_quiet_problem_takes_the_largest_safe_step():
    for mu in (0.0, 0.1):
        safe = step_size("dp-sgd", smoothness=1.0, convexity=mu, interval=4)
        assert horizon_step_size(10**6, QUIET, smoothness=1.0, convexity=mu, interval=4) == safe


def test_horizon_steps_by_hand():
    noise = Heterogeneity(tangent=4.0, normal=3.0, gradient=2.0)
    # sqrt(9 / (4 * 10^6)) against (9 / (1 * 1 * (3 + 2) * 10^6))^(1/3): the first is smaller.
    assert horizon_step_size(10**6, noise, smoothness=1.0, interval=2, distance=3.0) == pytest.approx(1.5e-3)
    across = Heterogeneity(tangent=0.0, normal=3.0, gradient=2.0)
    eta = horizon_step_size(10**6, across, smoothness=1.0, interval=2, distance=3.0)
    assert eta == pytest.approx((9 / 5e6) ** (1 / 3))
    eta = horizon_step_size(10**6, noise, smoothness=1.0, convexity=0.1, distance=3.0)
    assert eta == pytest.approx(math.log(0.01 * 9 * 1e12 / 4) / 1e5)


def test_feasible_gradients_leave_the_full_gradient_out_of_the_residual_noise():
    noise = Heterogeneity(tangent=0.0, normal=3.0, gradient=100.0)
    args = {"smoothness": 1.0, "interval": 2, "feasible_gradients": True}
    assert horizon_step_size(10**6, noise, **args) == pytest.approx((1 / 3e6) ** (1 / 3))


sizes = st.floats(1e-6, 1e6) | st.just(0.0)


@given(
    tangent=sizes, normal=sizes, T=st.integers(1, 10**8), E=st.integers(1, 100), distance=st.floats(0.01, 100)
)
def test_horizon_step_attains_the_rate_of_learning_rate_choice_one(tangent, normal, T, E, distance):
    noise = Heterogeneity(tangent, normal)
    eta = horizon_step_size(T, noise, smoothness=1.0, interval=E, distance=distance)
    r, c1, c2 = distance**2, tangent, (E - 1) * normal
    d = 1 / step_size("dp-sgd", smoothness=1.0, interval=E)
    error = r / (T * eta) + c1 * eta + c2 * eta**2
    bound = d * r / T + 2 * math.sqrt(r * c1 / T) + 2 * (r**2 * c2 / T**2) ** (1 / 3)
    assert error <= bound * (1 + 1e-9)


@given(tangent=sizes, normal=sizes, T=st.integers(1, 10**8), E=st.integers(1, 100), mu=st.floats(1e-5, 1))
def test_horizon_step_attains_the_rate_of_learning_rate_choice_two(tangent, normal, T, E, mu):
    eta = horizon_step_size(T, Heterogeneity(tangent, normal), smoothness=1.0, convexity=mu, interval=E)
    c1, c2 = tangent, (E - 1) * normal
    d = 1 / step_size("dp-sgd", smoothness=1.0, convexity=mu, interval=E)
    assert eta <= 1 / d
    error = math.exp(-eta * mu * T) / eta + c1 * eta + c2 * eta**2
    floors = [x for x in (c1 and c1 / (mu * T) ** 2, c2 and c2 / (mu * T) ** 3) if x]
    log = max(1.0, math.log(1 / max(floors))) if floors else 1.0
    bound = d * math.exp(-mu * T / d) + 2 * c1 / (mu * T) * log + 2 * c2 / (mu * T) ** 2 * log**2
    assert error <= bound * (1 + 1e-9)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"method": "sgd", "smoothness": 1.0}, "method must be one of .* got 'sgd'"),
        ({"method": "dp-sgd", "smoothness": -1.0}, "smoothness must be a finite number > 0"),
        ({"method": "dp-sgd", "smoothness": math.nan}, "smoothness must be a finite number > 0"),
        ({"method": "nesterov", "smoothness": 1.0, "convexity": 2.0}, "convexity must not exceed smoothness"),
        (
            {"method": "dp-svrg", "smoothness": 1.0, "convexity": -0.1},
            "convexity must be a finite number >= 0",
        ),
        (
            {"method": "dp-svrg", "smoothness": 1.0, "interval": 0},
            "interval must be a finite number >= 1, got 0",
        ),
        ({"method": "p-svrg", "smoothness": 1.0, "interval": 5}, "p-svrg projects at every step"),
        ({"method": "dp-asvrg", "smoothness": 1.0, "convexity": 0.1}, "stage_length is needed"),
        ({"method": "dp-asvrg", "smoothness": 1.0, "interval": 2}, "stages is needed"),
        (
            {"method": "dp-asvrg", "smoothness": 1.0, "convexity": 0.1, "interval": 9, "stage_length": 4},
            "stage_length must be at least interval",
        ),
        ({"method": "scaffold", "smoothness": 1.0}, "no step size for scaffold"),
    ],
)
def test_bad_arguments_are_named_in_one_sentence(args, message):
    with pytest.raises(ValueError, match=message):
        step_size(args.pop("method"), **args)


def test_constants_that_differ_by_rounding_are_accepted():
    assert step_size("proxskip", smoothness=1.0, convexity=1.0 + 1e-15) == 1.0


def test_negative_noise_is_refused():
    with pytest.raises(ValueError, match=r"noise\.normal must be"):
        horizon_step_size(10, Heterogeneity(1.0, -1.0), smoothness=1.0)


def test_steps_scale_inversely_with_the_smoothness():
    for method in ("dp-sgd", "dp-svrg", "dp-asvrg"):
        args = {"interval": 3, "stage_length": 30}
        one = step_size(method, smoothness=1.0, convexity=0.01, **args)
        ten = step_size(method, smoothness=10.0, convexity=0.1, **args)
        np.testing.assert_allclose(one, 10 * ten)
