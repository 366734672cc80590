"""A start next to the minimum: where data are few and at hand, Newton's steps are taken before the run.

A round of conversation takes the time of a pass over some hundred thousand numbers. Where a step of Newton's
method takes less, the steps are taken here, beside the data, and the run begins where they lead: its first
request certifies that point as it would any other, and the run goes on where that is not enough. Where steps
do not converge soon (they have to be cut often, a Hessian is not positive, F has no minimum) nothing is
believed of what was found, and the run begins where it would have.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from tether.arrays import Array, norm
from tether.constraints import Constraint, Unconstrained
from tether.curvature import FULL
from tether.methods.auto import AutoAlgorithm
from tether.methods.prices import work_of_request
from tether.metric import NotFinite
from tether.metric.full import FullMetric
from tether.problem import Facts, Problem
from tether.requests import VALUE_ROUNDING, Work
from tether.tolerance import Tolerance

STEPS = 25  # at most
CUTS = 3  # of a step, at most
DECREASE = 1e-4  # of what the slope promises (Armijo)
DEAREST_STEP = 5e6  # nanoseconds: next to dearer steps the conversation hardly counts
LARGEST_SIZE = 1_000  # variables
SINGULAR = 1e-12  # of an entry of the diagonal, below which its pivot is mostly rounding
MUCH = 0.1  # what is left of a decrement by a step after which the Hessian is good for another one
SHARE = 0.1  # of the accuracy that was asked for, so that the certificate is sure to meet it
LARGEST_FALL = 100.0  # times the size of F: a longer fall is no measure of it
STRAIGHT_SHARE = 1e-3  # the same where no decrement bounds the gap


Map = Callable[[Array], Array]


class Approach(NamedTuple):
    """What became of steps before the run: what they cost, where they led, and F where they began."""

    work: Work
    start: Array
    first: float
    slope: float  # ||P grad F|| at the start
    steps: int = 0
    point: Array | None = None  # None: they did not converge, and the run begins where it would have


class Stand(NamedTuple):
    """A feasible point with F, its slope and its Hessian, and what P_H with that of a step before says."""

    point: Array
    value: float
    tangent: Array  # P grad F
    hessian: Callable[[], Array]
    image: Map | None = None  # P_H
    direction: Array | None = None  # P_H grad F
    decrement: float = math.inf  # <grad F, P_H grad F>
    gain: float = math.inf  # the same as a share of what it was before the step


@dataclass
class Data:
    """The problem's functions, counted."""

    problem: Problem
    looks: int = 0
    bends: int = 0

    def stand(self, x: Array) -> Stand:
        """Look at F at a point."""
        self.looks += 1
        value, gradient, hessian = self.problem.objective.expansion(x)
        return Stand(x, value, self.problem.constraint.tangent(gradient), hessian)

    def image(self, hessian: Array) -> Map | None:
        """Return P_H; None where H is not positive on the set."""
        self.bends += 1
        constraint = self.problem.constraint
        within = _by_elimination(constraint, hessian)
        if within is not None:
            return within
        if not np.isfinite(hessian).all():
            return None
        tangent = constraint.in_metric(FullMetric(hessian))
        return tangent.tangent if tangent.exact else None


def approached(
    problem: Problem,
    algorithm: object,
    facts: Facts,
    asked: Tolerance,
    start: Array,
    max_passes: float = math.inf,
) -> Approach | None:
    """Return what became of Newton's steps from a point; None where they are no shortcut.

    They are not begun where budgets leave no room for as many as may be taken.
    """
    if not isinstance(algorithm, AutoAlgorithm) or algorithm.newton is None or not facts.proven_convex:
        return None
    newton, price = algorithm.newton, facts.second_order.full
    dear = (1.0 + newton.price) * work_of_request(facts) > DEAREST_STEP
    full = newton.exact and newton.form == FULL
    if not (algorithm.begins_with_newton and full) or dear or facts.dim > LARGEST_SIZE:
        return None
    if STEPS * 2.0 * (CUTS + 1 + price) > max_passes:  # what they cost at most
        return None
    data, x = Data(problem), problem.constraint.project(start)
    with np.errstate(all="ignore"):
        here = data.stand(x)
        accuracy = asked.times(SHARE if math.isfinite(newton.concordance) else STRAIGHT_SHARE)
        steps, point = _taken(data, here, accuracy)
    work = Work(0, math.ceil((data.looks + data.bends * price) * facts.n_samples), steps, steps)
    return Approach(work, x, here.value, norm(here.tangent), steps, point)


def _taken(data: Data, here: Stand, accuracy: Tolerance) -> tuple[int, Array | None]:
    """Take steps until the gap is likely to be small enough; return how many, and their end if it is."""
    first = here.value
    for step in range(STEPS):
        if _is_near(here, first, accuracy):
            return step, here.point
        try:
            there = _further(data, here)
        except NotFinite:  # a Hessian is out of scale
            there = None
        if there is None:
            return step, None
        here = there
    return STEPS, None


def _is_near(here: Stand, first: float, accuracy: Tolerance) -> bool:
    """Say whether the gap is likely to be small enough, by the Hessian of the step before."""
    left, size = 0.5 * here.decrement, abs(here.value)
    return left >= 0.0 and accuracy.allows(left, max(size, min(first - here.value, LARGEST_FALL * size)))


def _further(data: Data, here: Stand) -> Stand | None:
    """Return the end of a step with the last Hessian while that gains much, else of Newton's step.

    Where that leads too far, the end of a step with a model above F, if there is one.
    """
    if here.gain <= MUCH:
        there = _stepped(data, here, here.image, here.direction)
        if there is not None and there.gain <= MUCH:
            return there
        here = here if there is None else there
    there = _stepped(data, here, data.image(here.hessian()))
    majorised = data.problem.objective.majorised if there is None else None
    if majorised is None:
        return there
    there = _stepped(data, here, data.image(majorised.expansion(here.point).hessian()))
    return None if there is None else there._replace(decrement=math.inf, gain=math.inf)


def _stepped(data: Data, here: Stand, image: Map | None, direction: Array | None = None) -> Stand | None:
    """Return the end of a step, cut where F did not fall; None where it would have to be cut too often."""
    if image is None:
        return None
    direction = image(here.tangent) if direction is None else direction
    slope = float(direction @ here.tangent)
    if not slope > 0.0:
        return None
    length, rounding = 1.0, VALUE_ROUNDING * abs(here.value)
    for _ in range(CUTS + 1):
        there = data.stand(here.point - length * direction)
        if there.value <= here.value - DECREASE * length * slope + rounding:
            ahead = image(there.tangent)
            left = float(ahead @ there.tangent)
            return there._replace(image=image, direction=ahead, decrement=left, gain=left / slope)
        length *= 0.5
    return None


def _by_elimination(constraint: Constraint, hessian: Array) -> Map | None:
    """Return P_H with a few dense equations, or none; None for others, or if a matrix is next to singular."""
    lower = _factor(hessian)
    if lower is None:
        return None
    if isinstance(constraint, Unconstrained):
        return lambda gradient: dpotrs(lower, gradient, lower=1)[0]
    equations, own = constraint.equations, constraint.tangent
    if equations is None or not isinstance(equations[0], np.ndarray) or not len(equations[0]):
        return None
    rows = equations[0]
    spread = dpotrs(lower, rows.T, lower=1)[0]
    schur = _factor(rows @ spread)
    if schur is None:
        return None

    def image(gradient: Array) -> Array:
        direction = dpotrs(lower, gradient, lower=1)[0]
        return own(direction - spread @ dpotrs(schur, rows @ direction, lower=1)[0])

    return image


def _factor(matrix: Array) -> Array | None:
    """Return the Cholesky factor of a matrix; None where pivots are lost in rounding."""
    lower, info = dpotrf(matrix.T, lower=1)
    if info != 0 or not (lower.diagonal() ** 2 > SINGULAR * matrix.diagonal()).all():
        return None
    return lower
