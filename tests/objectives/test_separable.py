"""Means of functions of one variable: their derivatives, domains and constants, and what is refused."""

import math

import numpy as np
import pytest

import tether
from tether.curvature import unpacked
from tether.objectives import Separable
from tether.objectives.weighted import Weighted

P = 7
RNG = np.random.default_rng(0)
WEIGHTS = RNG.random(P) + 0.2
POSITIVE = RNG.random(P) + 0.3
OWN = (lambda x: np.exp(x) - x, lambda x: np.exp(x) - 1.0, np.exp)

CASES = {
    "quadratic": ("quadratic", {"center": RNG.standard_normal(P)}),
    "power": ("power", {"exponent": np.linspace(1.2, 4.0, P)}),
    "cube": ("power", {"exponent": 3, "dim": P}),
    "logcosh": ("logcosh", {"scale": POSITIVE, "center": 0.3}),
    "entropy": ("entropy", {"reference": POSITIVE}),
    "bpr": ("bpr", {"free_time": POSITIVE, "capacity": 2.0 * POSITIVE, "exponent": np.linspace(1, 5, P)}),
    "own": (OWN, {"dim": P}),
}


def values(name, x, j=None):
    """Return phi as the docstring writes it, one number at a time."""
    phi, options = CASES[name]
    parameter = {key: np.broadcast_to(value, P) for key, value in options.items() if key != "dim"}
    found = []
    for k in range(P):
        z, of = float(x[k]), {key: float(value[k]) for key, value in parameter.items()}
        if name == "quadratic":
            found.append((z - of["center"]) ** 2 / 2)
        elif phi == "power":
            found.append(abs(z) ** of["exponent"] / of["exponent"])
        elif name == "logcosh":
            found.append(math.log(math.cosh(of["scale"] * (z - of["center"]))))
        elif name == "entropy":
            found.append(z * math.log(z / of["reference"]) - z)
        elif name == "bpr":
            t, k_, q = of["free_time"], of["capacity"], of["exponent"]
            found.append(t * (z + 0.15 * z * (z / k_) ** q / (q + 1)))
        else:
            found.append(math.exp(z) - z)
    return np.array(found)


def make(name, weights=WEIGHTS, **more):
    phi, options = CASES[name]
    return Separable(phi, weights=weights, **options, **more)


@pytest.fixture(params=CASES)
def name(request):
    return request.param


@pytest.fixture
def x():
    return np.random.default_rng(1).random(P) + 0.1  # in all domains


def test_the_value_is_the_weighted_mean_of_the_formulas(name, x):
    assert make(name).value(x) == pytest.approx(float(np.mean(WEIGHTS * values(name, x))), rel=1e-13)


def test_gradient_and_curvature_are_those_of_differences(name, x):
    objective, step = make(name), 1e-5
    eye = step * np.eye(P)
    slopes = [(objective.value(x + e) - objective.value(x - e)) / (2 * step) for e in eye]
    np.testing.assert_allclose(objective.gradient(x), slopes, rtol=1e-6, atol=1e-9)
    rows = [(objective.gradient(x + e) - objective.gradient(x - e)) / (2 * step) for e in eye]
    np.testing.assert_allclose(unpacked(objective.curvature(x, "full")), rows, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(objective.curvature(x, "diagonal"), np.diag(rows), rtol=1e-5, atol=1e-8)


def test_batches_are_means_over_their_variables(name, x):
    objective, anchor, batch = make(name), x + 0.2, np.array([4, 1, 4])
    singles = [objective.batch_gradient(x, np.array([j])) for j in batch]
    np.testing.assert_allclose(objective.batch_gradient(x, batch), np.mean(singles, axis=0), rtol=1e-14)
    assert set(np.flatnonzero(objective.batch_gradient(x, batch))) <= {1, 4}
    change = objective.batch_gradient(x, batch) - objective.batch_gradient(anchor, batch)
    slopes = objective.evaluate(anchor).slopes
    for kept in (None, slopes):
        found = objective.batch_gradient(x, batch, anchor, kept)
        np.testing.assert_allclose(found, change, rtol=1e-12, atol=1e-15)
    every = [objective.curvature(x, "diagonal", np.array([j])) for j in range(P)]
    np.testing.assert_allclose(np.mean(every, axis=0), objective.curvature(x, "diagonal"), rtol=1e-13)


def test_one_number_for_all_is_as_good_as_one_for_each(x):
    one = Separable("power", exponent=2.5, dim=P, weights=2.0)
    each = Separable("power", exponent=np.full(P, 2.5), weights=np.full(P, 2.0))
    np.testing.assert_array_equal(one.gradient(x), each.gradient(x))
    batch = np.array([0, 3])
    np.testing.assert_array_equal(one.batch_gradient(x, batch), each.batch_gradient(x, batch))


def test_extreme_arguments_do_not_overflow():
    steep = Separable("logcosh", dim=4, scale=3.0)
    seen = steep.evaluate(np.array([1e300, -1e300, 1e-9, 0.0]))
    assert seen.value == pytest.approx(3e300 / 2)
    np.testing.assert_allclose(seen.slopes, [3.0, -3.0, 9e-9, 0.0], rtol=1e-12)
    tiny = Separable("logcosh", dim=1).value(np.array([1e-9]))
    assert tiny == pytest.approx(5e-19, rel=1e-12)


# --- constants -------------------------------------------------------------------------------------------

INTERVALS = {"free": (-math.inf, math.inf), "box": (0.2, 3.0), "above": (0.1, math.inf), "below": (-9.0, 2.0)}


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("name", [name for name in CASES if name != "own"])
def test_constants_hold_on_the_domain_and_are_sharp(name, interval):
    lower, upper = INTERVALS[interval]
    objective = make(name, lower=lower, upper=upper)
    low, high = max(lower, objective.domain.lower, -50.0), min(upper, 50.0)
    grid = np.linspace(low, high, 4001)[1:-1]
    curvatures = P * np.array([objective.curvature(np.full(P, z), "diagonal") for z in grid])
    constants = objective.constants()
    assert constants.convexity * P <= curvatures.min() * (1 + 1e-12)
    if constants.known:
        found = objective.smoothness
        assert found.exact and curvatures.max() <= found.maximum * (1 + 1e-12)
        assert found.full == pytest.approx(found.maximum / P)
        if math.isfinite(lower) and math.isfinite(upper):
            assert curvatures.max() >= 0.9 * found.maximum
            assert curvatures.min() <= 1.2 * P * constants.convexity + 1e-3
    else:
        assert not objective.smoothness.exact


@pytest.mark.parametrize("name", ["quadratic", "power", "cube", "logcosh", "entropy", "bpr"])
def test_curvature_falls_no_faster_than_the_concordance_allows(name):
    rng = np.random.default_rng(4)
    objective = make(name, lower=0.2, upper=4.0)
    R = objective.second_order.concordance
    assert math.isfinite(R)
    for _ in range(200):
        x, y = 0.2 + 3.8 * rng.random((2, P))
        ratio = objective.curvature(y, "diagonal") / objective.curvature(x, "diagonal")
        assert ratio.min() >= math.exp(-R * np.linalg.norm(y - x)) * (1 - 1e-12)


def test_concordance_is_known_where_there_is_one():
    assert make("quadratic").second_order.concordance == 0.0
    assert make("logcosh").second_order.concordance == 2.0 * POSITIVE.max()
    assert [make(name).second_order.concordance for name in ("power", "entropy", "bpr", "own")] == [
        math.inf
    ] * 4
    assert make("entropy", lower=0.5).second_order.concordance == 2.0
    assert Separable("power", exponent=2.0, dim=3).second_order.concordance == 0.0


def test_prices_are_those_of_a_pass():
    assert make("entropy").second_order.diagonal == 1.0
    assert make("entropy").second_order.full < 3.0
    assert Separable("entropy", dim=10_000).second_order.full == math.inf
    with pytest.raises(NotImplementedError, match="kronecker"):
        make("entropy").curvature(np.ones(P), "kronecker")


def test_a_quadratic_is_known_as_one_unless_it_has_ends(x):
    objective = make("quadratic")
    matrix, linear = objective.hessian()
    np.testing.assert_allclose(matrix @ x + linear, objective.gradient(x), rtol=1e-13)
    assert make("quadratic", upper=3.0).hessian() is None
    assert make("cube").hessian() is None


# --- domains ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "j", "outside"),
    [
        ("entropy", {}, 2, 0.0),
        ("entropy", {}, 0, -1.0),
        ("bpr", {}, 6, -1e-9),
        ("cube", {"lower": -1.0}, 3, -1.1),
        ("cube", {"upper": np.linspace(1, 2, P)}, 0, 1.5),
        ("own", {"upper": 5.0}, 1, 6.0),
        ("quadratic", {}, 1, math.nan),
    ],
)
def test_outside_the_domain_f_is_infinite_without_a_warning(name, options, j, outside):
    objective = make(name, **options)
    x = np.full(P, 0.9)
    assert math.isfinite(objective.value(x))
    x[j] = outside
    seen = objective.evaluate(x)
    assert seen.value == math.inf and np.isnan(seen.gradient).all()
    slope = objective.batch_gradient(x, np.array([j, (j + 1) % P]))
    assert np.isnan(slope[j]) and math.isfinite(slope[(j + 1) % P])
    assert np.isnan(objective.curvature(x, "diagonal")[j])


def test_the_ends_belong_to_the_domain_where_phi_is_finite_there():
    assert math.isfinite(make("bpr").value(np.zeros(P)))
    assert math.isfinite(make("cube", lower=-1.0, upper=1.0).value(np.full(P, -1.0)))
    assert make("entropy").value(np.zeros(P)) == math.inf


@pytest.mark.parametrize("options", [{}, {"lower": 0.4}, {"upper": 0.5}, {"lower": 0.01, "upper": 0.02}])
def test_runs_start_inside_the_domain(name, options):
    objective = make(name, **options)
    assert objective.domain.holds_inside(objective.initial)
    assert math.isfinite(objective.value(objective.initial))


def test_a_start_may_be_given_but_inside():
    np.testing.assert_array_equal(make("entropy", initial=3.0).initial, np.full(P, 3.0))
    with pytest.raises(ValueError, match=r"^initial must be inside the domain of phi, got 0 at \[0\]"):
        make("entropy", initial=0.0)


# --- functions of the user's -----------------------------------------------------------------------------


def barrier(x):
    return -np.log(x)


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        ((barrier, lambda x: 1.0 / x, lambda x: 1.0 / x**2), r"^phi' must be the derivative of phi, but at"),
        ((barrier, lambda x: -1.0 / x, lambda x: 1.0 / x), r"^phi'' must be the derivative of phi'"),
        ((barrier, lambda x: -1.0 / x, lambda x: np.ones(2)), r"^phi'' must return one number for each"),
        ((lambda x: x * x.sum(), lambda x: x, np.ones_like), r"^phi must act on each variable alone"),
        ((lambda x: x / 0.0, lambda x: x, np.ones_like), r"^phi must be finite inside the domain"),
        ((lambda x: "text", lambda x: x, np.ones_like), r"^phi must take an array of 7 numbers"),
    ],
    ids=["slope", "curvature", "shape", "mixing", "infinite", "text"],
)
def test_functions_that_do_not_fit_together_are_refused(phi, message):
    with pytest.raises(ValueError, match=message):
        Separable(phi, dim=P, lower=0.0)


def test_a_function_that_is_not_convex_certifies_nothing():
    wave = Separable((np.sin, np.cos, lambda x: -np.sin(x)), dim=P, initial=1.0)
    assert not wave.convex and not wave.proven_convex and "phi'' = -" in wave.nonconvexity
    own = make("own")
    assert own.convex and not own.proven_convex
    assert all(make(name).proven_convex for name in CASES if name != "own")


def test_a_constant_curvature_may_be_one_number(x):
    objective = Separable((lambda x: x**2, lambda x: 2 * x, lambda x: 2.0), dim=P)
    np.testing.assert_allclose(objective.curvature(x, "diagonal"), 2.0 / P)


# --- names, digests, workers -----------------------------------------------------------------------------


def test_everything_that_defines_it_is_in_the_digest(name):
    digest = make(name).digest()
    assert make(name).digest() == digest
    others = [make(name, weights=WEIGHTS + 1e-9), make(name, upper=1e6), make(name, initial=0.77)]
    assert digest not in {other.digest() for other in others}


def test_parameters_and_functions_are_in_the_digest():
    digests = {Separable("power", exponent=q, dim=3).digest() for q in (2.0, 2.5)}
    digests.add(Separable("quadratic", dim=3).digest())
    digests.add(Separable(OWN, dim=3).digest())
    twice = tuple((lambda x, f=f: 2.0 * f(x)) for f in OWN)
    digests.add(Separable(twice, dim=3).digest())
    assert len(digests) == 5


def test_labels_of_weights_are_the_names_of_variables():
    pandas = pytest.importorskip("pandas")
    weights = pandas.Series([1.0, 2.0, 3.0], index=["ab", "bc", "ca"])
    assert Separable("quadratic", weights=weights).names == ("ab", "bc", "ca")


def test_workers_with_targets_of_their_own_agree_on_their_mean():
    targets = np.random.default_rng(5).standard_normal((4, P))
    workers = tether.Federation([Separable("quadratic", center=target) for target in targets])
    equal = tether.Affine(np.ones((1, P)), [0.0])
    sol = tether.solve(workers, equal, "lbfgs", tol=1e-12)
    np.testing.assert_allclose(sol.x, equal.project(targets.mean(axis=0)), atol=1e-8)
    with pytest.raises(ValueError, match="phi is 'quadratic' on worker 0 and 'power' on worker 1"):
        tether.Federation([make("quadratic"), make("power")])
    assert Weighted(make("entropy"), 0.5).domain == make("entropy").domain


def test_a_million_variables_are_vectors():
    """No step of it may take a Python object a variable, or a square of memory."""
    p = 1_000_000
    objective = Separable("power", exponent=np.linspace(1.5, 3.0, p), weights=2.0)
    x = np.linspace(-1.0, 1.0, p)
    assert math.isfinite(objective.value(x)) and objective.curvature(x, "diagonal").shape == (p,)
    assert np.count_nonzero(objective.batch_gradient(x, np.array([3, 5]))) == 2


# --- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phi", "options", "message"),
    [
        ("cubic", {"dim": 3}, r"^phi must be one of 'quadratic', .* or three functions"),
        ((np.sin, np.cos), {"dim": 3}, r"^phi must be one of"),
        ("power", {"dim": 3}, r"^exponent must be given for phi = 'power'"),
        ("power", {"exponent": [2.0, 1.0]}, r"^exponent must be > 1, got 1 at \[1\]"),
        ("power", {"exponent": 0.5, "dim": 2}, r"^exponent must be a finite number > 1"),
        ("power", {"q": 3.0}, r"^q is no parameter of phi = 'power', which has exponent"),
        ("bpr", {"free_time": [1.0], "capacity": [0.0]}, r"^capacity must be > 0"),
        ("entropy", {}, r"^dim must be given"),
        ("entropy", {"weights": [1.0], "reference": [1.0, 2.0]}, r"^reference must have one number for each"),
        ("entropy", {"weights": [1.0, -1.0]}, r"^weights must be >= 0, got -1 at \[1\]"),
        ("entropy", {"dim": 2, "upper": 0.0}, r"^upper must be above lower, got 0 where lower = 0"),
        ("quadratic", {"dim": 2, "lower": [1.0, math.nan]}, r"^lower must hold numbers"),
        (OWN, {"dim": 3, "scale": 2.0}, r"^scale is no parameter of phi"),
    ],
    ids=lambda value: str(value)[:24] if isinstance(value, str) else None,
)
def test_what_makes_no_sense_is_refused_in_a_sentence(phi, options, message):
    with pytest.raises(ValueError, match=message):
        Separable(phi, **options)
