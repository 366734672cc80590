"""Against statsmodels: families, weights, robust covariances, likelihoods and tests."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import chi2

import tether
from tether.estimators import ConstrainedGLM, ConstrainedLogisticRegression, ConstrainedPoisson
from tether.inference import infer

N = 120
RNG = np.random.default_rng(11)
X = pd.DataFrame(RNG.standard_normal((N, 4)), columns=["a", "b", "c", "d"])
EXOG = sm.add_constant(X, prepend=False)
Z = X.to_numpy() @ [0.5, -0.3, 0.2, 0.1] + 0.4
GROUPS = RNG.integers(0, 12, N)
FREQUENCIES = RNG.integers(1, 4, N)
Y = {
    "normal": Z + RNG.standard_normal(N),
    "binomial": (RNG.random(N) < 1 / (1 + np.exp(-Z))).astype(float),
    "poisson": RNG.poisson(np.exp(Z)).astype(float),
    "gamma": np.exp(Z) * RNG.gamma(2.0, size=N),
    "tweedie": RNG.poisson(1.0, N) * np.exp(Z) * RNG.gamma(2.0, size=N),
}
LOG = sm.families.links.Log()
FAMILIES = {
    "normal": sm.families.Gaussian(),
    "binomial": sm.families.Binomial(),
    "poisson": sm.families.Poisson(),
    "gamma": sm.families.Gamma(LOG),
    "tweedie": sm.families.Tweedie(LOG, var_power=1.5),
}
EQUATIONS = {"none": None, "one": "a + b == 0.1", "two": ["a + b == 0.1", "c == d"]}
CLOSE = {"rtol": 1e-6, "atol": 1e-9}


def theirs(family, equations, cov_type="nonrobust", weights=None, **how):
    model = sm.GLM(Y[family], EXOG, family=FAMILIES[family], freq_weights=weights)
    how |= {"cov_type": cov_type, "tol": 1e-14, "maxiter": 500}
    if EQUATIONS[equations] is None:
        return model.fit(**how)
    listed = EQUATIONS[equations]
    texts = [listed] if isinstance(listed, str) else listed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of weights that it makes itself
        return model.fit_constrained(", ".join(text.replace("==", "=") for text in texts), **how)


def ours(family, equations, weights=None):
    return ConstrainedGLM(family, constraints=EQUATIONS[equations]).fit(X, Y[family], weights)


@pytest.mark.parametrize("equations", EQUATIONS)
@pytest.mark.parametrize("family", Y)
def test_everything_that_statsmodels_prints_is_the_same(family, equations):
    expected = theirs(family, equations)
    found = ours(family, equations).inference(expected_information=True, use_t=False)
    np.testing.assert_allclose(found.params, expected.params, **CLOSE)
    np.testing.assert_allclose(found.bse, expected.bse, **CLOSE)
    np.testing.assert_allclose(found.tvalues, expected.tvalues, rtol=1e-5)
    np.testing.assert_allclose(found.conf_int(0.1), expected.conf_int(0.1), rtol=1e-5, atol=1e-7)
    for name, other in {
        "log_likelihood": "llf",
        "deviance": "deviance",
        "pearson": "pearson_chi2",
        "dispersion": "scale",
        "aic": "aic",
        "bic": "bic_llf",
        "df_resid": "df_resid",
        "df_model": "df_model",
        "n_samples": "nobs",
    }.items():
        assert getattr(found, name) == pytest.approx(getattr(expected, other), rel=1e-6), name


@pytest.mark.parametrize("equations", EQUATIONS)
@pytest.mark.parametrize("family", Y)
@pytest.mark.parametrize("cov_type", ["HC0", "cluster"])
def test_robust_covariances_are_those_of_statsmodels(family, equations, cov_type):
    how = {"cov_kwds": {"groups": GROUPS}} if cov_type == "cluster" else {}
    expected = theirs(family, equations, cov_type, **how)
    groups = GROUPS if cov_type == "cluster" else None
    found = ours(family, equations).inference(cov_type, groups=groups)
    np.testing.assert_allclose(found.covariance, expected.cov_params(), rtol=1e-5, atol=1e-9)
    if cov_type == "HC0":  # to which statsmodels' HC1 is equal for all but least squares
        corrected = ours(family, equations).inference("HC1")
        np.testing.assert_allclose(corrected.covariance, found.covariance * N / found.df_resid, rtol=1e-12)


@pytest.mark.parametrize("family", Y)
def test_weights_are_frequencies(family):
    rows = np.repeat(np.arange(N), FREQUENCIES)
    counted = ours(family, "one", FREQUENCIES)
    repeated = ConstrainedGLM(family, constraints="a + b == 0.1").fit(X.iloc[rows], Y[family][rows])
    expected = theirs(family, "one", weights=FREQUENCIES)
    for cov_type in ("nonrobust", "HC1"):
        found, other = counted.inference(cov_type), repeated.inference(cov_type)
        np.testing.assert_allclose(found.covariance, other.covariance, rtol=1e-6)
    assert found.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-9)
    assert found.log_likelihood == pytest.approx(expected.llf, rel=1e-7)
    assert found.n_samples == FREQUENCIES.sum() == other.n_samples


@pytest.mark.parametrize("family", ["normal", "binomial", "poisson"])
def test_likelihood_ratios_compare_the_two_models(family):
    free, one, two = (theirs(family, name).llf for name in EQUATIONS)
    first, second, both = ours(family, "two").inference().likelihood_ratio_tests()
    assert second.statistic == pytest.approx(2 * (one - two), rel=1e-5) and second.df == 1
    assert both.statistic == pytest.approx(2 * (free - two), rel=1e-5) and both.df == 2
    assert second.hypothesis == "c == d" and both.hypothesis == "all together"
    assert first.statistic <= both.statistic + 1e-9
    assert second.pvalue == pytest.approx(chi2.sf(second.statistic, 1))


@pytest.mark.parametrize("family", ["gamma", "tweedie"])
def test_where_a_dispersion_is_estimated_deviances_are_compared_in_its_units(family):
    free, one = theirs(family, "none"), theirs(family, "one")
    (test,) = ours(family, "one").inference().likelihood_ratio_tests()
    assert test.statistic == pytest.approx((one.deviance - free.deviance) / free.scale, rel=1e-5)


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_score_tests_are_those_of_statsmodels(family):
    """A column that is left out is one whose coefficient is zero."""
    model = ConstrainedGLM(family, constraints=["c == 0", "d == 0"]).fit(X, Y[family])
    small = sm.GLM(Y[family], EXOG[["a", "b", "const"]], family=FAMILIES[family]).fit(tol=1e-14)
    statistic, pvalue = map(float, map(np.squeeze, small.score_test(exog_extra=X[["c", "d"]].to_numpy())[:2]))
    both = model.inference().score_tests()[-1]
    assert (both.statistic, both.pvalue, both.df) == pytest.approx((statistic, pvalue, 2), rel=1e-6)


def test_wald_tests_are_those_of_statsmodels():
    expected = theirs("poisson", "none").wald_test("a = 0.4, b = c", use_f=False, scalar=True)
    found = ours("poisson", "none").inference().wald_test(["a == 0.4", "b == c"])
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-6)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-5) and found.df == 2


def test_normal_models_are_those_of_ordinary_least_squares():
    expected = sm.OLS(Y["normal"], EXOG).fit()
    found = ours("normal", "none").inference()
    np.testing.assert_allclose(found.bse, expected.bse, **CLOSE)
    np.testing.assert_allclose(found.pvalues, expected.pvalues, rtol=1e-6)
    np.testing.assert_allclose(found.conf_int(), expected.conf_int(), rtol=1e-6)
    assert found.aic == pytest.approx(expected.aic) and found.bic == pytest.approx(expected.bic)
    robust = ours("normal", "none").inference("HC1")
    np.testing.assert_allclose(robust.bse, expected.HC1_se, **CLOSE)


def test_trials_have_the_likelihood_of_two_columns():
    trials = RNG.integers(1, 9, N)
    wins = RNG.binomial(trials, 1 / (1 + np.exp(-Z)))
    expected = sm.GLM(np.column_stack([wins, trials - wins]), EXOG, family=sm.families.Binomial()).fit(
        tol=1e-14
    )
    found = ConstrainedGLM("binomial").fit(X, wins / trials, trials).inference()
    np.testing.assert_allclose(found.bse, expected.bse, **CLOSE)
    assert found.log_likelihood == pytest.approx(expected.llf, rel=1e-9)
    assert found.deviance == pytest.approx(expected.deviance, rel=1e-7)
    assert found.df_resid == expected.df_resid


def test_the_familiar_faces_have_standard_errors_too():
    poisson = ConstrainedPoisson(alpha=0.0, constraints="a + b == 0.1").fit(X, Y["poisson"])
    np.testing.assert_allclose(poisson.inference().bse, theirs("poisson", "one").bse, **CLOSE)
    logit = ConstrainedLogisticRegression(penalty=None, constraints="a + b == 0.1").fit(X, Y["binomial"])
    np.testing.assert_allclose(logit.inference().bse, theirs("binomial", "one").bse, **CLOSE)


def test_inference_is_for_every_solution_of_a_model_with_equations():
    objective = tether.GLM(X, Y["poisson"], "poisson", fit_intercept=True)
    equation = tether.Affine(np.array([[1.0, 1.0, 0.0, 0.0, 0.0]]), [0.1])
    for constraints in (equation, ["a + b == 0.1"], "a + b == 0.1"):
        solution = tether.solve(objective, constraints, rtol=1e-14)
        found = infer(objective, solution, constraints)
        np.testing.assert_allclose(found.bse, theirs("poisson", "one").bse, **CLOSE)
        assert found.names == ("a", "b", "c", "d", "intercept")


def test_huber_has_the_sandwich_of_its_own_slopes():
    model = ConstrainedGLM("huber", delta=1.0, constraints="c == d").fit(X, Y["normal"])
    found = model.inference("HC0")
    rows = np.column_stack([X, np.ones(N)])
    residuals = rows @ found.params - Y["normal"]
    Q = np.linalg.svd(np.array([[0.0, 0.0, 1.0, -1.0, 0.0]]))[2][1:].T
    bread = np.linalg.inv(Q.T @ (rows.T * (np.abs(residuals) <= 1.0)) @ rows @ Q)
    meat = Q.T @ (rows.T * np.clip(residuals, -1.0, 1.0) ** 2) @ rows @ Q
    np.testing.assert_allclose(found.covariance, Q @ bread @ meat @ bread @ Q.T, rtol=1e-7)


def test_students_distribution_counts_groups_where_errors_are_clustered():
    expected = sm.OLS(Y["normal"], EXOG).fit(
        cov_type="cluster", cov_kwds={"groups": GROUPS}, use_t=True, df_correction=True
    )
    found = ours("normal", "none").inference("cluster", groups=GROUPS)
    np.testing.assert_allclose(found.pvalues, expected.pvalues, rtol=1e-6)
    np.testing.assert_allclose(found.conf_int(), expected.conf_int(), rtol=1e-6)
