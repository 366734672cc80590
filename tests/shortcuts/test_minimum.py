"""Quadratics solved by one factorisation: every form of H on every kind of set, and the certified gap."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import tether
from tether.constraints.algebra.sparse import HOPELESS_WORK
from tether.metric.blocks import blocks_of
from tether.metric.full import FullMetric
from tether.shortcuts import minimum, optimality_system
from tether.shortcuts.known_multipliers import WithMultipliers
from tether.shortcuts.optimality_system import minimum_of

quick = settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
P = 12


def _definite(rng, size=P):
    root = rng.standard_normal((2 * size, size))
    return root.T @ root / size


def _singular(rng):
    """Rank 9: positive on the tangent space of three equations or more."""
    root = rng.standard_normal((9, P))
    return root.T @ root


def _blocks(rng):
    return scipy.linalg.block_diag(_definite(rng, 5), _definite(rng, 1), _definite(rng, 4), _definite(rng, 2))


MATRICES = {
    "dense": _definite,
    "singular": _singular,
    "diagonal": lambda rng: np.diag(10.0 ** rng.uniform(-2, 2, P)),
    "diagonal with zeros": lambda rng: np.diag(np.where(np.arange(P) < 2, 0.0, rng.uniform(1, 2, P))),
    "blocks": _blocks,
    "raw columns": lambda rng: _definite(rng) * np.outer(units := 10.0 ** rng.uniform(-3, 3, P), units),
}


def _affine(wrap):
    def build(rng):
        A = rng.standard_normal((4, P))
        return tether.Affine(wrap(A), A @ rng.standard_normal(P))

    return build


def _flow(rng):
    edges = np.array(
        [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [0, 2], [1, 3], [2, 4], [3, 5], [4, 0], [5, 1]]
    )
    supply = rng.standard_normal(6)
    return tether.Flow(edges, supply - supply.mean())


SETS = {
    "Affine, dense": _affine(np.asarray),
    "Affine, sparse": _affine(sparse.csr_array),
    "Affine, operator": _affine(aslinearoperator),
    "Flow": _flow,
    "Range": lambda rng: tether.Range(rng.standard_normal((P, 5))),
    "Consensus": lambda rng: tether.Consensus(2),
}


def tangent_basis(constraint):
    projector = np.column_stack([constraint.tangent(unit) for unit in np.eye(P)])
    values, vectors = np.linalg.eigh(0.5 * (projector + projector.T))
    return vectors[:, values > 0.5]


def problem(form, kind, seed, wrap=np.asarray):
    rng = np.random.default_rng(seed)
    H, g, constraint = MATRICES[form](rng), rng.standard_normal(P), SETS[kind](rng)
    return H, g, constraint, tether.Quadratic(matrix=wrap(H / 2), linear=g)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array], ids=["dense H", "sparse H"])
@pytest.mark.parametrize("kind", SETS, ids=str)
@pytest.mark.parametrize("form", MATRICES, ids=str)
def test_the_answer_is_the_minimum_on_the_null_space_and_certified(form, kind, wrap):
    H, g, constraint, objective = problem(form, kind, 0, wrap)
    Z, x0 = tangent_basis(constraint), constraint.project(np.zeros(P))
    expected = x0 - Z @ np.linalg.solve(Z.T @ H @ Z, Z.T @ (H @ x0 + g))
    sol = tether.solve(objective, constraint, tol=1e-10)
    assert sol.success and "solved directly" in sol.message
    np.testing.assert_allclose(sol.x, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    assert sol.gap is not None and 0.0 <= sol.gap <= 1e-10 * max(1.0, abs(sol.fun))


@quick
@given(seed=st.integers(0, 10**6), form=st.sampled_from(sorted(MATRICES)), kind=st.sampled_from(sorted(SETS)))
def test_the_gap_is_that_of_any_feasible_point_and_never_below(seed, form, kind):
    H, g, constraint, objective = problem(form, kind, seed)
    found = minimum_of(objective, constraint)
    Z = tangent_basis(constraint)
    rng = np.random.default_rng(seed + 1)
    point = constraint.project(found.point + 10.0 ** rng.uniform(-6, 2) * rng.standard_normal(P))
    gradient = H @ point + g
    z = Z.T @ gradient
    truth = 0.5 * z @ np.linalg.solve(Z.T @ H @ Z, z)
    gap = found.gap(constraint.tangent(gradient), float(np.linalg.norm(gradient)))
    assert truth * (1 - 1e-12) <= gap <= truth * (1 + 1e-4) + 1e-12
    if math.isfinite(found.stretch):  # the convexity of F on the set is no less than said
        assert 1.0 / found.stretch <= (1 + 1e-9) * np.linalg.eigvalsh(Z.T @ H @ Z).min()


def exact_gap(H, A, gradient):
    """<g, P_H g> / 2 in fractions."""
    size = len(H) + len(A)
    rows = [[Fraction(0)] * (size + 1) for _ in range(size)]
    for (i, j), entry in np.ndenumerate(H):
        rows[i][j] = Fraction(float(entry))
    for (i, j), entry in np.ndenumerate(A):
        rows[len(H) + i][j] = rows[j][len(H) + i] = Fraction(float(entry))
    for i, entry in enumerate(gradient):
        rows[i][size] = Fraction(float(entry))
    for k in range(size):
        pivot = next(i for i in range(k, size) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return float(sum(Fraction(float(g)) * rows[i][size] for i, g in enumerate(gradient)) / 2)


@pytest.mark.parametrize("kind", ["Affine, dense", "Affine, sparse"])
@pytest.mark.parametrize("decades", [3, 4])
def test_the_gap_is_not_below_whatever_the_units_of_variables(kind, decades):
    """Units so different that a product with the gradient would lose what rounding leaves of it."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        units = 10.0 ** rng.uniform(-decades, decades, P)
        H, g = _definite(rng) * np.outer(units, units), rng.standard_normal(P)
        constraint = SETS[kind](rng)
        rows = constraint.equations[0]
        A = np.asarray(rows.toarray() if sparse.issparse(rows) else rows)
        found = minimum_of(tether.Quadratic(matrix=H / 2, linear=g), constraint)
        point = constraint.project(found.point + rng.standard_normal(P))
        tangent = constraint.tangent(H @ point + g)
        truth = exact_gap(H, A, tangent)
        assert truth * (1 - 1e-12) <= found.gap(tangent, 0.0) <= 1.02 * truth
        metric = constraint.in_metric(FullMetric(H))
        image, decrement = metric.along(tangent)
        assert 2 * truth * (1 - 1e-6) <= decrement <= 2.04 * truth
        np.testing.assert_array_equal(image, metric.tangent(tangent))


@pytest.mark.parametrize("seed", range(5))
def test_a_matrix_that_is_not_positive_on_the_set_has_no_certificate(seed):
    """H is flat along a tangent direction: there is a minimum, but not a single one."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((3, P))
    flat = scipy.linalg.null_space(A)[:, 0]
    project = np.eye(P) - np.outer(flat, flat)
    H = project @ _definite(rng) @ project
    objective = tether.Quadratic(matrix=0.25 * (H + H.T), linear=project @ rng.standard_normal(P))
    found = minimum_of(objective, tether.Affine(A, np.ones(3)))
    assert found is None or math.isnan(found.gap(np.ones(P), 1.0))


def test_nobody_computes_eigenvalues_for_a_problem_that_one_system_solves(monkeypatch):
    """Neither does the constructor, which has to tell that the matrix is positive, nor the run."""
    rng = np.random.default_rng(0)
    for name in ("quadratic_forms.spectrum_of", "second_moment.SecondMoment.smallest"):
        monkeypatch.setattr(f"tether.objectives.{name}", lambda *_: pytest.fail("eigenvalues"))
    X, equations = rng.standard_normal((200, P)), tether.Affine(np.ones((1, P)), [1.0])
    for matrix in (_definite(rng), sparse.csr_array(_singular(rng))):
        assert tether.solve(tether.Quadratic(matrix=matrix, linear=X[0]), SETS["Affine, dense"](rng)).success
    assert tether.solve(tether.GLM(X, X[:, 0], "squared", l2=1e-3), equations).success


@pytest.mark.parametrize("size", [200, 700])
def test_a_thin_system_is_eliminated_as_the_sparse_matrix_that_it_is(size, monkeypatch):
    rng = np.random.default_rng(size)
    couplings = sparse.random_array((size, size), density=1.0 / size, rng=rng)
    H = sparse.csr_array(couplings @ couplings.T + sparse.diags_array(rng.uniform(1e-3, 1.0, size)))
    A, g = sparse.random_array((size // 4, size), density=2.0 / size, rng=rng).tocsr(), rng.random(size)
    A = A[np.diff(A.indptr) > 0]
    objective = tether.Quadratic(matrix=H / 2, linear=g)
    constraint = tether.Affine(A, A @ rng.random(size))
    if size > minimum.MEDIUM_SIZE:
        for way in ("minimum.FullMetric", "optimality_system.lu_factor"):
            monkeypatch.setattr(f"tether.shortcuts.{way}", lambda *_: pytest.fail("a dense factorisation"))
    sol = tether.solve(objective, constraint, rtol=1e-12)
    Z = scipy.linalg.null_space(A.toarray())
    assert sol.success and "solved directly" in sol.message
    assert np.linalg.norm(Z.T @ (H @ sol.x + g)) <= 1e-9 * np.linalg.norm(g)
    assert constraint.residual(sol.x) <= 1e-10


def test_hs52_is_certified():
    """Hock and Schittkowski 52: the matrix is singular, but positive on the set."""
    rows = np.array([[4.0, -1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]])
    C = rows.T @ rows
    linear = 2 * rows.T @ np.array([0.0, -2, -1, -1])
    A = np.array([[1.0, 3, 0, 0, 0], [0, 0, 1, 1, -2], [0, 1, 0, 0, -1]])
    sol = tether.solve(tether.Quadratic(matrix=C, linear=linear, constant=6.0), tether.Affine(A, np.zeros(3)))
    assert sol.success and sol.gap is not None and sol.gap <= 1e-20
    assert sol.fun == pytest.approx(1859 / 349, rel=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense A", "sparse A"])
def test_many_blocks_are_eliminated_one_by_one(kind):
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 6, 700)
    H = sparse.csr_array(sparse.block_diag([_definite(rng, int(size)) for size in sizes]))
    order = rng.permutation(H.shape[0])
    H = sparse.csr_array(H[order][:, order])
    A, g = rng.standard_normal((60, H.shape[0])), rng.standard_normal(H.shape[0])
    A[rng.random(A.shape) < 0.7] = 0.0
    assert blocks_of(H) is not None
    sol = tether.solve(
        tether.Quadratic(matrix=H / 2, linear=g), tether.Affine(kind(A), np.ones(60)), tol=1e-12
    )
    inverse = np.linalg.inv(H.toarray())
    multipliers = np.linalg.solve(A @ inverse @ A.T, np.ones(60) + A @ inverse @ g)
    np.testing.assert_allclose(sol.x, inverse @ (A.T @ multipliers - g), rtol=1e-8, atol=1e-9)
    assert "solved directly" in sol.message and sol.gap <= 1e-12


@pytest.mark.parametrize("decades", [0, 3])
def test_calibration_solves_one_system_of_as_many_unknowns_as_totals(decades):
    """Weights nearest to those of a sample that meet totals, over costs that differ by so many decades."""
    rng = np.random.default_rng(7)
    A, start = rng.uniform(0.0, 1.0, (8, 3000)), rng.uniform(1.0, 3.0, 3000)
    costs, totals = 10.0 ** rng.uniform(-decades, decades, 3000), A @ start * rng.uniform(0.9, 1.1, 8)
    objective = tether.Quadratic(matrix=sparse.diags_array(costs / 2).tocsr(), linear=-costs * start)
    sol = tether.solve(objective, tether.Affine(A, totals), tol=1e-12)
    multipliers = np.linalg.solve((A / costs) @ A.T, totals - A @ start)
    np.testing.assert_allclose(sol.multipliers, multipliers, rtol=1e-9)
    np.testing.assert_allclose(sol.x, start + A.T @ multipliers / costs, rtol=1e-10)
    assert "solved directly" in sol.message and sol.gap <= 1e-12 * abs(sol.fun)


def _grid(side):
    nodes = np.arange(side * side).reshape(side, side)
    across = np.column_stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()])
    return np.concatenate([across, np.column_stack([nodes[:-1].ravel(), nodes[1:].ravel()])])


def test_a_flow_with_quadratic_costs_factorises_one_laplacian():
    edges, rng = _grid(40), np.random.default_rng(5)
    supply = rng.standard_normal(1600)
    network, costs = tether.Flow(edges, supply - supply.mean()), rng.uniform(0.5, 2.0, len(edges))
    objective = tether.Quadratic(
        matrix=sparse.diags_array(costs / 2).tocsr(), linear=rng.standard_normal(len(edges))
    )
    sol = tether.solve(objective, network)
    assert "_rows" not in vars(network)  # the Laplacian without weights was never needed
    B, b = network.equations
    weighted = sparse.csc_array((B / costs) @ B.T)
    potentials = sparse.linalg.spsolve(weighted, b + B @ (objective.linear / costs))
    np.testing.assert_allclose(sol.x, (B.T @ potentials - objective.linear) / costs, atol=1e-9)
    np.testing.assert_allclose(sol.multipliers[1:], potentials, atol=1e-8 * np.abs(potentials).max())
    assert sol.success and sol.residual <= 1e-12 * np.linalg.norm(sol.x)


def test_known_multipliers_do_not_change_the_set():
    rng = np.random.default_rng(6)
    network = _flow(rng)
    found = minimum_of(tether.Quadratic(matrix=np.diag(rng.uniform(1, 2, P))), network)
    same = WithMultipliers(network, found.multipliers, found.normal)
    for v in rng.standard_normal((5, P)):
        np.testing.assert_allclose(same.tangent(v), network.tangent(v), atol=1e-14)
        np.testing.assert_allclose(same.project(v), network.project(v), atol=1e-14)
        np.testing.assert_allclose(same.multipliers(v), network.multipliers(v), atol=1e-13)
    np.testing.assert_allclose(same.tangent(found.normal), 0.0, atol=1e-14)
    np.testing.assert_allclose(same.multipliers(found.normal), network.multipliers(found.normal), atol=1e-12)
    assert same.digest() == network.digest() and repr(same) == repr(network)


@pytest.mark.parametrize("size", [5, 16, 17, 60])
def test_the_norm_of_the_map_to_the_minimum_is_bounded_closely(size):
    rng = np.random.default_rng(size)
    H, A = _definite(rng, size), rng.standard_normal((3, size))
    found = minimum_of(tether.Quadratic(matrix=H / 2), tether.Affine(A))
    Z = scipy.linalg.null_space(A)
    norm = 1.0 / np.linalg.eigvalsh(Z.T @ H @ Z)[0]
    assert norm <= found.stretch <= 4.0 * norm


def test_a_sparse_program_is_confirmed_without_another_projection(monkeypatch):
    rng = np.random.default_rng(8)
    A = sparse.csr_array(sparse.random_array((300, 700), density=0.005, rng=rng) + sparse.eye_array(300, 700))
    H = sparse.diags_array([4.0, -1.0, -1.0], offsets=[0, 1, -1], shape=(700, 700)).tocsr()
    plane = tether.Affine(A, A @ rng.standard_normal(700))
    objective = tether.Quadratic(matrix=H / 2, linear=rng.standard_normal(700))
    calls = []
    for name in ("tangent", "multipliers"):
        monkeypatch.setattr(tether.Affine, name, lambda *_, name=name: calls.append(name))
    sol = tether.solve(objective, plane)
    assert sol.success and not calls
    system = sparse.block_array([[H, A.T], [A, None]], format="csc")
    exact = sparse.linalg.spsolve(system, np.concatenate([-objective.linear, plane.b]))
    np.testing.assert_allclose(sol.x, exact[:700], atol=1e-10)
    np.testing.assert_allclose(sol.multipliers, -exact[700:], atol=1e-10)
    assert sol.residual <= 1e-14 * np.linalg.norm(sol.x)


@pytest.mark.parametrize("seconds", [1e-9, np.inf])
def test_what_is_thought_to_take_longer_than_there_is_time_is_not_begun(seconds):
    edges = _grid(80)
    network = tether.Flow(edges, np.zeros(80 * 80))
    objective = tether.Quadratic(
        matrix=sparse.eye_array(len(edges), format="csr"), linear=np.ones(len(edges))
    )
    assert (minimum_of(objective, network, seconds) is None) == (seconds < 1.0)


def test_a_system_that_would_fill_in_is_left_to_the_methods(monkeypatch):
    monkeypatch.setattr(optimality_system, "HOPELESS_WORK", 1e3)
    H = sparse.diags_array([4.0, -1.0, -1.0], offsets=[0, 1, -1], shape=(2_000, 2_000)).tocsr()
    A = sparse.csr_array(np.ones((1, 2_000)))
    objective = tether.Quadratic(matrix=H, linear=np.arange(2_000.0))
    assert minimum_of(objective, tether.Affine(A, [1.0])) is None
    monkeypatch.setattr(optimality_system, "HOPELESS_WORK", HOPELESS_WORK)
    assert minimum_of(objective, tether.Affine(A, [1.0])) is not None


@pytest.mark.parametrize("equations", [0, 3])
def test_data_in_single_precision_have_their_minimum_and_its_gap_in_double(equations):
    """Columns with large means, and units that differ: products in single precision lose most digits."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = (rng.standard_normal((120, P)) * 10.0 ** rng.uniform(-2, 2, P) + 30.0).astype(np.float32)
        y, A = rng.standard_normal(120), rng.standard_normal((equations, P))
        constraint = tether.Affine(A, rng.standard_normal(equations)) if equations else None
        sol = tether.solve(tether.GLM(X, y, "squared", l2=1e-6), constraint, rtol=1e-10)
        assert sol.success and sol.gap is not None
        wide = X.astype(np.float64)
        H, g = wide.T @ wide / 120 + 1e-6 * np.eye(P), -wide.T @ y / 120
        gradient = H @ sol.x + g
        tangent = gradient if constraint is None else constraint.tangent(gradient)
        assert exact_gap(H, A, tangent) <= sol.gap + 1e-14 * abs(sol.fun)
