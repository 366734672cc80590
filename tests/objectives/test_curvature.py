"""Second derivatives of objectives: against definitions by loops, and what may be concluded from them."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

import tether
from tether.curvature import kronecker_parts, packed, unpacked
from tether.objectives import GLM, FiniteSum, Quadratic, gram
from tether.objectives.losses import LOSSES, Huber, Logistic, Loss, Multinomial, Poisson, Squared
from tether.objectives.losses.checks import check_loss

N, D, K = 50, 7, 3


def labels(loss, rng, n=N):
    return {
        "logistic": lambda: rng.integers(0, 2, n),
        "multinomial": lambda: np.arange(n) % K,
        "poisson": lambda: rng.poisson(1.0, n),
    }.get(loss, lambda: rng.standard_normal(n))()


def model(loss, make=np.asarray, *, full=True, dtype=np.float64, n=N):
    """A GLM with everything, or nothing, that a GLM may have beside its loss."""
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((n, D)) * (rng.random((n, D)) < 0.4)).astype(dtype)
    y = labels(loss, rng, n)
    weights = rng.random(n) * (rng.random(n) < 0.8) if full else None
    options = {"l2": 0.3, "fit_intercept": True, "sample_weight": weights} if full else {}
    return GLM(make(X), y, loss, **options)


def by_loops(objective, x, batch):
    """The Hessian over W.ravel(), G and S, sample by sample, from the probabilities or the curvatures."""
    rows = objective.design.block(slice(0, objective.n_samples)).astype(np.float64)
    outputs, d = objective.n_outputs, rows.shape[1]
    full = objective.l2 * np.eye(d * outputs)
    G, S = np.zeros((d, d)), np.zeros((outputs, outputs))
    for i in batch:
        a, w = rows[i], 1.0 if objective.weights is None else objective.weights[i]
        z = a @ x.reshape(d, outputs)
        if outputs > 1:
            p = softmax(z)
            block, share = np.diag(p) - np.outer(p, p), 1.0 - p @ p
        else:
            block = objective.loss.curvatures(z, objective.y[i : i + 1]).reshape(1, 1)
            share = block[0, 0]
        full += w * np.kron(np.outer(a, a), block) / len(batch)
        G += w * share * np.outer(a, a) / len(batch)
        S += w * block / len(batch)
    return full, G, S


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@pytest.mark.parametrize("full", [False, True], ids=["bare", "weights-intercept-l2"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_form_of_every_loss_is_its_definition(loss, make, dtype, full, compiled):
    objective = model(loss, make, full=full, dtype=dtype)
    if compiled:
        objective.compile()
    rng = np.random.default_rng(1)
    x = 0.5 * rng.standard_normal(objective.dim)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5  # predictions of float32 data are float32
    for batch in (None, rng.integers(0, N, 20)):
        hessian, G, S = by_loops(objective, x, np.arange(N) if batch is None else batch)
        np.testing.assert_allclose(unpacked(objective.curvature(x, "full", batch)), hessian, atol=tolerance)
        diagonal = objective.curvature(x, "diagonal", batch)
        np.testing.assert_allclose(diagonal, hessian.diagonal(), atol=tolerance)
        if loss == "multinomial":
            vector = objective.curvature(x, "kronecker", batch)
            features, outputs, shift = kronecker_parts(vector, K)
            np.testing.assert_allclose(features, G, atol=tolerance)
            np.testing.assert_allclose(outputs, S, atol=tolerance)
            assert shift == objective.l2


def test_samples_in_several_pieces_give_the_same_outputs(monkeypatch):
    objective = model("multinomial")
    x = np.random.default_rng(1).standard_normal(objective.dim)
    before = [objective.curvature(x, form) for form in ("full", "kronecker")]
    monkeypatch.setattr("tether.objectives.glm_curvature._BLOCK_NUMBERS", 7 * K**2)
    for form, expected in zip(("full", "kronecker"), before, strict=True):
        np.testing.assert_allclose(objective.curvature(x, form), expected, atol=1e-13)


def test_curvature_far_off_is_infinite_without_a_warning():
    objective = GLM(np.array([[2000.0], [1.0], [0.0]]), [1.0, 0.0, 2.0], "poisson")
    assert objective.curvature(np.ones(1), "full")[0] == np.inf
    assert not np.isfinite(objective.curvature(np.ones(1), "diagonal")[0])


def test_a_quadratic_loss_has_the_hessian_of_its_direct_solve():
    objective = model("squared")
    H, _ = objective.hessian()
    x = np.random.default_rng(1).standard_normal(objective.dim)
    np.testing.assert_allclose(unpacked(objective.curvature(x, "full")), H, atol=1e-13)
    assert objective.second_order.concordance == 0.0


# --- how fast second derivatives fall --------------------------------------------------------------------


def test_built_in_losses_declare_what_is_known_of_them():
    assert {name: loss.concordance for name, loss in LOSSES.items()} == {
        "logistic": 1.0,
        "squared": 0.0,
        "multinomial": math.sqrt(2.0),
        "huber": math.inf,
        "poisson": 1.0,
    }


@pytest.mark.parametrize("loss", [Logistic(), Poisson(), Squared()], ids=lambda loss: type(loss).__name__)
def test_the_third_derivative_is_bounded_by_the_second_and_reaches_its_bound(loss):
    z, h = np.linspace(-12.0, 12.0, 2001), 1e-5
    y = loss.prepare(np.ones(len(z)))
    third = (loss.curvatures(z + h, y) - loss.curvatures(z - h, y)) / (2 * h)
    ratios = np.abs(third) / loss.curvatures(z, y)
    assert ratios.max() <= loss.concordance * (1 + 1e-6) + 1e-8
    assert ratios.max() >= 0.999 * loss.concordance


def _third(p, v, u):
    """D^3[v, v, u] of log sum exp: a third joint moment about the mean."""
    return p @ ((v - p @ v) ** 2 * (u - p @ u))


def test_the_third_derivative_of_log_sum_exp_is_a_joint_moment():
    rng = np.random.default_rng(0)
    for _ in range(20):
        z, v, u = rng.standard_normal((3, 5))
        h = 1e-5

        def second(z, v=v):
            p = softmax(z)
            return p @ v**2 - (p @ v) ** 2

        numeric = (second(z + h * u) - second(z - h * u)) / (2 * h)
        assert numeric == pytest.approx(_third(softmax(z), v, u), abs=1e-8)


def test_the_constant_of_the_multinomial_loss_holds_and_no_smaller_one_does():
    rng, most = np.random.default_rng(0), 0.0
    for trial in range(20_000):
        outputs = int(rng.integers(2, 7))
        z, v, u = rng.standard_normal((3, outputs))
        z *= 10.0 ** rng.uniform(-1, 1.5)
        if trial % 2:  # the direction in which the second derivative along v changes fastest
            p = softmax(z)
            u = p * (v - p @ v) ** 2
            u -= p * u.sum()
        if trial % 4 == 3:  # and a v that has nearly all of its variance in the rarest classes
            v = (softmax(z) < np.sort(softmax(z))[1]).astype(float)
            u = v - np.eye(outputs)[np.argmax(z)]
        p = softmax(z)
        variance = p @ (v - p @ v) ** 2
        length = np.linalg.norm(u)
        if variance > 1e-12 and length > 1e-12:
            most = max(most, abs(_third(p, v, u)) / (length * variance))
    assert most <= Multinomial.concordance * (1 + 1e-9)
    assert most >= 0.999 * Multinomial.concordance


@pytest.mark.parametrize("loss", ["logistic", "poisson", "multinomial"])
def test_hessians_fall_no_faster_than_said_in_the_direction_of_the_longest_row(loss):
    """Also without a ridge, whose constant share would hide it, and where the bound is nearly reached."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((6, 4))
    X[0] *= 5.0
    y = [0, 1, 2, 0, 1, 2] if loss == "multinomial" else [1, 0, 1, 0, 1, 0]
    objective = GLM(X, y, loss, sample_weight=[1.0, 1.0, 0.5, 2.0, 1.0, 0.3])
    rate = objective.second_order.concordance
    constant = math.sqrt(2.0) if loss == "multinomial" else 1.0
    assert rate == pytest.approx(constant * np.linalg.norm(X, axis=1).max())
    for trial in range(60):
        x = rng.standard_normal(objective.dim) * (3.0 if trial % 3 else 0.1)
        v = np.outer(X[0], rng.standard_normal(objective.n_outputs)).ravel()
        v *= rng.uniform(0.001, 0.5) * rng.choice([-1, 1]) / np.linalg.norm(v)
        before, after = (unpacked(objective.curvature(at, "full")) for at in (x, x + v))
        least = np.linalg.eigvalsh(after - math.exp(-rate * np.linalg.norm(v)) * before)[0]
        assert least >= -1e-12 * max(np.abs(before).max(), np.abs(after).max())


def test_a_sample_without_weight_does_not_count_among_the_longest():
    X = np.diag([1.0, 2.0, 100.0])
    assert GLM(X, [0, 1, 1], sample_weight=[1.0, 1.0, 0.0]).second_order.concordance == 2.0
    assert GLM(X, [0, 1, 1]).second_order.concordance == 100.0
    assert GLM(X, [0, 1, 1], fit_intercept=True).second_order.concordance == math.sqrt(10_001.0)


def test_where_nothing_is_known_r_is_infinite():
    X, y = np.eye(3), [0.0, 1.0, 2.0]
    assert GLM(X, y, Huber(0.5), l2=0.1).second_order.concordance == math.inf
    assert GLM(0.0 * X, y, Huber(0.5)).second_order.concordance == math.inf
    assert GLM(X, y, Quartic()).second_order.concordance == math.inf
    assert GLM(X, y, Cauchy()).second_order.concordance == math.inf


# --- losses of one's own ---------------------------------------------------------------------------------


class Quartic(Loss):
    def values(self, z, y):
        return (z - y) ** 4 / 4

    def slopes(self, z, y):
        return (z - y) ** 3

    def curvatures(self, z, y):
        return 3 * (z - y) ** 2


class Cauchy(Loss):
    """Not convex."""

    def values(self, z, y):
        return 0.5 * np.log1p((z - y) ** 2)

    def slopes(self, z, y):
        return (z - y) / (1.0 + (z - y) ** 2)

    def curvatures(self, z, y):
        return (1.0 - (z - y) ** 2) / (1.0 + (z - y) ** 2) ** 2


class Outputs(Loss):
    """|z|^2/2 + log cosh of the sum of z, for K outputs: all but its Hessians."""

    def n_outputs(self, y):
        return K

    def values(self, z, y):
        return 0.5 * ((z - y[:, None]) ** 2).sum(axis=1) + np.log(np.cosh(z.sum(axis=1)))

    def slopes(self, z, y):
        return z - y[:, None] + np.tanh(z.sum(axis=1))[:, None]

    def curvatures(self, z, y):
        return np.ones_like(z) + self._bend(z)[:, None]

    def _bend(self, z):
        return 1.0 / np.cosh(z.sum(axis=1)) ** 2


class OutputsWithHessians(Outputs):
    def hessians(self, z, y):
        return np.eye(K) + self._bend(z)[:, None, None]


def own(loss, **options):
    rng = np.random.default_rng(0)
    return GLM(rng.standard_normal((N, D)), rng.standard_normal(N), loss, **options)


def differences(objective, x):
    moves = 1e-5 * np.eye(objective.dim)
    return np.array([objective.gradient(x + v) - objective.gradient(x - v) for v in moves]) / 2e-5


def test_a_loss_of_ones_own_has_its_hessian_through_its_curvatures():
    for loss in (Quartic(), Cauchy()):
        objective = own(loss, l2=0.2)
        x = 0.3 * np.random.default_rng(1).standard_normal(D)
        found = unpacked(objective.curvature(x, "full"))
        np.testing.assert_allclose(found, differences(objective, x), atol=1e-7)
    assert np.linalg.eigvalsh(unpacked(own(Cauchy()).curvature(3.0 * np.ones(D), "full")))[0] < 0.0


def test_several_outputs_without_hessians_have_a_diagonal_and_nothing_else():
    objective = own(Outputs(), l2=0.2)
    second = objective.second_order
    assert (second.full, second.kronecker, second.outputs) == (math.inf, math.inf, K)
    x = 0.3 * np.random.default_rng(1).standard_normal(D * K)
    found = objective.curvature(x, "diagonal")
    np.testing.assert_allclose(found, differences(objective, x).diagonal(), atol=1e-8)
    with pytest.raises(NotImplementedError, match='only of: "diagonal"'):
        objective.curvature(x, "full")


def test_several_outputs_with_hessians_have_every_form():
    objective = own(OutputsWithHessians(), l2=0.2)
    x = 0.3 * np.random.default_rng(1).standard_normal(D * K)
    found = unpacked(objective.curvature(x, "full"))
    np.testing.assert_allclose(found, differences(objective, x), atol=1e-8)
    G, S, shift = kronecker_parts(objective.curvature(x, "kronecker"), K)
    rows = objective.design.matrix
    z = rows @ x.reshape(D, K)
    blocks = OutputsWithHessians().hessians(z, objective.y)
    np.testing.assert_allclose(S, blocks.mean(axis=0), atol=1e-13)
    expected = np.einsum("nkk,ni,nj->ij", blocks, rows, rows) / N
    np.testing.assert_allclose(G, expected, atol=1e-12)
    assert shift == 0.2


def test_constants_and_hessians_are_not_inherited_by_other_functions():
    class Steeper(Logistic):
        def curvatures(self, z, y):
            return super().curvatures(z, y)

    class Other(Multinomial):
        def slopes(self, z, y):
            return super().slopes(z, y)

    class Renamed(Multinomial):
        pass

    z, y = np.zeros((2, 3)), np.array([0, 1])
    assert Steeper.concordance == math.inf
    assert Other.concordance == math.inf and Other().hessians(z, y) is None
    assert Renamed.concordance == math.sqrt(2.0) and Renamed().hessians(z, y) is not None


def _changed(base, **changes):
    loss = base()
    for name, change in changes.items():
        setattr(loss, name, change)
    return loss


class OwnLogistic(Loss):
    concordance = 1.0
    values, slopes, curvatures = Logistic.values, Logistic.slopes, Logistic.curvatures


GOOD, MANY = Quartic(), OutputsWithHessians()
FALSE = {
    "half a curvature": (
        _changed(Quartic, curvatures=lambda z, y: 1.5 * (z - y) ** 2),
        "curvatures that are",
    ),
    "a bound as curvature": (_changed(Quartic, curvatures=lambda z, y: 0 * z + 9.0), "curvatures that are"),
    "a curvature of one output": (
        _changed(Outputs, curvatures=lambda z, y: np.ones_like(z)),
        "curvatures that are",
    ),
    "hessians of one number": (_changed(OutputsWithHessians, hessians=lambda z, y: z), "hessians of shape"),
    "diagonal hessians": (
        _changed(OutputsWithHessians, hessians=lambda z, y: np.eye(K) * MANY.hessians(z, y)),
        "hessians that are",
    ),
    "a concordance too small": (_changed(OwnLogistic, concordance=0.3), "concordance=0.3"),
    "a concordance of squares": (_changed(Quartic, concordance=0.0), "concordance=0"),
    "a concordance of outputs": (_changed(OutputsWithHessians, concordance=0.0), "concordance=0"),
    "a concordance of what is not convex": (_changed(Cauchy, concordance=1.0), "concordance=1"),
    "a negative concordance": (_changed(Quartic, concordance=-1.0), "concordance >= 0"),
    "a concordance of words": (_changed(Quartic, concordance="some"), "concordance >= 0"),
}


@pytest.mark.parametrize("mistake", FALSE)
def test_false_second_derivatives_and_constants_are_refused(mistake):
    loss, words = FALSE[mistake]
    y = np.sign(np.random.default_rng(0).standard_normal(N))
    with pytest.raises(ValueError, match=rf"^loss must [^\n]*{words}[^\n]*\.$"):
        check_loss(loss, y, loss.n_outputs(y))


def test_true_constants_are_believed():
    y = np.sign(np.random.default_rng(0).standard_normal(N))
    assert check_loss(OwnLogistic(), y, 1) == ""
    assert own(_changed(OutputsWithHessians, concordance=2.0 * math.sqrt(K))).second_order.concordance > 0.0


# --- prices ----------------------------------------------------------------------------------------------


def test_prices_follow_the_work():
    rng = np.random.default_rng(0)

    def second(n, p, density=None, loss="logistic"):
        X = (
            rng.standard_normal((n, p))
            if density is None
            else sparse.random_array((n, p), density=density, rng=rng, format="csr")
        )
        return GLM(X, labels(loss, rng, n), loss).second_order

    narrow, wide = second(2000, 50).full, second(2000, 500).full
    assert 2.0 < narrow < 5.0 and 15.0 < wide < 40.0
    thin, thick = second(2000, 1000, 0.01).full, second(2000, 1000, 0.04).full
    assert 1.5 < thin < thick < second(2000, 1000).full
    outputs = second(300, 20, loss="multinomial")
    assert 1.0 < outputs.kronecker < outputs.full < math.inf
    assert (outputs.outputs, second(300, 20).kronecker) == (K, math.inf)


def test_triangles_that_would_not_fit_have_no_price():
    X = sparse.csr_array((np.ones(3), ([0, 1, 2], [0, 2, 5000])), shape=(3, 5001))
    objective = GLM(X, [0, 1, 1])
    assert objective.second_order.full == math.inf and objective.second_order.separable
    np.testing.assert_allclose(objective.curvature(np.zeros(5001), "diagonal").sum(), 3 * 0.25 / 3)
    matrix = Quadratic(matrix=sparse.eye_array(5001))
    assert matrix.second_order.full == math.inf and matrix.second_order.separable


# --- federations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_a_federation_has_the_curvature_of_all_its_data(loss):
    rng = np.random.default_rng(0)
    X, y, weights = rng.standard_normal((N, D)), labels(loss, rng), rng.random(N) + 0.1
    classes = {"n_classes": K} if loss == "multinomial" else {}
    whole = GLM(X, y, loss, l2=0.1, sample_weight=weights, **classes)
    parts = [np.arange(5), np.arange(5, 20), np.arange(20, N)]
    federation = tether.Federation(
        [GLM(X[i], y[i], loss, l2=0.1, sample_weight=weights[i], **classes) for i in parts]
    )
    x = rng.standard_normal(whole.dim)
    forms = ["full", "diagonal", *(["kronecker"] if loss == "multinomial" else [])]
    for form in forms:
        expected = whole.curvature(x, form)
        np.testing.assert_allclose(federation.curvature(x, form), expected, atol=1e-13)
        everybody = federation.curvature(x, form, np.arange(N))
        np.testing.assert_allclose(everybody, expected, atol=1e-13)
    batch = rng.integers(0, N, 12)
    singles = [federation.curvature(x, "full", batch[i : i + 1]) for i in range(12)]
    np.testing.assert_allclose(federation.curvature(x, "full", batch), np.mean(singles, axis=0), atol=1e-13)
    moves = 1e-5 * np.eye(whole.dim)
    changes = [
        federation.batch_gradient(x + v, batch) - federation.batch_gradient(x - v, batch) for v in moves
    ]
    np.testing.assert_allclose(
        unpacked(federation.curvature(x, "full", batch)), np.array(changes) / 2e-5, atol=1e-8
    )
    assert federation.second_order.concordance == whole.second_order.concordance
    assert federation.second_order.outputs == whole.second_order.outputs


def test_a_federation_of_workers_without_second_derivatives_has_none():
    def plain():
        return FiniteSum(lambda x, b: x, lambda x, b: 0.5 * x @ x, 5, 2, smoothness=1.0)

    federation = tether.Federation([plain(), plain()])
    assert federation.second_order.full == math.inf
    with pytest.raises(NotImplementedError, match="only of: none"):
        federation.curvature(np.zeros(2), "full")


# --- Hessians of the user's own --------------------------------------------------------------------------

POINTS = np.random.default_rng(0).standard_normal((N, 4))


def _sum(hessian, **options):
    """The mean over i of sum_j (x_j - t_ij)^4 / 12 + (sum_j x_j)^2 / 2."""

    def value(x, batch):
        return float(((x - POINTS[batch]) ** 4).sum(axis=1).mean() / 12 + 0.5 * x.sum() ** 2)

    def gradient(x, batch):
        return ((x - POINTS[batch]) ** 3).mean(axis=0) / 3 + x.sum()

    return FiniteSum(gradient, value, N, 4, smoothness=10.0, hessian=hessian, **options)


def true(x, batch):
    return np.diag(((x - POINTS[batch]) ** 2).mean(axis=0)) + 1.0


def test_a_hessian_of_ones_own_is_what_is_answered():
    x = np.random.default_rng(1).standard_normal(4)
    for make in (np.asarray, sparse.csr_array, sparse.coo_matrix, lambda H: H.astype(np.float32)):
        objective = _sum(lambda x, batch, make=make: make(true(x, batch)))
        found = objective.curvature(x, "full")
        np.testing.assert_allclose(found, packed(true(x, np.arange(N))), rtol=1e-6)
        np.testing.assert_allclose(
            objective.curvature(x, "diagonal", np.arange(3)), true(x, [0, 1, 2]).diagonal(), rtol=1e-6
        )
        assert not objective.second_order.separable and objective.second_order.concordance == math.inf


FALSE_HESSIANS = {
    "a vector too long": (lambda x, b: np.ones(5), "must return a symmetric matrix"),
    "a column": (lambda x, b: np.ones((4, 1)), "must return a symmetric matrix"),
    "complex": (lambda x, b: true(x, b) + 0j, "must return a symmetric matrix"),
    "nothing": (lambda x, b: None, "must return a symmetric matrix"),
    "rows of unequal length": (lambda x, b: [[1.0], [1.0, 2.0]], "must return a symmetric matrix"),
    "not finite": (lambda x, b: true(x, b) / 0.0, "must be finite|mean over the batch"),
    "a triangle": (lambda x, b: np.tril(true(x, b)), "must be symmetric"),
    "half": (lambda x, b: 0.5 * true(x, b), "must be the derivative"),
    "a sign": (lambda x, b: -true(x, b), "must be the derivative"),
    "only the diagonal": (lambda x, b: true(x, b).diagonal(), "must be the derivative"),
    "right at zero only": (lambda x, b: true(0.0 * x, b), "must be the derivative"),
    "one entry": (lambda x, b: true(x, b) + 0.1 * np.diag([1.0, 0, 0, 0]), "must be the derivative"),
    "a sum": (lambda x, b: len(b) * true(x, b), "must return the mean over the batch"),
}


@pytest.mark.parametrize("mistake", FALSE_HESSIANS)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_a_false_hessian_is_refused_in_a_sentence(mistake):
    hessian, words = FALSE_HESSIANS[mistake]
    with pytest.raises(ValueError, match=rf"^hessian\(x, batch\) ({words})[^\n]*\.$"):
        _sum(hessian)


@pytest.mark.parametrize("wrong", [3, lambda x: x])
def test_a_hessian_that_is_no_function_of_two_arguments_is_refused(wrong):
    with pytest.raises(ValueError, match=r"^hessian must be a function of"):
        _sum(wrong)


def test_quadratics_say_when_they_are_diagonal():
    assert Quadratic(matrix=np.diag([1.0, 2.0])).second_order.separable
    assert not Quadratic(matrix=np.array([[2.0, 1.0], [1.0, 2.0]])).second_order.separable
    assert Quadratic(factors=sparse.csr_array(np.eye(3))).second_order.separable
    assert Quadratic(factors=np.ones((3, 2))).second_order.concordance == 0.0


def test_many_sparse_rows_are_compiled_for(monkeypatch):
    monkeypatch.setattr(gram, "COMPILE_FROM", 1)
    objective = model("logistic", sparse.csr_array)
    called = []
    real = gram._compiled_sum
    monkeypatch.setattr(gram, "_compiled_sum", lambda *given: called.append(1) or real(*given))
    x = np.random.default_rng(1).standard_normal(objective.dim)
    monkeypatch.setattr(gram, "_SPARSE_SHARE", 1.0)
    found = unpacked(objective.curvature(x, "full"))
    assert called == [1]
    np.testing.assert_allclose(found, by_loops(objective, x, np.arange(N))[0], atol=1e-13)
