import logging

import numpy as np
import pytest
import scipy.sparse as sp

from tether.constraints import Affine
from tether.constraints.algebra.factor import product_fills_in, work_of_factorising
from tether.constraints.algebra.sparse import (
    FACTORISING_WORK,
    ITERATION_LIMIT,
    _converges_within,
    _unit_rows,
    sparse_rows,
)


def banded(rows, length, stride):
    columns = np.arange(rows)[:, None] * stride + np.arange(length)
    entries = (np.ones(rows * length), (np.repeat(np.arange(rows), length), columns.ravel()))
    return sp.csr_array(entries, shape=(rows, (rows - 1) * stride + length))


def with_full_columns(A, count):
    return sp.csr_array(sp.hstack([A, np.random.default_rng(0).standard_normal((A.shape[0], count))]))


def check(constraint, x):
    y = constraint.project(x)
    assert constraint.residual(y) <= 1e-10 * (1 + np.linalg.norm(constraint.b))
    # x - y is normal: the projection is the nearest point, not just some feasible one.
    assert np.linalg.norm(constraint.tangent(x - y)) <= 1e-9 * (1 + np.linalg.norm(x))


def test_million_columns_are_projected():
    rng = np.random.default_rng(0)
    for stride in (10, 9):
        A = banded(100_000, 10, stride)
        check(Affine(A, np.ones(100_000)), rng.standard_normal(A.shape[1]))


def test_overlapping_windows_are_factorised():
    A = banded(100_000, 10, 1)
    rng = np.random.default_rng(0)
    constraint = Affine(A, A @ rng.standard_normal(A.shape[1]))
    assert "factorised" in repr(constraint)
    check(constraint, rng.standard_normal(A.shape[1]))


def test_full_columns_go_through_the_augmented_matrix():
    A = with_full_columns(banded(4_000, 4, 3), 3)
    rng = np.random.default_rng(1)
    constraint = Affine(A, A @ rng.standard_normal(A.shape[1]))
    assert repr(constraint) == "Affine(4000 x 12004, sparse, augmented)"
    check(constraint, rng.standard_normal(A.shape[1]))


def test_augmented_matrix_agrees_with_pinv(monkeypatch):
    monkeypatch.setattr("tether.constraints.algebra.factor.FILL_LIMIT", 0)
    rng = np.random.default_rng(2)
    A = with_full_columns(banded(12, 4, 3), 2).toarray()
    A = np.vstack([A, A[:3] - A[3:6]])
    x, x0 = rng.standard_normal((2, A.shape[1]))
    constraint = Affine(sp.csr_array(A), A @ x0)
    assert "augmented" in repr(constraint)
    np.testing.assert_allclose(constraint.project(x), x - np.linalg.pinv(A) @ (A @ (x - x0)), atol=1e-11)


@pytest.mark.parametrize("redundant", [False, True])
def test_nearest_solution_tangent_part_and_multipliers_are_found_together(redundant):
    rng = np.random.default_rng(4)
    A = sp.csr_array(sp.random_array((80, 200), density=0.03, rng=rng) + sp.eye_array(80, 200))
    A = sp.csr_array(sp.vstack([A, A[:2] + A[2:4]])) if redundant else A
    inverse, v, b = np.linalg.pinv(A.toarray()), rng.standard_normal(200), A @ rng.standard_normal(200)
    rows = sparse_rows(A)
    assert "factorised" in rows.kind
    point, multipliers = rows.nearest(v, b)
    np.testing.assert_allclose(point, v + inverse @ (b - A @ v), atol=1e-12)
    np.testing.assert_allclose(A.T @ multipliers, point - v, atol=1e-12)
    np.testing.assert_allclose(rows.projected(v, b, inverse @ b), point, atol=1e-12)
    assert rows.projected(point, b, inverse @ b).tolist() == point.tolist()
    tangent, multipliers = rows.parts(v)
    assert tangent.tolist() == rows.tangent(v).tolist()
    np.testing.assert_allclose(A.T @ multipliers, v - tangent, atol=1e-12)


def test_what_is_nearest_to_a_contradiction_is_least_squares():
    rng = np.random.default_rng(5)
    A = sp.csr_array(sp.random_array((80, 200), density=0.03, rng=rng) + sp.eye_array(80, 200))
    A = sp.csr_array(sp.vstack([A, A[:1]]))
    rows, v, b = sparse_rows(A), rng.standard_normal(200), rng.standard_normal(81)
    point, multipliers = rows.nearest(v, b)
    unit = A.toarray() * rows.scale[:, None]  # what is missed is weighed with rows of unit length
    assert multipliers is None
    least = np.linalg.lstsq(unit, rows.scale * b)[0]
    np.testing.assert_allclose(unit @ point, unit @ least, atol=1e-9)


def test_only_full_columns_make_the_product_fill_in():
    A = banded(4_000, 4, 3)
    assert not product_fills_in(A)
    assert product_fills_in(with_full_columns(A, 1))
    assert not product_fills_in(sp.csr_array(np.ones((50, 100))))  # A A^T has fewer entries than A


def test_work_of_factorising_tells_bands_from_expanders():
    rng = np.random.default_rng(3)
    rows = 10_000
    expander = sp.csr_array(
        (np.ones(8 * rows), (np.repeat(np.arange(rows), 8), rng.integers(0, 20_000, 8 * rows)))
    )
    assert work_of_factorising(banded(rows, 4, 1)) < 1e7
    assert work_of_factorising(expander) > FACTORISING_WORK


def test_redundant_rows_leave_projections_exact():
    A = banded(300, 10, 5)
    A = sp.csr_array(sp.vstack([A, A[:100] + 2 * A[100:200], A[:50]]))
    rng = np.random.default_rng(4)
    check(Affine(A, A @ rng.standard_normal(A.shape[1])), rng.standard_normal(A.shape[1]))


def test_nearly_dependent_rows_are_warned_about(caplog):
    hilbert = 1.0 / (np.arange(14)[:, None] + np.arange(30) + 1)
    with caplog.at_level(logging.WARNING, logger="tether"):
        Affine(sp.csr_array(hilbert))
    assert "nearly dependent" in caplog.text


def test_right_hand_side_that_cannot_be_met_accurately_is_refused():
    hilbert = 1.0 / (np.arange(14)[:, None] + np.arange(30) + 1)
    with pytest.raises(ValueError, match=r"^A x = b "):
        Affine(sp.csr_array(hilbert), np.random.default_rng(0).standard_normal(14))


def test_contradiction_in_a_large_sparse_system_is_found():
    A = sp.csr_array(sp.vstack([banded(3_000, 10, 5), banded(3_000, 10, 5)[[42]]]))
    b = np.ones(3_001)
    b[3_000] = 2.0
    with pytest.raises(ValueError, match=r"rows 42 and 3000 contradict .* \(contradiction 0\.224\)"):
        Affine(A, b)


def test_expander_is_iterated_on_even_when_that_takes_a_while():
    rng = np.random.default_rng(5)
    rows, columns = 6_000, 12_000
    entries = (
        rng.standard_normal(8 * rows),
        (np.repeat(np.arange(rows), 8), rng.integers(0, columns, 8 * rows)),
    )
    A = sp.csr_array(entries, shape=(rows, columns))
    unit = _unit_rows(A)
    assert not _converges_within(ITERATION_LIMIT, unit)
    constraint = Affine(A, A @ rng.standard_normal(columns))
    assert "iterative" in repr(constraint)
    check(constraint, rng.standard_normal(columns))
