"""Against Stata: the results of constrained Poisson and logistic regressions that statsmodels carries."""

import numpy as np
import pandas as pd
import pytest
from statsmodels import datasets
from statsmodels.discrete.tests.results import results_glm_logit_constrained as logit
from statsmodels.discrete.tests.results import results_poisson_constrained as poisson

from tether.estimators import ConstrainedGLM

EXACT = 1e-6

DEATHS = pd.DataFrame(
    {
        "age": [1, 2, 3, 4, 5] * 2,
        "smokes": [1.0] * 5 + [0.0] * 5,
        "deaths": [32, 104, 206, 186, 102, 2, 12, 28, 28, 31],
        "pyears": [52407, 43248, 28612, 12663, 5317, 18790, 10673, 5710, 2585, 1462],
    }
)


def doctors(with_years):
    """The British doctors of Doll and Hill, age groups by dummies, in the order of Stata's table."""
    table = pd.DataFrame({f"age_{k}": (DEATHS["age"] == k).astype(float) for k in (2, 3, 4, 5)})
    first = pd.DataFrame({"smokes": DEATHS["smokes"]})
    if with_years:
        first.insert(0, "logpyears", np.log(DEATHS["pyears"]))
    return pd.concat([first, table], axis=1)


def fitted(constraints, **how):
    model = ConstrainedGLM("poisson", constraints=constraints)
    return model.fit(doctors(with_years=not how), DEATHS["deaths"], **how)


def rows_of(stata, with_years):
    """The rows of Stata's table for our coefficients: no first age group, the constant last."""
    first = [0, 1] if with_years else [0]
    return [*first, *range(len(first) + 1, len(first) + 5), len(stata.params) - 1]


EXPOSURE = {"exposure": DEATHS["pyears"]}
OFFSET = {"offset": np.log(DEATHS["pyears"])}
POISSON = {
    "constraint": (poisson.results_noexposure_constraint, "age_4 == age_5", {}),
    "constraint, exposure": (poisson.results_exposure_constraint, "age_4 == age_5", EXPOSURE),
    "constraint, offset": (poisson.results_exposure_constraint, "age_4 == age_5", OFFSET),
    "shifted": (poisson.results_noexposure_constraint2, "age_5 - age_4 == 0.5", {}),
    "shifted, exposure": (poisson.results_exposure_constraint2, "age_5 - age_4 == 0.5", EXPOSURE),
    "shifted, offset": (poisson.results_exposure_constraint2, "age_5 - age_4 == 0.5", OFFSET),
    "free": (poisson.results_noexposure_noconstraint, [], {}),
    "free, exposure": (poisson.results_exposure_noconstraint, [], EXPOSURE),
}


@pytest.mark.parametrize("case", POISSON)
def test_constrained_poisson_regression_has_statas_parameters_and_standard_errors(case):
    stata, constraints, how = POISSON[case]
    found = fitted(constraints, **how).inference()
    rows = rows_of(stata, with_years=not how)
    np.testing.assert_allclose(found.params, stata.params[rows], rtol=EXACT)
    np.testing.assert_allclose(found.bse, stata.bse[rows], rtol=EXACT)
    np.testing.assert_allclose(found.tvalues, stata.params_table[rows, 2], rtol=EXACT)
    np.testing.assert_allclose(found.pvalues, stata.params_table[rows, 3], rtol=5e-5)
    np.testing.assert_allclose(found.conf_int(), stata.params_table[rows][:, 4:6], rtol=1e-5)
    assert found.log_likelihood == pytest.approx(stata.ll, rel=EXACT)
    assert found.df_model == stata.df_m and found.n_samples == stata.N


def test_robust_errors_are_statas_up_to_its_factor_for_few_samples():
    stata = poisson.results_exposure_constraint2_robust
    found = fitted("age_5 - age_4 == 0.5", **EXPOSURE).inference("HC0")
    rows = rows_of(stata, with_years=False)
    np.testing.assert_allclose(found.params, stata.params[rows], rtol=EXACT)
    np.testing.assert_allclose(found.bse * np.sqrt(10 / 9), stata.bse[rows], rtol=EXACT)


SPECTOR = datasets.spector.load_pandas()
LOGIT = {
    "one fixed": (logit.results_constraint1, "GPA == 2.8"),
    "two equal": (logit.results_constraint2, "GPA == PSI"),
    "free": (logit.results_noconstraint, None),
}


@pytest.mark.parametrize("case", LOGIT)
def test_constrained_logistic_regression_has_statas_parameters_and_standard_errors(case):
    stata, constraint = LOGIT[case]
    model = ConstrainedGLM("binomial", constraints=constraint).fit(SPECTOR.exog, SPECTOR.endog)
    found = model.inference()
    np.testing.assert_allclose(found.params, stata.params, rtol=EXACT)
    errors = np.where(np.isnan(stata.bse), 0.0, stata.bse)  # of a fixed coefficient
    np.testing.assert_allclose(found.bse, errors, rtol=EXACT)
    assert found.log_likelihood == pytest.approx(stata.ll, rel=EXACT)
    assert found.deviance == pytest.approx(stata.deviance, rel=EXACT)
    assert found.aic == pytest.approx(stata.infocrit[4], rel=EXACT)
    assert found.bic == pytest.approx(stata.infocrit[5], rel=EXACT)
    if case == "two equal":
        np.testing.assert_allclose(model.predict(SPECTOR.exog), stata.predict_mu, atol=1e-7)


@pytest.mark.parametrize(
    ("stata", "constraint"),
    [(logit.results_constraint2_robust, "GPA == PSI"), (logit.results_noconstraint_robust, None)],
)
def test_robust_errors_of_logistic_regression_are_statas_up_to_its_factor(stata, constraint):
    model = ConstrainedGLM("binomial", constraints=constraint).fit(SPECTOR.exog, SPECTOR.endog)
    found = model.inference("HC0")
    np.testing.assert_allclose(found.bse * np.sqrt(32 / 31), stata.bse, rtol=EXACT)
