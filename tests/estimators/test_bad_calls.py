"""Wrong calls on purpose: each ends in a sentence that names what is wrong, and what to do."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import LinearConstraint
from sklearn.exceptions import NotFittedError

import tether
from tether.estimators import (
    ConstrainedGLM,
    ConstrainedLasso,
    ConstrainedLogisticRegression,
    ConstrainedPoisson,
    ConstrainedRidge,
    FairLogisticRegression,
    FusedLasso,
    GeneralizedLasso,
    LogContrastRegressor,
    NonNegativeRegressor,
    TrendFilter,
)

RNG = np.random.default_rng(1)
X = pd.DataFrame(RNG.standard_normal((30, 3)), columns=["age", "power", "mileage"])
Y, COUNTS, LABELS = RNG.standard_normal(30), RNG.poisson(2.0, 30), np.arange(30) % 2


def glm(family="normal", y=Y, data=X, fit=None, **options):
    return lambda: ConstrainedGLM(family, **options).fit(data, y, **(fit or {}))


def face(kind, y=Y, data=X, fit=None, **options):
    return lambda: kind(**options).fit(data, y, **(fit or {}))


SPOILED = X.assign(age=np.where(np.arange(30) == 3, np.nan, X["age"]))
WRONG = {
    "NaN in X": (glm(data=SPOILED), "Input X contains NaN"),
    "infinite y": (glm(y=np.where(Y > 1, np.inf, Y)), "Input y contains infinity"),
    "fewer labels": (glm(y=Y[1:]), "inconsistent numbers of samples: [30, 29]"),
    "text for numbers": (glm(y=np.repeat(["a", "b"], 15)), 'y must hold numbers for family="normal"'),
    "dates for numbers": (
        glm(y=pd.date_range("2020", periods=30)),
        "y must hold numbers or classes, got datetime",
    ),
    "labels that are not there": (
        glm("binomial", y=np.array(["a", "b", None] * 10, dtype=object)),
        "y must be known of every row, got None; drop such rows",
    ),
    "dates in X": (
        glm(data=X.assign(age=pd.date_range("2020", periods=30))),
        "its column 'age' holds datetime64",
    ),
    "measurements for classes": (
        glm("multinomial"),
        'y must hold classes for family="multinomial", got the measurement',
    ),
    "unknown family": (glm("gaussian"), "family must be one of 'normal', 'binomial', 'multinomial'"),
    "family of another kind": (glm(3), "family must be one of"),
    "negative counts": (glm("poisson", y=Y), "y must be >= 0 for the poisson loss, got -"),
    "amounts of zero": (
        glm("gamma", y=np.abs(Y).round()),
        "y must be > 0 for the gamma loss, got 0; amounts",
    ),
    "negative amounts": (glm("tweedie", y=Y), "y must be >= 0 for the tweedie loss"),
    "three classes of two": (
        glm("binomial", y=np.arange(30) % 3),
        'y must hold two classes or shares between 0 and 1 for family="binomial", got 3 different values: 0',
    ),
    "one class": (glm("multinomial", y=np.ones(30)), "y must hold at least two classes"),
    "successes only": (
        glm("binomial", y=np.ones(30)),
        'shares between 0 and 1 for family="binomial", with weights > 0, got 1 only; there is nothing',
    ),
    "one class that counts": (glm("binomial", y=LABELS, fit={"sample_weight": LABELS}), "got 1 only"),
    "one word": (glm("binomial", y=["a"] * 30), 'for family="binomial", got 1 value: a.'),
    "words in X": (
        glm(data=X.assign(make=["audi"] * 30)),
        "its column 'make' holds words such as 'audi'; encode it, for example by scikit-learn's",
    ),
    "columns of one name": (
        glm(data=X.set_axis(["age", "age", "km"], axis=1)),
        "X must have columns of different names, got 'age' twice",
    ),
    "b_eq alone": (glm(b_eq=[1.0]), "b_eq must be left out without A_eq, which it belongs to"),
    "exposure of all": (
        glm("poisson", y=COUNTS, fit={"exposure": 2.0}),
        "exposure must have one entry for each of the 30 rows of X, got shape ()",
    ),
    "power beyond": (glm("tweedie", y=COUNTS, power=2.5), "power must be between 1 and 2"),
    "quantile beyond": (glm("quantile-smoothed", quantile=1.0), "quantile must be between 0 and 1"),
    "negative alpha": (glm(alpha=-1.0), "alpha must be a finite number >= 0, got -1.0"),
    "NaN as alpha": (glm(alpha=np.nan), "alpha must be a finite number >= 0, got nan"),
    "l1_ratio beyond": (glm(l1_ratio=1.5), "l1_ratio must be between 0 (ridge) and 1 (lasso), got 1.5"),
    "short P1": (glm(P1=[1.0, 2.0]), "P1 must be a number or have one entry for each of the 3 columns"),
    "negative P2": (glm(P2=[1.0, 2.0, -1.0]), "P2 must be at least 0, got -1"),
    "wrong names of P2": (
        glm(P2=pd.Series([1.0, 1.0, 1.0], index=["age", "power", "km"])),
        "P2 has the entry 'km', which is no column of X",
    ),
    "short offset": (glm(fit={"offset": [1.0]}), "offset must have one entry for each of the 30 rows of X"),
    "exposure of zero": (
        glm("poisson", y=COUNTS, fit={"exposure": np.zeros(30)}),
        "exposure must be > 0, got 0; drop rows without any",
    ),
    "exposure without a log": (
        glm(fit={"exposure": np.ones(30)}),
        "exposure must be left out for a family without a logarithmic link",
    ),
    "negative weights": (glm(fit={"sample_weight": -np.ones(30)}), "Negative values in data passed"),
    "weights of zero": (
        glm(fit={"sample_weight": np.zeros(30)}),
        "Sample weights must contain at least one",
    ),
    "offset of classes": (
        glm("multinomial", y=np.arange(30) % 3, fit={"offset": np.ones(30)}),
        "offset must be left out for a model with 3 outputs",
    ),
    "unknown name": (
        glm(constraints=["agee <= power"]),
        "constraints[0]: 'agee' is no variable; perhaps 'age' is meant",
    ),
    "no comparison": (glm(constraints="age + power"), "constraints: a comparison is missing"),
    "contradiction": (
        glm(constraints=["age >= 1", "age + power <= 0", "power >= 0"]),
        "the constraints contradict each other: 'age >= 1', 'age + power <= 0' and 'power >= 0'",
    ),
    "contradicting equations": (glm(constraints=["age == 1", "age == 2"]), "'age == 1' and 'age == 2'"),
    "contradiction with a matrix": (
        glm(constraints="age >= 1", A_ineq=[[1.0, 0.0, 0.0]], b_ineq=0.0),
        "'age >= 1' and 'A_ineq'",
    ),
    "never true": (glm(constraints=["1 <= age <= 0"]), "this is never true: 1 is more than 0"),
    "crossed bounds": (
        glm(lower_bounds=1.0, upper_bounds={"power": 0.0}),
        "the bounds contradict each other: power >= 1 and power <= 0",
    ),
    "unknown bound": (glm(lower_bounds={"ages": 0.0}), "lower_bounds has the name 'ages'"),
    "bound as text": (glm(lower_bounds={"age": "low"}), "lower_bounds must"),
    "short bounds": (
        glm(upper_bounds=[1.0, 2.0]),
        "upper_bounds must be a number, a dictionary, or have one",
    ),
    "NaN as bound": (glm(upper_bounds=np.nan), "upper_bounds must not be NaN; use infinity"),
    "narrow matrix": (glm(A_eq=[[1.0, 2.0]]), "A_eq must have one column for each of the 3 columns of X"),
    "stranger in a matrix": (
        glm(A_eq=pd.DataFrame([[1.0]], columns=["powr"])),
        "A_eq has the name 'powr', which is no column of X; perhaps 'power' is meant",
    ),
    "equation of nothing": (
        glm(A_eq=[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], b_eq=[1.0, 2.0]),
        "the constraints cannot be met: 'A_eq[0]'; relax or drop one of them",
    ),
    "long right-hand side": (glm(A_eq=np.ones((1, 3)), b_eq=[1.0, 2.0]), "b_eq must be a number or have 1"),
    "monotonic list": (
        glm(monotonic_constraints=["age"]),
        "monotonic_constraints must be a dictionary such as",
    ),
    "monotonic way": (
        glm(monotonic_constraints={"age": "up"}),
        "monotonic_constraints of 'age' must be \"increasing\" or \"decreasing\", got 'up'",
    ),
    "monotonic stranger": (glm(monotonic_constraints={"agee": "increasing"}), "perhaps 'age' is meant"),
    "no constraint": (glm(constraints=[3]), "constraints[0] must be an expression such as 'x1 + x2 == 1'"),
    "a flow": (
        glm(constraints=[tether.Unconstrained(3)]),
        "constraints[0] must be an expression such as",
    ),
    "wide LinearConstraint": (
        glm(constraints=[LinearConstraint(np.ones((1, 4)), 0, 1)]),
        "constraints[0] must have one column for each of the 3 columns of X",
    ),
    "method": (glm(method="simplex"), "method must be one of auto, skip"),
    "tol": (glm(tol=-1.0), "tol must be a finite number > 0"),
    "max_iter": (glm(max_iter=0.5), "max_iter must be a whole number >= 1, got 0.5"),
    "random_state": (glm(random_state="lucky"), "cannot be used to seed"),
    "fit_intercept": (glm(fit_intercept="yes"), "fit_intercept must be True or False"),
    "negative ridge": (face(ConstrainedRidge, alpha=-1.0), "alpha must be a finite number >= 0"),
    "positive": (face(ConstrainedLasso, positive=1), "positive must be True or False"),
    "negative counts of a face": (face(ConstrainedPoisson), "y must be >= 0 for the poisson loss"),
    "C of zero": (face(ConstrainedLogisticRegression, y=LABELS, C=0.0), "C must be a finite number > 0"),
    "penalty": (
        face(ConstrainedLogisticRegression, y=LABELS, penalty="ridge"),
        'penalty must be "l2", "l1", "elasticnet" or None, got \'ridge\'',
    ),
    "numbers for classes": (face(ConstrainedLogisticRegression), "Unknown label type: continuous"),
    "one class of a face": (
        face(ConstrainedLogisticRegression, y=np.ones(30)),
        "y must hold at least two classes, with samples of positive weight, got one class only",
    ),
    "parts below zero": (
        face(LogContrastRegressor),
        "X must hold parts of a whole, which are positive, got -",
    ),
    "parts of zero": (
        face(LogContrastRegressor, data=X.abs().round()),
        "X must hold positive parts of a whole, got 0, which has no logarithm; give a pseudo_count",
    ),
    "total": (face(NonNegativeRegressor, total=-1.0), "total must be a finite number > 0, got -1.0"),
    "edges that are none": (
        face(FusedLasso, edges=["age"]),
        "edges must be a list of pairs of columns, by name",
    ),
    "edge to nowhere": (face(FusedLasso, edges=[(0, 7)]), "numbers of columns below 3, got 7"),
    "path of one": (
        lambda: ConstrainedRidge().path(X, Y, 0.1),
        "alphas must be one-dimensional, got shape ()",
    ),
    "empty path": (lambda: ConstrainedRidge().path(X, Y, []), "alphas must hold at least one number"),
    "unknown neighbour": (face(FusedLasso, edges=[("age", "powr")]), "perhaps 'power' is meant"),
    "D": (face(GeneralizedLasso, D=np.ones((1, 2))), "D must have one column for each of the 3 columns of X"),
    "several times": (
        face(TrendFilter),
        "X must hold one variable, of shape (n,) or (n, 1), got shape (30, 3)",
    ),
    "order": (face(TrendFilter, data=Y, order=0), "order must be a whole number >= 1, got 0"),
    "trend way": (face(TrendFilter, data=Y, monotonic="up"), 'monotonic must be "increasing", "decreasing"'),
    "nothing sensitive": (
        face(FairLogisticRegression, y=LABELS),
        "sensitive_cols must name columns of X, or fit must be given sensitive_features, one of the two; got "
        "neither",
    ),
    "unknown sensitive": (
        face(FairLogisticRegression, y=LABELS, sensitive_cols="powr"),
        "sensitive_cols has the name 'powr', which is no column of X; perhaps 'power' is meant",
    ),
    "sensitive number": (
        face(FairLogisticRegression, y=LABELS, sensitive_cols=[7]),
        "columns below 3, got 7",
    ),
    "all sensitive": (
        face(FairLogisticRegression, y=LABELS, sensitive_cols=[0, 1, 2]),
        "sensitive_cols must leave columns to learn from, got all of them",
    ),
    "short sensitive": (
        face(FairLogisticRegression, y=LABELS, fit={"sensitive_features": [1, 2]}),
        "sensitive_features must have one row for each of the 30 rows of X",
    ),
    "unknown group": (
        face(FairLogisticRegression, y=LABELS, fit={"sensitive_features": ["a", None, pd.NA] * 10}),
        "sensitive_features must be known of every row, got None or NaN",
    ),
    "negative band": (
        face(FairLogisticRegression, y=LABELS, sensitive_cols=[0], covariance_threshold=-0.1),
        "covariance_threshold must be a finite number >= 0",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_is_refused_in_a_sentence(case):
    call, words = WRONG[case]
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        call()


def test_what_contradicts_itself_can_be_told_from_what_cannot_be_read():
    with pytest.raises(tether.InfeasibleError):
        ConstrainedGLM(constraints=["age == 1", "age == 2"]).fit(X, Y)


def test_an_estimator_that_was_not_fitted_says_so():
    for ask in ("summary", "inference"):
        with pytest.raises(NotFittedError):
            getattr(ConstrainedGLM(), ask)()
    with pytest.raises(NotFittedError):
        ConstrainedGLM().predict(X)


def test_other_columns_than_those_that_were_fitted_are_refused():
    model = ConstrainedGLM().fit(X, Y)
    with pytest.raises(ValueError, match="X has 2 features, but ConstrainedGLM is expecting 3"):
        ConstrainedGLM().fit(X.to_numpy(), Y).predict(X.to_numpy()[:, :2])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X.rename(columns={"age": "years"}))


@pytest.mark.parametrize(("family", "strange"), [("binomial", "ja"), ("multinomial", "nein")])
def test_labels_that_were_never_fitted_have_no_score(family, strange):
    model = ConstrainedGLM(family, alpha=0.1).fit(X, np.where(LABELS, "yes", "no"))
    with pytest.raises(ValueError, match=f"y must hold classes that were fitted, no, yes, got '{strange}'"):
        model.score(X, np.array([strange] * 30))


def test_an_offset_that_would_move_all_classes_alike_is_refused_in_predictions_too():
    model = ConstrainedGLM("multinomial", alpha=0.1).fit(X, np.arange(30) % 3)
    for ask in (model.predict, lambda X, offset: model.score(X, np.arange(30) % 3, offset=offset)):
        with pytest.raises(ValueError, match="offset must be left out for a model with 3 outputs"):
            ask(X, offset=np.ones(30))
