"""psi, as the sum of its scalar functions of variables and of rows."""

import numpy as np
import pytest
from scipy import sparse

from tether.polyhedral import Duals, Pieces, Polyhedral

K = np.array([[1.0, -1.0, 0.0], [0.0, 2.0, 1.0]])


def example(matrix):
    return Polyhedral(
        Pieces.of(3, lower=-1.0, left=1.0, right=2.0), matrix, Pieces.of(2, upper=1.0, left=3.0)
    )


@pytest.mark.parametrize("matrix", [K, sparse.csr_array(K)], ids=["dense", "sparse"])
def test_values_add_up_over_variables_and_rows(matrix):
    x = np.array([-0.5, 1.0, 0.0])  # K x = (-1.5, 2)
    assert example(matrix).value(x) == pytest.approx(0.5 + 2.0 + 3 * 1.5)
    assert example(matrix).violation(x) == pytest.approx(1.0)


@pytest.mark.parametrize("matrix", [K, sparse.csr_array(K)], ids=["dense", "sparse"])
def test_a_subgradient_bounds_psi_from_below_and_has_no_misfit(matrix):
    psi, rng = example(matrix), np.random.default_rng(0)
    x = np.array([0.5, 0.5, 0.0])  # at the upper wall of row 1, on the kink of row 0
    duals = Duals(psi.coordinates.nearest(np.zeros(3), x), psi.rows.nearest(np.array([-1.0, 4.0]), K @ x))
    assert duals.rows.tolist() == [-1.0, 4.0]
    assert psi.misfit(x, duals) == 0.0
    feasible = 0
    for _ in range(500):
        other = rng.uniform(-1, 1, 3)
        if psi.violation(other) == 0.0:
            feasible += 1
            assert psi.value(other) >= psi.value(x) + psi.subgradient(duals) @ (other - x) - 1e-12
    assert feasible > 100


def test_what_is_no_subgradient_has_a_misfit_in_units_of_psi():
    psi = example(K)
    x, duals = np.array([0.5, 0.5, 0.0]), Duals(np.array([2.0, 2.0, 0.0]), np.array([0.5, 0.0]))
    assert psi.misfit(x, duals) == pytest.approx(psi.rows.conjugate(np.array([0.5, 0.0]))[0])


def test_walls_and_rows_are_known():
    alone = Polyhedral.separable(Pieces.of(3, left=1.0))
    assert (alone.dim, alone.couples, alone.bounded) == (3, False, False)
    assert (example(K).couples, example(K).bounded) == (True, True)


def test_digests_tell_functions_apart():
    assert example(K).digest() == example(K.copy()).digest()
    assert example(K).digest() != example(2 * K).digest()
    assert (
        Polyhedral.separable(Pieces.of(3)).digest() != Polyhedral.separable(Pieces.of(3, lower=0.0)).digest()
    )
