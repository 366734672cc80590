"""Products of data matrices and the eigenvalues they are asked for."""

import numpy as np
import pytest
from scipy import sparse

from tether.objectives.design import SparseRows, as_design
from tether.objectives.gram import gram_matrix
from tether.objectives.spectrum import (
    largest_eigenvalue,
    smallest_gram_eigenvalue,
    smallest_sparse_eigenvalue,
)


@pytest.fixture
def rows(rng):
    dense = rng.standard_normal((50, 30)) * (rng.random((50, 30)) < 0.1)
    dense[4:6] = 0.0  # empty rows
    return sparse.csr_array(dense)


@pytest.mark.parametrize("batch", [[4], [0], [4, 5], [5, 1, 1, 4, 49], list(range(50))])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_gathered_rows_multiply_as_scipys_do(rows, rng, batch, index):
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    x, s = rng.standard_normal(30), rng.standard_normal(len(batch))
    gathered = SparseRows(rows, np.array(batch))
    np.testing.assert_allclose(gathered.predict(x), rows[batch] @ x, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(gathered.combine(s), rows[batch].T @ s, rtol=1e-13, atol=1e-15)
    assert gathered.predict(x).dtype == gathered.combine(s).dtype == np.float64


@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_array.toarray])
def test_designs_are_the_matrices_they_stand_for(rows, rng, make, outputs, ones):
    explicit = np.column_stack([rows.toarray(), np.ones((50, 1))]) if ones else rows.toarray()
    design = as_design(make(rows), one_output=outputs == 1, ones=ones)
    shape = () if outputs == 1 else (outputs,)
    x, s, batch = (
        rng.standard_normal((design.width, *shape)),
        rng.standard_normal((50, *shape)),
        np.array([5, 5, 9]),
    )
    np.testing.assert_allclose(design.predict(x), explicit @ x, atol=1e-13)
    np.testing.assert_allclose(design.combine(s), explicit.T @ s, atol=1e-13)
    np.testing.assert_allclose(design.take(batch).predict(x), explicit[batch] @ x, atol=1e-13)
    np.testing.assert_allclose(design.take(batch).combine(s[:3]), explicit[batch].T @ s[:3], atol=1e-13)
    np.testing.assert_allclose(design.squared_norms(), np.sum(explicit**2, axis=1), rtol=1e-13)
    np.testing.assert_array_equal(design.block(slice(3, 8)), explicit[3:8])


@pytest.mark.parametrize("dim", [1, 2, 3, 40, 300])
def test_largest_eigenvalue_is_met_from_above(rng, dim):
    half = rng.standard_normal((dim, dim))
    matrix = half @ half.T
    top = np.linalg.eigvalsh(matrix)[-1]
    assert top * (1 - 1e-12) <= largest_eigenvalue(lambda v: matrix @ v, dim) <= 1.002 * top


@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_array.toarray])
def test_products_of_rows_are_those_of_the_matrix(rows, make, ones):
    explicit = np.column_stack([rows.toarray(), np.ones((50, 1))]) if ones else rows.toarray()
    some = np.array([3, 4, 7, 49])
    products = as_design(make(rows), ones=ones).products(some)
    np.testing.assert_allclose(products, explicit[some] @ explicit[some].T, rtol=1e-13, atol=1e-15)


def test_largest_eigenvalue_of_simple_matrices():
    assert largest_eigenvalue(lambda v: 0.0 * v, 5) == 0.0
    assert largest_eigenvalue(lambda v: 3.0 * v, 5) == pytest.approx(3.0)


def test_smallest_gram_eigenvalue_sums_blocks_and_stays_below(rng):
    matrix, weights = rng.standard_normal((9000, 3)), rng.random(9000)
    expected = np.linalg.eigvalsh(matrix.T @ (weights[:, None] * matrix) / 9000)[0]
    found = smallest_gram_eigenvalue(gram_matrix(as_design(matrix), weights), 9000)
    assert found == pytest.approx(expected, rel=1e-9)
    assert found <= expected


def test_smallest_sparse_eigenvalue_uses_inversion_where_discs_say_nothing():
    ones = sparse.csr_array(np.ones((6, 6)) + 0.5 * np.eye(6))
    assert smallest_sparse_eigenvalue(ones, 6.5) == pytest.approx(0.5, rel=1e-5)
    assert smallest_sparse_eigenvalue(ones, 6.5) <= 0.5
    assert smallest_sparse_eigenvalue(sparse.csr_array(np.ones((6, 6))), 6.0) <= 1e-12
