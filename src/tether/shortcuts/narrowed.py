"""Fewer variables: a linear model in the coordinates v of points x = B v, where B has orthonormal columns.

With ||v|| = ||x|| a ridge on x is one on v, so that

    F(B v) = (1/N) sum_i w_i loss(<B^T a_i, v>, y_i) + l2/2 ||v||^2

is a linear model of the same samples with the data X B. Where b is not zero the last column of B is c/||c||
with the shortest solution c of A x = b, and one trivial equation is left: v_last = ||c||. What B is the ways
tell that are built on this: `projected_data` and `wide_data`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array
from tether.constraints import Affine, Constraint, Unconstrained
from tether.methods.base import Choice
from tether.objectives import GLM
from tether.objectives.design import Design, WithOnes
from tether.problem import Problem
from tether.shortcuts.way import Way
from tether.tolerance import Tolerance

INNER_SHARE = 0.99  # for the run in v
SINGLE_SHARE = 1e-2  # for steps before it: in single precision the answer has to do without their Hessians


@dataclass(frozen=True, kw_only=True)
class Narrowed(Way, ABC):
    """The way through the coordinates v of x = B v."""

    @abstractmethod
    def coordinates(self, x: Array) -> Array:
        """Return B^T x of a feasible point."""

    @abstractmethod
    def combination(self, v: Array) -> Array:
        """Return B v, or a point that is projected there."""

    @property
    def inner(self) -> Tolerance:
        """A little less than what was asked for, so that rounding on the way to x costs no accuracy."""
        return self.asked.times(INNER_SHARE)

    @property
    def beforehand(self) -> Tolerance:
        """Less where data are in single precision, whose rounding parts the Hessians here and there."""
        return self.inner.times(SINGLE_SHARE if stored(self.wide.design).dtype == np.float32 else 1.0)

    def lower(self, x: Array) -> Array:
        """Return the coordinates of the feasible point nearest to x."""
        return self.coordinates(self.original.constraint.project(x))

    def lift(self, x: Array) -> Array:
        """Return the point with these coordinates, feasible to rounding."""
        return self.original.constraint.project(self.combination(x))

    @property
    def wide(self) -> GLM:
        """The user's model."""
        assert isinstance(self.original.objective, GLM)
        return self.original.objective

    @property
    def narrow(self) -> GLM:
        """The model that is run."""
        assert isinstance(self.problem.objective, GLM)
        return self.problem.objective


def narrowed(way: Way, narrow: GLM, length: float, reason: str) -> dict[str, Any]:
    """Return the fields of a way to a narrow model, whose last column is given where it has a length."""
    assert isinstance(way.problem.objective, GLM)
    p, r = (model.design.width for model in (way.problem.objective, narrow))
    last = narrow.dim - 1 - narrow.fit_intercept
    within = Affine(np.eye(1, narrow.dim, last), length) if length else Unconstrained(narrow.dim)
    words = f"projected once, from {p} columns to {r}"
    return {
        "problem": Problem(narrow, within, way.problem.seed),
        "original": way.original,
        "method": way.method,
        "asked": way.asked,
        "note": f"the data was {words}",
        "choice": Choice(f"the data {words}", reason),
    }


def shortest_solution(constraint: Constraint, dim: int) -> tuple[Array, float]:
    """Return the shortest feasible point, and its length."""
    nearest = constraint.project(np.zeros(dim))
    return nearest, float(np.linalg.norm(nearest))


def is_at_hand(objective: GLM) -> bool:
    """Say whether the data is dense and in memory."""
    data = stored(objective.design)
    return isinstance(data, np.ndarray) and not _is_mapped(data)


def stored(design: Design) -> Any:
    """Return the matrix behind a design, without a column of ones."""
    return getattr(design.design if isinstance(design, WithOnes) else design, "matrix", None)


def _is_mapped(array: Any) -> bool:
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = getattr(array, "base", None)
    return False


def tangents(constraint: Constraint, directions: Array) -> NDArray[Any]:
    """Return the tangent parts of directions that stand side by side."""
    if is_dense(constraint):
        return constraint.tangent(directions)  # two products of matrices
    return np.column_stack([constraint.tangent(column) for column in directions.T])


def is_dense(constraint: Constraint) -> bool:
    """Say whether equations are dense, so that several directions are projected together."""
    return isinstance(constraint, Affine) and isinstance((constraint.equations or [None])[0], np.ndarray)
