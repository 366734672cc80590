import numpy as np
import pytest
from scipy import sparse

from tether.objectives import Quadratic
from tether.objectives.symmetric import is_surely_positive
from tether.objectives.walk import Walk


def _grid(side):
    """The Laplacian of a square grid plus 0.01, whose eigenvalues are known."""
    path = sparse.diags_array([-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], offsets=[-1, 0, 1])
    one = sparse.eye_array(side)
    values = 2 - 2 * np.cos(np.pi * np.arange(1, side + 1) / (side + 1))
    laplacian = sparse.kron(path, one) + sparse.kron(one, path) + 0.01 * sparse.eye_array(side**2)
    return laplacian, 2 * values[0] + 0.01, 2 * values[-1] + 0.01


def test_factors_and_their_matrix_are_the_same_function(rng):
    rows, g, x = rng.standard_normal((20, 4)), rng.standard_normal(4), rng.standard_normal(4)
    by_rows = Quadratic(factors=rows, linear=g, constant=3.0)
    by_matrix = Quadratic(matrix=rows.T @ rows / 20, linear=g, constant=3.0)
    assert by_rows.value(x) == pytest.approx(by_matrix.value(x), rel=1e-13)
    np.testing.assert_allclose(by_rows.gradient(x), by_matrix.gradient(x), rtol=1e-12)
    assert by_rows.n_samples == 20
    assert by_matrix.n_samples == 1


def test_there_is_no_factor_one_half(rng):
    C, g, x = np.diag([1.0, 4.0]), np.array([1.0, -1.0]), np.array([2.0, 3.0])
    objective = Quadratic(matrix=C, linear=g, constant=0.5)
    assert objective.value(x) == 4.0 + 36.0 - 1.0 + 0.5
    np.testing.assert_array_equal(objective.gradient(x), 2 * C @ x + g)


def test_slopes_are_the_derivatives_of_the_squares(rng):
    rows, x = rng.standard_normal((20, 4)), rng.standard_normal(4)
    np.testing.assert_allclose(Quadratic(factors=rows).evaluate(x).slopes, 2 * rows @ x, rtol=1e-14)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_constants_of_factors_are_exact(rng, make):
    rows = rng.standard_normal((20, 4))
    spectrum = np.linalg.eigvalsh(rows.T @ rows / 20)
    s = Quadratic(factors=make(rows)).smoothness
    assert s.maximum == pytest.approx(2 * np.max(np.sum(rows**2, axis=1)), rel=1e-13)
    assert s.full == pytest.approx(2 * spectrum[-1], rel=1e-3)
    assert s.full >= 2 * spectrum[-1] * (1 - 1e-12)
    assert s.convexity == pytest.approx(2 * spectrum[0], rel=1e-9)
    assert s.convexity <= 2 * spectrum[0]
    assert s.exact


def test_fewer_factors_than_columns_are_not_strongly_convex(rng):
    assert Quadratic(factors=rng.standard_normal((3, 4))).smoothness.convexity == 0.0


@pytest.mark.parametrize("side", [20, 40])
def test_constants_of_a_sparse_matrix_bracket_its_spectrum(side):
    matrix, smallest, largest = _grid(side)
    s = Quadratic(matrix=matrix).smoothness
    assert 2 * largest * (1 - 1e-12) <= s.full <= 2 * largest * 1.01
    assert 0.999 * 2 * smallest <= s.convexity <= 2 * smallest


def test_a_large_diagonal_is_known_without_a_factorisation():
    diagonal = np.linspace(1.0, 3.0, 6000)
    s = Quadratic(matrix=sparse.diags_array(diagonal).tocsr()).smoothness
    assert s.convexity == pytest.approx(2.0)
    assert s.convexity <= 2.0
    assert 6.0 <= s.full * (1 + 1e-9) <= 6.1


def test_a_large_singular_matrix_is_accepted_and_claims_no_strong_convexity():
    matrix, smallest, _ = _grid(40)
    singular = matrix - smallest * sparse.eye_array(1600)
    assert Quadratic(matrix=singular).smoothness.convexity <= 1e-9
    padded = sparse.block_diag([matrix, sparse.csr_array((5, 5))])
    assert Quadratic(matrix=padded).smoothness.convexity == 0.0


def test_a_large_dense_matrix_is_checked_by_lanczos(rng):
    rows = rng.standard_normal((5, 1100))
    matrix = rows.T @ rows
    top = np.linalg.eigvalsh(rows @ rows.T)[-1]
    assert Quadratic(matrix=matrix).smoothness.full == pytest.approx(2 * top, rel=2e-3)
    with pytest.raises(ValueError, match="positive semidefinite"):
        Quadratic(matrix=matrix - 0.05 * top * np.eye(1100))


def test_rounding_does_not_make_a_matrix_asymmetric_or_indefinite(rng):
    rows = rng.standard_normal((3, 8))
    matrix = rows.T @ rows
    matrix[0, 1] += 1e-14
    assert Quadratic(matrix=matrix).smoothness.convexity <= 1e-12


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("size", [8, 300])
def test_no_factorisation_takes_an_indefinite_matrix_for_a_positive_one(size, wrap):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        tridiagonal = np.diag(rng.uniform(0.5, 2.0, size)) + np.diag(off := rng.uniform(-1, 1, size - 1), 1)
        matrix = tridiagonal + np.diag(off, -1)
        values = np.linalg.eigvalsh(matrix)
        for share in (-1e-3, -1e-8, 1e-8, 1e-3):  # of the largest: the smallest eigenvalue
            moved = matrix + (share * np.abs(values).max() - values[0]) * np.eye(size)
            if share < 0.0:
                with pytest.raises(ValueError, match="positive semidefinite"):
                    Quadratic(matrix=wrap(moved))
            assert is_surely_positive(sparse.csr_array(moved) if wrap is not np.asarray else moved) == (
                share > 0.0
            )


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_diagonal_of_zeros_is_no_proof(wrap):
    for matrix in ([[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]):
        with pytest.raises(ValueError, match="positive semidefinite"):
            Quadratic(matrix=wrap(np.array(matrix)))
    assert Quadratic(matrix=wrap(np.zeros((3, 3)))).smoothness.full == 0.0


def test_anchor_differences_cost_one_gradient_without_slopes(rng):
    objective = Quadratic(factors=rng.standard_normal((20, 4)))
    walk = Walk(np.ones(4), 3, 0.01, rng.integers(0, 20, (3, 2)), anchor=np.zeros(4))
    assert objective.descend(walk).gradients == 6
