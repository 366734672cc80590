"""Tables as people have them: names, pipelines, searches, pickles, paths."""

import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

import tether
from tether.estimators import (
    ConstrainedGLM,
    ConstrainedLasso,
    ConstrainedLogisticRegression,
    ConstrainedPoisson,
    ConstrainedRidge,
)

N = 300
RNG = np.random.default_rng(5)
CARS = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, N).astype(float),
        "power": RNG.normal(90.0, 20.0, N),
        "region": RNG.choice(["north", "south", "west"], N),
    }
)
CLAIMS = RNG.poisson(np.exp(0.01 * (50 - CARS["age"]) + 0.004 * CARS["power"] - 0.5))
X = CARS[["age", "power"]]


def test_columns_are_found_by_name_whatever_their_order():
    A = pd.DataFrame([[1.0, -2.0]], columns=["power", "age"])
    by_frame = ConstrainedGLM("poisson", A_eq=A).fit(X, CLAIMS)
    by_text = ConstrainedGLM("poisson", constraints=["power == 2 * age"]).fit(X[["power", "age"]], CLAIMS)
    np.testing.assert_allclose(by_frame.coef_, by_text.coef_[::-1], rtol=1e-6)
    assert by_frame.coef_[1] == pytest.approx(2 * by_frame.coef_[0], rel=1e-9)
    assert by_text.feature_names_in_.tolist() == ["power", "age"]


def test_columns_of_an_array_are_x0_and_x1():
    model = ConstrainedGLM("poisson", constraints=["x1 == 2 * x0"]).fit(X.to_numpy(), CLAIMS)
    assert model.coef_[1] == pytest.approx(2 * model.coef_[0], rel=1e-9)


def test_an_intercept_is_left_out_of_sums_and_may_be_named():
    model = ConstrainedGLM(constraints=["sum == 0", "intercept == 2"]).fit(X, CLAIMS)
    assert model.intercept_ == pytest.approx(2.0) and model.coef_.sum() == pytest.approx(0.0, abs=1e-12)


def test_multipliers_have_the_names_of_their_constraints_and_are_prices():
    rules = ["age + power == 0.01", "power >= 0.02"]
    model = ConstrainedGLM("poisson", constraints=rules, lower_bounds={"age": -1.0}).fit(X, CLAIMS)
    assert list(model.multipliers_) == [*rules, "age >= -1"]
    assert model.active_ == ["power >= 0.02"]
    assert model.multipliers_["age >= -1"] == 0.0 and model.multipliers_["power >= 0.02"] > 0.0
    moved = ConstrainedGLM("poisson", constraints=["age + power == 0.0101", rules[1]]).fit(X, CLAIMS)
    price = (moved.solution_.fun - model.solution_.fun) / 1e-4
    assert price == pytest.approx(model.multipliers_[rules[0]], rel=0.05)


def test_rows_of_matrices_are_named_by_their_table_or_by_number():
    A = pd.DataFrame([[1.0, 0.0], [0.0, 1.0]], columns=["age", "power"], index=["young", "strong"])
    model = ConstrainedGLM("poisson", A_eq=A, b_eq=[0.0, 0.01]).fit(X, CLAIMS)
    assert list(model.multipliers_) == ["young", "strong"]
    model = ConstrainedGLM("poisson", A_ineq=A.to_numpy(), b_ineq=1.0).fit(X, CLAIMS)
    assert list(model.multipliers_) == ["A_ineq[0]", "A_ineq[1]"] and model.active_ == []


def test_series_go_by_name_too():
    A = pd.Series({"power": 1.0, "age": -2.0})
    by_text = ConstrainedGLM("poisson", constraints=["power == 2 * age"]).fit(X, CLAIMS)
    np.testing.assert_allclose(
        ConstrainedGLM("poisson", A_eq=A).fit(X, CLAIMS).coef_, by_text.coef_, rtol=1e-9
    )
    rows = pd.DataFrame({"age": [1.0, 0.0], "power": [0.0, 1.0]}, index=["young", "strong"])
    right = pd.Series({"strong": 0.01, "young": -0.02})
    model = ConstrainedGLM("poisson", A_eq=rows, b_eq=right).fit(X, CLAIMS)
    np.testing.assert_allclose(model.coef_, [-0.02, 0.01], rtol=1e-9)


def test_levels_rise_in_the_order_of_their_numbers_wherever_their_columns_are():
    levels = pd.DataFrame(RNG.random((N, 3)), columns=["age_100", "age_9", "age_20"])
    model = ConstrainedGLM("poisson", monotonic_constraints={"age": "increasing"}).fit(levels, CLAIMS)
    assert list(model.multipliers_) == ["age_9 <= age_20", "age_20 <= age_100"]
    words = levels.set_axis(["age_old", "age_young", "age_1"], axis=1)
    model = ConstrainedGLM("poisson", monotonic_constraints={"age": "decreasing"}).fit(words, CLAIMS)
    assert list(model.multipliers_) == ["age_old >= age_young", "age_young >= age_1"]


def test_a_model_that_is_fitted_again_forgets_its_classes():
    model = ConstrainedGLM("binomial").fit(X, np.where(CLAIMS > 0, "some", "none"))
    model.set_params(family="normal").fit(X, CLAIMS)
    assert not hasattr(model, "classes_")
    assert model.score(X, CLAIMS) == pytest.approx(ConstrainedGLM().fit(X, CLAIMS).score(X, CLAIMS), abs=1e-9)


def test_an_exposure_explains_nothing_by_itself():
    years = RNG.uniform(0.1, 10.0, N)
    counts = RNG.poisson(years)
    blind = np.zeros((N, 1))
    for model in (ConstrainedGLM("poisson", alpha=0.1), ConstrainedPoisson()):
        fitted = model.fit(blind, counts, exposure=years)
        assert fitted.score(blind, counts, exposure=years) == pytest.approx(0.0, abs=1e-9)


def encoder():
    regions = OneHotEncoder(sparse_output=False)
    return make_column_transformer(
        (regions, ["region"]), (StandardScaler(), ["age", "power"]), verbose_feature_names_out=False
    ).set_output(transform="pandas")


def test_categories_come_through_pipelines_with_their_names():
    model = ConstrainedPoisson(alpha=0.0, constraints=["sum(region_*) == 0", "region_north <= region_south"])
    pipeline = make_pipeline(encoder(), model).fit(CARS, CLAIMS)
    coef = dict(zip(model.feature_names_in_, model.coef_, strict=True))
    assert sum(coef[f"region_{name}"] for name in ("north", "south", "west")) == pytest.approx(0.0, abs=1e-12)
    assert coef["region_north"] <= coef["region_south"] + 1e-12
    assert pipeline.score(CARS, CLAIMS) > 0.0


def test_splines_that_rise_make_predictions_that_rise():
    splines = SplineTransformer(n_knots=6).set_output(transform="pandas")
    model = ConstrainedGLM("poisson", alpha=1e-3, monotonic_constraints={"age": "increasing"})
    pipeline = make_pipeline(splines, model).fit(CARS[["age"]], CLAIMS)
    ages = pd.DataFrame({"age": np.linspace(18.0, 79.0, 50)})
    assert (np.diff(pipeline.predict(ages)) >= -1e-9).all()
    assert "age_sp_0 <= age_sp_1" in model.multipliers_


def test_searches_find_the_best_penalty():
    search = GridSearchCV(ConstrainedRidge(constraints="sum == 0"), {"alpha": [0.1, 10.0, 1e6]}, cv=3)
    search.fit(X, CLAIMS)
    assert search.best_params_["alpha"] in (0.1, 10.0, 1e6)
    labels = np.where(CLAIMS > 0, "some", "none")
    scores = cross_val_score(ConstrainedLogisticRegression(constraints="age <= 0"), X, labels, cv=3)
    assert (scores > 0.4).all()


def test_sparse_and_dense_tables_give_one_model():
    dense = encoder().fit_transform(CARS)
    model = ConstrainedGLM("poisson", alpha=0.01, constraints=["x0 + x1 + x2 == 0"])
    one, other = (
        clone(model).fit(make(dense.to_numpy()), CLAIMS) for make in (np.asarray, sparse.csr_matrix)
    )
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)
    np.testing.assert_allclose(
        one.predict(dense.to_numpy()), other.predict(sparse.csr_array(dense.to_numpy())), rtol=1e-7
    )


def test_a_path_is_the_models_one_by_one():
    alphas, model = [1.0, 0.1, 0.01, 0.0], ConstrainedGLM("poisson", l1_ratio=0.5, constraints="power >= 0")
    scaled = (X - X.mean()) / X.std()
    path = model.path(scaled, CLAIMS, alphas)
    for k, alpha in enumerate(alphas):
        single = clone(model).set_params(alpha=alpha).fit(scaled, CLAIMS)
        np.testing.assert_allclose(path.coefs[k], single.coef_, atol=1e-6)
        assert path.intercepts[k] == pytest.approx(single.intercept_, abs=1e-6)
        assert path.objectives[k] == pytest.approx(single.solution_.fun, rel=1e-12)
    assert len(path.gaps) == len(path.n_iters) == 4 and not hasattr(model, "coef_")
    lasso = ConstrainedLasso(constraints="sum == 0").path(scaled, CLAIMS, [0.1, 0.01])
    assert lasso.coefs.shape == (2, 2)
    logistic = ConstrainedLogisticRegression().path(scaled, CLAIMS > 0, [0.01, 1.0])
    assert logistic.coefs.shape == (2, 1, 2) and abs(logistic.coefs[0]).sum() < abs(logistic.coefs[1]).sum()


def test_a_pickle_predicts_and_leaves_the_data_behind():
    model = ConstrainedGLM("poisson", constraints="power >= 0").fit(X, CLAIMS)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.multipliers_ == model.multipliers_ and not hasattr(again, "objective_")
    with pytest.raises(ValueError, match="inference needs the data, which a pickled estimator left behind"):
        again.summary()


def test_a_run_that_ends_early_is_a_warning_in_its_own_words():
    model = ConstrainedGLM("poisson", max_iter=2, method="lbfgs")
    with pytest.warns(ConvergenceWarning, match="max_rounds is used up"):
        model.fit(X, CLAIMS)
    separated = ConstrainedGLM("binomial").fit
    with pytest.warns(ConvergenceWarning, match="no minimum"):
        separated(X[["age"]], (X["age"] > 40).astype(float))


def test_several_classes_have_constraints_each_and_among_each_other():
    region = CARS["region"]
    scaled = (X - X.mean()) / X.std()
    rules = ["age + power == 0", "age[north] <= age[south]"]
    model = ConstrainedGLM("multinomial", alpha=0.01, constraints=rules).fit(scaled, region)
    np.testing.assert_allclose(model.coef_.sum(axis=1), 0.0, atol=1e-12)
    assert model.coef_[0, 0] <= model.coef_[1, 0] + 1e-12 and model.intercept_.sum() == pytest.approx(
        0.0, abs=1e-9
    )
    assert list(model.multipliers_) == [
        *(f"age + power == 0 [{name}]" for name in ("north", "south", "west")),
        "age[north] <= age[south]",
    ]
    faced = ConstrainedLogisticRegression(C=1 / (0.01 * N), constraints=rules).fit(scaled, region)
    np.testing.assert_allclose(faced.coef_, model.coef_, atol=1e-6)
    assert set(faced.predict(scaled)) <= set(region)


def test_names_are_found_on_tether_when_they_are_asked_for():
    assert tether.ConstrainedRidge is ConstrainedRidge and "TrendFilter" in dir(tether)
    assert tether.estimators.ConstrainedRidge is ConstrainedRidge
    with pytest.raises(AttributeError, match="has no attribute 'Ridge'"):
        tether.Ridge  # noqa: B018


def test_without_scikit_learn_one_sentence_says_what_to_install():
    code = "import sys; sys.modules['sklearn'] = None; import tether; tether.ConstrainedGLM"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert re.search(r"sklearn\S* is missing; pip install 'tether\[estimators\]'\.$", found.stderr.strip())
