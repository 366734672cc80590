"""Problems without a solution: what is said of them, and that it is proven."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint

import tether

RNG = np.random.default_rng(0)
WIDE = RNG.standard_normal((50, 100))
SEPARATED = np.where(WIDE[:, 0] > 0, 1, 0)


@pytest.mark.parametrize("curvature", [0.0, 1.0], ids=["linear", "quadratic"])
def test_an_unbounded_program_has_a_ray(curvature):
    objective = tether.Quadratic(matrix=np.diag([curvature, 0.0]), linear=np.array([0.0, -1.0]))
    sol = tether.solve(objective, tether.NonNegative())
    assert sol.status is tether.Status.DIVERGED and "unbounded below" in sol.message
    assert sol.ray == pytest.approx([0.0, 1.0]) and sol.gap is None


def test_separated_data_among_nonnegative_coefficients_has_no_minimum():
    sol = tether.solve(tether.GLM(WIDE, SEPARATED), tether.NonNegative())
    assert sol.status is tether.Status.DIVERGED and "no minimum" in sol.message
    margins = np.where(SEPARATED == 1, 1.0, -1.0) * (WIDE @ sol.ray)
    assert sol.ray.min() >= 0.0 and margins.min() >= -1e-9 * margins.max() and margins.max() > 0.0


@pytest.mark.parametrize(
    ("constraint", "penalty"), [(Bounds(-1, 1), None), (None, tether.L1(1e-3)), (tether.Simplex(), None)]
)
def test_what_keeps_coefficients_in_gives_separated_data_a_minimum(constraint, penalty):
    sol = tether.solve(tether.GLM(WIDE, SEPARATED), constraint, penalty=penalty)
    assert sol.success and sol.ray is None


def test_a_contradiction_names_few_rows_and_bounds():
    rows = LinearConstraint([[1, 1, 0], [0, 1, 1], [1, 0, 1]], 1.0, np.inf)
    total = LinearConstraint([[1, 1, 1]], -np.inf, 1.4)
    objective = tether.Quadratic(matrix=np.eye(3), linear=np.zeros(3))
    with pytest.raises(ValueError, match=r"row 0 .* row 1 .* row 2 .* row 0 of constraint\[1\]"):
        tether.solve(objective, [rows, total, Bounds(-10, 10)])


@pytest.mark.parametrize("excess", [1e-8, 1e-6, 1e-3])
def test_a_small_contradiction_is_one_too(excess):
    objective = tether.Quadratic(matrix=np.eye(3), linear=np.zeros(3))
    total = tether.Affine(np.ones((1, 3)), [3.0 + excess])
    with pytest.raises(tether.InfeasibleError, match="contradict each other"):
        tether.solve(objective, [total, Bounds(0, 1)])
