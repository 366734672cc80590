import numpy as np
import pytest
from scipy import optimize, special
from sklearn.metrics import log_loss, mean_poisson_deviance

from tether.objectives.losses import LOSSES, Huber, Logistic, Multinomial, Poisson, Squared, as_loss

ONE_OUTPUT = {
    "logistic": [0, 1, 1, 0],
    "squared": [0.5, -2, 3, 1],
    "huber": [0.5, -2, 3, 1],
    "poisson": [0, 3, 1, 2],
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
