"""Recommendations are consistent with the complexities that they come from."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.theory import Heterogeneity, Setting, comparison_table, complexity, recommend

goals = st.sampled_from(["projections", "gradients"])
kappas = st.floats(1, 1e8)
sizes = st.integers(1, 10**8)
LATER = {"projected-gradient", "nesterov", "proxskip", "proxskip-svrg"}


@given(goal=goals, kappa=kappas, N=sizes, paper_only=st.booleans())
def test_no_row_of_the_table_beats_the_recommendation_by_more_than_two(goal, kappa, N, paper_only):
    choice = recommend(Setting.conditioned(kappa, N, 1e-6), goal, paper_only=paper_only)
    rows = [r for r in comparison_table(kappa, N, 1e-6) if not (paper_only and r.method in LATER)]
    assert getattr(choice.complexity, goal) <= 2 * min(getattr(row, goal) for row in rows)
    assert not (paper_only and choice.method in LATER)


@given(goal=goals, kappa=kappas, N=sizes, mu_is_zero=st.booleans(), paper_only=st.booleans())
def test_a_recommendation_can_be_run(goal, kappa, N, mu_is_zero, paper_only):
    problem = Setting(1.0, N, 1e-5, convexity=0.0 if mu_is_zero else 1 / kappa)
    choice = recommend(problem, goal, paper_only=paper_only)
    assert isinstance(choice.interval, int)
    assert choice.interval >= 1
    assert 0 < choice.step_size <= 1
    if choice.stage_length is not None and choice.method != "proxskip-svrg":
        assert choice.stage_length % choice.interval == 0
    if "asvrg" in choice.method:
        assert 0 < choice.momentum <= 1
    else:
        assert choice.momentum is None
    assert not (choice.regularisation and problem.strongly_convex)


def test_the_cost_is_that_of_the_recommended_parameters():
    problem = Setting.conditioned(1e4, 10**5, 1e-6)
    for goal in ("projections", "gradients"):
        choice = recommend(problem, goal, paper_only=True)
        assert choice.complexity == complexity(choice.method, problem, choice.interval, choice.stage_length)


def test_fewest_projections_in_the_paper_are_those_of_one_step_stages():
    choice = recommend(Setting.conditioned(1e6, 10**5, 1e-6), paper_only=True)
    assert choice[:3] == ("dp-asvrg", 1, 1)
    assert choice.step_size == pytest.approx(0.2)
    assert choice.momentum == pytest.approx(math.sqrt(0.2e-6))


def test_skipping_saves_projections_without_full_gradients_at_every_step():
    choice = recommend(Setting.conditioned(1e4, 10**6, 1e-6))
    assert choice[:3] == ("proxskip-svrg", 100, 10_000)
    assert choice.complexity.projections == pytest.approx(100 * math.log(1e6))


def test_acceleration_saves_gradients_when_samples_are_few():
    choice = recommend(Setting.conditioned(1e8, 1000, 1e-6), "gradients")
    assert choice[:3] == ("p-asvrg", 1, 1000)


def test_general_convex_problems_with_many_samples_are_regularised_to_save_gradients():
    choice = recommend(Setting(1.0, 10**6, 1e-4), "gradients")
    assert choice.regularisation == pytest.approx(1e-4)
    assert choice.complexity.gradients < 0.1 * complexity("nesterov", Setting(1.0, 10**6, 1e-4)).gradients


def test_a_loose_target_lets_sgd_save_gradients():
    noise = Heterogeneity(tangent=0.01, normal=0.01, gradient=0.01)
    loose = Setting.conditioned(100, 10**8, 0.1, noise)
    choice = recommend(loose, "gradients")
    assert choice.method in ("p-sgd", "dp-sgd")
    assert choice.step_size <= 0.1


def test_the_table_has_every_method_once_per_regime():
    table = comparison_table(1e4, 10**5, 1e-6)
    keys = [row[:3] for row in table]
    assert len(set(keys)) == len(keys)
    assert {row.method for row in table} == {"p-svrg", "dp-svrg", "p-asvrg", "dp-asvrg", *LATER}
    assert ("dp-asvrg", 68, 68) in keys  # sqrt(N) / kappa^(1/6)
    assert ("dp-asvrg", 3, 31623) in keys  # E = sqrt(N / kappa), m = kappa E


def test_sgd_joins_the_table_when_the_noise_is_known():
    table = comparison_table(1e4, 10**5, 1e-3, Heterogeneity(1.0, 1.0, 1.0))
    intervals = {row.method: row.interval for row in table if "sgd" in row.method}
    assert intervals == {"p-sgd": 1, "dp-sgd": 1000}


def test_regimes_that_coincide_are_listed_once():
    table = comparison_table(1e6, 100, 1e-3)  # sqrt(N / kappa) < 1: the long stage is the middle column
    assert sum(row.method == "dp-asvrg" for row in table) == 3


def test_an_unknown_goal_is_named():
    with pytest.raises(ValueError, match="goal must be 'projections' or 'gradients', got 'time'"):
        recommend(Setting.conditioned(10, 10, 0.1), "time")


def test_a_condition_number_below_one_is_refused():
    with pytest.raises(ValueError, match=r"kappa must be a finite number >= 1, got 0\.3"):
        comparison_table(0.3, 10, 0.1)
