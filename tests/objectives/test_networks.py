"""Flows, prices and raking by `Separable`, against answers that come another way."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize, root

import tether
from tether.shortcuts.inside import started_inside


def grid(n):
    """The edges of an n x n grid, to the right and down, and a supply from one corner to the other."""
    node = np.arange(n * n).reshape(n, n)
    right = np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()])
    down = np.column_stack([node[:-1].ravel(), node[1:].ravel()])
    supply = np.zeros(n * n)
    supply[0], supply[-1] = 6.0, -6.0
    return np.vstack([right, down]), supply


def incidence(edges, n_nodes):
    matrix = np.zeros((n_nodes, len(edges)))
    matrix[edges[:, 0], np.arange(len(edges))] = 1.0
    matrix[edges[:, 1], np.arange(len(edges))] = -1.0
    return matrix


EDGES, SUPPLY = grid(4)
B = incidence(EDGES, 16)
RESISTANCE = np.random.default_rng(0).random(len(EDGES)) + 0.5
P = len(EDGES)


def drops(sol):
    """Return the price differences over the edges."""
    prices = P * sol.multipliers
    return prices[EDGES[:, 0]] - prices[EDGES[:, 1]]


@pytest.mark.parametrize("method", ["auto", "lbfgs"])
def test_a_resistor_network_obeys_the_laplacian_system(method):
    objective = tether.Separable("quadratic", weights=RESISTANCE)
    sol = tether.solve(objective, tether.Flow(EDGES, SUPPLY), method, tol=1e-13)
    voltages = np.linalg.lstsq(B / RESISTANCE @ B.T, SUPPLY, rcond=None)[0]
    np.testing.assert_allclose(sol.x, B.T @ voltages / RESISTANCE, atol=1e-6)
    np.testing.assert_allclose(P * sol.multipliers, voltages - voltages[0], atol=1e-5)
    assert sol.success


@pytest.mark.parametrize("exponent", [1.5, 2.852, 4.0])
def test_a_water_network_balances_heads_around_every_loop(exponent):
    """Against the heads that balance all nodes, found by SciPy's root without any minimisation."""

    def flows(heads):
        drop = B.T @ np.append(heads, 0.0) / RESISTANCE
        return np.sign(drop) * np.abs(drop) ** (1.0 / (exponent - 1.0))

    linear = np.linalg.lstsq(B / RESISTANCE @ B.T, SUPPLY, rcond=None)[0]
    found = root(lambda heads: (B @ flows(heads) - SUPPLY)[:-1], (linear - linear[-1])[:-1], tol=1e-12)
    assert found.success
    objective = tether.Separable("power", exponent=exponent, weights=RESISTANCE)
    sol = tether.solve(objective, tether.Flow(EDGES, SUPPLY), "lbfgs", tol=1e-10)
    assert sol.success
    np.testing.assert_allclose(sol.x, flows(found.x), atol=1e-5)
    np.testing.assert_allclose(drops(sol), B.T @ np.append(found.x, 0.0), atol=1e-5)


def test_traffic_takes_roads_of_equal_time():
    """Against SLSQP; every road is used, and prices are travel times."""
    rng = np.random.default_rng(2)
    time, capacity = 1.0 + rng.random(P), 1.0 + rng.random(P)
    objective = tether.Separable("bpr", free_time=time, capacity=capacity)
    sol = tether.solve(objective, tether.Flow(EDGES, SUPPLY), "lbfgs", tol=1e-10)
    assert sol.success and sol.x.min() > 0.01
    delays = time * (1.0 + 0.15 * (sol.x / capacity) ** 4)
    np.testing.assert_allclose(drops(sol), delays, atol=1e-6)

    def cost(x):
        return float(np.sum(time * (x + 0.03 * x * (x / capacity) ** 4)))

    def slope(x):
        return time * (1.0 + 0.15 * (x / capacity) ** 4)

    balance = {"type": "eq", "fun": lambda x: (B @ x - SUPPLY)[:-1], "jac": lambda x: B[:-1]}
    options = {"ftol": 1e-14, "maxiter": 500}
    peer = minimize(
        cost, sol.x * 0 + 2.0, jac=slope, constraints=balance, bounds=[(0, 9)] * P, options=options
    )
    assert sol.fun * P == pytest.approx(peer.fun, rel=1e-9)
    np.testing.assert_allclose(sol.x, peer.x, atol=1e-4)


def test_a_road_that_nobody_takes_stops_the_run_with_words_about_it():
    """The minimum is at the end of the domain, which is no constraint."""
    dear = np.where(np.arange(P) == 5, 100.0, 1.0)
    objective = tether.Separable("bpr", free_time=dear, capacity=2.0)
    sol = tether.solve(objective, tether.Flow(EDGES, SUPPLY), "lbfgs", tol=1e-9)
    assert not sol.success
    assert "x[5] = " in sol.message and "came to the edge of the domain of F" in sol.message
    assert objective.domain.holds(sol.x) and sol.residual <= 1e-10


# --- raking ----------------------------------------------------------------------------------------------


def raking(n, rows, columns, seed):
    """Units in a table with two margins, whose totals are far from those of their weights."""
    rng = np.random.default_rng(seed)
    i, j, reference = rng.integers(0, rows, n), rng.integers(0, columns, n), np.exp(rng.standard_normal(n))
    units = np.arange(n)
    top = sparse.csr_array((np.ones(n), (i, units)), shape=(rows, n))
    side = sparse.csr_array((np.ones(n), (j, units)), shape=(columns, n))
    margins = sparse.csr_array(sparse.vstack([top, side]))
    truth = reference * np.exp(rng.standard_normal(rows))[i] * np.exp(rng.standard_normal(columns))[j]
    totals = margins @ (truth * np.exp(0.3 * rng.standard_normal(n)))
    return margins[margins.sum(axis=1) > 0], totals[margins.sum(axis=1) > 0], reference


def proportional_fit(margins, totals, reference):
    """Iterative proportional fitting, Deming & Stephan 1940."""
    x = reference.copy()
    for _ in range(3000):
        for k in range(margins.shape[0]):
            units = margins.indices[margins.indptr[k] : margins.indptr[k + 1]]
            x[units] *= totals[k] / x[units].sum()
    return x


@pytest.mark.parametrize("seed", range(3))
def test_raking_is_iterative_proportional_fitting(seed):
    margins, totals, reference = raking(40, 3, 4, seed)
    constraint = tether.Affine(margins, totals)
    assert constraint.project(reference).min() < 0  # the nearest feasible point is no start
    objective = tether.Separable("entropy", reference=reference)
    sol = tether.solve(objective, constraint, "lbfgs", tol=1e-11, max_passes=5000)
    expected = proportional_fit(margins, totals, reference)
    np.testing.assert_allclose(sol.x, expected, rtol=1e-4)
    assert sol.fun <= objective.value(expected) + 1e-9 * abs(sol.fun)


@pytest.mark.parametrize("size", [(30, 2, 2), (400, 8, 9), (3000, 30, 40)], ids=str)
def test_a_start_inside_is_found_where_the_projection_leaves_the_domain(size):
    margins, totals, reference = raking(*size, seed=7)
    constraint = tether.Affine(margins, totals)
    problem = tether.problem.Problem(tether.Separable("entropy", reference=reference), constraint)
    x = started_inside(problem, reference)
    assert x.min() > 0 and constraint.residual(x) <= 1e-9 * np.linalg.norm(totals)
    assert constraint.project(x).min() > 0


def test_a_start_inside_a_box_is_found():
    """Calibration weights between 0.5 and 2 of those of the design, and one variable without ends."""
    rng = np.random.default_rng(3)
    A = np.vstack([np.ones(50), rng.standard_normal((6, 50))])
    goal = np.where(rng.random(50) < 0.5, 0.6, 1.9)
    lower, upper = np.full(50, 0.5), np.full(50, 2.0)
    lower[7], upper[7] = -math.inf, math.inf
    constraint = tether.Affine(A, A @ goal)
    objective = tether.Separable("quadratic", center=1.0, lower=lower, upper=upper)
    x0 = np.full(50, 1.99)
    assert not objective.domain.holds(constraint.project(x0))
    x = started_inside(tether.problem.Problem(objective, constraint), x0)
    assert objective.domain.holds_inside(x) and constraint.residual(x) <= 1e-10


def test_equations_without_a_point_in_the_domain_are_refused_in_a_sentence():
    objective = tether.Separable("entropy", dim=3)
    with pytest.raises(ValueError, match=r"^x0 must lead to a point that satisfies the equations inside the"):
        tether.solve(objective, tether.Affine([[1.0, 1.0, 1.0]], [-1.0]), "lbfgs")
    with pytest.raises(
        ValueError, match=r"^x0 must lead to a point .*, but its projection has x\[0\] = -?0 "
    ):
        tether.solve(objective, tether.Affine([[1.0, 0.0, 0.0]], [0.0]), "lbfgs")


def test_a_good_x0_is_kept():
    objective, total = tether.Separable("entropy", dim=3), tether.Affine([[1.0, 1.0, 1.0]], [6.0])
    moments = tether.iterate(objective, total, "lbfgs", x0=[1.0, 2.0, 3.0])
    np.testing.assert_allclose(next(moments).x, [1.0, 2.0, 3.0], rtol=1e-14)
