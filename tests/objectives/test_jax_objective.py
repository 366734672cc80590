import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tether.curvature import SecondOrder, unpacked
from tether.objectives import GLM, Smoothness, from_jax, jax_objective
from tether.objectives.walk import Averaging, Walk, walk_in_numpy

N, D, K = 60, 5, 3


@pytest.fixture
def data(rng):
    return {"a": rng.standard_normal((N, D)), "y": np.arange(N) % K}


def cross_entropy(params, sample):
    z = sample["a"] @ params["W"] + params["b"]
    return jax.nn.logsumexp(z) - z[sample["y"]]


def _params(dtype=np.float32):
    return {"W": np.zeros((D, K), dtype), "b": np.zeros(K, dtype)}


def _agree(objective, data, rng):
    """Assert that the objective is the library's own multinomial model."""
    model = GLM(data["a"], data["y"], "multinomial", l2=0.1, fit_intercept=True)
    x, anchor = rng.standard_normal((2, model.dim))
    batch = rng.integers(0, N, 7)
    ours, theirs = objective.evaluate(x), model.evaluate(x)
    assert ours.value == pytest.approx(theirs.value, rel=1e-12)
    np.testing.assert_allclose(ours.gradient, theirs.gradient, atol=1e-10, rtol=0)
    change = objective.batch_gradient(x, batch, anchor)
    np.testing.assert_allclose(change, model.batch_gradient(x, batch, anchor), atol=1e-10, rtol=0)


def test_multinomial_model_agrees_with_glm(data, rng):
    _agree(from_jax(cross_entropy, data, _params(), l2=0.1), data, rng)


def test_full_pass_in_small_chunks_changes_nothing(data, rng, monkeypatch):
    monkeypatch.setattr(jax_objective, "_CHUNK_NUMBERS", 7 * (D + 1))
    objective = from_jax(cross_entropy, data, _params(), l2=0.1)
    assert objective._chunk == 7
    _agree(objective, data, rng)


def test_the_users_precision_setting_is_left_alone(data):
    before = jax.config.jax_enable_x64
    objective = from_jax(cross_entropy, data, _params())
    objective.evaluate(np.ones(objective.dim))
    objective.batch_gradient(np.ones(objective.dim), np.array([0]))
    assert jax.config.jax_enable_x64 == before
    assert jnp.ones(2).dtype == (jnp.float64 if before else jnp.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_unpacking_gives_the_structure_and_types_back(data, rng, dtype):
    objective = from_jax(cross_entropy, data, _params(dtype))
    x = rng.standard_normal(objective.dim)
    params = objective.unpack(x)
    assert set(params) == {"W", "b"}
    assert params["W"].dtype == params["b"].dtype == dtype
    np.testing.assert_array_equal(np.asarray(params["W"]), x[: D * K].reshape(D, K).astype(dtype))
    np.testing.assert_array_equal(np.asarray(params["b"]), x[D * K :].astype(dtype))


def test_initial_is_the_given_parameters(data):
    params = {"W": np.arange(D * K, dtype=np.float32).reshape(D, K), "b": np.ones(K, np.float32)}
    objective = from_jax(cross_entropy, data, params)
    np.testing.assert_array_equal(objective.initial, np.r_[np.arange(D * K), np.ones(K)])


def test_ridge_counts_into_the_constants(data):
    objective = from_jax(cross_entropy, data, _params(), l2=0.5, smoothness=2.0, convexity=0.1, convex=True)
    assert objective.smoothness == pytest.approx((2.5, 2.5, 0.6, True))
    known = Smoothness(3.0, 2.0, 1.0)
    assert from_jax(cross_entropy, data, _params(), l2=0.5, smoothness=known, convex=True).smoothness == (
        3.5,
        2.5,
        1.5,
        True,
    )


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("data", {"data": {"a": np.zeros((0, D)), "y": np.zeros(0, int)}}),
        ("data", {"data": {"a": np.zeros((4, D)), "y": np.zeros(3, int)}}),
        ("data", {"data": {}}),
        ("data", {"data": {"a": np.zeros((4, D)), "y": 0}}),
        ("params", {"params": {"W": np.zeros((D, K), int), "b": np.zeros(K)}}),
        ("params", {"params": {}}),
        (r"loss\(params, sample\)", {"loss": lambda params, sample: sample["a"] @ params["W"]}),
        (r"loss\(params, sample\)", {"loss": lambda params, sample: params}),
        (r"loss\(params, sample\)", {"loss": lambda params, sample: sample["y"]}),
        ("l2", {"l2": -1.0}),
    ],
)
def test_mistakes_are_refused(data, name, arguments):
    with pytest.raises(ValueError, match=rf"^{name} must"):
        from_jax(**{"loss": cross_entropy, "data": data, "params": _params(), **arguments})


@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("averaging", [None, (0.0, False), (0.5, True)])
def test_a_walk_in_one_scan_takes_the_steps_of_the_loop_in_numpy(anchored, averaging):
    rng = np.random.default_rng(3)
    data = {"a": rng.standard_normal((30, 4)), "y": rng.standard_normal(30)}
    objective = from_jax(lambda w, s: (s["a"] @ w - s["y"]) ** 2, data, np.zeros(4), l2=0.1)
    start, anchor, shift, total = rng.standard_normal((4, 4))
    walk = Walk(
        start,
        steps=12,
        step_size=0.01,
        batches=rng.integers(0, 30, (12, 3)),
        shift=shift,
        anchor=anchor if anchored else None,
        ridge=0.3,
        decay=0.05,
        clock=4,
        averaging=None if averaging is None else Averaging(total, 2.0, *averaging),
    )
    fast, plain = objective.descend(walk), walk_in_numpy(objective, walk)
    assert fast.gradients == plain.gradients
    np.testing.assert_allclose(fast.end, plain.end, atol=1e-13)
    if averaging is not None:
        assert fast.averaging.weight == pytest.approx(plain.averaging.weight)
        np.testing.assert_allclose(fast.averaging.total, plain.averaging.total, atol=1e-12)


def test_the_hessian_is_that_of_glm_in_chunks_too(data, rng, monkeypatch):
    model = GLM(data["a"], data["y"], "multinomial", l2=0.1, fit_intercept=True)
    x, batch = rng.standard_normal(model.dim), rng.integers(0, N, 11)
    for numbers in (1 << 22, 7 * (D + 1)):
        monkeypatch.setattr(jax_objective, "_CHUNK_NUMBERS", numbers)
        objective = from_jax(cross_entropy, data, _params(), l2=0.1)
        for chosen in (None, batch):
            found = objective.curvature(x, "full", chosen)
            np.testing.assert_allclose(found, model.curvature(x, "full", chosen), atol=1e-12)
    assert objective.second_order.full > 1.0 and objective.second_order.outputs == 1


def test_a_sum_that_is_not_convex_has_the_hessian_that_it_has(data, rng):
    objective = from_jax(lambda w, s: jnp.sin(s["a"] @ w), data, np.zeros(D), smoothness=9.0, convex=False)
    x = rng.standard_normal(D)
    expected = -np.einsum("n,ni,nj->ij", np.sin(data["a"] @ x), data["a"], data["a"]) / N
    found = unpacked(objective.curvature(x, "full"))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.linalg.eigvalsh(found)[0] < 0.0


@jax.custom_vjp
def called_back(z):
    return z**2


def _slope_called_back(z, slope):
    return (
        jax.pure_callback(
            lambda z, s: 2 * z * s, jax.ShapeDtypeStruct((), z.dtype), z, slope, vmap_method="sequential"
        ),
    )


called_back.defvjp(lambda z: (z**2, z), _slope_called_back)


@jax.custom_vjp
def held(z):
    return z**2


held.defvjp(lambda z: (z**2, z), lambda z, slope: (2 * jax.lax.stop_gradient(z) * slope,))


@pytest.mark.parametrize("square", [called_back, held], ids=["raises", "says zero"])
def test_a_loss_that_can_be_differentiated_only_once_has_no_hessian(data, square):
    objective = from_jax(lambda w, s: square(s["a"] @ w), data, np.zeros(D), smoothness=9.0, convex=True)
    assert objective.second_order == SecondOrder()
    with pytest.raises(NotImplementedError, match="JaxObjective has no second derivatives"):
        objective.curvature(np.zeros(D), "full")


def test_many_parameters_have_no_hessian(data, monkeypatch):
    monkeypatch.setattr(jax_objective, "_LARGEST_HESSIAN", D * K + K - 1)
    assert from_jax(cross_entropy, data, _params()).second_order == SecondOrder()
