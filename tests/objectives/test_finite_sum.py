import numpy as np
import pytest

from tether.objectives import GLM, FiniteSum, Smoothness

POINTS = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, -1.0]])


def gradient(x, batch):
    return x - POINTS[batch].mean(axis=0)


def value(x, batch):
    return 0.5 * np.mean(np.sum((x - POINTS[batch]) ** 2, axis=1))


def _sum(gradient=gradient, value=value, n_samples=3, dim=2, **options):
    return FiniteSum(gradient, value, n_samples, dim, **options)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda x, batch: x[:1], "shape"),
        (lambda x, batch: x[None], "shape"),
        (lambda x, batch: np.zeros(2, dtype=int), "dtype int64"),
        (lambda x, batch: np.zeros(2, dtype=complex), "dtype complex128"),
        (lambda x, batch: np.full(2, np.nan), "finite"),
        (lambda x, batch: None, "dtype object"),
    ],
)
def test_a_wrong_gradient_is_refused_at_once(wrong, message):
    with pytest.raises(ValueError, match=rf"^gradient\(x, batch\) must .*{message}"):
        _sum(gradient=wrong)


@pytest.mark.parametrize(
    "wrong", [lambda x, b: np.zeros(2), lambda x, b: np.inf, lambda x, b: None, lambda x, b: 1j]
)
def test_a_wrong_value_is_refused_at_once(wrong):
    with pytest.raises(ValueError, match=r"^value\(x, batch\) must"):
        _sum(value=wrong)


def test_a_gradient_that_changes_its_shape_is_noticed_later():
    objective = _sum(gradient=lambda x, batch: x if len(batch) == 1 else np.zeros(len(batch)))
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        objective.evaluate(np.ones(2))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("gradient", {"gradient": 3}),
        ("value", {"value": None}),
        ("n_samples", {"n_samples": 0}),
        ("n_samples", {"n_samples": 2.0}),
        ("dim", {"dim": -1}),
        ("dim", {"dim": True}),
        ("convexity", {"convexity": -1.0}),
        ("convexity", {"convexity": 0.1, "smoothness": Smoothness(1.0, 1.0, 0.1)}),
        ("smoothness", {"smoothness": 0.0}),
        ("smoothness", {"smoothness": np.nan}),
        ("smoothness", {"smoothness": 0.5, "convexity": 1.0}),
    ],
)
def test_bad_settings_are_refused(name, arguments):
    with pytest.raises(ValueError, match=rf"^{name} must"):
        _sum(**arguments)


def test_known_constants_are_used():
    assert _sum(smoothness=2.0, convexity=1.0).smoothness == Smoothness(2.0, 2.0, 1.0)
    known = Smoothness(3.0, 2.0, 1.0)
    assert _sum(smoothness=known).smoothness is known


def test_missing_constants_are_estimated_with_a_margin():
    assert _sum(convexity=0.5).smoothness == pytest.approx((2.0, 1.25, 0.5, False))


def test_estimates_come_near_the_bounds_of_a_linear_model(rng):
    X, y = rng.standard_normal((50, 8)), rng.integers(0, 2, 50)
    known = GLM(X, y, l2=0.1)
    found = FiniteSum(known.batch_gradient, lambda x, batch: 0.0, 50, 8).smoothness
    assert known.smoothness.full <= found.full <= 1.3 * known.smoothness.full
    assert found.full <= found.maximum <= 2.1 * known.smoothness.maximum
    assert found.convexity == 0.0
    assert not found.exact


def test_a_gradient_that_never_changes_has_no_estimate():
    objective = _sum(gradient=lambda x, batch: np.ones(2))
    with pytest.raises(ValueError, match="smoothness could not be estimated"):
        _ = objective.smoothness


def test_a_function_that_reuses_its_buffer_does_no_harm():
    buffer = np.empty(2)

    def reusing(x, batch):
        buffer[:] = gradient(x, batch)
        return buffer

    objective = _sum(gradient=reusing)
    x, anchor = np.array([1.0, 2.0]), np.array([5.0, 5.0])
    np.testing.assert_array_equal(objective.batch_gradient(x, np.array([0]), anchor), x - anchor)
    first = objective.batch_gradient(x, np.array([0]))
    objective.batch_gradient(anchor, np.array([1]))
    np.testing.assert_array_equal(first, gradient(x, np.array([0])))


def test_single_precision_gradients_are_answered_in_double():
    objective = _sum(gradient=lambda x, batch: gradient(x, batch).astype(np.float32))
    assert objective.gradient(np.ones(2)).dtype == np.float64


def test_anchors_cost_a_second_gradient():
    from tether.objectives.walk import Walk

    walk = Walk(np.ones(2), 2, 0.1, np.array([[0], [1]]), anchor=np.zeros(2))
    assert _sum().descend(walk).gradients == 4


@pytest.mark.parametrize("name", ["gradient", "value"])
def test_functions_that_return_sums_over_the_batch_are_refused(name):
    right = {
        "gradient": lambda x, batch: x - 1.0,
        "value": lambda x, batch: 0.5 * float((x - 1.0) @ (x - 1.0)),
    }
    wrong = {**right, name: lambda x, batch: len(batch) * right[name](x, batch)}
    with pytest.raises(ValueError, match=rf"{name}\(x, batch\) must return the mean over the batch"):
        FiniteSum(**wrong, n_samples=10, dim=3)
