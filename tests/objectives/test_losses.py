import re

import numpy as np
import pytest
from scipy import optimize, special
from sklearn.metrics import log_loss, mean_poisson_deviance, mean_tweedie_deviance

from tether.objectives.losses import (
    LOSSES,
    Binomial,
    Gamma,
    Huber,
    Logistic,
    Multinomial,
    Poisson,
    SmoothedQuantile,
    Squared,
    Tweedie,
    as_loss,
)
from tether.objectives.losses.majorised import is_majorised

ONE_OUTPUT = {
    "logistic": [0, 1, 1, 0],
    "squared": [0.5, -2, 3, 1],
    "huber": [0.5, -2, 3, 1],
    "poisson": [0, 3, 1, 2],
    "binomial": [0, 1, 0.3, 0.5],
    "gamma": [0.1, 3, 1, 2],
    "tweedie": [0, 3, 1, 0.2],
    "quantile-smoothed": [0.5, -2, 2.1, 1],
}
Z = np.array([0.3, -1.7, 2.2, 0.9])


@pytest.mark.parametrize("name", ONE_OUTPUT)
def test_slopes_and_curvatures_are_derivatives_of_the_values(name):
    loss = as_loss(name)
    y, h = loss.prepare(ONE_OUTPUT[name]), 1e-6
    slopes = (loss.values(Z + h, y) - loss.values(Z - h, y)) / (2 * h)
    curvatures = (loss.slopes(Z + h, y) - loss.slopes(Z - h, y)) / (2 * h)
    np.testing.assert_allclose(loss.slopes(Z, y), slopes, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(loss.curvatures(Z, y), curvatures, rtol=1e-7, atol=1e-9)
    assert loss.curvatures(Z, y).max() <= loss.curvature
    assert loss.n_outputs(y) == 1


@pytest.mark.parametrize("name", [*ONE_OUTPUT, "multinomial"])
def test_values_and_slopes_at_once_are_what_they_are_one_by_one(name):
    loss = as_loss(name)
    y = loss.prepare(ONE_OUTPUT.get(name, [0, 2, 1, 2]))
    for scale in (1.0, 30.0, 500.0):
        z = scale * (np.outer(Z, [1.0, -0.5, 0.2]) if name == "multinomial" else Z)
        values, slopes = loss.values_and_slopes(z, y)
        np.testing.assert_allclose(values, loss.values(z, y), rtol=1e-15)
        np.testing.assert_allclose(slopes, loss.slopes(z, y), rtol=1e-15)


@pytest.mark.parametrize("name", ONE_OUTPUT)
def test_floors_are_what_the_values_come_down_to(name):
    loss = as_loss(name)
    y, z = loss.prepare(ONE_OUTPUT[name]), np.linspace(-60.0, 60.0, 120_001)
    least = np.array([loss.values(z, np.full(len(z), label)).min() for label in y])
    np.testing.assert_allclose(np.broadcast_to(loss.floors(y), 4), least, atol=1e-6)


@pytest.mark.parametrize("name", ONE_OUTPUT)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_constant_is_where_the_mean_slope_is_zero_beside_an_offset(name, weighted):
    loss = as_loss(name)
    y, weights = loss.prepare(ONE_OUTPUT[name]), np.array([1.0, 2.0, 0.5, 4.0]) if weighted else None
    for offset in (None, Z):
        best = loss.best_constant(y, weights, offset)
        slopes = loss.slopes(best + (np.zeros(4) if offset is None else offset), y)
        assert np.average(slopes, weights=weights) == pytest.approx(0.0, abs=1e-6)


def test_logistic_is_sklearns_log_loss():
    y = np.array([0, 1, 1, 0])
    ours = Logistic().values(Z, Logistic().prepare(y)).mean()
    assert ours == pytest.approx(log_loss(y, special.expit(Z)), rel=1e-13)


def test_multinomial_is_sklearns_log_loss():
    rng = np.random.default_rng(0)
    z, y = rng.standard_normal((30, 4)), np.arange(30) % 4
    assert Multinomial().values(z, y).mean() == pytest.approx(
        log_loss(y, special.softmax(z, axis=1)), rel=1e-13
    )


def test_multinomial_slopes_match_finite_differences():
    rng = np.random.default_rng(0)
    z, y = rng.standard_normal((1, 4)), np.array([2])
    numeric = optimize.approx_fprime(z.ravel(), lambda v: Multinomial().values(v[None], y)[0], 1e-7)
    np.testing.assert_allclose(Multinomial().slopes(z, y)[0], numeric, atol=1e-6)


def test_multinomial_curvature_bounds_the_hessian():
    rng = np.random.default_rng(0)
    tops = []
    for z in [*rng.standard_normal((50, 4)), np.array([9.0, 9.0, -9.0, -9.0])]:
        p = special.softmax(z)
        tops.append(np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1])
    assert max(tops) <= Multinomial.curvature
    assert max(tops) == pytest.approx(0.5, abs=1e-6)


def test_multinomial_of_two_classes_is_logistic():
    y = np.array([0, 1, 1, 0])
    two = np.column_stack([np.zeros_like(Z), Z])
    np.testing.assert_allclose(
        Multinomial().values(two, y), Logistic().values(Z, Logistic().prepare(y)), rtol=1e-14
    )


def test_huber_is_scipys():
    y = np.array([0.5, -2.0, 9.0, 1.0])
    np.testing.assert_allclose(Huber(0.7).values(Z, y), special.huber(0.7, Z - y), rtol=1e-14)
    assert Huber().delta == 1.35


def test_poisson_differs_from_sklearns_half_deviance_by_a_constant_of_y():
    y = np.array([1.0, 3.0, 1.0, 2.0])
    constant = np.mean(special.xlogy(y, y) - y)
    ours = Poisson().values(Z, y).mean()
    assert ours + constant == pytest.approx(0.5 * mean_poisson_deviance(y, np.exp(Z)), rel=1e-13)


@pytest.mark.parametrize(("loss", "power"), [(Gamma(), 2.0), (Tweedie(1.3), 1.3), (Tweedie(1.9), 1.9)])
def test_amounts_have_sklearns_half_deviance_above_their_floor(loss, power):
    y = np.array([0.1, 3.0, 1.0, 2.0])
    ours = np.mean(loss.values(Z, y) - loss.floors(y))
    assert ours == pytest.approx(0.5 * mean_tweedie_deviance(y, np.exp(Z), power=power), rel=1e-12)


def test_binomial_of_whole_labels_is_logistic():
    y = np.array([0.0, 1.0, 1.0, 0.0])
    far = np.array([-800.0, 800.0, -800.0, 30.0])
    for z in (Z, far):
        expected = Logistic().values(z, Logistic().prepare(y))
        np.testing.assert_allclose(Binomial().values(z, y), expected, rtol=1e-13)


def test_the_smoothed_quantile_loss_is_close_to_the_check_loss_from_above():
    y, loss = np.zeros(9), SmoothedQuantile(0.8, 0.01)
    z = np.linspace(-2.0, 2.0, 9)
    check = np.where(z < 0, -0.8 * z, 0.2 * z)
    above = loss.values(z, y) - check
    assert (above >= -1e-15).all() and above.max() == pytest.approx(0.01 * np.log(2), rel=1e-12)
    assert np.delete(above, 4).max() < 1e-15


def test_an_amount_of_zero_has_a_finite_loss_wherever_the_mean_is():
    z = np.array([-1e5, -1e3, 0.0])
    assert np.isfinite(Tweedie().values(z, np.zeros(3))).all() and Tweedie().slopes(z, np.zeros(3))[0] == 0.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gamma().prepare([1.0, 0.0]), "y must be > 0 for the gamma loss, got 0; amounts that may"),
        (lambda: Tweedie().prepare([1.0, -2.0]), "y must be >= 0 for the tweedie loss, got -2"),
        (lambda: Tweedie(2.0), "power must be between 1 and 2 for the tweedie loss, got 2; 1 is the"),
        (lambda: Tweedie("high"), "power must be a finite number, got 'high'"),
        (
            lambda: Binomial().prepare([0.0, 3.0]),
            "y must be between 0 and 1 for the binomial loss, got 0 to 3",
        ),
        (lambda: SmoothedQuantile(1.0), "quantile must be between 0 and 1, got 1; the median is 0.5"),
        (lambda: SmoothedQuantile(0.5, 0.0), "bandwidth must be a finite number > 0, got 0.0"),
    ],
)
def test_labels_and_settings_that_do_not_fit_are_refused_in_a_sentence(make, words):
    with pytest.raises(ValueError, match="^" + re.escape(words)):
        make()


def test_extreme_predictions_stay_finite():
    z, y = np.array([-1e4, 1e4]), np.array([1.0, 1.0])
    np.testing.assert_array_equal(Logistic().values(z, y), [1e4, 0.0])
    np.testing.assert_array_equal(Logistic().slopes(z, y), [-1.0, 0.0])
    wide = np.array([[1e4, -1e4, 0.0]])
    np.testing.assert_array_equal(Multinomial().values(wide, np.array([1])), [2e4])
    np.testing.assert_array_equal(Multinomial().slopes(wide, np.array([1])), [[1.0, -1.0, 0.0]])


def test_poisson_overflows_to_infinity_without_a_warning():
    assert Poisson().values(np.array([1e4]), np.array([1.0]))[0] == np.inf


@pytest.mark.parametrize("labels", [[0, 1, 1], [-1, 1, 1], [False, True, True], [0.0, 1.0, 1.0]])
def test_logistic_labels_become_minus_one_and_one(labels):
    np.testing.assert_array_equal(Logistic().prepare(labels), [-1.0, 1.0, 1.0])


@pytest.mark.parametrize("labels", [[0, 2], [-1, 0, 1], [1, 2], [0.5, 1.0], ["a", "b"], [np.nan, 1.0]])
def test_logistic_refuses_other_labels(labels):
    with pytest.raises(ValueError, match=r"^y must"):
        Logistic().prepare(labels)


@pytest.mark.parametrize(
    "labels", [[1, 2, 3], [0, 2], [0.5, 1], [-1, 0, 1], [0, 0], ["cat", "dog"], [None, 1]]
)
def test_multinomial_refuses_other_labels_and_advises_to_encode_them(labels):
    with pytest.raises(ValueError, match=r"^y must .*LabelEncoder"):
        Multinomial().prepare(labels)


def test_a_given_number_of_classes_allows_absent_ones():
    loss = Multinomial(n_classes=5)
    assert loss.n_outputs(loss.prepare([3, 3])) == 5
    with pytest.raises(ValueError, match="n_classes = 5"):
        loss.prepare([5])
    with pytest.raises(ValueError, match="n_classes"):
        Multinomial(n_classes=1)


def test_whole_floats_and_booleans_are_class_numbers():
    assert Multinomial().prepare([0.0, 2.0, 1.0]).dtype == np.int64
    np.testing.assert_array_equal(Multinomial().prepare([False, True]), [0, 1])


def test_poisson_refuses_negative_counts():
    with pytest.raises(ValueError, match=r"^y must be >= 0"):
        Poisson().prepare([1.0, -0.5])


@pytest.mark.parametrize("delta", [0.0, -1.0, np.nan, "wide"])
def test_huber_refuses_a_delta_that_is_not_positive(delta):
    with pytest.raises(ValueError, match="delta"):
        Huber(delta)


def test_names_and_objects_are_accepted_and_others_listed():
    assert {name: type(as_loss(name)) for name in LOSSES} == LOSSES
    loss = Huber(2.0)
    assert as_loss(loss) is loss
    for wrong in ("hinge", 3, Squared):
        with pytest.raises(ValueError, match='"logistic", "squared", "multinomial", "huber", "poisson"'):
            as_loss(wrong)


@pytest.mark.parametrize("name", [name for name in ONE_OUTPUT if is_majorised(as_loss(name))])
def test_majorants_are_parabolas_that_touch_the_loss_and_lie_above_it(name):
    loss = as_loss(name)
    far, labels = np.linspace(-40.0, 40.0, 801), loss.prepare(ONE_OUTPUT[name])
    for at in (-30.0, -2.0, -1e-9, 0.0, 0.7, 25.0):
        for label in labels:
            z, y = np.array([at]), np.array([label])
            value, slope = loss.values(z, y), loss.slopes(z, y)
            parabola = value + slope * (far - at) + 0.5 * loss.majorants(z, y) * (far - at) ** 2
            assert (
                parabola >= loss.values(far, np.full(len(far), label)) - 1e-12 * (1.0 + abs(parabola))
            ).all()
            assert loss.curvatures(z, y) <= loss.majorants(z, y) * (1.0 + 1e-12)


def test_a_loss_of_another_function_inherits_no_majorants():
    class Steeper(Huber):
        def values(self, z, y):
            return 2.0 * super().values(z, y)

    assert is_majorised(Huber()) and not is_majorised(Steeper())
