"""Newton's method on working sets: many variables, of which few are free."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds

import tether
from tether.curvature import unpacked

RNG = np.random.default_rng(3)
N, P = 300, 700
X = RNG.standard_normal((N, P))
TRUTH = np.where(np.arange(P) < 12, RNG.standard_normal(P), 0.0)
LABELS = np.where(X @ TRUTH + RNG.standard_normal(N) > 0, 1, 0)
A = RNG.standard_normal((3, P))
CASES = {
    "l1": (None, tether.L1(0.02)),
    "l1 and equations": (tether.Affine(A), tether.L1(0.02)),
    "l1, equations and bounds": ([tether.Affine(A), Bounds(-0.2, 0.3)], tether.L1(0.02)),
    "nonnegative": (tether.NonNegative(), tether.L1(0.01)),
}


@pytest.mark.parametrize(
    ("loss", "case"),
    [*((loss, case) for loss in ("logistic", "squared") for case in CASES), ("poisson", "l1")],
)
def test_a_working_set_leads_to_the_minimum_of_all_variables(loss, case):
    constraint, penalty = CASES[case]
    objective = tether.GLM(X, LABELS, loss=loss, l2=1e-3)
    found = tether.solve(objective, constraint, "newton", penalty=penalty, rtol=1e-8)
    other = tether.solve(objective, constraint, "skip", penalty=penalty, rtol=1e-6, max_passes=3_000)
    assert found.success and found.counts.rounds <= 40
    assert other.success or loss == "poisson"  # whose steps rest on an estimate
    assert -found.gap - 1e-12 <= other.fun - found.fun <= other.gap + 1e-12
    assert np.count_nonzero(found.x) < 250 and found.residual <= 1e-10


def test_a_sparse_model_of_thousands_of_variables_converges_quadratically():
    rng = np.random.default_rng(0)
    data = sparse.random_array((2_000, 6_000), density=0.01, rng=rng, format="csr")
    y = np.where(data[:, :20] @ rng.standard_normal(20) > 0, 1, 0)
    objective = tether.GLM(data, y, l2=1e-6, fit_intercept=True)
    sol = tether.solve(objective, penalty=tether.L1(1e-3, weights=np.append(np.ones(6_000), 0.0)), rtol=1e-12)
    falls = sol.history["value"][::2] - sol.fun
    falls = falls[falls > 1e-13]
    assert sol.success and "working sets" in sol.message
    assert falls[-1] <= 1e-2 * falls[-2]


@pytest.mark.parametrize("kind", ["dense", "sparse", "with ones", "weighted"])
def test_second_derivatives_of_some_variables_are_a_block_of_all(kind):
    data = sparse.csr_array(X * (RNG.random(X.shape) < 0.1)) if kind == "sparse" else X
    weights = RNG.random(N) if kind == "weighted" else None
    objective = tether.GLM(data, LABELS, l2=0.1, fit_intercept=kind == "with ones", sample_weight=weights)
    x, chosen = 0.1 * RNG.standard_normal(objective.dim), np.array([0, 5, 17, objective.dim - 1])
    block = unpacked(objective.curvature_among(x, chosen))
    whole = unpacked(objective.curvature(x, "full"))
    assert block == pytest.approx(whole[np.ix_(chosen, chosen)], rel=1e-12, abs=1e-15)


def test_a_federation_takes_the_same_steps():
    constraint, penalty = CASES["l1 and equations"]
    parts = np.array_split(np.argsort(LABELS, kind="stable"), 3)
    workers = tether.Federation([tether.GLM(X[part], LABELS[part], l2=1e-3) for part in parts])
    alone = tether.solve(tether.GLM(X, LABELS, l2=1e-3), constraint, "newton", penalty=penalty)
    together = tether.solve(workers, constraint, "newton", penalty=penalty)
    assert together.counts.rounds == alone.counts.rounds
    assert together.x == pytest.approx(alone.x, abs=1e-5)


def test_a_run_that_is_stopped_goes_on_bit_for_bit(tmp_path):
    constraint, penalty = CASES["l1 and equations"]
    objective, path = tether.GLM(X, LABELS, l2=1e-3), tmp_path / "run.npz"
    settings = {"penalty": penalty, "rtol": 1e-14}
    whole = tether.solve(objective, constraint, "newton", max_rounds=12, **settings)
    for rounds in range(1, 13):
        part = tether.solve(objective, constraint, "newton", checkpoint=path, max_rounds=rounds, **settings)
    assert np.array_equal(part.x, whole.x) and part.fun == whole.fun


def test_where_too_many_variables_are_free_the_flagship_goes_on(monkeypatch):
    for room in ("sequential", "beyond_planes"):
        monkeypatch.setattr(f"tether.methods.{room}.LARGEST_SET", 1_000)
    rng = np.random.default_rng(1)
    data = sparse.random_array((3_000, 8_000), density=0.01, rng=rng, format="csr")
    y = rng.integers(0, 2, 3_000)
    sol = tether.solve(tether.GLM(data, y, l2=1e-3), penalty=tether.L1(1e-7), max_passes=400)
    assert sol.success and "many variables are free" in sol.message
