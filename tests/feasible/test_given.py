"""What may be given as constraints and penalties, and what is refused in one sentence."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint

import tether
from tether.feasible import as_feasible
from tether.feasible.targets import targets_of

INF = np.inf
ROW = np.ones((1, 3))


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (Bounds([0, 2, 0], 1), r"^x\[1\] in constraint has lb = 2 and ub = 1, .*; lb must be at most ub\.$"),
        (Bounds(INF, INF), r"^x\[0\] in constraint has lb = inf and ub = inf"),
        (Bounds([0, 0], 1), r"^lb of constraint must be a number or have 3 entries, got shape \(2,\)\.$"),
        (
            [Bounds(0, [[1, 1, 1]])],
            r"^lb of constraint\[0\] must be a number or have 3 entries, got shape \(1, 3",
        ),
        (Bounds(0, np.nan), r"^ub of constraint must hold numbers up to .*, got nan\.$"),
        (Bounds("a", 1), r"^lb of constraint must hold real numbers, got dtype"),
        (
            LinearConstraint(ROW, 2, 1),
            r"^row 0 of constraint has lb = 2 and ub = 1, .* lb must be at most ub\.$",
        ),
        (LinearConstraint(ROW, np.nan, 1), r"^lb of constraint must hold numbers up to .*, got nan\.$"),
        (LinearConstraint(ROW * np.nan, 0, 1), r"^A of constraint must be finite, got nan at \[0, 0\]"),
        (
            [tether.NonNegative(), LinearConstraint(np.ones((1, 2)), 0, 1)],
            r"^A of constraint\[1\] must have one column for each of the 3 variables, got shape \(1, 2\)",
        ),
        ([tether.Affine(np.ones((1, 2))), Bounds(0, 1)], r"acts on vectors of length 2, .* 3 variables"),
        (
            [tether.Consensus(3), Bounds(0, 1)],
            r"^constraint\[0\] is Consensus, .* drop it from the constraints",
        ),
        ([tether.Consensus(3), tether.Affine(ROW)], r"^constraint\[0\] is Consensus, which stands alone"),
    ],
    ids=range(13),
)
def test_wrong_constraints_are_refused_by_name(constraints, message):
    with pytest.raises(ValueError, match=message):
        as_feasible(constraints, None, 3)


@pytest.mark.parametrize(
    "wrong",
    ["abc", 3, ROW, {}, tether.Simplex, lambda x: x, [tether.NonNegative()]],
    ids=lambda item: type(item),
)
def test_what_is_no_constraint_is_refused_saying_what_is_one(wrong):
    message = (
        r"must be tether\.Affine, Range, Flow, Simplex or NonNegative, or SciPy's LinearConstraint or Bounds"
    )
    with pytest.raises(TypeError, match=r"^constraint\[1\] " + message):
        as_feasible([Bounds(0, 1), wrong], None, 3)


def test_a_penalty_among_the_constraints_is_shown_its_place():
    with pytest.raises(
        TypeError, match=r"^constraint\[0\] is L1\(2\), which is no constraint; pass it as penalty"
    ):
        as_feasible([tether.L1(2.0)], None, 3)


@pytest.mark.parametrize("wrong", [0.1, "l1", tether.L1, Bounds(0, 1), [tether.L1(1.0), 2.0]], ids=range(5))
def test_what_is_no_penalty_is_refused_saying_what_is_one(wrong):
    with pytest.raises(TypeError, match=r"^penalty must be tether\.L1\(lam, D\) or a list of such, got "):
        as_feasible(None, wrong, 3)


def test_consensus_beside_a_penalty_is_refused():
    with pytest.raises(ValueError, match=r"^constraint is Consensus, which stands alone"):
        as_feasible(tether.Consensus(3), tether.L1(1.0), 3)


def test_planes_without_a_matrix_are_refused_beside_bounds_where_they_are_large():
    big = tether.Range(sp.eye_array(3_000, 2))
    with pytest.raises(
        ValueError, match=r"^constraint\[0\], Range\(3000 x 2.*\), has no matrix of equations"
    ):
        as_feasible([big, Bounds(0, 1)], None, 3_000)


@pytest.mark.parametrize(
    "constraints", [(), (Bounds(0, 1), tether.Affine(ROW)), [Bounds(0, 1)]], ids=range(3)
)
def test_tuples_are_lists(constraints):
    tuple_, list_ = as_feasible(tuple(constraints), None, 3), as_feasible(list(constraints), None, 3)
    assert tuple_.plane.digest() == list_.plane.digest()
    assert (tuple_.polyhedral is None) == (list_.polyhedral is None)


def test_one_bound_or_row_may_stand_for_all():
    feasible = as_feasible([Bounds(0, 1), LinearConstraint([1.0, 2.0, 3.0], -INF, 2.0)], None, 3)
    np.testing.assert_array_equal(feasible.polyhedral.coordinates.upper, np.ones(3))
    np.testing.assert_array_equal(np.asarray(feasible.polyhedral.matrix), [[1.0, 2.0, 3.0]])


def test_numbers_that_stand_for_infinite_ones_bound_nothing():
    feasible = as_feasible([Bounds(-1e20, 1e30), LinearConstraint(ROW, -9.99e19, INF)], None, 3)
    assert feasible.polyhedral is None and not feasible.plain


def test_keep_feasible_changes_nothing():
    plain, kept = Bounds(0, 1), Bounds(0, 1, keep_feasible=True)
    digests = {as_feasible(bounds, None, 3).polyhedral.digest() for bounds in (plain, kept)}
    assert len(digests) == 1


def test_the_narrowest_of_several_bounds_holds():
    boxes = [Bounds([-1, 0, 0], 5), tether.NonNegative(), Bounds(-9, [1, 7, 2])]
    coordinates = as_feasible(boxes, None, 3).polyhedral.coordinates
    np.testing.assert_array_equal(coordinates.lower, np.zeros(3))
    np.testing.assert_array_equal(coordinates.upper, [1.0, 5.0, 2.0])


@pytest.mark.parametrize("constraints", [None, tether.Affine(ROW, [1.0]), [tether.Affine(ROW, [1.0])] * 2])
def test_planes_alone_are_what_any_list_would_have_made_of_them(constraints):
    quick = as_feasible(constraints, None, 3)
    slow = targets_of(quick.given, merged=False)
    for name in ("lower", "upper", "rows", "terms"):
        for one, other in zip(getattr(quick.targets, name), getattr(slow, name), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(quick.targets.matrix.toarray(), slow.matrix.toarray())
    assert quick.polyhedral is None and len(quick.as_rows) == len(quick.as_equations) == 0
