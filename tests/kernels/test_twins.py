"""Compiled models against their plain NumPy twins."""

import numpy as np
import pytest
from scipy import sparse

import tether
from tether import threads
from tether.kernels.codes import NO_PARAMETERS
from tether.objectives.compiled import FACTOR, Compiled, Model, compile_model
from tether.objectives.losses.kernel_codes import coded
from tether.objectives.walk import Averaging, Walk, walk_in_numpy

N, D = 60, 12
LABELS = {
    "logistic": lambda rng: rng.integers(0, 2, N),
    "squared": lambda rng: rng.standard_normal(N),
    "multinomial": lambda rng: np.arange(N) % 3,
    "huber": lambda rng: 3 * rng.standard_normal(N),
    "poisson": lambda rng: rng.poisson(1.0, N),
    "binomial": lambda rng: rng.random(N).round(1),
    "gamma": lambda rng: rng.gamma(2.0, size=N),
    "tweedie": lambda rng: rng.gamma(2.0, size=N) * (rng.random(N) < 0.6),
    "quantile-smoothed": lambda rng: rng.standard_normal(N),
}


def compiled(objective: tether.GLM) -> Compiled:
    known = coded(objective.loss)
    samples = objective.y, objective.weights, objective.offset, objective.n_outputs
    return compile_model(objective.design, Model(*known, *samples, objective.ridge))


def model(loss: str, kind: str, *, ones: bool, weighted: bool, dtype: type = np.float64) -> tether.GLM:
    rng = np.random.default_rng(1)
    X = (rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.4)).astype(dtype)
    l2 = 0.1 if not ones else ridge(rng, kind)
    return tether.GLM(
        sparse.csr_array(X) if kind == "sparse" else X,
        LABELS[loss](rng),
        loss=loss,
        l2=l2,
        fit_intercept=ones,
        sample_weight=rng.random(N) if weighted else None,
        offset=0.5 * rng.standard_normal(N) if weighted and loss != "multinomial" else None,
    )


def ridge(rng: np.random.Generator, kind: str) -> np.ndarray:
    """Return numbers for every coefficient: sparse kernels let the intercept alone have one of its own."""
    return rng.random(D + 1) if kind == "dense" else np.append(np.full(D, 0.1), 0.0)


MODELS = [
    pytest.param(loss, kind, ones, weighted, id=f"{loss}-{kind}-{'ones' if ones else 'plain'}")
    for loss in LABELS
    for kind in ("dense", "sparse")
    for ones, weighted in ((False, False), (True, True))
]


@pytest.mark.parametrize(("loss", "kind", "ones", "weighted"), MODELS)
def test_a_full_pass_agrees_with_numpy(loss, kind, ones, weighted):
    objective = model(loss, kind, ones=ones, weighted=weighted)
    x = 0.3 * np.random.default_rng(2).standard_normal(objective.dim)
    fast, plain = compiled(objective).evaluate(x), objective.evaluate_in_numpy(x)
    assert fast.value == pytest.approx(plain.value, rel=1e-13)
    np.testing.assert_allclose(fast.gradient, plain.gradient, atol=1e-14)
    np.testing.assert_allclose(fast.slopes, plain.slopes, atol=1e-13)


@pytest.mark.parametrize(("loss", "kind", "ones", "weighted"), MODELS)
@pytest.mark.parametrize("averaging", [None, (0.0, False), (0.5, True)])
@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize(("steps", "batch"), [(4, 1), (30, 3), (10, 20)])
def test_a_walk_agrees_with_numpy(loss, kind, ones, weighted, averaging, anchored, steps, batch):
    objective = model(loss, kind, ones=ones, weighted=weighted)
    rng = np.random.default_rng(3)
    x, anchor, shift, total = 0.2 * rng.standard_normal((4, objective.dim))
    walk = Walk(
        start=x,
        steps=steps,
        step_size=0.02,
        batches=rng.integers(0, N, (steps, batch)),
        shift=0.1 * shift,
        anchor=anchor if anchored else None,
        slopes=objective.evaluate(anchor).slopes if anchored else None,
        ridge=0.2 * anchored,
        decay=0.01,
        clock=7,
        averaging=None if averaging is None else Averaging(total, 2.0, *averaging),
    )
    fast, plain = compiled(objective).descend(walk), walk_in_numpy(objective, walk)
    assert fast.gradients == plain.gradients
    np.testing.assert_allclose(fast.end, plain.end, atol=1e-12)
    if averaging is not None:
        assert fast.averaging.weight == pytest.approx(plain.averaging.weight, rel=1e-12)
        np.testing.assert_allclose(fast.averaging.total, plain.averaging.total, atol=1e-11)


@pytest.mark.parametrize(("loss", "kind", "ones", "weighted"), MODELS)
def test_a_walk_with_full_gradients_agrees_with_numpy(loss, kind, ones, weighted):
    objective = model(loss, kind, ones=ones, weighted=weighted)
    x, shift = 0.2 * np.random.default_rng(3).standard_normal((2, objective.dim))
    walk = Walk(start=x, steps=7, step_size=0.05, batches=None, shift=shift, decay=0.1)
    fast, plain = compiled(objective).descend(walk), walk_in_numpy(objective, walk)
    assert fast.gradients == plain.gradients == 7 * N
    np.testing.assert_allclose(fast.end, plain.end, atol=1e-13)


def test_full_gradients_are_walked_in_one_kernel_only_where_no_core_is_free():
    fast = compiled(model("logistic", "sparse", ones=False, weighted=False))
    walk = Walk(start=np.zeros(D), steps=3, step_size=0.1, batches=None)
    assert not fast.serves(walk)
    if threads.CORES > 1:
        assert threads.share(lambda *_: fast.serves(walk), threads.CORES) == [True] * threads.CORES


def test_scales_that_shrink_to_nothing_are_written_out():
    objective = model("squared", "sparse", ones=False, weighted=False)
    rng = np.random.default_rng(4)
    x, shift = rng.standard_normal((2, objective.dim))
    walk = Walk(x, 2000, 0.05, rng.integers(0, N, (2000, 1)), shift=shift, ridge=5.0)
    walk = walk._replace(averaging=Averaging(np.zeros_like(x), 0.0, 4.0, False))
    fast, plain = compiled(objective).descend(walk), walk_in_numpy(objective, walk)
    np.testing.assert_allclose(fast.end, plain.end, atol=1e-12)
    np.testing.assert_allclose(fast.averaging.total, plain.averaging.total, atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_single_precision_data_stays_close(kind):
    single = model("logistic", kind, ones=True, weighted=False, dtype=np.float32)
    x = 0.3 * np.random.default_rng(5).standard_normal(single.dim)
    fast, plain = compiled(single).evaluate(x), single.evaluate_in_numpy(x)
    np.testing.assert_allclose(fast.gradient, plain.gradient, atol=1e-6)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_factors_of_a_quadratic_agree_with_numpy(kind):
    rng = np.random.default_rng(6)
    rows = rng.standard_normal((N, D))
    data = sparse.csr_array(rows) if kind == "sparse" else rows
    objective = tether.Quadratic(factors=data, linear=rng.standard_normal(D))
    fast = compile_model(
        objective.form.design, Model(FACTOR, NO_PARAMETERS, np.zeros(N), linear=objective.linear)
    )
    x, anchor = rng.standard_normal((2, D))
    np.testing.assert_allclose(fast.evaluate(x).gradient, objective.evaluate(x).gradient, atol=1e-12)
    for there in (None, anchor):
        slopes = None if there is None else objective.evaluate(there).slopes
        walk = Walk(x, 20, 0.01, rng.integers(0, N, (20, 2)), anchor=there, slopes=slopes)
        np.testing.assert_allclose(fast.descend(walk).end, walk_in_numpy(objective, walk).end, atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_large_data_is_compiled_for_and_solves_to_the_same_point(kind, monkeypatch):
    small = model("logistic", kind, ones=True, weighted=True)
    assert small._compiled is None
    monkeypatch.setattr("tether.objectives.glm.COMPILE_FROM", 1)
    large = model("logistic", kind, ones=True, weighted=True)
    assert large._compiled is not None
    constraint = tether.Affine(np.ones((1, D + 1)), [1.0])
    slow = tether.solve(small, constraint, "lbfgs", tol=1e-13)
    for method in ("skip", "dp-svrg", "dp-asvrg"):
        fast = tether.solve(large, constraint, method, tol=1e-12, max_passes=3000)
        assert fast.success
        np.testing.assert_allclose(fast.x, slow.x, atol=1e-5)


def test_ranges_cover_everything_once():
    pieces = threads.ranges(10, 3)
    assert [i for begin, end in pieces for i in range(begin, end)] == list(range(10))


def test_a_failure_on_another_core_is_raised_here():
    def work(part, begin, end):
        if part == 1:
            raise RuntimeError("part one")

    with pytest.raises(RuntimeError, match="part one"):
        threads.share(work, 10, 2)


@pytest.mark.parametrize("outputs", [1, 3])
def test_steps_that_shrink_x_to_nothing_or_past_zero_are_steps_like_others(outputs):
    """eta l2 = 1 leaves nothing of x and eta mu = 1 nothing of the sum, yet the walk goes on."""
    rng = np.random.default_rng(5)
    X = sparse.random_array((60, 8), density=0.4, rng=rng, format="csr")
    y = rng.integers(0, 2 if outputs == 1 else outputs, 60)
    y[:3] = np.arange(3) % max(2, outputs)
    for step in (2.0, 3.0):
        objective = tether.GLM(X, y, "logistic" if outputs == 1 else "multinomial", l2=0.5)
        start = rng.standard_normal(objective.dim)
        walk = Walk(
            start,
            steps=30,
            step_size=step,
            batches=np.arange(60).reshape(30, 2),
            shift=0.1 * start,
            averaging=Averaging(np.zeros_like(start), 0.0, 0.5, False),
        )
        oracle = walk_in_numpy(objective, walk)
        objective.compile()
        walked = objective.descend(walk)
        np.testing.assert_allclose(walked.end, oracle.end, atol=1e-10)
        np.testing.assert_allclose(walked.averaging.total, oracle.averaging.total, atol=1e-10)
