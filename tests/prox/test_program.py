"""The prox as a quadratic program: planes without equations, what is impossible, and what has no entries."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from tether.constraints import Affine, Consensus, Range, Unconstrained
from tether.polyhedral import Pieces, Polyhedral
from tether.prox import Infeasible, Prox
from tether.prox.base import Algorithm, NotConverged
from tether.prox.dual_newton import DualNewton
from tether.prox.program import Quadratic
from tether.prox.safeguarded import Safeguarded


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_range_without_kinks_and_walls_is_projected_on_in_the_metric(kind):
    rng = np.random.default_rng(0)
    D, z, t = rng.normal(size=(6, 2)), rng.normal(size=6), 10 ** rng.uniform(-1, 1, 6)
    found = Prox(Range(kind(D)), Polyhedral.separable(Pieces.of(6))).at(z, t)
    weighed = D / np.sqrt(t)[:, None]
    expected = D @ np.linalg.lstsq(weighed, z / np.sqrt(t))[0]
    np.testing.assert_allclose(found.point, expected, atol=1e-10)
    np.testing.assert_allclose(D.T @ found.normal, 0.0, atol=1e-10)


def test_blocks_that_agree_and_are_nonnegative_are_the_mean_or_zero():
    psi = Polyhedral.separable(Pieces.of(4, lower=0.0))
    found = Prox(Consensus(2), psi).at(np.array([1.0, -3.0, 2.0, 1.0]), np.ones(4))
    np.testing.assert_allclose(found.point, [1.5, 0.0, 1.5, 0.0], atol=1e-12)
    assert found.point[1] == found.point[3] == 0.0


def test_inequalities_that_exclude_each_other_are_an_error():
    psi = Polyhedral(Pieces.of(2, 0.0, 1.0), np.array([[1.0, 1.0]]), Pieces.of(1, lower=3.0))
    with pytest.raises(Infeasible, match="no x on the plane satisfies all inequalities"):
        Prox(Unconstrained(), psi).at(np.zeros(2), np.ones(2))


def test_equations_that_the_program_finds_impossible_are_named():
    plane, psi = Affine([[1.0, 1.0], [1.0, -1.0]], [3.0, 0.0]), Polyhedral.separable(Pieces.of(2, 0.0, 1.0))
    with pytest.raises(Infeasible, match="row 0 of A cannot be met there") as error:
        Quadratic(plane, psi).at(np.zeros(2), np.ones(2), None)
    assert error.value.rows[0] > 0.0


def test_a_span_beyond_the_bounds_is_an_error():
    psi = Polyhedral.separable(Pieces.of(2, [1.0, -np.inf], [np.inf, -1.0]))
    with pytest.raises(Infeasible, match="no x on the plane satisfies all inequalities"):
        Prox(Range([[1.0], [1.0]]), psi).at(np.zeros(2), np.ones(2))


def test_equations_without_entries_are_refused():
    operator = Affine(aslinearoperator(np.ones((1, 3))), 1.0)
    with pytest.raises(NotImplementedError, match="give A as a dense or a sparse matrix"):
        Prox(operator, Polyhedral.separable(Pieces.of(3, lower=0.0)))


class Never(Algorithm):
    def at(self, z, t, start):
        raise NotConverged("never.")


def test_where_the_quick_algorithm_gives_up_the_patient_one_answers():
    rng = np.random.default_rng(1)
    A, pieces = rng.normal(size=(2, 6)), Pieces.of(6, 0.0, 1.0)
    plane, psi = Affine(A, A @ rng.random(6)), Polyhedral.separable(pieces)
    z = rng.normal(size=6)
    both = Safeguarded(Never(), lambda: Quadratic(plane, psi)).at(z, np.ones(6), None)
    newton = DualNewton(A, plane.b, pieces).at(z, np.ones(6), None)
    np.testing.assert_allclose(both.point, newton.point, atol=1e-10)
    # What the one ended with is a start for the other.
    again = Quadratic(plane, psi).at(z, np.ones(6), newton)
    np.testing.assert_allclose(again.point, newton.point, atol=1e-10)
    assert DualNewton(A, plane.b, pieces).at(z, np.ones(6), both).iterations <= 1


def test_a_degenerate_vertex_that_newton_does_not_find_is_found():
    rng = np.random.default_rng((27, 6))
    for _ in range(3):
        p = 52
        A = rng.normal(size=(27, p))
        pieces = Pieces.of(p, 0.0, 1.0)
        x = np.where(rng.random(p) < 0.7, 0.0, rng.random(p))
        t, z = 10 ** rng.uniform(-2, 2, p), 100 * rng.normal(size=p)
        found = Prox(Affine(A, A @ x), Polyhedral.separable(pieces)).at(z, t)
        assert np.abs(A @ found.point - A @ x).max() <= 1e-10
        pull = (found.point - z) / t + found.duals.coordinates - found.normal
        assert np.all(np.abs(pull) <= 1e-11 * np.abs(found.normal).max())
