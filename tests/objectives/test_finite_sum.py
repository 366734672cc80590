import math

import numpy as np
import pytest

import tether
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
        (lambda x, batch: None, "dtype object"),
    ],
)
def test_a_wrong_gradient_is_refused_at_once(wrong, message):
    with pytest.raises(ValueError, match=rf"^gradient\(x, batch\) must .*{message}"):
        _sum(gradient=wrong)


@pytest.mark.parametrize(
    "wrong", [lambda x, b: np.zeros(2), lambda x, b: None, lambda x, b: 1j], ids=["array", "none", "complex"]
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


class Entropy:
    """The mean of r_i (x log x - x) over samples, which counts calls and minds where it is called."""

    def __init__(self, refuses=False, dim=3):
        self.points, self.refuses, self.dim = [], refuses, dim
        self.shares = np.linspace(0.5, 1.5, 5)

    def value(self, x, batch):
        self.points.append(x.copy())
        if self.refuses and np.any(x <= 0):
            raise ValueError("math domain error")
        return self.shares[batch].mean() * float(np.sum(x * np.log(x) - x)) if np.all(x > 0) else np.inf

    def gradient(self, x, batch):
        self.points.append(x.copy())
        assert np.all(x > 0), "the gradient was asked for outside the domain"
        return self.shares[batch].mean() * np.log(x)

    def sum(self, **options):
        return FiniteSum(self.gradient, self.value, 5, self.dim, **options)


TOTAL = tether.Affine(np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]]), [3.0, 1.5])


def entropy_solution():
    """Return the minimiser on TOTAL: x = exp(A' l), by bisection in the free direction (1, 1, -2)."""
    base, free, low, high = TOTAL.project(np.zeros(3)), np.array([1.0, 1.0, -2.0]), -0.24, 0.49
    for _ in range(200):
        middle = 0.5 * (low + high)
        rising = free @ np.log(base + middle * free) > 0
        low, high = (low, middle) if rising else (middle, high)
    return base + low * free


@pytest.mark.parametrize("refuses", [False, True], ids=["infinite", "raising"])
@pytest.mark.parametrize("method", ["lbfgs", "auto"])
def test_a_function_with_a_domain_runs_from_a_start_inside(refuses, method):
    function, start = Entropy(refuses), np.array([2.0, 0.5, 0.5])
    sol = tether.solve(function.sum(initial=start), TOTAL, method, tol=1e-9)
    assert sol.success
    np.testing.assert_allclose(sol.x, entropy_solution(), atol=1e-7)
    assert all(x.any() for x in function.points)  # never at 0


def test_where_zero_is_outside_the_functions_are_tried_at_x0():
    sol = tether.solve(Entropy().sum(), TOTAL, "lbfgs", x0=[2.0, 0.5, 0.5], tol=1e-9)
    np.testing.assert_allclose(sol.x, entropy_solution(), atol=1e-7)
    wrong = FiniteSum(lambda x, batch: np.log(x), lambda x, batch: len(batch) * np.sum(x * np.log(x)), 5, 3)
    with pytest.raises(ValueError, match=r"^value\(x, batch\) must return the mean over the batch"):
        tether.solve(wrong, TOTAL, "lbfgs", x0=[2.0, 0.5, 0.5])


def test_workers_whose_functions_have_a_domain_run_too():
    parts = tether.Federation([Entropy().sum(), Entropy().sum()])
    sol = tether.solve(parts, TOTAL, "lbfgs", x0=[2.0, 0.5, 0.5], tol=1e-9)
    np.testing.assert_allclose(sol.x, entropy_solution(), atol=1e-7)


def test_a_start_outside_the_domain_is_refused():
    with pytest.raises(ValueError, match=r"^initial must be a point where value\(x, batch\) and gradient"):
        Entropy().sum(initial=[1.0, -1.0, 1.0])
    with pytest.raises(ValueError, match=r"^x0 must be a point where value\(x, batch\) and gradient"):
        tether.solve(Entropy().sum(), TOTAL, "lbfgs", x0=[9.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"^F is not finite at the projection of x0"):
        tether.solve(FiniteSum(lambda x, b: 1 / x, lambda x, b: np.sum(np.log(x)), 1, 3), None, "lbfgs")


def test_outside_the_domain_there_is_neither_a_gradient_nor_a_warning():
    seen = Entropy().sum(initial=np.ones(3)).evaluate(np.array([1.0, 0.0, -1.0]))
    assert seen.value == math.inf and np.isnan(seen.gradient).all()


def test_constants_are_estimated_only_for_methods_that_use_them(monkeypatch):
    asked = []
    estimate = tether.objectives.finite_sum.known_or_estimated
    monkeypatch.setattr(
        tether.objectives.finite_sum, "known_or_estimated", lambda *args: asked.append(1) or estimate(*args)
    )
    for method, times in {"lbfgs": 0, "auto": 0, "nesterov": 1}.items():
        asked.clear()
        assert tether.solve(_sum(), None, method, tol=1e-8).success
        assert len(asked) == times, method
    asked.clear()
    assert tether.solve(tether.Federation([_sum(), _sum()]), None, "lbfgs").success
    assert not asked


def test_a_first_step_without_constants_finds_the_scale():
    """Whatever the units of x and F, a handful of gradients is enough for a parabola."""
    for unit in (1e-6, 1.0, 1e6):
        for size in (1e-6, 1.0, 1e6):
            parabola = FiniteSum(
                lambda x, b, u=unit, s=size: s * (x - 3 * u) / u**2,
                lambda x, b, u=unit, s=size: 0.5 * s * float(np.sum((x - 3 * u) ** 2)) / u**2,
                1,
                4,
                initial=np.full(4, unit),
                convex=True,
            )
            sol = tether.solve(parabola, None, "lbfgs", tol=0.0, max_passes=8)
            np.testing.assert_allclose(sol.x, 3 * unit, rtol=1e-7)


def test_convexity_is_looked_at_inside_the_domain():
    """Between 0 and 1 only, and nowhere near 0, lies the dent."""

    def value(x, batch):
        return float(np.sum(np.sin(8.0 * x))) if np.all((x > 0.2) & (x < 0.9)) else np.inf

    def gradient(x, batch):
        return 8.0 * np.cos(8.0 * x)

    assert not FiniteSum(gradient, value, 4, 3, initial=np.full(3, 0.5)).convex
    assert Entropy().sum(initial=[1e-6, 1.0, 1e3]).convex
