"""Data is never copied: memory maps stay on disk, and a run needs little beside X."""

import gc
import pickle
import tracemalloc
import weakref

import numpy as np
import pytest
from scipy import sparse

import tether

N, D = 100_000, 50


@pytest.fixture(scope="module")
def labels():
    return np.arange(N) % 2


def on_disk(folder, name, array):
    path = folder / name
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def test_a_memory_map_is_used_as_it_is(tmp_path, labels):
    X = on_disk(tmp_path, "X.npy", np.random.default_rng(0).standard_normal((N, D)))
    objective = tether.GLM(X, labels, l2=1e-3)
    assert np.shares_memory(objective.design.matrix, X)
    sol = tether.solve(objective, tether.Affine(np.ones((1, D)), [1.0]), tol=1e-6)
    assert sol.success


def test_a_memory_mapped_csr_matrix_is_used_as_it_is(tmp_path, labels):
    rows = sparse.random_array((N, 1000), density=0.003, format="csr", rng=np.random.default_rng(0))
    parts = [on_disk(tmp_path, f"{name}.npy", getattr(rows, name)) for name in ("data", "indices", "indptr")]
    X = sparse.csr_array(tuple(parts), shape=rows.shape)
    X.has_canonical_format = True
    objective = tether.GLM(X, labels, l2=1e-3)
    for name, part in zip(("data", "indices"), parts, strict=False):
        assert np.shares_memory(getattr(objective.design.matrix, name), part)
    assert tether.solve(objective, tether.Affine(np.ones((1, 1000))), tol=1e-5).success


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_run_needs_less_than_a_third_of_the_data_beside_it(kind, labels):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    X = sparse.csr_array(X) if kind == "sparse" else X
    size = X.data.nbytes
    objective, constraint = tether.GLM(X, labels, l2=1e-3), tether.Affine(np.ones((1, D)), [1.0])
    tether.solve(objective, constraint, "skip", max_rounds=2)  # compiling takes memory of its own
    tracemalloc.start()
    objective, constraint = tether.GLM(X, labels, l2=1e-3), tether.Affine(np.ones((1, D)), [1.0])
    tether.solve(objective, constraint, "skip", max_rounds=6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.3 * size


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_a_model_that_was_solved_can_be_pickled_at_its_size_and_dies_at_once(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_200, 900)) * (rng.random((1_200, 900)) < 0.1)
    objective = tether.GLM(make(X), rng.integers(2, size=1_200), l2=1e-3)
    size = len(pickle.dumps(objective))
    tether.solve(objective, max_rounds=3)
    assert objective.contrast.passes > 0.0 and objective.contrast.spread > 0.0
    assert len(pickle.dumps(objective)) < 1.1 * size
    alive = weakref.ref(objective)
    gc.disable()
    try:
        del objective
        assert alive() is None
    finally:
        gc.enable()
