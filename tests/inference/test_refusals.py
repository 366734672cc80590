"""What has no standard errors is refused in a sentence; what is printed is a table."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds
from sklearn.exceptions import ConvergenceWarning

import tether
from tether.estimators import ConstrainedGLM, ConstrainedLasso, ConstrainedRidge
from tether.inference import infer

RNG = np.random.default_rng(2)
X = pd.DataFrame(RNG.standard_normal((60, 3)), columns=["age", "power", "km"])
Y = pd.Series(RNG.poisson(np.exp(0.4 * X["age"] - 0.2)), name="claims")


def poisson(**options):
    return ConstrainedGLM("poisson", **options).fit(X, Y)


def doubled():
    return ConstrainedGLM().fit(X.assign(twice=2 * X["age"] + X["km"]), Y)


REFUSED = {
    "ridge": (lambda: poisson(alpha=0.1).inference(), "standard errors are not defined under a penalty"),
    "lasso": (lambda: ConstrainedLasso(alpha=0.1).fit(X, Y).summary(), "not defined under a penalty"),
    "face": (lambda: ConstrainedRidge().fit(X, Y).summary(), "not defined under a penalty"),
    "active inequality": (
        lambda: poisson(constraints="age <= 0").inference(),
        "not defined while inequalities hold as equations, and age <= 0 does; state it as an equation or",
    ),
    "active bound": (lambda: poisson(upper_bounds={"age": 0.0}).inference(), "and the bound of age does"),
    "active bound beside an equation": (
        lambda: poisson(constraints="age == power", upper_bounds={"age": 0.0}).inference(),
        "and the bound of age does",
    ),
    "two active": (lambda: poisson(constraints=["age <= 0", "km >= 1"]).inference(), "(and 1 more)"),
    "huber": (
        lambda: ConstrainedGLM("huber").fit(X, Y).inference(),
        'cov_type must be "HC0", "HC1" or "cluster" for Huber regression, which has no likelihood',
    ),
    "likelihood of huber": (
        lambda: ConstrainedGLM("huber").fit(X, Y).inference("HC1").log_likelihood,
        "stands for no distribution: it has no likelihood",
    ),
    "expected": (
        lambda: ConstrainedGLM("huber").fit(X, Y).inference("HC1", expected_information=True),
        "expected_information must be False for Huber regression",
    ),
    "classes": (
        lambda: ConstrainedGLM("multinomial").fit(X, np.arange(60) % 3).inference(),
        "inference is for models with one output, got 3",
    ),
    "cov_type": (lambda: poisson().inference("HC3"), "cov_type must be one of nonrobust, HC0, HC1, cluster"),
    "no groups": (lambda: poisson().inference("cluster"), 'groups must be given for cov_type="cluster"'),
    "groups": (lambda: poisson().inference(groups=np.ones(60)), "groups must be left out unless it is"),
    "short groups": (
        lambda: poisson().inference("cluster", groups=[1, 2]),
        "groups must have one entry for each of the 60 samples, got shape (2,)",
    ),
    "unknown groups": (
        lambda: poisson().inference("cluster", groups=np.where(X["age"] > 0, 1.0, np.nan)),
        "groups must say of every sample where it belongs, got None or NaN",
    ),
    "one group": (lambda: poisson().inference("cluster", groups=np.ones(60)), "at least 2 different ones"),
    "singular": (
        lambda: doubled().inference(),
        "the data does not determine the coefficients of 'age', 'km', 'twice': the Hessian is singular",
    ),
    "hypotheses": (
        lambda: poisson().inference().wald_test(["age == 0", "age == 1"]),
        "hypotheses must agree with each other, got 'age == 0' and 'age == 1'",
    ),
    "hypothesis": (lambda: poisson().inference().wald_test("age >= 0"), "hypotheses must be equations"),
    "alpha": (lambda: poisson().summary(alpha=2.0), "alpha must be at most 1"),
    "objective": (
        lambda: infer(tether.Quadratic(matrix=np.eye(2)), tether.solve(tether.Quadratic(matrix=np.eye(2)))),
        "objective must be a tether.GLM for inference, got Quadratic",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_standard_errors_is_refused_in_a_sentence(case):
    call, words = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        call()


def test_inequalities_that_do_not_hold_as_equations_change_nothing():
    free = poisson().inference()
    loose = poisson(constraints=["age >= -5", "km <= 9"], lower_bounds=-7.0).inference()
    np.testing.assert_allclose(loose.bse, free.bse, rtol=1e-6)


def test_bounds_that_are_equal_are_an_equation():
    by_bounds = poisson(lower_bounds={"age": 0.3}, upper_bounds={"age": 0.3}).inference()
    by_text = poisson(constraints="age == 0.3").inference()
    np.testing.assert_allclose(by_bounds.bse, by_text.bse, rtol=1e-6)
    assert by_bounds.bse[0] == 0.0 and np.isnan(by_bounds.tvalues[0])
    objective = tether.GLM(X, Y, "poisson")
    bounds = Bounds([0.3, -np.inf, -np.inf], [0.3, np.inf, np.inf])
    found = infer(objective, tether.solve(objective, bounds, rtol=1e-13), bounds)
    assert found.equations.labels == ("age == 0.3",) and found.bse[0] == 0.0


def test_an_equation_that_others_imply_has_no_test_of_its_own():
    found = poisson(constraints=["age == power", "2 * age == 2 * power", "km == 0"]).inference()
    assert found.equations.rank == 2 and found.df_resid == 58
    for tests in (found.score_tests(), found.likelihood_ratio_tests()):
        assert [test.df for test in tests] == [0, 0, 1, 2]
        assert np.isnan(tests[0].pvalue) and 0.0 <= tests[3].pvalue <= 1.0


def test_columns_may_have_units_as_different_as_they_like():
    scaled = X * [1e-6, 1.0, 1e7]
    one = ConstrainedGLM("poisson").fit(X, Y).inference()
    other = ConstrainedGLM("poisson").fit(scaled, Y).inference()
    np.testing.assert_allclose(other.tvalues, one.tvalues, rtol=1e-4)


def test_all_coefficients_fixed_leave_nothing_to_estimate():
    found = poisson(constraints=["age == 0", "power == 0", "km == 0", "intercept == 0.1"]).inference()
    assert (found.bse == 0.0).all() and found.df_resid == 60


def test_the_summary_is_a_table_of_one_width():
    summary = poisson(constraints=["age + power == 0.3"]).summary()
    lines = str(summary).splitlines()
    assert lines[0].strip() == "Poisson regression with equations"
    assert max(map(len, lines)) == 78
    age = next(line.split() for line in lines if line.startswith("age "))
    coef = poisson(constraints=["age + power == 0.3"]).coef_[0]
    assert len(age) == 7 and float(age[1]) == pytest.approx(coef, abs=1e-4)
    assert any("claims" in line and "No. Observations" in line for line in lines)
    assert any(line.startswith("age + power == 0.3") for line in lines)
    html = summary._repr_html_()
    assert html.count("<table>") == 3 and "age + power == 0.3" in html


def test_a_fixed_coefficient_is_said_to_be_fixed():
    text = str(poisson(constraints="age == 0.3").summary("HC1", alpha=0.1))
    assert re.search(r"age +0\.3000 +fixed", text) and "[0.05" in text and "0.95]" in text
    assert "Coefficients that the equations fix have no standard error." in text
    assert "They go by the likelihood, not by the robust covariance." in text


def test_an_equation_that_only_tells_levels_apart_has_errors_and_no_test():
    levels = pd.get_dummies(pd.Series(np.arange(60) % 3), prefix="level").astype(float)
    model = ConstrainedGLM("poisson", constraints=["sum(level_*) == 0", "age == 0.4"])
    found = model.fit(levels.join(X["age"]), Y).inference()
    dropped = ConstrainedGLM("poisson", constraints="age == 0.4").fit(
        levels.drop(columns="level_0").join(X["age"]), Y
    )
    assert found.log_likelihood == pytest.approx(dropped.inference().log_likelihood, abs=1e-9)
    expected = dropped.inference().score_tests()[0]
    for tests in (found.score_tests(), found.likelihood_ratio_tests()):
        assert [test.df for test in tests] == [0, 1, 1] and np.isnan(tests[0].pvalue)
    assert found.score_tests()[1].statistic == pytest.approx(expected.statistic, rel=1e-6)
    assert found.score_tests()[2].statistic == pytest.approx(expected.statistic, rel=1e-6)
    assert "An equation with 0 df is implied by others, or only tells" in str(found.summary())


def test_there_are_no_standard_errors_away_from_a_minimum():
    with pytest.warns(ConvergenceWarning, match="keeps coefficients finite"):
        separated = ConstrainedGLM("binomial").fit(X, (X["age"] > 0).astype(float))
    with pytest.raises(ValueError, match="standard errors are not defined away from a minimum: F has no"):
        separated.summary()
    with pytest.warns(ConvergenceWarning, match=r"max_rounds is used up.*; raise max_iter"):
        early = poisson(max_iter=1)
    with pytest.raises(ValueError, match="away from a minimum: max_rounds is used up"):
        early.inference()


@pytest.mark.parametrize("cov_type", ["nonrobust", "HC1"])
def test_as_many_coefficients_as_samples_leave_no_spread(cov_type):
    with pytest.raises(ValueError, match=r"more samples than free coefficients, got 4 .* and 4; add samples"):
        ConstrainedGLM().fit(X[:4], Y[:4]).inference(cov_type)
    assert ConstrainedGLM("poisson").fit(X[:4], [1, 2, 1, 3]).inference().deviance >= 0.0
