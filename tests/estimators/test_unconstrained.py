"""Without constraints, estimators find what scikit-learn, glum and statsmodels find."""

import warnings

import glum
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import (
    GammaRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    TweedieRegressor,
)

from tether.estimators import (
    ConstrainedGLM,
    ConstrainedLasso,
    ConstrainedLogisticRegression,
    ConstrainedPoisson,
    ConstrainedRidge,
    NonNegativeRegressor,
)

N, P = 150, 6
RNG = np.random.default_rng(3)
X = RNG.standard_normal((N, P)) * np.geomspace(0.3, 3.0, P)
Z = X @ (RNG.standard_normal(P) / np.geomspace(0.3, 3.0, P)) / 2
WEIGHTS = RNG.integers(0, 4, N).astype(float)
Y = {
    "normal": Z + RNG.standard_normal(N),
    "binomial": (RNG.random(N) < 1 / (1 + np.exp(-Z))).astype(float),
    "poisson": RNG.poisson(np.exp(Z)).astype(float),
    "gamma": np.exp(Z) * RNG.gamma(2.0, size=N),
    "tweedie": RNG.poisson(1.0, N) * np.exp(Z) * RNG.gamma(2.0, size=N),
}
CLASSES = np.digitize(Z, [-0.5, 0.5])
EXACT = 1e-6


def same(ours, theirs):
    np.testing.assert_allclose(np.squeeze(ours.coef_), np.squeeze(theirs.coef_), rtol=EXACT, atol=EXACT)
    np.testing.assert_allclose(
        np.squeeze(ours.intercept_), np.squeeze(theirs.intercept_), rtol=EXACT, atol=EXACT
    )


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_ridge_is_scikit_learns(make, weights):
    ours = ConstrainedRidge(alpha=2.0).fit(make(X), Y["normal"], weights)
    same(ours, Ridge(alpha=2.0, solver="svd").fit(X, Y["normal"], weights))
    assert ours.gap_ <= 1e-12


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("positive", [False, True])
def test_the_lasso_is_scikit_learns(positive, weights):
    theirs = Lasso(alpha=0.1, positive=positive, tol=1e-14, max_iter=100_000).fit(X, Y["normal"], weights)
    ours = ConstrainedLasso(alpha=0.1, positive=positive).fit(X, Y["normal"], weights)
    same(ours, theirs)
    assert ((ours.coef_ == 0.0) == (theirs.coef_ == 0.0)).all()


PENALTIES = {
    "l2": {"C": 0.5, "solver": "newton-cholesky"},
    "l1": {"C": 0.5, "l1_ratio": 1.0, "solver": "saga"},
    "elasticnet": {"C": 0.5, "l1_ratio": 0.4, "solver": "saga"},
    None: {"C": np.inf, "solver": "newton-cholesky"},
}


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_logistic_regression_is_scikit_learns(penalty, weights):
    theirs = LogisticRegression(**PENALTIES[penalty], tol=1e-12, max_iter=100_000)
    ours = ConstrainedLogisticRegression(C=0.5, penalty=penalty, l1_ratio=0.4)
    labels = np.where(Y["binomial"] > 0, "yes", "no")
    same(ours.fit(X, labels, weights), theirs.fit(X, labels, weights))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=EXACT)
    assert (ours.predict(X) == theirs.predict(X)).all() and ours.coef_.shape == theirs.coef_.shape


@pytest.mark.parametrize("weight", [None, "balanced", {0: 1.0, 1: 3.0, 2: 0.5}])
def test_several_classes_are_scikit_learns(weight):
    theirs = LogisticRegression(C=0.5, solver="newton-cholesky", tol=1e-10, class_weight=weight)
    ours = ConstrainedLogisticRegression(C=0.5, class_weight=weight).fit(X, CLASSES)
    same(ours, theirs.fit(X, CLASSES))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=EXACT)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-5)
    if weight is None:
        means = ConstrainedGLM("multinomial", alpha=2.0 / N).fit(X, CLASSES)
        same(means, theirs)
        np.testing.assert_allclose(means.predict(X), theirs.predict_proba(X), atol=EXACT)


GLMS = {
    "poisson": PoissonRegressor,
    "gamma": GammaRegressor,
    "tweedie": lambda **how: TweedieRegressor(power=1.5, link="log", **how),
}


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("family", GLMS)
def test_generalised_linear_models_are_scikit_learns(family, weights):
    theirs = GLMS[family](alpha=0.1, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    ours = ConstrainedGLM(family, alpha=0.1).fit(X, Y[family], weights)
    same(ours, theirs.fit(X, Y[family], weights))
    assert ours.score(X, Y[family], weights) == pytest.approx(theirs.score(X, Y[family], weights), abs=1e-7)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5)
    if family == "poisson":
        same(ConstrainedPoisson(alpha=0.1).fit(X, Y[family], weights), theirs)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("family", Y)
def test_elastic_nets_with_factors_are_glums(family, l1_ratio):
    factors = np.array([1.0, 0.0, 2.0, 1.0, 0.5, 3.0])
    name = "tweedie (1.5)" if family == "tweedie" else family
    how = {"alpha": 0.05, "l1_ratio": l1_ratio, "P1": factors, "P2": factors[::-1].copy()}
    link = "log" if family in ("gamma", "tweedie") else "auto"
    theirs = glum.GeneralizedLinearRegressor(
        family=name, link=link, gradient_tol=1e-9, max_iter=10_000, **how
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of line searches at the end
        theirs.fit(X, Y[family], sample_weight=1.0 + WEIGHTS)
    same(ConstrainedGLM(family, **how).fit(X, Y[family], 1.0 + WEIGHTS), theirs)


def test_offsets_are_glums():
    offset = RNG.standard_normal(N)
    theirs = glum.GeneralizedLinearRegressor(family="poisson", alpha=0.01, gradient_tol=1e-10)
    theirs.fit(X, Y["poisson"], offset=offset)
    ours = ConstrainedGLM("poisson", alpha=0.01).fit(X, Y["poisson"], offset=offset)
    same(ours, theirs)
    np.testing.assert_allclose(ours.predict(X, offset=offset), theirs.predict(X, offset=offset), rtol=1e-5)
    np.testing.assert_allclose(
        ours.predict(X, exposure=np.exp(offset)), theirs.predict(X, offset=offset), rtol=1e-5
    )


@pytest.mark.parametrize("family", ["normal", "huber", "quantile-smoothed"])
def test_least_squares_without_a_penalty_are_scikit_learns_and_r2_is_theirs(family):
    ours = ConstrainedGLM(family, delta=1e6, bandwidth=1e6).fit(X, Y["normal"])
    theirs = LinearRegression().fit(X, Y["normal"])
    if family == "quantile-smoothed":  # with so much noise the loss is all but quadratic
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
        return
    same(ours, theirs)
    if family == "normal":
        assert ours.score(X, Y["normal"]) == pytest.approx(theirs.score(X, Y["normal"]), abs=1e-12)


def test_non_negative_least_squares_are_scikit_learns():
    same(NonNegativeRegressor().fit(X, Y["normal"]), LinearRegression(positive=True).fit(X, Y["normal"]))


def test_a_smoothed_median_splits_the_data_in_halves():
    y = Y["normal"] + RNG.standard_t(2, N)
    for q in (0.1, 0.5, 0.9):
        model = ConstrainedGLM("quantile-smoothed", quantile=q, bandwidth=1e-3).fit(X, y)
        assert np.mean(y <= model.predict(X)) == pytest.approx(q, abs=0.05)


def test_proportions_with_trials_are_counted_labels():
    trials = RNG.integers(1, 6, N)
    wins = RNG.binomial(trials, 1 / (1 + np.exp(-Z)))
    shares = ConstrainedGLM("binomial").fit(X, wins / trials, trials)
    rows = np.repeat(np.arange(N), trials)
    labels = np.concatenate([np.arange(n) < k for n, k in zip(trials, wins, strict=True)])
    same(shares, ConstrainedGLM("binomial").fit(X[rows], labels))


@pytest.mark.parametrize("family", ["normal", "binomial", "huber"])
def test_scores_count_every_label_however_many(family):
    y = (np.arange(20_000) % 5 == 0).astype(float)  # every fifth: a few of them would mislead
    x = RNG.standard_normal((len(y), 1))
    model = ConstrainedGLM(family, delta=10.0).fit(x, y)
    alone = ConstrainedGLM(family, delta=10.0).fit(np.zeros_like(x), y)
    losses = [one.solution_.fun - np.mean(one.objective_.loss.floors(y)) for one in (model, alone)]
    assert model.score(x, y) == pytest.approx(1.0 - losses[0] / losses[1], abs=1e-10)


def test_classes_without_a_penalty_have_coefficients_that_sum_to_zero():
    ours = ConstrainedGLM("multinomial").fit(X[:, :2], np.arange(N) % 3)
    theirs = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12).fit(X[:, :2], np.arange(N) % 3)
    same(ours, theirs)
    np.testing.assert_allclose(ours.coef_.sum(axis=0), 0.0, atol=1e-12)
    assert ours.gap_ <= 1e-12


@pytest.mark.parametrize("far", [1e5, -1e8])
def test_columns_far_from_zero_are_fitted_as_if_they_were_near(far):
    moved, rules = X + far * np.eye(P)[0], ["x0 + x1 == 0.1", "x2 <= 0"]
    for family, options in {
        "normal": {},
        "poisson": {"constraints": rules},
        "multinomial": {"alpha": 0.1, "l1_ratio": 0.5, "constraints": "x0[0] == x1[2]"},
    }.items():
        model, y = ConstrainedGLM(family, **options), CLASSES if family == "multinomial" else Y[family]
        near, away = model.fit(X, y), ConstrainedGLM(family, **options).fit(moved, y)
        np.testing.assert_allclose(away.coef_, near.coef_, atol=1e-6)
        assert away.gap_ <= 1e-12 and away.multipliers_ == pytest.approx(near.multipliers_, abs=1e-6)
        np.testing.assert_allclose(away.linear_predictor(moved), near.linear_predictor(X), atol=1e-6)


def test_an_intercept_that_is_named_is_named_at_zero_wherever_columns_are():
    moved = X + 1e5 * np.eye(P)[0]
    model = ConstrainedGLM(constraints="intercept == 1000 * x1").fit(moved, Y["normal"])
    assert model.intercept_ == pytest.approx(1000 * model.coef_[1], rel=1e-9)
    path = ConstrainedGLM(constraints="x1 == 0.5").path(moved, Y["normal"], [0.1, 0.01])
    single = ConstrainedGLM(alpha=0.01, constraints="x1 == 0.5").fit(X, Y["normal"])
    np.testing.assert_allclose(path.coefs[1], single.coef_, atol=1e-8)


def test_an_infinite_c_is_no_penalty():
    free = ConstrainedLogisticRegression(penalty=None).fit(X, Y["binomial"])
    np.testing.assert_array_equal(
        ConstrainedLogisticRegression(C=np.inf).fit(X, Y["binomial"]).coef_, free.coef_
    )
