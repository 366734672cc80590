"""Scalar functions under equations: what is degenerate, what is impossible, what is large."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from tether.constraints import Affine
from tether.polyhedral import Pieces, Polyhedral
from tether.prox import Infeasible, Prox
from tether.prox.dual_newton import DualNewton
from tether.prox.one_equation import OneEquation

KINDS = {"dense": np.asarray, "columns first": np.asfortranarray, "sparse": sparse.csr_array}
EVERY = pytest.mark.parametrize("kind", KINDS)


def prox_of(A, b, pieces, z, t=None, kind="dense"):
    newton = DualNewton(KINDS[kind](np.array(A, dtype=float)), np.array(b, dtype=float), pieces)
    return newton.at(np.array(z, dtype=float), np.ones(len(z)) if t is None else t, None)


def proves(rows, A, b, pieces):
    """Check a proof by hand: no x between the walls has as large a weighted sum of rows as b."""
    A, q = np.asarray(A, dtype=float), np.asarray(rows) @ np.asarray(A, dtype=float)
    q[np.abs(q) < 1e-9 * np.abs(np.asarray(rows)).max()] = 0.0
    with np.errstate(invalid="ignore"):
        ends = [np.where(q == 0.0, 0.0, q * wall) for wall in (pieces.lower, pieces.upper)]
    return np.sum(np.maximum(*ends)) < np.dot(rows, b)


@EVERY
def test_without_kinks_and_walls_one_step_is_the_projection(kind):
    rng = np.random.default_rng(0)
    A, z = rng.normal(size=(3, 8)), rng.normal(size=8)
    b = rng.normal(size=3)
    found = prox_of(A, b, Pieces.of(8), z, kind=kind)
    np.testing.assert_allclose(found.point, Affine(A, b).project(z), atol=1e-12)
    assert found.iterations == 1


@EVERY
def test_where_the_walls_leave_one_point_it_is_found_exactly(kind):
    A, x = [[1, 1, 0, 0], [0, 1, 1, 1]], np.array([0.0, 1.0, 0.0, 1.0])
    found = prox_of(A, [1, 2], Pieces.of(4, 0.0, [0.0, 1.0, 0.0, 1.0]), [3, -5, 2, 7], kind=kind)
    assert found.point.tolist() == x.tolist()


@EVERY
def test_more_equations_than_free_variables_are_met(kind):
    # x >= 0 with a sum of zero: only the origin, whatever the other equations.
    A = [[1, 1, 1, 1], [1, -1, 0, 0], [0, 1, -1, 0]]
    found = prox_of(A, [0, 0, 0], Pieces.of(4, lower=0.0), [1, 2, -3, 4], kind=kind)
    assert found.point.tolist() == [0, 0, 0, 0]
    pull = found.point - [1, 2, -3, 4] + found.duals.coordinates - found.normal
    assert np.abs(pull).max() <= 1e-12 * np.abs(found.normal).max()


@EVERY
def test_rows_that_repeat_each_other_and_rows_of_zeros_change_nothing(kind):
    rng = np.random.default_rng(1)
    A, x, z = rng.normal(size=(2, 6)), rng.random(6), 3 * rng.normal(size=6)
    many = np.vstack([A, 2 * A[0], A[0] - A[1], np.zeros(6)])
    pieces = Pieces.of(6, 0.0, 1.0, right=0.3)
    one = prox_of(A, A @ x, pieces, z, kind=kind)
    other = prox_of(many, many @ x, pieces, z, kind=kind)
    np.testing.assert_allclose(one.point, other.point, atol=1e-11)
    np.testing.assert_allclose(one.normal, other.normal, atol=1e-9)


@EVERY
def test_fixed_variables_stay_and_the_others_make_up_for_them(kind):
    lower, upper = np.array([0.5, -np.inf, -np.inf, -np.inf]), np.array([0.5, np.inf, np.inf, np.inf])
    found = prox_of([[1, 1, 1, 0], [0, 0, 1, 1]], [2, 1], Pieces.of(4, lower, upper), np.zeros(4), kind=kind)
    rest = Affine([[1, 1, 0], [0, 1, 1]], [1.5, 1]).project(np.zeros(3))
    assert found.point[0] == 0.5
    np.testing.assert_allclose(found.point[1:], rest, atol=1e-12)


IMPOSSIBLE = {
    "a negative sum": ([[1, 1, 1], [1, -1, 0]], [-1, 0], Pieces.of(3, lower=0.0)),
    "a sum beyond the bounds": ([[1, 1, 1], [1, -1, 0]], [4, 0], Pieces.of(3, 0.0, 1.0)),
    "rows against each other": ([[1, 1, 1], [1, 1, 0]], [1, 2], Pieces.of(3, [-np.inf, -np.inf, 0.0])),
    "fixed variables": ([[1, 1, 0], [0, 1, 1]], [3, 0], Pieces.of(3, [1.0, 1.0, 0.0], [1.0, 1.0, 5.0])),
    "a matching that is none": (
        [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]],
        [1, 1, 0.5, 2],
        Pieces.of(4, lower=0.0),
    ),
}


@EVERY
@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_is_impossible_is_proven_to_be(kind, name):
    A, b, pieces = IMPOSSIBLE[name]
    with pytest.raises(Infeasible, match="no solution between the bounds") as error:
        prox_of(A, b, pieces, np.arange(len(A[0])), kind=kind)
    assert proves(error.value.rows, A, b, pieces)


@pytest.mark.parametrize("seed", range(40))
def test_random_equations_that_cannot_be_met_are_proven_impossible(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 10))
    nu = rng.normal(size=4)
    pieces = Pieces.of(10, -rng.random(10), rng.random(10), rng.random(10), rng.random(10))
    q = A.T @ nu
    most = np.sum(np.maximum(q * pieces.lower, q * pieces.upper))
    b = A @ np.zeros(10)
    b = b + nu * (1.05 * most - nu @ b) / (nu @ nu)  # nu^T b is beyond what nu^T A x can be
    with pytest.raises(Infeasible) as error:
        prox_of(A, b, pieces, rng.normal(size=10))
    assert proves(error.value.rows, A, b, pieces)


@pytest.mark.parametrize("b", [3.0, 0.0], ids=["all at the upper bounds", "all at the lower bounds"])
def test_an_equation_that_bounds_can_just_meet_is_met(b):
    prox = Prox(Affine(np.ones(3), b), Polyhedral.separable(Pieces.of(3, 0.0, 1.0)))
    assert prox.at(np.arange(3.0), np.ones(3)).point.tolist() == [b / 3] * 3


def test_one_equation_out_of_reach_is_an_error_that_names_it():
    prox = Prox(Affine(np.ones(3), -1.0), Polyhedral.separable(Pieces.of(3, 0.0)))
    with pytest.raises(Infeasible, match=r"row 0 of A cannot be met there; relax it or a bound"):
        prox.at(np.zeros(3), np.ones(3))


def simplex(z):
    """Sort, as Held, Wolfe and Crowder do."""
    falling = np.sort(z)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(z) + 1)
    return np.maximum(z - excess[np.flatnonzero(falling > excess)[-1]], 0.0)


@pytest.mark.parametrize("p", [1, 2, 10, 1000, 100_000])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_simplex_is_the_one_of_sorting(p, scale):
    z = scale * np.random.default_rng(p).normal(size=p)
    found = OneEquation(np.ones((1, p)), np.ones(1), Pieces.of(p, lower=0.0)).at(z, np.ones(p), None)
    np.testing.assert_allclose(found.point, simplex(z), atol=1e-13 * max(1.0, scale))
    assert found.point.sum() == pytest.approx(1.0, abs=1e-13)


def test_numbers_that_cancel_still_meet_the_equations():
    rng = np.random.default_rng(2)
    A, x = rng.normal(size=(3, 50)), rng.random(50)
    z = 1e9 * A.T @ rng.normal(size=3) + rng.normal(size=50)
    found = prox_of(A, A @ x, Pieces.of(50, lower=0.0), z)
    size = np.linalg.norm(A, axis=1) * np.linalg.norm(found.point)
    assert np.all(np.abs(A @ found.point - A @ x) <= 1e-12 * size)


@EVERY
def test_a_warm_start_takes_fewer_iterations(kind):
    rng = np.random.default_rng(3)
    A, z, t = rng.normal(size=(20, 400)), rng.normal(size=400), 10 ** rng.uniform(-1, 1, 400)
    pieces = Pieces.of(400, left=0.5, right=0.5)
    newton = DualNewton(KINDS[kind](A), A @ pieces.prox(rng.normal(size=400), 1.0), pieces)
    cold = newton.at(z, t, None)
    assert newton.at(z, t, cold).iterations == 0
    nudged = z + 0.01 * rng.normal(size=400)
    assert newton.at(nudged, t, cold).iterations < newton.at(nudged, t, None).iterations


def test_many_flips_of_the_free_variables_are_followed():
    # From a start where other variables are free; corrected products must not spoil the answer.
    rng = np.random.default_rng(4)
    p, m = 4_000, 40
    A, t = rng.normal(size=(m, p)), 10 ** rng.uniform(-3, 3, p)
    pieces = Pieces.of(p, -0.5, 0.5, 0.2, 0.2)
    newton = DualNewton(A, A @ pieces.prox(rng.normal(size=p), 1.0), pieces)
    z = rng.normal(size=p)
    far = newton.at(-z, t, None)
    warm, cold = newton.at(z, t, far), newton.at(z, t, None)
    assert np.count_nonzero(far.point * warm.point < 0.0) > p / 10
    np.testing.assert_allclose(warm.point, cold.point, atol=1e-10)
    pull = (warm.point - z) / t + warm.duals.coordinates - warm.normal
    assert np.all(np.abs(pull) <= 1e-11 * (np.abs(z) / t + np.abs(A.T) @ np.abs(warm.multipliers)))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_matrix_is_not_copied(order):
    rng = np.random.default_rng(5)
    A = np.asarray(rng.normal(size=(60, 100_000)), order=order)
    pieces = Pieces.of(A.shape[1], lower=0.0)
    b, z = A @ np.abs(rng.normal(size=A.shape[1])), rng.normal(size=A.shape[1])
    small = DualNewton(A[:, :200].copy(), A[:, :200] @ np.ones(200), pieces.some(slice(200)))
    small.at(z[:200], np.ones(200), None)  # compiles
    tracemalloc.start()
    found = DualNewton(A, b, pieces).at(z, np.ones(len(z)), None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * A.nbytes
    assert np.linalg.norm(A @ found.point - b) <= 1e-11 * np.linalg.norm(b)
