import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import LinearConstraint

from tether.constraints import Affine, Consensus, Unconstrained, as_constraint


def test_none_is_unconstrained():
    constraint = as_constraint(None, 4)
    assert isinstance(constraint, Unconstrained)
    assert constraint.dim == 4


def test_constraint_is_returned_itself():
    constraint = Affine(np.eye(2, 5))
    assert as_constraint(constraint, 5) is constraint


@pytest.mark.parametrize("A", [np.eye(2, 3), sp.csr_array(np.eye(2, 3))], ids=["dense", "sparse"])
def test_scipy_equations_become_affine(A):
    for bounds in ([3.0, 4.0], 5.0):
        constraint = as_constraint(LinearConstraint(A, bounds, bounds), 3)
        expected = np.append(np.broadcast_to(bounds, 2), 0)
        np.testing.assert_allclose(constraint.project(np.zeros(3)), expected, atol=1e-14)


def test_scipy_inequality_is_refused_naming_the_row():
    with pytest.raises(ValueError, match=r"row 1 .* lb = 0.0 and ub = inf: inequality constraints are not"):
        as_constraint(LinearConstraint(np.eye(2, 3), [1, 0], [1, np.inf]), 3)


def test_wrong_length_is_refused():
    message = "the constraint acts on vectors of length 5, the objective has 7 variables"
    for constraint in (Affine(np.eye(2, 5)), LinearConstraint(np.eye(2, 5), 0, 0), Unconstrained(5)):
        with pytest.raises(ValueError, match=message):
            as_constraint(constraint, 7)


def test_consensus_must_divide_the_variables():
    consensus = Consensus(3)
    assert as_constraint(consensus, 6) is consensus
    with pytest.raises(ValueError, match="length 7; it needs a multiple of 3"):
        as_constraint(consensus, 7)


@pytest.mark.parametrize("given", [np.eye(2), (np.eye(2), np.ones(2)), "Affine", 3])
def test_anything_else_is_refused_saying_what_is_accepted(given):
    with pytest.raises(TypeError, match=r"must be None, a constraint such as .*LinearConstraint"):
        as_constraint(given, 2)


@pytest.mark.parametrize("bound", [np.nan, np.inf])
def test_bounds_that_are_not_finite_are_refused_by_their_own_names(bound):
    with pytest.raises(ValueError, match="lb and ub of the LinearConstraint must be finite"):
        as_constraint(LinearConstraint(np.ones((1, 3)), bound, bound), 3)
