"""An objective without a minimum on the constraint: the run ends soon and says so, and only then."""

import numpy as np
import pytest
from scipy.linalg import null_space

import tether
from tether import Status
from tether.methods import LBFGS

P, ROWS = 8, 2


def data(seed):
    """Factors and equations that leave one direction without curvature, and that direction."""
    rng = np.random.default_rng(seed)
    factors, A = rng.standard_normal((P - ROWS - 1, P)), rng.standard_normal((ROWS, P))
    return factors, tether.Affine(A, rng.standard_normal(ROWS)), null_space(np.vstack([factors, A]))[:, 0]


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e6])
@pytest.mark.parametrize("slope", [1e-3, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_linear_term_along_a_flat_direction_is_named(seed, slope, unit):
    factors, constraint, flat = data(seed)
    linear = factors.T @ np.ones(len(factors)) - slope * flat
    objective = tether.Quadratic(matrix=unit * factors.T @ factors, linear=unit * linear)
    for solution in (
        tether.solve(objective, constraint, "lbfgs", tol=1e-9),
        tether.solve(objective, constraint, "auto", x0=np.zeros(P), tol=1e-9),
    ):
        assert solution.status is Status.DIVERGED and not solution.success
        assert "F is unbounded below on the constraint (F = -" in solution.message
        assert "add equations, or a quadratic term" in solution.message
        assert solution.counts.rounds < 150
        assert solution.fun == np.nanmin(solution.history["value"]) < -1e3 * unit * slope


def test_what_the_message_advises_leads_to_a_minimum():
    factors, constraint, flat = data(0)
    closed = tether.Affine(
        np.vstack([constraint.equations[0], flat]), np.append(constraint.equations[1], 0.0)
    )
    objective = tether.Quadratic(factors=factors, linear=-flat)
    assert tether.solve(objective, constraint, "lbfgs").status is Status.DIVERGED
    assert tether.solve(objective, closed, "lbfgs").success
    bent = factors.T @ factors / len(factors) + 1e-3 * np.eye(P)
    assert tether.solve(tether.Quadratic(matrix=bent, linear=-flat), constraint, "lbfgs").success


def test_a_linear_objective_without_equations_is_named():
    objective = tether.Quadratic(matrix=np.zeros((3, 3)), linear=np.ones(3))
    solution = tether.solve(objective, None, "lbfgs")
    assert solution.status is Status.DIVERGED and "unbounded below" in solution.message


def test_negative_curvature_is_named():
    bend = np.array([1.0, 2.0, -1.0])
    objective = tether.FiniteSum(
        gradient=lambda x, batch: bend * x + 0.1,
        value=lambda x, batch: float(bend @ (x * x)) / 2 + 0.1 * x.sum(),
        n_samples=1,
        dim=3,
        smoothness=2.0,
    )
    solution = tether.solve(objective, None, "lbfgs")
    assert solution.status is Status.DIVERGED and "unbounded below" in solution.message


@pytest.mark.parametrize("kappa", [1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("seed", range(3))
def test_a_minimum_that_is_deep_and_far_away_is_no_reason_for_alarm(seed, kappa):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((P, P)))[0]
    bends = np.logspace(0, -np.log10(kappa), P)
    bends[0] = 0.0  # convexity is 0, but the linear term has no part there
    matrix = (basis * bends) @ basis.T
    far = 1e9 * rng.standard_normal(P)
    objective = tether.Quadratic(matrix=(matrix + matrix.T) / 2, linear=-2 * matrix @ far)
    assert objective.smoothness.convexity == 0
    for start in (None, -far):
        solution = tether.solve(objective, None, LBFGS(memory=20), x0=start, tol=1e-9, max_rounds=500)
        assert solution.status is not Status.DIVERGED and "unbounded" not in solution.message


def test_a_method_that_is_stuck_far_out_says_what_may_be_the_reason():
    factors, constraint, flat = data(0)
    objective = tether.Quadratic(matrix=factors.T @ factors, linear=-flat)
    solution = tether.solve(objective, constraint, "lbfgs", x0=1e10 * flat)
    assert solution.status is Status.EXHAUSTED
    assert "||x|| = 1e+10, so F may be unbounded below on the constraint" in solution.message
