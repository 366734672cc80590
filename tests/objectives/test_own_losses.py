"""A loss of the user's own is what is minimised, whatever the size of the data, or it is refused."""

import numpy as np
import pytest
from scipy import optimize, sparse

import tether
from tether.kernels.codes import CODES
from tether.kernels.losses import loss_of, slope_of
from tether.objectives.compiled import Model, compile_model
from tether.objectives.losses import LOSSES, Binomial, Logistic, Loss, Multinomial, Poisson, Squared
from tether.objectives.losses.checks import check_loss
from tether.objectives.losses.kernel_codes import coded

LARGE = 20_500  # rows of ten columns: more numbers than data is compiled from


class Expectile(Loss):
    """Squares that count residuals above zero more than others."""

    curvature, convexity = 0.9, 0.1

    def values(self, z, y):
        return 0.5 * np.where(y > z, 0.9, 0.1) * (z - y) ** 2

    def slopes(self, z, y):
        return np.where(y > z, 0.9, 0.1) * (z - y)

    def curvatures(self, z, y):
        return np.where(y > z, 0.9, 0.1)


class Tripled(Squared):
    """A subclass of a built-in loss that computes something else."""

    def values(self, z, y):
        return 1.5 * (z - y) ** 2

    def slopes(self, z, y):
        return 3.0 * (z - y)

    def curvatures(self, z, y):
        return np.full_like(z, 3.0)


class Steep(Logistic):
    def values(self, z, y):
        return super().values(4.0 * z, y)

    def slopes(self, z, y):
        return 4.0 * super().slopes(4.0 * z, y)

    def curvatures(self, z, y):
        return 16.0 * super().curvatures(4.0 * z, y)


class Gamma(Loss):
    """z + y exp(-z), of positive responses with a logarithmic link; its curvature is unbounded."""

    def values(self, z, y):
        return z + y * np.exp(-z)

    def slopes(self, z, y):
        return 1.0 - y * np.exp(-z)

    def curvatures(self, z, y):
        return y * np.exp(-z)


class Cauchy(Loss):
    """log(1 + r^2) / 2, which is not convex."""

    curvature = 1.0

    def values(self, z, y):
        return 0.5 * np.log1p((z - y) ** 2)

    def slopes(self, z, y):
        return (z - y) / (1.0 + (z - y) ** 2)

    def curvatures(self, z, y):
        return (1.0 - (z - y) ** 2) / (1.0 + (z - y) ** 2) ** 2


OWN = {"own": Expectile(), "subclass": Tripled(), "subclass of logistic": Steep()}


def data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10))
    return X, X @ np.linspace(-1.0, 1.0, 10) + rng.standard_normal(n)


def labels(loss, y):
    return (y > 0).astype(float) if isinstance(loss, Logistic) else y


def independent(loss, X, y, l2):
    """The minimum of the loss by SciPy, from its functions alone."""
    y = loss.prepare(y)

    def both(x):
        z = X @ x
        return loss.values(z, y).mean() + 0.5 * l2 * x @ x, X.T @ loss.slopes(z, y) / len(y) + l2 * x

    return optimize.minimize(both, np.zeros(X.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-10}).x


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("method", ["auto", "skip"])
def test_a_loss_of_ones_own_is_what_is_minimised_on_large_data(name, make, method):
    loss = OWN[name]
    X, y = data(LARGE)
    objective = tether.GLM(make(X), labels(loss, y), loss, l2=0.1)
    solution = tether.solve(objective, method=method, tol=1e-9)
    assert solution.success
    np.testing.assert_allclose(solution.x, independent(loss, X, labels(loss, y), 0.1), atol=1e-4)


@pytest.mark.parametrize("name", OWN)
def test_a_loss_of_ones_own_is_what_a_federation_minimises(name):
    loss = OWN[name]
    X, y = data(LARGE)
    parts = tether.splits.iid(LARGE, n_workers=3)
    federation = tether.Federation([tether.GLM(X[i], labels(loss, y[i]), loss, l2=0.1) for i in parts])
    solution = tether.solve(federation, method="skip", tol=1e-9)
    assert solution.success
    np.testing.assert_allclose(solution.x, independent(loss, X, labels(loss, y), 0.1), atol=1e-4)


def test_only_exactly_the_built_in_losses_have_kernels():
    for loss in LOSSES.values():
        assert coded(loss()).code in CODES
    for loss in OWN.values():
        assert coded(loss) is None
    assert not hasattr(Loss, "code")


def test_a_code_that_is_set_on_a_loss_leads_nowhere():
    class Sly(Expectile):
        code, parameter = 1, 0.0

    X, y = data(LARGE)
    objective = tether.GLM(X, y, Sly())
    objective.compile()
    assert objective._compiled is None


def test_kernels_know_no_code_beyond_theirs():
    design = tether.GLM(np.eye(2), [0.0, 1.0], "squared").design
    with pytest.raises(ValueError, match="code must be one that kernels know, got 99"):
        compile_model(design, Model(99, (0.0, 0.0), np.zeros(2)))
    for compute in (slope_of, slope_of.py_func):
        assert np.isnan(compute(99, (0.0, 0.0), 1.0, 1.0))
    for compute in (loss_of, loss_of.py_func):
        assert np.isnan(compute(99, (0.0, 0.0), 1.0, 1.0)).all()


def test_constants_come_from_the_functions_they_were_declared_with():
    assert (Tripled.curvature, Tripled.convexity) == (np.inf, 0.0)

    class Renamed(Squared):
        """The same functions, and so the same constants."""

    assert (Renamed.curvature, Renamed.convexity) == (1.0, 1.0)
    X, y = data()
    s = tether.GLM(X, y, Tripled(), l2=0.1).smoothness
    spectrum = np.linalg.eigvalsh(X.T @ X / len(X))
    assert s.convexity == 0.1 and not s.exact
    assert s.full >= 3.0 * spectrum[-1]


def test_what_a_loss_declares_counts():
    X, y = data()
    objective = tether.GLM(X, y, Expectile(), l2=0.1)
    spectrum = np.linalg.eigvalsh(X.T @ X / len(X))
    assert objective.smoothness.convexity == pytest.approx(0.1 + 0.1 * spectrum[0])
    assert objective.smoothness.full == pytest.approx(0.1 + 0.9 * spectrum[-1])
    assert objective.convex and not objective.proven_convex
    assert objective.hessian() is None


def test_a_quadratic_loss_of_ones_own_is_solved_directly():
    class Triple(Tripled):
        curvature = convexity = 3.0

        def slopes(self, z, y):
            return 3.0 * (z - y)

    X, y = data()
    matrix, linear = tether.GLM(X, y, Triple(), l2=0.1).hessian()
    np.testing.assert_allclose(matrix, 3.0 * X.T @ X / len(X) + 0.1 * np.eye(10), atol=1e-12)
    np.testing.assert_allclose(linear, -3.0 * X.T @ y / len(X), atol=1e-12)


def test_an_unbounded_curvature_is_estimated_at_the_best_constant_too():
    X, y = data()
    y = 1e-3 * np.exp(0.1 * y)
    loss = Gamma()
    assert loss.best_constant(y) == pytest.approx(np.log(y.mean()), abs=1e-6)
    weights = np.linspace(0.0, 1.0, len(y))
    assert loss.best_constant(y, weights) == pytest.approx(np.log(np.average(y, weights=weights)), abs=1e-6)
    solution = tether.solve(tether.GLM(X, y, loss, l2=0.1, fit_intercept=True), tol=1e-9)
    assert solution.success
    columns = np.column_stack([X, np.ones(len(X))])
    np.testing.assert_allclose(solution.x, independent(loss, columns, y, 0.1), atol=1e-4)


def test_a_loss_that_is_not_convex_has_no_certificate():
    X, y = data()
    objective = tether.GLM(X, y, Cauchy(), l2=0.1)
    assert not objective.convex and not objective.proven_convex
    assert "Cauchy" in objective.nonconvexity
    assert objective.smoothness.convexity == 0.0


def test_a_domain_is_kept_to():
    class Barrier(Loss):
        domain = (0.0, np.inf)

        def values(self, z, y):
            assert (z > 0.0).all()
            return z - y * np.log(z)

        def slopes(self, z, y):
            assert (z > 0.0).all()
            return 1.0 - y / z

        def curvatures(self, z, y):
            assert (z > 0.0).all()
            return y / z**2

    X, y = np.abs(data()[0]), np.arange(1.0, 201.0)
    objective = tether.GLM(X, y, Barrier())
    assert objective.convex and objective.smoothness.full > 0.0


@pytest.mark.parametrize(
    "loss",
    [*(loss() for loss in LOSSES.values()), *OWN.values(), Gamma()],
    ids=lambda loss: type(loss).__name__,
)
def test_good_losses_pass_their_check_on_labels_of_any_size(loss):
    rng = np.random.default_rng(0)
    for size in (1e-6, 1.0, 1e6):
        y = rng.integers(0, 3, 50)
        if isinstance(loss, Logistic):
            y = y > 1
        elif isinstance(loss, Binomial):
            y = rng.random(50)
        elif not isinstance(loss, Multinomial):
            y = size * np.abs(rng.standard_normal(50))
        y = loss.prepare(y)
        assert check_loss(loss, y, loss.n_outputs(y)) == ""


class Wrong(Expectile):
    """A loss with one thing changed."""

    def __init__(self, **changes):
        for name, change in changes.items():
            setattr(self, name, change)


GOOD = Expectile()
MISTAKES = {
    "a sum": ({"values": lambda z, y: GOOD.values(z, y).sum()}, "values of shape"),
    "too many slopes": ({"slopes": lambda z, y: np.ones((len(z), 2))}, "slopes of shape"),
    "no numbers": ({"curvatures": lambda z, y: None}, "curvatures of shape"),
    "complex": ({"values": lambda z, y: GOOD.values(z, y) + 0j}, "values of shape"),
    "not finite": ({"values": lambda z, y: GOOD.values(z, y) / 0.0}, "finite at the prediction 0"),
    "an average inside": (
        {"values": lambda z, y: GOOD.values(z, y) / len(z)},
        "treat every sample by itself",
    ),
    "half a slope": ({"slopes": lambda z, y: 0.5 * GOOD.slopes(z, y)}, "derivatives of its values"),
    "a sign": ({"slopes": lambda z, y: -GOOD.slopes(z, y)}, "derivatives of its values"),
    "a negative curvature": (
        {"curvatures": lambda z, y: -GOOD.curvatures(z, y)},
        "derivatives of its slopes",
    ),
    "a bound too small": ({"curvature": 0.5}, "between convexity = 0.1 and curvature = 0.5"),
    "a bound too large": ({"convexity": 0.5}, "between convexity = 0.5 and curvature = 0.9"),
    "bounds that cross": ({"convexity": 2.0}, "0 <= convexity <= curvature"),
    "a negative bound": ({"convexity": -1.0}, "0 <= convexity <= curvature"),
    "a bound of words": ({"curvature": "large"}, "0 <= convexity <= curvature"),
    "no interval": ({"domain": 3.0}, "domain"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_loss_that_contradicts_itself_is_refused(mistake):
    changes, words = MISTAKES[mistake]
    X, y = data()
    with pytest.raises(ValueError, match=rf"^loss must [^\n]*{words}[^\n]*\.$"):
        tether.GLM(X, y, Wrong(**changes))


def test_a_class_instead_of_an_object_is_refused():
    with pytest.raises(ValueError, match="loss must be one of"):
        tether.GLM(*data(), Expectile)


def test_a_loss_that_hands_out_the_same_buffer_twice_does_no_harm():
    class Thrifty(Expectile):
        buffer = np.empty(200)

        def values(self, z, y):
            self.buffer[: len(z)] = GOOD.values(z, y)
            return self.buffer[: len(z)]

        def slopes(self, z, y):
            self.buffer[: len(z)] = GOOD.slopes(z, y)
            return self.buffer[: len(z)]

    X, y = data()
    thrifty, plain = tether.GLM(X, y, Thrifty(), l2=0.1), tether.GLM(X, y, GOOD, l2=0.1)
    first, second = np.ones(10), np.zeros(10)
    kept = thrifty.evaluate(first).slopes
    assert thrifty.evaluate(first).value == plain.evaluate(first).value
    thrifty.evaluate(second)
    np.testing.assert_array_equal(kept, plain.evaluate(first).slopes)
    batch = np.arange(7)
    np.testing.assert_array_equal(
        thrifty.batch_gradient(first, batch, second), plain.batch_gradient(first, batch, second)
    )


def test_a_loss_that_works_on_the_predictions_it_is_given_does_no_harm():
    class InPlace(Expectile):
        def values(self, z, y):
            found = GOOD.values(z, y)
            z[:] = 0.0
            return found

    X, y = data()
    here, plain = (tether.GLM(X, y, loss, l2=0.1).evaluate(np.ones(10)) for loss in (InPlace(), GOOD))
    assert here.value == plain.value
    np.testing.assert_array_equal(here.gradient, plain.gradient)


def test_functions_of_another_class_before_a_built_in_loss_are_those_that_count():
    class Squares:
        def values(self, z, y):
            return 0.5 * (z - y) ** 2

        def slopes(self, z, y):
            return z - y

        def curvatures(self, z, y):
            return np.ones_like(z)

    class Mixed(Squares, Poisson):
        pass

    X, y = data()
    objective, x = tether.GLM(X, abs(y), Mixed(), l2=0.1), np.ones(10)
    assert objective.evaluate(x).value == pytest.approx(objective.value(x), rel=1e-14)


def test_a_loss_with_other_slopes_inherits_no_values_and_slopes_at_once():
    class Doubled(Logistic):
        def values(self, z, y):
            return 2.0 * super().values(z, y)

        def slopes(self, z, y):
            return 2.0 * super().slopes(z, y)

        def curvatures(self, z, y):
            return 2.0 * super().curvatures(z, y)

    X, y = data()
    labels, x = y > np.median(y), np.ones(10)
    doubled, plain = tether.GLM(X, labels, Doubled()).evaluate(x), tether.GLM(X, labels).evaluate(x)
    assert doubled.value == 2.0 * plain.value
    np.testing.assert_array_equal(doubled.gradient, 2.0 * plain.gradient)


def test_labels_are_prepared_once():
    class Logarithmic(Expectile):
        def prepare(self, y):
            return np.log(super().prepare(y))

    X, y = data(LARGE)
    objective = tether.GLM(X, np.exp(y), Logarithmic(), l2=0.1)
    narrow = objective.with_rows(X[:, :4])
    np.testing.assert_allclose(narrow.y, y)
    assert narrow.dim == 4 and narrow.value(np.ones(4)) == pytest.approx(
        tether.GLM(X[:, :4], y, Expectile(), l2=0.1).value(np.ones(4))
    )
