"""Compiled walks with pieces against the plain loop."""

import numpy as np
import pytest
from scipy import sparse

import tether
from tether.kernels.codes import NO_PARAMETERS
from tether.objectives.compiled import FACTOR, Compiled, Model, compile_model
from tether.objectives.losses.kernel_codes import coded
from tether.objectives.walk import Averaging, Walk, walk_in_numpy
from tether.polyhedral import Pieces

N, D = 60, 12
LABELS = {
    "logistic": lambda rng: rng.integers(0, 2, N),
    "squared": lambda rng: rng.standard_normal(N),
    "multinomial": lambda rng: np.arange(N) % 3,
    "huber": lambda rng: 3 * rng.standard_normal(N),
    "poisson": lambda rng: rng.poisson(1.0, N),
}
MODELS = [
    pytest.param(loss, kind, ones, id=f"{loss}-{kind}-{'ones' if ones else 'plain'}")
    for loss in LABELS
    for kind in ("dense", "sparse")
    for ones in (False, True)
]
KINDS = {
    "l1": lambda rng, p: Pieces.of(p, left=0.3, right=0.3),
    "asymmetric": lambda rng, p: Pieces.of(p, left=rng.random(p), right=0.2 * rng.random(p)),
    "one-sided": lambda rng, p: Pieces.of(p, right=0.4),
    "box": lambda rng, p: Pieces.of(p, -0.1, 0.15),
    "nonnegative": lambda rng, p: Pieces.of(p, lower=0.0),
    "away from zero": lambda rng, p: Pieces.of(p, 0.05, 0.4, left=0.1, right=0.2),
    "mixed": lambda rng, p: Pieces.of(
        p,
        np.where(rng.random(p) < 0.5, -0.2, -np.inf),
        np.where(rng.random(p) < 0.5, 0.1, np.inf),
        rng.choice([0.0, 0.1, 1.0], p),
        rng.choice([0.0, 0.2, 2.0], p),
    ),
}


def compiled(objective: tether.GLM) -> Compiled:
    samples = objective.y, objective.weights, objective.offset, objective.n_outputs
    return compile_model(objective.design, Model(*coded(objective.loss), *samples, objective.ridge))


def model(loss: str, kind: str, ones: bool, l2: float = 0.1) -> tether.GLM:
    """Columns that are seldom met beside one that is met all the time."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < np.geomspace(0.02, 0.8, D))
    data = sparse.csr_array(X) if kind == "sparse" else X
    options = {}
    if ones:  # and everything else that a model may have
        options = {
            "fit_intercept": True,
            "sample_weight": rng.random(N),
            "l2": np.append(np.full(D, l2), 0.0),
        }
        options |= {} if loss == "multinomial" else {"offset": 0.5 * rng.standard_normal(N)}
    return tether.GLM(data, LABELS[loss](rng), loss, **({"l2": l2} | options))


def walk_of(objective: tether.GLM, pieces: Pieces, steps: int, batch: int, anchored: bool) -> Walk:
    rng = np.random.default_rng(3)
    x, anchor, shift = 0.2 * rng.standard_normal((3, objective.dim))
    return Walk(
        start=pieces.prox(x, 0.1),
        steps=steps,
        step_size=0.03,
        batches=rng.integers(0, N, (steps, batch)),
        shift=2.0 * shift,
        anchor=anchor if anchored else None,
        slopes=objective.evaluate(anchor).slopes if anchored else None,
        ridge=0.2 * anchored,
        clock=7,
        pieces=pieces,
    )


def assert_agrees(objective: tether.GLM, walk: Walk) -> np.ndarray:
    fast = compiled(objective)
    assert fast.serves(walk)
    walked, plain = fast.descend(walk), walk_in_numpy(objective, walk)
    assert walked.gradients == plain.gradients
    np.testing.assert_allclose(walked.end, plain.end, atol=1e-12)
    np.testing.assert_array_equal(walked.end == 0.0, plain.end == 0.0)
    assert walk.pieces is not None
    for wall in (walk.pieces.lower, walk.pieces.upper):
        np.testing.assert_array_equal(walked.end == wall, plain.end == wall)
    return walked.end


@pytest.mark.parametrize(("loss", "kind", "ones"), MODELS)
@pytest.mark.parametrize("pieces", KINDS)
@pytest.mark.parametrize("anchored", [False, True], ids=["sgd", "svrg"])
@pytest.mark.parametrize(("steps", "batch"), [(300, 1), (40, 3)])
def test_a_walk_with_pieces_agrees_with_numpy(loss, kind, ones, pieces, anchored, steps, batch):
    objective = model(loss, kind, ones)
    chosen = KINDS[pieces](np.random.default_rng(2), objective.dim)
    assert_agrees(objective, walk_of(objective, chosen, steps, batch, anchored))


@pytest.mark.parametrize("loss", ["squared", "multinomial"])
def test_walks_meet_zero_and_walls(loss):
    """Else agreement would say little."""
    objective = model(loss, "sparse", False)
    ends = {
        name: assert_agrees(
            objective, walk_of(objective, pieces(np.random.default_rng(2), objective.dim), 300, 1, True)
        )
        for name, pieces in KINDS.items()
    }
    for name in ("l1", "one-sided", "mixed"):
        assert 0 < np.sum(ends[name] == 0.0) < objective.dim
    assert np.sum(ends["box"] == -0.1) > 0 and np.sum(ends["box"] == 0.15) > 0
    assert np.sum(ends["nonnegative"] == 0.0) > 0
    assert np.sum(ends["away from zero"] == 0.05) > 0 and np.sum(ends["away from zero"] == 0.4) > 0


@pytest.mark.parametrize("l2", [0.0, 1e-6, 1.0])
@pytest.mark.parametrize(
    ("loss", "pieces"), [*(("squared", name) for name in KINDS), ("multinomial", "mixed")]
)
def test_thousands_of_steps_agree_whatever_the_ridge(loss, l2, pieces):
    objective = model(loss, "sparse", ones=False, l2=l2)
    walk = walk_of(objective, KINDS[pieces](np.random.default_rng(2), objective.dim), 4000, 1, False)
    few = np.array([0, 1, 2])  # so that most columns wait for all the time
    order = np.where(np.arange(4000) % 1900 < 1899, 0, walk.batches[:, 0])
    assert_agrees(objective, walk._replace(step_size=1e-3, batches=few[order % 3][:, None]))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_a_start_beyond_the_walls_is_no_exception(kind, loss):
    objective = model(loss, kind, ones=True)
    pieces = Pieces.of(objective.dim, -0.1, 0.2, left=0.1)
    for steps in (1, 2, 50):
        walk = walk_of(objective, pieces, steps, 1, True)
        start = np.random.default_rng(4).standard_normal(objective.dim)
        assert_agrees(objective, walk._replace(start=start))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_full_gradients_agree(kind, loss):
    objective = model(loss, kind, ones=True)
    walk = walk_of(objective, KINDS["mixed"](np.random.default_rng(2), objective.dim), 7, 1, False)
    walk = walk._replace(batches=None)
    walked, plain = compiled(objective).descend(walk), walk_in_numpy(objective, walk)
    assert walked.gradients == plain.gradients == 7 * N
    np.testing.assert_allclose(walked.end, plain.end, atol=1e-13)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
@pytest.mark.parametrize("averaging", [(0.0, False), (0.5, True)], ids=["before", "after"])
def test_dense_rows_bear_decay_and_running_sums(loss, averaging):
    objective = model(loss, "dense", ones=True)
    walk = walk_of(objective, KINDS["mixed"](np.random.default_rng(2), objective.dim), 30, 3, True)
    walk = walk._replace(decay=0.05, averaging=Averaging(np.ones(objective.dim), 2.0, *averaging))
    walked, plain = compiled(objective).descend(walk), walk_in_numpy(objective, walk)
    np.testing.assert_allclose(walked.end, plain.end, atol=1e-12)
    np.testing.assert_allclose(walked.averaging.total, plain.averaging.total, atol=1e-12)
    assert walked.averaging.weight == pytest.approx(plain.averaging.weight, rel=1e-13)


def test_sparse_rows_leave_what_has_no_closed_form_to_numpy(monkeypatch):
    monkeypatch.setattr("tether.objectives.glm.COMPILE_FROM", 1)
    objective = model("logistic", "sparse", ones=False)
    walk = walk_of(objective, KINDS["mixed"](np.random.default_rng(2), objective.dim), 30, 1, False)
    assert objective._compiled.serves(walk)
    for change in (
        {"decay": 0.1},
        {"averaging": Averaging(np.zeros(objective.dim), 0.0, 0.1, False)},
        {"step_size": 15.0},
    ):
        other = walk._replace(**change)
        assert not objective._compiled.serves(other)
        np.testing.assert_array_equal(objective.descend(other).end, walk_in_numpy(objective, other).end)


@pytest.mark.parametrize(("loss", "kind", "ones"), MODELS)
def test_pieces_that_do_nothing_change_no_bit(loss, kind, ones):
    objective = model(loss, kind, ones)
    fast, nothing = compiled(objective), Pieces.of(objective.dim)
    walk = walk_of(objective, nothing, 50, 2, True)
    walk = walk._replace(decay=0.01, averaging=Averaging(np.zeros(objective.dim), 0.0, 0.1, False))
    with_them, without = fast.descend(walk), fast.descend(walk._replace(pieces=None))
    assert fast.serves(walk)
    np.testing.assert_array_equal(with_them.end, without.end)
    np.testing.assert_array_equal(with_them.averaging.total, without.averaging.total)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_pieces_that_hold_nobody_back_give_the_same_walk(kind):
    objective = model("logistic", kind, ones=True)
    walk = walk_of(objective, Pieces.of(objective.dim, -1e6, 1e6), 300, 1, True)
    fast = compiled(objective)
    np.testing.assert_allclose(
        fast.descend(walk).end, fast.descend(walk._replace(pieces=None)).end, atol=1e-12
    )


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("loss", ["squared", "multinomial"])
def test_divergence_shows(kind, loss):
    objective = model(loss, kind, ones=False)
    walk = walk_of(objective, Pieces.of(objective.dim, -1.0, 1.0, 0.1, 0.1), 60, 1, True)
    start = walk.start.copy()
    start[-1] = np.nan
    with np.errstate(invalid="ignore"):
        end = compiled(objective).descend(walk._replace(start=start)).end
    assert np.isnan(end[-1])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_factors_of_a_quadratic_agree(kind):
    rng = np.random.default_rng(6)
    rows = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.3)
    objective = tether.Quadratic(
        factors=sparse.csr_array(rows) if kind == "sparse" else rows, linear=rng.standard_normal(D)
    )
    fast = compile_model(
        objective.form.design, Model(FACTOR, NO_PARAMETERS, np.zeros(N), linear=objective.linear)
    )
    x, anchor = rng.standard_normal((2, D))
    for there in (None, anchor):
        slopes = None if there is None else objective.evaluate(there).slopes
        walk = Walk(x, 50, 0.02, rng.integers(0, N, (50, 2)), anchor=there, slopes=slopes)
        walk = walk._replace(pieces=Pieces.of(D, -1.0, np.inf, 0.2, 0.4))
        np.testing.assert_allclose(fast.descend(walk).end, walk_in_numpy(objective, walk).end, atol=1e-12)
