"""What may be given as a constraint, turned into one."""

from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint

from tether.constraints.affine import Affine
from tether.constraints.base import Constraint
from tether.constraints.unconstrained import Unconstrained
from tether.names import Names


def as_constraint(constraint: Any, dim: int, names: Names | None = None) -> Constraint:
    """Return a constraint on vectors of length ``dim``, aligned by name where both sides have names.

    Parameters
    ----------
    constraint : Constraint, scipy.optimize.LinearConstraint or None
        None means unconstrained; a LinearConstraint must be an equation, lb equal to ub.
    dim : int
        The number of variables of the objective.
    names : tuple of str, optional
        Their names. A constraint with names of its own is put into their order; it may leave variables out
        but not name others. Where only one side has names, variables count by position.

    Returns
    -------
    Constraint
        The constraint, checked to act on vectors of that length.
    """
    if constraint is None:
        return Unconstrained(dim)
    if isinstance(constraint, LinearConstraint):
        constraint = _equations(constraint)
    if not isinstance(constraint, Constraint):
        raise TypeError(
            "constraint must be None, a constraint such as tether.Affine(A, b), or a "
            f"scipy.optimize.LinearConstraint with lb equal to ub, got {type(constraint).__name__}."
        )
    if names is not None:
        constraint = constraint.aligned(tuple(names))
    if constraint.dim is None:
        _require_length(constraint, dim)
        return constraint.sized(dim)
    if constraint.dim != dim:
        raise ValueError(
            f"the constraint acts on vectors of length {constraint.dim}, the objective has {dim} variables; "
            "it needs one column for each: d, one more with an intercept, all that K times for K classes."
        )
    return constraint


def _require_length(constraint: Constraint, dim: int) -> None:
    """Let a constraint on vectors of any length say whether this one will do."""
    try:
        constraint.tangent(np.zeros(dim))
    except ValueError as error:
        raise ValueError(f"constraint does not fit the objective's {dim} variables: {error}") from error


def _equations(constraint: LinearConstraint) -> Affine:
    """Return lb <= A x <= ub as A x = lb."""
    A: Any = constraint.A
    rows = 1 if A.ndim == 1 else A.shape[0]
    lower = np.broadcast_to(np.asarray(constraint.lb, dtype=float), (rows,))
    upper = np.broadcast_to(np.asarray(constraint.ub, dtype=float), (rows,))
    if np.isnan(lower).any() or np.isnan(upper).any() or (np.isinf(lower) & (lower == upper)).any():
        raise ValueError(
            "constraint cannot be used: lb and ub of the LinearConstraint must be finite numbers, because "
            "its equations are A x = lb."
        )
    unequal = np.flatnonzero(lower != upper)
    if len(unequal):
        i = unequal[0]
        raise ValueError(
            f"constraint must be made of equations, but row {i} of the LinearConstraint has lb = {lower[i]} "
            f"and ub = {upper[i]}: inequality constraints are not supported; give equal bounds or drop "
            "the row."
        )
    return Affine(A, lower)
