"""Offsets of predictions, and ridges with a number for each coefficient."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse

import tether
from tether.curvature import unpacked
from tether.objectives import GLM, Federation

N, D = 80, 4
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, D)) * (RNG.random((N, D)) < 0.7)
OFFSET = RNG.standard_normal(N)
LABELS = {
    "squared": X.sum(axis=1) + RNG.standard_normal(N),
    "logistic": RNG.integers(0, 2, N),
    "poisson": RNG.poisson(2.0, N),
    "gamma": RNG.gamma(2.0, size=N),
    "multinomial": np.arange(N) % 3,
}
L2 = np.array([0.5, 0.0, 0.1, 2.0, 0.0])
KINDS = [np.asarray, sparse.csr_array]


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson", "gamma"])
def test_an_offset_is_one_more_column_with_the_coefficient_one(loss, make):
    y = LABELS[loss]
    moved = GLM(make(X), y, loss, l2=0.2, offset=OFFSET)
    wide = GLM(make(np.column_stack([X, OFFSET])), y, loss, l2=np.array([0.2] * D + [0.0]))
    x, anchor, batch = RNG.standard_normal(D), RNG.standard_normal(D), np.array([3, 5, 5])
    one, other = moved.evaluate(x), wide.evaluate(np.append(x, 1.0))
    assert moved.value(x) == one.value == pytest.approx(other.value, rel=1e-13)
    np.testing.assert_allclose(one.gradient, other.gradient[:D], atol=1e-12)
    near, far = (model.batch_gradient for model in (moved, wide))
    np.testing.assert_allclose(near(x, batch), far(np.append(x, 1.0), batch)[:D], atol=1e-12)
    change = far(np.append(x, 1.0), batch, np.append(anchor, 1.0))[:D]
    np.testing.assert_allclose(near(x, batch, anchor), change, atol=1e-12)


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("loss", LABELS)
def test_a_ridge_of_several_numbers_adds_each_to_its_coefficient(loss, make):
    y, outputs = LABELS[loss], 3 if loss == "multinomial" else 1
    plain = GLM(make(X), y, loss, fit_intercept=True)
    ridged = GLM(make(X), y, loss, fit_intercept=True, l2=L2)
    weights, x = np.repeat(L2, outputs), RNG.standard_normal(plain.dim)
    assert ridged.value(x) == pytest.approx(plain.value(x) + 0.5 * np.sum(weights * x**2), rel=1e-13)
    np.testing.assert_allclose(ridged.gradient(x), plain.gradient(x) + weights * x, atol=1e-13)
    batch = np.array([1, 7, 9])
    expected = plain.batch_gradient(x, batch) + weights * x
    np.testing.assert_allclose(ridged.batch_gradient(x, batch), expected, atol=1e-13)


def test_one_number_for_all_is_the_same_as_the_number():
    same = [GLM(X, LABELS["squared"], "squared", l2=l2) for l2 in (0.3, np.full(D, 0.3), [0.3] * D)]
    assert {model.l2 for model in same} == {0.3}
    assert len({model.digest() for model in same}) == 1


def test_numbers_for_single_coefficients_are_found_by_name():
    frame = pd.DataFrame(X, columns=list("abcd"))
    series = pd.Series([4.0, 3.0, 2.0, 1.0, 0.0], index=["d", "c", "b", "a", "intercept"])
    model = GLM(frame, LABELS["squared"], "squared", l2=series, fit_intercept=True)
    np.testing.assert_array_equal(model.l2, [1.0, 2.0, 3.0, 4.0, 0.0])
    with pytest.raises(ValueError, match=r"^l2 has no entry 'd'; give one for every variable"):
        GLM(frame, LABELS["squared"], "squared", l2=series.drop("d"), fit_intercept=True)


def test_strong_convexity_is_that_of_the_least_penalised_coefficient():
    assert GLM(X, LABELS["logistic"], l2=[0.5, 0.2, 0.9, 0.3]).smoothness.convexity == 0.2
    assert GLM(X, LABELS["logistic"], l2=L2[:D]).smoothness.convexity == 0.0


@pytest.mark.parametrize("method", ["auto", "skip", "newton", "lbfgs"])
@pytest.mark.parametrize("make", KINDS)
def test_every_method_finds_the_minimum_of_a_model_with_both(make, method):
    y, equation = LABELS["poisson"], np.ones((1, D + 1))
    objective = GLM(make(X), y, "poisson", l2=L2, offset=OFFSET, fit_intercept=True)
    found = tether.solve(objective, tether.Affine(equation, [1.0]), method, tol=1e-6, max_passes=3000)
    assert found.success
    basis = np.linalg.svd(equation)[2][1:].T
    shift = equation[0] / (D + 1)
    best = optimize.minimize(lambda v: objective.value(basis @ v + shift), np.zeros(D), tol=1e-14)
    np.testing.assert_allclose(found.x, basis @ best.x + shift, atol=5e-3)
    assert found.fun <= best.fun + 2e-6


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_steps_are_compiled_for_an_intercept_without_penalty(loss, monkeypatch):
    monkeypatch.setattr("tether.objectives.glm.COMPILE_FROM", 1)
    for free in (True, False):
        l2 = np.append(np.full(D, 0.1), 0.0) if free else L2
        model = GLM(sparse.csr_array(X), LABELS[loss], loss, l2=l2, fit_intercept=True)
        assert model._compiled is not None and model._compiled.walks == free
        assert (model.sample_work < 1000) == free


def test_data_that_only_the_intercept_separates_is_named_although_others_are_penalised():
    objective = GLM(X, np.ones(N), "logistic", l2=np.append(np.full(D, 0.1), 0.0), fit_intercept=True)
    solution = tether.solve(objective, max_passes=300)
    assert not solution.success and "no minimum" in solution.message
    steady = GLM(X, np.ones(N), "logistic", l2=0.1, fit_intercept=True)
    assert tether.solve(steady, max_passes=300).success


def test_workers_with_offsets_of_their_own_and_one_ridge_are_a_federation():
    y, parts = LABELS["poisson"], tether.splits.iid(N, n_workers=3)
    options = {"l2": np.append(np.full(D, 0.1), 0.0), "fit_intercept": True}
    whole = GLM(X, y, "poisson", offset=OFFSET, **options)
    workers = [GLM(X[i], y[i], "poisson", offset=OFFSET[i], **options) for i in parts]
    federation = Federation(workers)
    x = RNG.standard_normal(D + 1)
    assert federation.value(x) == pytest.approx(whole.value(x), rel=1e-12)
    np.testing.assert_allclose(federation.gradient(x), whole.gradient(x), atol=1e-12)
    with pytest.raises(ValueError, match=r"l2 is '5 numbers \(.*\)' on worker 0 and 0.1 on worker 1"):
        Federation([workers[0], GLM(X, y, "poisson", l2=0.1, fit_intercept=True)])
    almost = GLM(X, y, "poisson", l2=np.append(np.full(D, np.nextafter(0.1, 1.0)), 0.0), fit_intercept=True)
    assert almost.kind() == workers[0].kind()


def test_offsets_and_ridges_count_in_the_digest():
    y = LABELS["squared"]
    models = [
        GLM(X, y, "squared"),
        GLM(X, y, "squared", offset=OFFSET),
        GLM(X, y, "squared", offset=np.zeros(N)),
        GLM(X, y, "squared", l2=L2[:D]),
        GLM(X, y, "squared", l2=L2[1:]),
    ]
    assert len({model.digest() for model in models}) == len(models)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"offset": OFFSET[1:]}, "offset must have one entry for each of the 80 rows of X, got 79"),
        ({"offset": np.full(N, np.nan)}, "offset must be finite, got nan"),
        ({"l2": [1.0, 2.0]}, "l2 must be a number or have one entry for each of the 4 coefficients, got 2"),
        ({"l2": [1.0, -2.0, 0.0, 0.0]}, r"l2 must be at least 0, got -2 at \[1\]; use 0 for no penalty"),
        ({"l2": [1.0, np.inf, 0.0, 0.0]}, "l2 must be finite, got inf"),
        ({"l2": -1.0}, "l2 must be a finite number >= 0, got -1.0"),
    ],
)
def test_what_fits_no_model_is_refused(options, words):
    with pytest.raises(ValueError, match="^" + words):
        GLM(X, LABELS["squared"], "squared", **options)


def test_an_offset_for_several_outputs_is_refused():
    with pytest.raises(ValueError, match=r"^offset must be left out for a model with 3 outputs"):
        GLM(X, LABELS["multinomial"], "multinomial", offset=OFFSET)


@pytest.mark.parametrize("make", KINDS)
def test_the_curvature_of_some_variables_has_their_own_ridges_and_offsets(make):
    objective = GLM(make(X), LABELS["poisson"], "poisson", l2=L2, fit_intercept=True, offset=OFFSET)
    x, chosen = RNG.standard_normal(D + 1), np.array([0, 3, 4])
    whole = unpacked(objective.curvature(x, "full"))
    block = unpacked(objective.curvature_among(x, chosen))
    np.testing.assert_allclose(block, whole[np.ix_(chosen, chosen)], rtol=1e-12)
