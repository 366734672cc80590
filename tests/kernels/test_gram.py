"""Sums of products of rows, compiled or by BLAS, against the sums that their definition names."""

import numpy as np
import pytest
from scipy import sparse

from tether import threads
from tether.curvature import packed
from tether.kernels import gram as kernels
from tether.kernels.arguments import csr
from tether.objectives import gram
from tether.objectives.design import as_design

N, D = 90, 14


def rows(kind, density=0.2, dtype=np.float64, index=np.int32):
    rng = np.random.default_rng(0)
    dense = (rng.standard_normal((N, D)) * (rng.random((N, D)) < density)).astype(dtype)
    dense[3] = 0.0
    if kind == "dense":
        return dense
    matrix = sparse.csr_array(dense)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def defined(design, numbers, factors):
    """The sum, one sample after the other."""
    total = np.zeros((design.width, design.width))
    for i, factor in zip(numbers, factors, strict=True):
        a = design.block(slice(i, i + 1))[0]
        total += factor * np.outer(a, a)
    return total


FACTORS = {
    "positive": lambda rng, n: rng.random(n),
    "negative": lambda rng, n: -rng.random(n),
    "mixed": lambda rng, n: rng.standard_normal(n),
    "zero": lambda rng, n: np.zeros(n),
}


@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("ones", [False, True], ids=["plain", "ones"])
@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize(("kind", "density"), [("dense", 1.0), ("csr", 0.1), ("csr", 0.9)])
def test_a_sum_of_products_is_what_it_says(kind, density, dtype, compiled, ones, factors):
    rng = np.random.default_rng(1)
    design = as_design(rows(kind, density, dtype), ones=ones)
    batch = rng.integers(0, N, 25)
    batch[1] = batch[0]
    for numbers in (None, batch):
        c = FACTORS[factors](rng, N if numbers is None else len(numbers))
        some = gram.summed(design, c, numbers)
        expected = defined(design, np.arange(N) if numbers is None else numbers, c)
        found = gram.gram_triangle(some, compiled=compiled)
        np.testing.assert_allclose(found, packed(expected), atol=1e-12)
        squares = gram.square_sums(some, compiled=compiled)
        np.testing.assert_allclose(squares[:, 0], expected.diagonal(), atol=1e-12)


def test_the_test_above_takes_every_way():
    assert gram.is_sparse(as_design(rows("csr", 0.1)))
    assert gram.is_sparse(as_design(rows("csr", 0.1), ones=True))
    assert not gram.is_sparse(as_design(rows("csr", 0.9)))


def test_squares_are_summed_for_every_output():
    rng = np.random.default_rng(1)
    for kind in ("dense", "csr"):
        design, c = as_design(rows(kind), ones=True), rng.standard_normal((N, 3))
        expected = design.block(slice(0, N)).T ** 2 @ c
        for compiled in (False, True):
            found = gram.square_sums(gram.summed(design, c), compiled=compiled)
            np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernels_do_what_their_plain_code_does(index, dtype):
    matrix, rng = rows("csr", dtype=dtype, index=index), np.random.default_rng(2)
    numbers, c = rng.integers(0, N, 30).astype(np.uint64), rng.standard_normal(30)
    for ones in (False, True):
        size = (D + ones) * (D + ones + 1) // 2
        fast, plain = np.zeros(size), np.zeros(size)
        kernels.add_products(*csr(matrix), ones, numbers, c, fast)
        kernels.add_products.py_func(*csr(matrix), ones, numbers, c, plain)
        np.testing.assert_allclose(fast, plain, atol=1e-13)
    fast, plain = np.zeros((D, 1)), np.zeros((D, 1))
    kernels.add_squares(*csr(matrix), numbers, c[:, None], fast)
    kernels.add_squares.py_func(*csr(matrix), numbers, c[:, None], plain)
    np.testing.assert_allclose(fast, plain, atol=1e-13)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_sums_shared_among_threads_are_the_same_every_time(kind, monkeypatch):
    monkeypatch.setattr(gram, "_FEW_ROWS", 8)
    monkeypatch.setattr(gram, "_MANY_ROWS", 8)
    monkeypatch.setattr(threads, "CORES", 3)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4000, D)) * (rng.random((4000, D)) < 0.15)
    design = as_design(X if kind == "dense" else sparse.csr_array(X))
    some = gram.summed(design, rng.random(4000))
    shares = []
    shared = threads.share
    monkeypatch.setattr(
        threads, "share", lambda work, n, parts: shares.append(parts) or shared(work, n, parts)
    )
    found = [gram.gram_triangle(some, compiled=True) for _ in range(5)]
    assert shares == [3] * 5
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    np.testing.assert_allclose(found[0], packed(X.T @ (some.factors[:, None] * X)), atol=1e-10)


def test_wide_rows_are_left_to_all_threads_of_blas(monkeypatch):
    monkeypatch.setattr(gram, "BLAS_WIDTH", 10)
    design, c = as_design(rows("dense")), np.random.default_rng(4).random(N)
    entered = []
    real = threads.all_blas_threads
    monkeypatch.setattr(threads, "all_blas_threads", lambda: entered.append(1) or real())
    with threads.one_blas_thread():
        found = gram.gram_triangle(gram.summed(design, c))
    assert entered == [1]
    np.testing.assert_allclose(found, packed(defined(design, np.arange(N), c)), atol=1e-12)


def test_blocks_of_a_memory_map_give_the_same_sum(tmp_path, monkeypatch):
    monkeypatch.setattr(gram, "_FEW_ROWS", 16)
    X = rows("dense")
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    c = np.random.default_rng(5).random(N)
    for ones in (False, True):
        here, there = (gram.gram_triangle(gram.summed(as_design(m, ones=ones), c)) for m in (X, mapped))
        np.testing.assert_array_equal(here, there)
        np.testing.assert_allclose(
            here, packed(defined(as_design(X, ones=ones), np.arange(N), c)), atol=1e-12
        )


def test_rows_with_one_entry_are_separable():
    assert gram.is_separable(as_design(sparse.csr_array(np.eye(5))))
    assert not gram.is_separable(as_design(sparse.csr_array(np.eye(5)), ones=True))
    assert not gram.is_separable(as_design(rows("csr")))
    assert not gram.is_separable(as_design(np.eye(5)))
