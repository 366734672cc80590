"""The way back: duals of what is solved are multipliers of what was given."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint

import tether
from tether.feasible import as_feasible
from tether.polyhedral import Duals
from tether.region import Region

DIM = 6
INF = np.inf


class Mixture:
    """A random set of every kind of row, with its matrices as the user wrote them."""

    def __init__(self, seed, wrap=np.asarray):
        rng = np.random.default_rng(seed)
        self.A = rng.standard_normal((1, DIM))
        self.G = rng.standard_normal((9, DIM))
        self.G[1] = -2.0 * np.eye(DIM)[2]
        self.G[3] = -3.0 * self.G[0]
        self.G[4] = np.eye(DIM)[1]
        self.G[7] = 0.0
        self.G[8] = 0.5 * self.A[0]
        self.point = np.where(np.arange(DIM) == 3, 1.0, np.where(np.arange(DIM) == 4, -1.0, 0.3))
        around = self.G @ self.point
        self.lower = around - [0.3, 0.5, INF, 0.6, 0.2, 0.0, INF, 1.0, 9.0]
        self.upper = around + np.array([0.1, 5.0, 0.1, 0.6, 0.2, 0.0, INF, INF, 9.0])
        D = rng.standard_normal((3, DIM))
        D[0], D[2] = 2.0 * self.G[0], -0.5 * np.eye(DIM)[0]
        self.D = np.vstack([D, np.eye(DIM)])
        self.lam = np.concatenate([np.full(3, 0.3), np.full(DIM, 0.1)])
        self.above = np.concatenate([np.full(3, 2.0), np.ones(DIM)])
        box = Bounds([-4, -4, -4, 0.5, -4, -4], [4.0, 4.0, 4.0, 4.0, -0.5, 4.0])
        self.constraints = [
            LinearConstraint(wrap(self.G[:5]), self.lower[:5], self.upper[:5]),
            tether.Affine(wrap(self.A), self.A @ self.point),
            box,
            LinearConstraint(wrap(self.G[5:]), self.lower[5:], self.upper[5:]),
        ]
        self.penalty = [tether.L1(0.3, wrap(D), weights=(1.0, 2.0)), tether.L1(0.1)]


def valid_duals(pieces, rng):
    """Random subgradients that some point has."""
    v = rng.standard_normal(pieces.size) * 2.0
    low = np.where(np.isfinite(pieces.lower), -INF, -pieces.left)
    high = np.where(np.isfinite(pieces.upper), INF, pieces.right)
    return np.clip(v, low, high)


@pytest.mark.parametrize("presolve", [True, False], ids=["presolved", "as given"])
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("seed", range(5))
def test_multipliers_of_the_user_make_up_the_same_gradient(seed, wrap, presolve):
    mixture = Mixture(seed, wrap)
    feasible = as_feasible(mixture.constraints, mixture.penalty, DIM, presolve=presolve)
    psi, rng = feasible.polyhedral, np.random.default_rng(seed)
    duals = Duals(valid_duals(psi.coordinates, rng), valid_duals(psi.rows, rng))
    matrix, _ = feasible.plane.equations
    normal = matrix.T @ rng.standard_normal(matrix.shape[0])
    found = feasible.multipliers(normal, duals)
    gradient = normal - psi.subgradient(duals)
    again = mixture.A.T @ found.equalities + mixture.G.T @ found.inequalities
    again += found.bounds - mixture.D.T @ found.penalty
    np.testing.assert_allclose(again, gradient, atol=1e-13)
    assert np.all(found.penalty <= mixture.lam * mixture.above + 1e-15)
    assert np.all(found.penalty >= -mixture.lam - 1e-15)
    assert np.all(found.inequalities[np.isneginf(mixture.lower)] <= 0.0)
    assert np.all(found.inequalities[np.isposinf(mixture.upper)] >= 0.0)


def test_rows_without_sides_keep_their_place_among_equations():
    rng = np.random.default_rng(0)
    objective = tether.GLM(rng.standard_normal((30, 3)), rng.standard_normal(30), "squared")
    rows = LinearConstraint([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]], [-INF, 1.0], [INF, 1.0])
    alone = tether.solve(objective, tether.Affine(np.ones((1, 3)), [1.0]))
    sol = tether.solve(objective, rows)
    np.testing.assert_allclose(sol.multipliers, [0.0, alone.multipliers[0]], atol=1e-12)
    assert tether.solve(objective, rows, "lbfgs").success


def test_a_variable_next_to_its_bound_by_rounding_is_held_by_it():
    upper = -0.408373143
    region = Region(as_feasible(Bounds([-1.0, -1.0], [upper, 1.0]), None, 2))
    held = region.held(np.array([np.nextafter(upper, -1.0), 0.5]), np.array([-3.0, 0.0]), np.zeros(2), None)
    np.testing.assert_allclose(held.residual, 0.0, atol=1e-12)
    assert held.slack < 1e-15
