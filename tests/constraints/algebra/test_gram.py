"""Long dense rows by their Gram matrix, with columns multiplied by numbers that nobody writes into them."""

import numpy as np
import pytest

from tether.constraints.algebra import dense
from tether.constraints.algebra.gram import gram_rows

ROWS, COLUMNS = 6, 900


@pytest.fixture(params=["plain", "stretched"])
def matrices(request):
    """Return A, the numbers its columns are multiplied by, and the product written out."""
    rng = np.random.default_rng(5)
    matrix = rng.standard_normal((ROWS, COLUMNS))
    if request.param == "plain":
        return matrix, None, matrix
    stretch = 10.0 ** rng.uniform(-3, 3, COLUMNS)
    return matrix, stretch, matrix * stretch


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def test_rows_are_those_of_the_product(matrices, rng):
    matrix, stretch, product = matrices
    rows = gram_rows(matrix, stretch)
    assert rows is not None
    for shape in ((), (3,)):
        x, y = rng.standard_normal((COLUMNS, *shape)), rng.standard_normal((ROWS, *shape))
        np.testing.assert_allclose(rows.apply(x), product @ x, rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(rows.adjoint(y), product.T @ y, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(
            rows.tangent(x), x - np.linalg.pinv(product) @ (product @ x), rtol=1e-9, atol=1e-12
        )


def test_nearest_solution_and_its_multipliers(matrices, rng):
    matrix, stretch, product = matrices
    rows = gram_rows(matrix, stretch)
    v, b = rng.standard_normal(COLUMNS), rng.standard_normal(ROWS)
    point, multipliers = rows.nearest(v, b)
    lengths = np.linalg.norm(product, axis=1)
    np.testing.assert_allclose((product @ point - b) / lengths, 0.0, atol=1e-13)
    np.testing.assert_allclose(product.T @ multipliers, point - v, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(point, v + np.linalg.pinv(product) @ (b - product @ v), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(rows.fit(b).point, np.linalg.pinv(product) @ b, rtol=1e-9, atol=1e-15)


def test_gram_matrix_by_ranges_of_columns(matrices, monkeypatch):
    matrix, stretch, product = matrices
    monkeypatch.setattr(dense, "MULTITHREADED_WORK", 0)
    monkeypatch.setattr(dense, "BLOCK_SIZE", 7 * ROWS)
    gram = dense._gram(matrix, stretch)
    np.testing.assert_allclose(np.triu(gram), np.triu(product @ product.T), rtol=1e-12, atol=1e-9)


def test_rows_that_a_stretch_makes_dependent(rng):
    """Two rows that differ in one column only, and that column is shrunk: a Gram matrix would not do."""
    matrix = np.tile(rng.standard_normal(COLUMNS), (2, 1))
    matrix[1, 0] += 1.0
    stretch = np.ones(COLUMNS)
    assert gram_rows(matrix, stretch) is not None
    stretch[0] = 1e-9
    assert gram_rows(matrix, stretch) is None
