"""Second derivatives of objectives: against definitions by loops, and what may be concluded from them."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

import tether
from tether.curvature import kronecker_parts, unpacked
from tether.objectives import GLM, FiniteSum, Quadratic, gram
from tether.objectives import outputs as outputs_module
from tether.objectives.losses import LOSSES, Loss, Multinomial

N, D, K = 50, 7, 3


def labels(loss, rng, n=N):
    return {
        "logistic": lambda: rng.integers(0, 2, n),
        "multinomial": lambda: np.arange(n) % K,
        "poisson": lambda: rng.poisson(1.0, n),
        "binomial": lambda: rng.random(n),
        "gamma": lambda: rng.gamma(2.0, size=n),
        "tweedie": lambda: rng.poisson(1.0, n) * rng.gamma(2.0, size=n),
    }.get(loss, lambda: rng.standard_normal(n))()


def model(loss, make=np.asarray, *, full=True, dtype=np.float64, n=N):
    """A GLM with everything, or nothing, that a GLM may have beside its loss."""
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((n, D)) * (rng.random((n, D)) < 0.4)).astype(dtype)
    y = labels(loss, rng, n)
    weights = rng.random(n) * (rng.random(n) < 0.8) if full else None
    options = {"l2": 0.3, "fit_intercept": True, "sample_weight": weights} if full else {}
    if full and loss != "multinomial":
        options |= {"offset": rng.standard_normal(n), "l2": np.arange(D + 1.0)}
    return GLM(make(X), y, loss, **options)


def by_loops(objective, x, batch):
    """The Hessian over W.ravel(), G and S, sample by sample, from the probabilities or the curvatures."""
    rows = objective.design.block(slice(0, objective.n_samples)).astype(np.float64)
    outputs, d = objective.n_outputs, rows.shape[1]
    full = np.diag(np.broadcast_to(objective.l2, d * outputs)).copy()
    G, S = np.zeros((d, d)), np.zeros((outputs, outputs))
    for i in batch:
        a, w = rows[i], 1.0 if objective.weights is None else objective.weights[i]
        z = a @ x.reshape(d, outputs) + (0.0 if objective.offset is None else objective.offset[i])
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
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("loss", LOSSES)
def test_an_expansion_is_a_value_a_gradient_and_a_hessian(loss, make, full, compiled):
    objective = model(loss, make, full=full)
    if compiled:
        objective.compile()
    x = 0.3 * np.random.default_rng(1).standard_normal(objective.dim)
    there, (value, gradient, hessian) = objective.evaluate(x), objective.expansion(x)
    assert value == pytest.approx(there.value, rel=1e-13)
    np.testing.assert_allclose(gradient, there.gradient, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(hessian(), unpacked(objective.curvature(x, "full")), rtol=1e-11, atol=1e-13)


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


@pytest.mark.parametrize("mixed", [True, False])
def test_samples_in_several_pieces_give_the_same_outputs(monkeypatch, mixed):
    objective = model("multinomial")
    x = np.random.default_rng(1).standard_normal(objective.dim)
    before = [objective.curvature(x, form) for form in ("full", "kronecker")]
    monkeypatch.setattr(outputs_module, "_BLOCK_NUMBERS", 7 * K**2)
    monkeypatch.setattr(outputs_module, "_ROWS_NUMBERS", 1)
    monkeypatch.setattr(outputs_module, "_FEWEST_ROWS", 7)
    if not mixed:
        monkeypatch.setattr(Multinomial, "mixed", Loss.mixed)
    for form, expected in zip(("full", "kronecker"), before, strict=True):
        np.testing.assert_allclose(objective.curvature(x, form), expected, atol=1e-13)


def test_hessians_of_outputs_that_are_all_but_certain_lose_nothing():
    """Curvatures are 1e-12 of the probabilities that they are made of."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(1.0, 2.0, (30, 3)), np.arange(30) % 3
    objective, x = GLM(X, y, "multinomial"), np.tile([19.0, 1.0, 2.0], 3)
    found = unpacked(objective.curvature(x, "full"))
    exact = np.zeros((9, 9))
    for a in X:
        p = softmax(a @ x.reshape(3, 3))
        block = -np.outer(p, p)
        np.fill_diagonal(block, 0.0)
        np.fill_diagonal(block, -block.sum(axis=1))
        exact += np.kron(np.outer(a, a), block) / len(X)
    np.testing.assert_allclose(found, exact, rtol=1e-10, atol=1e-30)


def test_samples_that_are_drawn_by_their_curvature_have_the_right_mean():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4))
    objective = GLM(X, np.arange(400) % K, "multinomial", l2=0.1, sample_weight=rng.random(400))
    x = 3.0 * rng.standard_normal(objective.dim)
    full = objective.curvature(x, "kronecker")
    found = [objective.curvature_of_some(x, "kronecker", 0.2, [0, seed])[0] for seed in range(300)]
    plain = [objective.curvature(x, "kronecker", rng.choice(400, 80, replace=False)) for _ in range(300)]
    size = np.linalg.norm(full)
    assert np.linalg.norm(np.mean(found, axis=0) - full) <= 0.01 * size
    spread, before = (np.linalg.norm(np.std(many, axis=0)) / size for many in (found, plain))
    assert spread <= 0.7 * before


def test_the_same_samples_are_drawn_for_the_same_seed_and_paid_for():
    rng = np.random.default_rng(0)
    objective = GLM(rng.standard_normal((300, 4)), np.arange(300) % K, "multinomial")
    for form in ("kronecker", "diagonal"):
        (one, cost), (other, _) = (
            objective.curvature_of_some(np.ones(4 * K), form, 0.1, [3, 1]) for _ in "ab"
        )
        np.testing.assert_array_equal(one, other)
        assert 30 < cost <= 300 * objective.second_order.price(form)


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
    assert 2.0 < narrow < 6.0 and 25.0 < wide < 60.0
    thin, thick, dense = second(2000, 1000, 0.01), second(2000, 1000, 0.04), second(2000, 1000)
    assert 1.5 < thin.full < thick.full
    assert thin.full * thin.work < thick.full * thick.work < dense.full * dense.work
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


def test_second_derivatives_of_squares_are_taken_without_predictions(monkeypatch):
    rng = np.random.default_rng(0)
    X, chosen = rng.standard_normal((30, 8)), np.array([1, 4, 6])
    objective = GLM(X, rng.standard_normal(30), "squared", l2=0.5)
    monkeypatch.setattr(type(objective.design), "predict", None)
    some = unpacked(objective.curvature_among(rng.standard_normal(8), chosen))
    np.testing.assert_allclose(some, X[:, chosen].T @ X[:, chosen] / 30 + 0.5 * np.eye(3), rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("factor", [0.25, -0.25])
def test_equal_factors_give_what_different_ones_do(dtype, factor):
    X = np.random.default_rng(0).standard_normal((40, 5)).astype(dtype)
    some = gram.summed(GLM(X, np.zeros(40), "squared").design, np.full(40, factor))
    expected = factor * X.astype(float).T @ X.astype(float)
    np.testing.assert_allclose(unpacked(gram.gram_triangle(some)), expected, rtol=1e-13, atol=1e-14)
