"""Complexities against Tables 1 to 4 worked out by hand, their special cases and their monotonicity."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.theory import Heterogeneity, Setting, WorkerHeterogeneity, complexity

LOG = math.log(1e6)
STRONG = Setting.conditioned(kappa=1e4, n_samples=10**6, accuracy=1e-6)
NOISE = Heterogeneity(tangent=2.0, normal=3.0, gradient=5.0)
CONVEX = Setting(
    smoothness=4.0, n_samples=1000, accuracy=0.01, distance=3.0, noise=NOISE
)  # L Delta^2/eps = 3600


def test_p_svrg_row_of_table_3():
    T, S, P, G = complexity("p-svrg", STRONG)
    assert pytest.approx((1e4 * LOG, LOG, (1e4 + 1) * LOG, (1e6 + 1e4) * LOG)) == (T, S, P, G)


def test_dp_svrg_row_of_table_3():
    log = math.log(1e7)  # L E Delta^2 / eps
    T, S, P, G = complexity("dp-svrg", STRONG, interval=10, stage_length=50_000)
    assert pytest.approx((1e5 * log, 2 * log, (2 + 1e4) * log, (1e5 + 2e6) * log)) == (T, S, P, G)
    long = complexity("dp-svrg", STRONG, interval=10, stage_length=10**6)
    assert long.projections == pytest.approx((1 + 1e5) * log)  # max{kappa, m/E}


def test_dp_svrg_default_stage_gives_the_minimum_of_table_3():
    log = math.log(1e7)
    assert complexity("dp-svrg", STRONG, interval=10).gradients == pytest.approx((1e6 + 1e5) * log)


def test_p_asvrg_row_of_table_4():
    T, S, P, G = complexity("p-asvrg", STRONG)
    assert pytest.approx((1e6 * LOG, LOG, (1e6 + 1) * LOG, 2e6 * LOG)) == (T, S, P, G)
    hard = complexity("p-asvrg", Setting.conditioned(1e8, 10**6, 1e-6))
    assert hard.steps == pytest.approx(1e7 * LOG)  # sqrt(N kappa)


def test_dp_asvrg_middle_column_of_table_4():
    for p in (0.0, 0.5, 1.0):
        T, S, _P, G = complexity("dp-asvrg", STRONG, interval=1, stage_length=1e4**p)
        assert pytest.approx((1e4 ** ((1 + p) / 2) * LOG, 1e4 ** ((1 - p) / 2) * LOG)) == (T, S)
        assert pytest.approx(1e6 * S + T) == G


def test_dp_asvrg_right_column_of_table_4_up_to_a_constant():
    for p in (0.0, 0.5, 1.0):
        for q in (0.0, 0.5, 1.0):
            E = math.sqrt(1e6 / 1e4**q)
            work = complexity("dp-asvrg", STRONG, interval=E, stage_length=1e4**p * E)
            column = (
                1e3 * 1e4 ** ((2 + p) / 3 - q / 2),
                1e4 ** (2 / 3 * (1 - p)),
                1e4 ** ((2 + p) / 3),
                1e6 * 1e4 ** (2 / 3 * (1 - p)) + 1e3 * 1e4 ** ((2 + p) / 3 - q / 2),
            )
            for mine, theirs in zip(work, column, strict=True):
                assert 0.99 <= mine / (theirs * LOG) <= 4


def test_dp_asvrg_by_hand():
    T, S, P, G = complexity("dp-asvrg", STRONG, interval=3, stage_length=27)
    S0 = (math.sqrt(1e4 / 9) + 1e4 ** (2 / 3) * (8 / 729) ** (1 / 3)) * LOG
    assert pytest.approx((27 * S0, S0, 10 * S0, (27 + 1e6) * S0)) == (T, S, P, G)


def test_the_accelerated_log_is_that_of_the_initial_gap():
    near = replace(STRONG, initial_gap=1e-3)
    ratio = complexity("dp-asvrg", near).stages / complexity("dp-asvrg", STRONG).stages
    assert ratio == pytest.approx(math.log(1e3) / math.log(1e6))


def test_general_convex_rows_of_dp_asvrg():
    log = math.log(3600)
    assert complexity("dp-asvrg", CONVEX, 1, 1).stages == pytest.approx(60)  # no logarithm for E = 1
    assert complexity("p-asvrg", CONVEX).steps == pytest.approx(1000 * 60)
    T, S, _P, G = complexity("dp-asvrg", CONVEX, interval=3, stage_length=27)
    S0 = (60 + (8 / 729) ** (1 / 3) * 3600 ** (2 / 3)) * log
    assert pytest.approx((27 * S0, S0, 1027 * S0)) == (T, S, G)
    K = 1e8  # m = K^(1/4) E gives K^(3/4) projections (Table 1)
    hard = Setting(smoothness=1.0, n_samples=10, accuracy=1 / K)
    assert complexity("dp-asvrg", hard, 50, 100 * 50).projections / (K**0.75 * math.log(K)) == pytest.approx(
        2, rel=0.1
    )


def test_regularisation_gives_the_strongly_convex_row_with_mu_equal_to_the_accuracy():
    regularised = complexity("p-asvrg", CONVEX.regularised())
    assert regularised.steps == pytest.approx(math.sqrt(1000 * 3600) * math.log(3600))
    fast = complexity("dp-asvrg", CONVEX.regularised(), interval=1, stage_length=1)
    assert fast.steps == pytest.approx(60 * math.log(3600))
    assert CONVEX.regularised().convexity == pytest.approx(0.01 / 9)


def test_general_convex_rows_of_dp_svrg():
    T, S, P, G = complexity("dp-svrg", CONVEX, interval=10, stage_length=20)
    S0 = 3600 / 2 + 3600
    assert pytest.approx((20 * S0, S0, 3 * S0, 1020 * S0)) == (T, S, P, G)
    assert complexity("p-svrg", CONVEX).projections == pytest.approx(4 * 3600)


def test_dp_sgd_rows_of_table_1():
    residual = 3.0 + 4 * 5.0  # sigma_A^2 + (E-1) ||grad F||^2
    rounds = (4 / 0.01 + 2 / (5 * 0.01**2) + math.sqrt(4 * 4 * residual) / (5 * 0.01**1.5)) * 9
    T, S, P, G = complexity("dp-sgd", CONVEX, interval=5)
    assert pytest.approx((5 * rounds, 0.0, rounds, 5 * rounds)) == (T, S, P, G)
    strong = replace(CONVEX, convexity=0.2)
    rounds = 20 + 2 / (5 * 0.2 * 0.01) + math.sqrt(4 * 4 * residual) / (5 * 0.2 * 0.1)
    assert complexity("dp-sgd", strong, 5).projections == pytest.approx(rounds * math.log(5 * 3600))


def test_p_sgd_takes_the_uniform_variance_when_it_is_known():
    assert complexity("p-sgd", CONVEX).steps == pytest.approx((400 + 2 / 1e-4) * 9)
    assert complexity("p-sgd", replace(CONVEX, variance=7.0)).steps == pytest.approx((400 + 7 / 1e-4) * 9)


FEDERATION = replace(
    CONVEX, noise=None, workers=WorkerHeterogeneity(variance=2.0, dissimilarity=0.5, workers=4)
)


def test_local_sgd_rows_of_table_2():
    inner = 5 * 0.5 + 3 / 4 * 2.0  # E zeta^2 + (n-1)/n sigma^2
    rounds = (400 + 2 / (4 * 5 * 1e-4) + math.sqrt(4 * 4 * inner) / (5 * 1e-3)) * 9
    assert complexity("local-sgd", FEDERATION, 5).projections == pytest.approx(rounds)
    strong = replace(FEDERATION, convexity=0.2)
    rounds = 20 + 2 / (0.2 * 4 * 5 * 0.01) + math.sqrt(4 * 4 * inner) / (0.2 * 5 * 0.1)
    assert complexity("local-sgd", strong, 5).projections == pytest.approx(rounds * math.log(5 * 3600))


def test_d_sgd_and_scaffold_rows_of_table_2():
    assert complexity("d-sgd", FEDERATION).projections == pytest.approx((400 + 2 / (4 * 1e-4)) * 9)
    rounds = 3600 + 36 + 2 * 9 / (4 * 5 * 1e-4)
    assert complexity("scaffold", FEDERATION, 5).projections == pytest.approx(rounds * math.log(3600))
    strong = replace(FEDERATION, convexity=0.2, variance=8.0)
    rounds = 20 + 8 / (0.2 * 4 * 5 * 0.01)
    assert complexity("scaffold", strong, 5).projections == pytest.approx(rounds * math.log(5 * 3600))


@pytest.mark.parametrize("mu", [0.0, 0.1])
def test_local_variance_reduced_methods_cost_what_the_delayed_ones_cost(mu):
    problem = replace(FEDERATION, convexity=mu)
    for kind in ("svrg", "asvrg"):
        local = complexity(f"local-{kind}", problem, 4, 12)
        assert local == complexity(f"dp-{kind}", problem, 4, 12)


def test_later_methods():
    assert complexity("projected-gradient", STRONG) == pytest.approx((1e4 * LOG, 0, 1e4 * LOG, 1e10 * LOG))
    assert complexity("nesterov", STRONG) == pytest.approx((100 * LOG, 0, 100 * LOG, 1e8 * LOG))
    assert complexity("proxskip", STRONG) == pytest.approx((1e4 * LOG, 0, 100 * LOG, 1e10 * LOG))
    assert complexity("proxskip-svrg", STRONG) == pytest.approx((1e4 * LOG, LOG, 100 * LOG, 1.01e6 * LOG))
    assert complexity("nesterov", CONVEX).steps == pytest.approx(60)
    assert complexity("projected-gradient", CONVEX).steps == pytest.approx(3600)


def test_proxskip_projects_least_when_the_interval_is_the_root_of_kappa():
    best = complexity("proxskip", STRONG).projections
    assert all(complexity("proxskip", STRONG, E).projections > best for E in (10, 50, 99, 101, 200, 1000))


@pytest.mark.parametrize("mu", [0.0, 0.05])
@pytest.mark.parametrize("kind", ["sgd", "svrg", "asvrg"])
def test_interval_one_is_the_method_that_projects_at_every_step(kind, mu):
    problem = replace(CONVEX, convexity=mu)
    assert complexity(f"dp-{kind}", problem, 1, 50) == complexity(f"p-{kind}", problem, 1, 50)


def test_one_step_stages_are_nesterov_with_one_more_projection_a_step():
    asvrg, nesterov = complexity("dp-asvrg", STRONG, 1, 1), complexity("nesterov", STRONG)
    assert asvrg.steps == pytest.approx(nesterov.steps)
    assert asvrg.projections == pytest.approx(2 * nesterov.projections)


methods = st.sampled_from(["dp-sgd", "dp-svrg", "dp-asvrg", "projected-gradient", "nesterov"])


@given(method=methods, mu=st.sampled_from([0.0, 0.01, 0.5]), eps=st.floats(1e-8, 1.0))
def test_more_accuracy_and_more_samples_cost_more(method, mu, eps):
    problem = replace(CONVEX, convexity=mu, accuracy=eps)
    cost = complexity(method, problem)
    finer = complexity(method, replace(problem, accuracy=eps / 2))
    bigger = complexity(method, replace(problem, n_samples=5000))
    assert all(a >= b for a, b in zip(finer, cost, strict=True))
    assert all(a >= b for a, b in zip(bigger, cost, strict=True))


@given(E=st.integers(1, 1000))
def test_delay_saves_projections_of_sgd_on_noisy_problems(E):
    noisy = replace(CONVEX, noise=Heterogeneity(100.0, 0.0, 0.0))
    assert complexity("dp-sgd", noisy, E + 1).projections < complexity("dp-sgd", noisy, E).projections


def test_an_easy_target_still_takes_one_stage():
    easy = Setting(smoothness=1.0, n_samples=10, accuracy=5.0, convexity=0.5)
    assert complexity("dp-svrg", easy).stages == 1.0
    assert complexity("nesterov", easy).steps == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Setting.conditioned(0.5, 10, 0.1), "kappa must be a finite number >= 1, got 0.5"),
        (lambda: Setting(1.0, 10, 0.1, convexity=2.0), "the condition number is at least 1"),
        (lambda: Setting(1.0, 0, 0.1), "n_samples must be a finite number >= 1, got 0"),
        (lambda: Setting(1.0, 10, -0.1), "accuracy must be a finite number > 0, got -0.1"),
        (lambda: Setting(1.0, 10, 0.1, distance=-1), "distance must be a finite number > 0"),
        (lambda: Setting(1.0, 10, 0.1, initial_gap=0.0), "initial_gap must be a finite number > 0"),
        (lambda: Setting(1.0, 10, 0.1, variance=-1.0), "variance must be a finite number >= 0"),
        (lambda: Setting(1.0, 10, 2.0).regularised(), "accuracy must not exceed"),
        (lambda: complexity("svrg", STRONG), "method must be one of .* got 'svrg'"),
        (lambda: complexity("dp-sgd", STRONG), r"dp-sgd needs Setting\(noise=...\)"),
        (lambda: complexity("local-sgd", STRONG), r"needs Setting\(workers=...\)"),
        (lambda: complexity("proxskip", CONVEX), "proxskip needs convexity > 0"),
        (lambda: complexity("proxskip-svrg", CONVEX, 3, 3), "proxskip-svrg needs convexity > 0"),
        (lambda: complexity("dp-asvrg", STRONG, 10, 5), "stage_length must be at least interval"),
        (lambda: complexity("nesterov", STRONG, 3), "nesterov projects at every step"),
        (lambda: complexity("dp-svrg", STRONG, -3), "interval must be a finite number >= 1, got -3"),
    ],
)
def test_bad_arguments_are_named_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
