"""What was given and what is solved are the same set and the same penalty, with fewer rows."""

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint
from scipy.sparse.linalg import aslinearoperator

import tether
from tether.feasible import as_feasible
from tether.polyhedral import Duals

INF = np.inf


def beyond(feasible, x):
    """How far a point is from satisfying everything."""
    psi = feasible.polyhedral
    return feasible.plane.residual(x) + (0.0 if psi is None else psi.violation(x))


def penalty_at(feasible, x):
    return 0.0 if feasible.polyhedral is None else feasible.polyhedral.value(x)


# --- equations only, as they always were -----------------------------------------------------------------


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    "constraint",
    [
        tether.Affine(np.ones((1, 4)), [1.0]),
        tether.Range(np.ones((4, 1))),
        tether.Flow([[0, 1], [1, 2], [0, 2], [2, 0]], [1.0, 0.0, -1.0]),
    ],
    ids=["Affine", "Range", "Flow"],
)
def test_a_plane_alone_stays_itself(constraint, listed):
    feasible = as_feasible([constraint] if listed else constraint, None, 4)
    assert feasible.plane is constraint
    assert feasible.polyhedral is None and feasible.plain


def test_consensus_alone_stays_itself():
    constraint = tether.Consensus(2)
    assert as_feasible(constraint, None, 4).plane is constraint


@pytest.mark.parametrize("nothing", [None, [], tether.Unconstrained(), [tether.Unconstrained()]], ids=repr)
def test_nothing_is_the_whole_space(nothing):
    feasible = as_feasible(nothing, None, 3)
    assert isinstance(feasible.plane, tether.Unconstrained) and feasible.plane.dim == 3
    assert feasible.polyhedral is None and feasible.plain


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_several_planes_become_one_in_the_order_given(wrap):
    A, G = np.array([[1.0, 1.0, 1.0, 0.0]]), np.array([[0.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 0.0]])
    rows = LinearConstraint(wrap(G), [6.0, -INF], [6.0, INF])
    flow = tether.Flow([[0, 1], [0, 1], [1, 2], [2, 3]], [1.0, 1.0, 1.0, -3.0])
    feasible = as_feasible([rows, tether.Affine(wrap(A), [3.0]), flow], None, 4)
    assert feasible.plain and feasible.polyhedral is None
    matrix, right = feasible.plane.equations
    assert sp.issparse(matrix) == (wrap is sp.csr_array)
    dense = matrix.toarray() if sp.issparse(matrix) else matrix
    np.testing.assert_array_equal(dense[:3], [G[0], np.zeros(4), A[0]])  # a row without sides keeps its place
    np.testing.assert_array_equal(right[:3], [6.0, 0.0, 3.0])
    gradient = dense.T @ np.arange(1.0, 7.0)
    found = feasible.multipliers(gradient)
    assert found.inequalities is None and found.bounds is None and found.penalty is None
    assert len(found.equalities) == 2 + 1 + 4 and found.equalities[1] == 0.0
    incidence = np.array([[1, 1, 0, 0], [-1, -1, 1, 0], [0, 0, -1, 1], [0, 0, 0, -1.0]])
    again = np.vstack([G, A, incidence]).T @ found.equalities
    np.testing.assert_allclose(again, gradient, atol=1e-12)


def test_bounds_that_bound_nothing_and_penalties_without_weight_add_no_function_but_have_multipliers():
    feasible = as_feasible([tether.Affine(np.ones((1, 3))), Bounds()], tether.L1(0.0), 3)
    assert feasible.polyhedral is None and not feasible.plain
    found = feasible.multipliers(np.ones(3))
    np.testing.assert_allclose(found.equalities, [1.0])
    np.testing.assert_array_equal(found.bounds, np.zeros(3))
    np.testing.assert_array_equal(found.penalty, np.zeros(3))


# --- what rows become ------------------------------------------------------------------------------------


def test_a_simplex_is_one_equation_and_lower_bounds():
    feasible = as_feasible(tether.Simplex(2.0), None, 3)
    matrix, right = feasible.plane.equations
    np.testing.assert_array_equal(matrix, np.ones((1, 3)))
    np.testing.assert_array_equal(right, [2.0])
    np.testing.assert_array_equal(feasible.polyhedral.coordinates.lower, np.zeros(3))
    assert np.isposinf(feasible.polyhedral.coordinates.upper).all() and not feasible.polyhedral.couples
    found = feasible.multipliers(np.ones(3), Duals(np.array([-1.0, 0.0, -0.5]), np.zeros(0)))
    np.testing.assert_allclose(found.equalities, [1.0])
    np.testing.assert_array_equal(found.bounds, [1.0, 0.0, 0.5])


def test_rows_with_one_entry_become_bounds_and_their_multipliers_go_back():
    rows = LinearConstraint([[0.0, -2.0], [4.0, 0.0], [1.0, 0.0]], [-6.0, 2.0, -INF], [2.0, INF, 5.0])
    feasible = as_feasible([Bounds([0.0, -1.0], [9.0, 9.0]), rows], None, 2)
    psi = feasible.polyhedral
    assert not psi.couples
    np.testing.assert_array_equal(psi.coordinates.lower, [0.5, -1.0])
    np.testing.assert_array_equal(psi.coordinates.upper, [5.0, 3.0])
    below = feasible.multipliers(np.zeros(2), Duals(np.array([-8.0, -3.0]), np.zeros(0)))
    np.testing.assert_array_equal(below.inequalities, [0.0, 2.0, 0.0])
    np.testing.assert_array_equal(below.bounds, [0.0, 3.0])
    above = feasible.multipliers(np.zeros(2), Duals(np.array([8.0, 3.0]), np.zeros(0)))
    np.testing.assert_array_equal(above.inequalities, [1.5, 0.0, -8.0])
    np.testing.assert_array_equal(above.bounds, [0.0, 0.0])


def test_a_variable_fixed_by_bounds_or_by_a_row_has_both_walls_at_that_number():
    feasible = as_feasible(
        [Bounds([0.1, -1.0], [0.1, 1.0]), LinearConstraint([[0.0, 3.0]], 0.9, 0.9)], None, 2
    )
    coordinates = feasible.polyhedral.coordinates
    np.testing.assert_array_equal(coordinates.lower, [0.1, 0.9 / 3.0])
    np.testing.assert_array_equal(coordinates.upper, coordinates.lower)
    np.testing.assert_array_equal(coordinates.prox(np.array([7.0, -7.0]), 1.0), [0.1, 0.9 / 3.0])
    assert isinstance(feasible.plane, tether.Unconstrained)
    for sign in (1.0, -1.0):
        found = feasible.multipliers(np.zeros(2), Duals(sign * np.array([2.0, 6.0]), np.zeros(0)))
        np.testing.assert_allclose(found.bounds, [-sign * 2.0, 0.0])
        np.testing.assert_allclose(found.inequalities, [-sign * 2.0])


def test_parallel_rows_are_one_row_with_the_narrowest_walls():
    G = np.array([[1.0, 2.0, 0.0], [-3.0, -6.0, 0.0], [1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    feasible = as_feasible(LinearConstraint(G, [-1.0, -6.0, 0.0, 0.0], [5.0, 6.0, 4.0, 1.0]), None, 3)
    psi = feasible.polyhedral
    np.testing.assert_array_equal(np.asarray(psi.matrix), G[[0, 3]])
    np.testing.assert_array_equal(psi.rows.lower, [0.0, 0.0])
    np.testing.assert_array_equal(psi.rows.upper, [2.0, 1.0])
    below = feasible.multipliers(np.zeros(3), Duals(np.zeros(3), np.array([-3.0, 0.0])))
    np.testing.assert_array_equal(below.inequalities, [0.0, 0.0, 3.0, 0.0])
    above = feasible.multipliers(np.zeros(3), Duals(np.zeros(3), np.array([3.0, 0.0])))
    np.testing.assert_array_equal(above.inequalities, [0.0, 1.0, 0.0, 0.0])


def test_two_rows_that_meet_are_an_equation():
    G = np.array([[1.0, 2.0], [2.0, 4.0]])
    feasible = as_feasible(LinearConstraint(G, [-INF, 6.0], [3.0, INF]), None, 2)
    assert feasible.polyhedral is None and not feasible.plain
    np.testing.assert_array_equal(feasible.plane.equations[0], G[:1])
    np.testing.assert_allclose(feasible.multipliers(G[0]).inequalities, [0.0, 0.5])
    np.testing.assert_allclose(feasible.multipliers(-G[0]).inequalities, [-1.0, 0.0])


def test_walls_that_cross_by_rounding_meet():
    G = np.array([[1.0, 1.0], [3.0, 3.0]])
    feasible = as_feasible(LinearConstraint(G, [0.1 + 0.2, -INF], [INF, 3 * 0.3]), None, 2)
    assert feasible.plane.shape == (1, 2) and feasible.polyhedral is None


def test_rows_that_are_multiples_of_an_equation_are_dropped():
    A, G = np.array([[1.0, 1.0, 2.0]]), np.array([[-2.0, -2.0, -4.0], [1.0, 0.0, 1.0]])
    feasible = as_feasible([tether.Affine(A, [3.0]), LinearConstraint(G, -6.0, 6.0)], None, 3)
    np.testing.assert_array_equal(np.asarray(feasible.polyhedral.matrix), G[1:])
    assert feasible.plane.shape == (1, 3)
    found = feasible.multipliers(A[0], Duals(np.zeros(3), np.array([1.0])))
    np.testing.assert_allclose(found.equalities, [1.0])
    np.testing.assert_array_equal(found.inequalities, [0.0, -1.0])


def test_walls_that_bounds_keep_rows_from_are_dropped():
    G = np.array([[1.0, 1.0], [1.0, -1.0]])
    feasible = as_feasible([Bounds(0, 1), LinearConstraint(G, [0.5, -1.0], [2.0, 1.0])], None, 2)
    psi = feasible.polyhedral
    np.testing.assert_array_equal(np.asarray(psi.matrix), G[:1])
    assert psi.rows.lower == [0.5] and np.isposinf(psi.rows.upper)


def test_terms_of_one_variable_are_its_slopes_and_share_its_dual():
    D = np.array([[-2.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    feasible = as_feasible(None, [tether.L1(1.0, D, weights=(1.0, 3.0)), tether.L1(0.5)], 2)
    psi = feasible.polyhedral
    np.testing.assert_array_equal(psi.coordinates.left, [6.5, 0.5])
    np.testing.assert_array_equal(psi.coordinates.right, [2.5, 0.5])
    np.testing.assert_array_equal(psi.rows.left, [3.0])
    np.testing.assert_array_equal(psi.rows.right, [9.0])
    found = feasible.multipliers(np.zeros(2), Duals(np.array([2.5, 0.1]), np.array([3.0]))).penalty
    np.testing.assert_allclose(found, [-1.0, 1.0, 1.0, 0.5, 0.1])


@pytest.mark.parametrize(
    ("lower", "upper", "dual", "bound", "term"),
    [
        (0.0, INF, -3.0, 2.0, -1.0),
        (0.0, INF, 0.4, 0.0, 0.4),
        (-INF, 2.0, 3.0, -2.0, 1.0),
        (1.0, 2.0, -0.5, 1.5, 1.0),
        (1.0, 2.0, 4.0, -3.0, 1.0),
        (-2.0, -1.0, 0.5, -1.5, -1.0),
        (0.0, 0.0, 5.0, -4.0, 1.0),
    ],
    ids=["zero", "kink", "upper", "away from zero", "upper, away", "negative", "fixed"],
)
def test_a_dual_of_a_bounded_penalised_variable_is_first_of_the_penalty(lower, upper, dual, bound, term):
    feasible = as_feasible(Bounds([lower], [upper]), tether.L1(1.0), 1)
    found = feasible.multipliers(np.zeros(1), Duals(np.array([dual]), np.zeros(0)))
    assert (found.bounds[0], found.penalty[0]) == (bound, term)
    assert found.bounds[0] - found.penalty[0] == -dual


# --- planes that know no equations -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "constraint",
    [
        tether.Range(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 1.0]])),
        tether.Affine(aslinearoperator(np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 2.0]])), [1.0, 2.0]),
    ],
    ids=["Range", "operator"],
)
def test_planes_without_a_matrix_get_one_beside_bounds(constraint):
    feasible = as_feasible([constraint, Bounds(-9, 9)], None, 4)
    assert feasible.plane.equations is not None
    z, g = np.array([0.3, -1.0, 2.0, 0.7]), np.array([1.0, 2.0, -0.5, 3.0])
    np.testing.assert_allclose(feasible.plane.project(z), constraint.project(z), atol=1e-13)
    found = feasible.multipliers(g - feasible.plane.tangent(g), Duals(np.zeros(4), np.zeros(0)))
    np.testing.assert_allclose(found.equalities, constraint.multipliers(g), atol=1e-12)


def test_a_flow_beside_bounds_stays_itself():
    flow = tether.Flow([[0, 1], [1, 2], [0, 2]], [3.0, 0.0, -3.0])
    feasible = as_feasible([flow, Bounds(0, 3)], None, 3)
    assert feasible.plane is flow
    normal = np.array([1.0, 2.0, 3.0])  # differences of potentials
    found = feasible.multipliers(normal, Duals(np.zeros(3), np.zeros(0)))
    np.testing.assert_allclose(found.equalities, [0.0, -1.0, -3.0], atol=1e-12)


# --- the same points -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_presolved_or_not_the_set_and_the_penalty_are_the_same(seed):
    rng = np.random.default_rng(seed)
    G = rng.integers(-2, 3, (8, 3)) * (rng.random((8, 3)) < 0.6)
    G[1], G[2] = -2 * G[0], 0.5 * G[0]
    centre = rng.integers(-1, 2, 3)
    lower = G @ centre - rng.choice([0.5, 1.0, 2.0, INF], 8)
    upper = G @ centre + rng.choice([0.5, 1.0, 2.0, INF], 8)
    constraints = [LinearConstraint(G, lower, upper), Bounds(centre - 1, centre + np.array([1, 2, INF]))]
    penalty = [tether.L1(0.5, G[:4] - G[4:], weights=(1.0, 2.0)), tether.L1([1.0, 0.0, 2.0])]
    given = as_feasible(constraints, penalty, 3, presolve=False)
    solved = as_feasible(constraints, penalty, 3)
    points = centre + np.round(rng.standard_normal((300, 3)) * 4.0) / 4.0
    inside = np.array([beyond(given, x) < 1e-12 for x in points])
    assert inside.any() and not inside.all()
    np.testing.assert_array_equal(inside, [beyond(solved, x) < 1e-12 for x in points])
    np.testing.assert_allclose(
        [penalty_at(solved, x) for x in points], [penalty_at(given, x) for x in points]
    )
    assert solved.polyhedral.rows.size < given.polyhedral.rows.size


def test_large_matrices_stay_sparse():
    p = 20_000
    constraints = [tether.NonNegative(), LinearConstraint(tether.differences(p), -1.0, np.inf)]
    psi = as_feasible(constraints, tether.L1(0.1, tether.differences(p, 2)), p).polyhedral
    assert sp.issparse(psi.matrix) and psi.matrix.shape == (2 * p - 3, p)
    assert psi.matrix.nnz == 2 * (p - 1) + 3 * (p - 2)


# --- names -----------------------------------------------------------------------------------------------


def test_equations_and_terms_with_names_find_their_variables():
    names = ("a", "b", "c")
    table = pandas.DataFrame([[1.0, 2.0]], columns=["c", "a"])
    feasible = as_feasible(
        [tether.Affine(table, [1.0]), tether.NonNegative()], tether.L1(1.0, table), 3, names
    )
    np.testing.assert_array_equal(feasible.plane.equations[0], [[2.0, 0.0, 1.0]])
    np.testing.assert_array_equal(np.asarray(feasible.polyhedral.matrix), [[2.0, 0.0, 1.0]])


# --- what is active --------------------------------------------------------------------------------------


def test_active_says_which_side_holds_and_which_terms_are_zero():
    G = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])
    rows = LinearConstraint(G, [1.0, -INF, -5.0, 0.5], [INF, 0.5, 5.0, 0.5])
    D = tether.differences(3)
    feasible = as_feasible([rows, Bounds([-1, 0, 0], [0.5, 2, 0])], tether.L1(1.0, D), 3)
    x = np.array([0.5, 0.5, 0.0])
    multipliers = feasible.multipliers(
        np.zeros(3), Duals(np.zeros(3), np.zeros(feasible.polyhedral.rows.size))
    )
    active = feasible.active(x, multipliers)
    assert active.inequalities.tolist() == [-1, 1, 0, -1]
    assert active.bounds.tolist() == [1, 0, -1]
    assert active.penalty.tolist() == [True, False]
    pressed = multipliers._replace(inequalities=np.array([0.0, 0, 0, -1]), bounds=np.array([0.0, 0, -1]))
    assert feasible.active(x, pressed).inequalities.tolist() == [-1, 1, 0, 1]
    assert feasible.active(x, pressed).bounds.tolist() == [1, 0, 1]
