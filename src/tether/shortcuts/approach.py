"""A start next to the minimum: where data are few and at hand, Newton's steps are taken before the run.

A round of conversation takes the time of a pass over some hundred thousand numbers. Where a step of Newton's
method takes less, the steps are taken here, beside the data, and the run begins where they lead: its first
request certifies that point as it would any other, with the last Hessian where that is near enough, and the
run goes on where that is not enough. Where steps do not converge soon (they have to be cut often, a Hessian
is not positive, F has no minimum) nothing is believed of what was found, and the run begins where it would
have.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from tether.arrays import Array, norm
from tether.constraints import Constraint, Unconstrained
from tether.methods.auto import AutoAlgorithm
from tether.methods.first import is_quick
from tether.methods.newton import NewtonAlgorithm
from tether.methods.prices import work_of_request, work_of_sample
from tether.metric import NotFinite
from tether.metric.full import FullMetric
from tether.objectives import Objective
from tether.problem import Facts, Problem
from tether.requests import VALUE_ROUNDING, Work
from tether.tolerance import Tolerance

STEPS = 25  # at most
CUTS = 3  # of a step, at most
DECREASE = 1e-4  # of what the slope promises (Armijo)
LARGEST_SIZE = 1_000  # variables
SINGULAR = 1e-12  # of an entry of the diagonal, below which its pivot is mostly rounding
A_LOOK, A_BEND = 5e4, 3e4  # nanoseconds of a step besides a pass, and of a new Hessian besides its sums
ONE_MORE = 1.0  # steps that come with a new Hessian
LONGEST_FALL = 10.0  # of the logarithm of a Hessian that may still serve
SURE = 0.5  # of what was asked for: a bound on the gap that the first request is certain to meet
SHARE = 0.1  # of the accuracy that was asked for, so that the certificate is sure to meet it
STRAIGHT_SHARE = 1e-3  # the same where no decrement bounds the gap


Map = Callable[[Array], Array]


class Bent(NamedTuple):
    """A Hessian that was taken: where, its matrix, and P_H."""

    point: Array
    matrix: Array
    image: Map
    exact: bool = True  # it is that of F, not of a model above F


class Stand(NamedTuple):
    """A feasible point with F, its slope and its Hessian, and what that of a step before says of it."""

    point: Array
    value: float
    tangent: Array  # P grad F
    hessian: Callable[[], Array]
    bent: Bent | None = None
    direction: Array | None = None  # P_H grad F
    decrement: float = math.inf  # <grad F, P_H grad F>
    gain: float = math.inf  # the same as a share of what it was before the step


class Approach(NamedTuple):
    """What became of steps before the run: what they cost, where they led, and F where they began."""

    work: Work
    start: Array
    first: float
    slope: float  # ||P grad F|| at the start
    steps: int = 0
    end: Stand | None = None  # None: they did not converge, and the run begins where it would have
    limit: float = 0.0  # on the gap, that was asked for
    steepness: float = math.inf  # R / sqrt(mu), see `tether.run.seen.gap_bound`

    def certifying(self, objective: Objective) -> Bent | None:
        """Return the last Hessian, if it is near enough to certify the end with."""
        bent = None if self.end is None else self.end.bent
        if self.end is None or bent is None or not bent.exact:
            return None
        fall = objective.fall(self.end.point - bent.point)
        if not fall <= LONGEST_FALL:
            return None
        left = self.end.decrement * math.exp(fall)
        close = objective.reach is not None or self.steepness * math.sqrt(left) <= SURE
        return bent if close and 0.5 * left <= SURE * self.limit else None


@dataclass
class Data:
    """The problem's functions, counted."""

    problem: Problem
    price: float  # of a Hessian, in looks
    looks: int = 0
    bends: int = 0

    def stand(self, x: Array) -> Stand:
        """Look at F at a point."""
        self.looks += 1
        value, gradient, hessian = self.problem.objective.expansion(x)
        return Stand(x, value, self.problem.constraint.tangent(gradient), hessian)

    def bent(self, point: Array, hessian: Callable[[], Array], exact: bool = True) -> Bent | None:
        """Take second derivatives; None where they are not positive on the set."""
        self.bends += 1
        matrix, constraint = hessian(), self.problem.constraint
        within = _by_elimination(constraint, matrix)
        if within is not None:
            return Bent(point, matrix, within, exact)
        if not np.isfinite(matrix).all():
            return None
        tangent = constraint.in_metric(FullMetric(matrix))
        return Bent(point, matrix, tangent.tangent, exact) if tangent.exact else None


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
    if not (algorithm.begins_with_newton and is_quick(newton, facts)) or facts.dim > LARGEST_SIZE:
        return None
    if STEPS * (3.0 * (CUTS + 1) + 2.0 * price) > max_passes:  # what they cost at most
        return None
    data, x = Data(problem, _price(newton, facts)), problem.constraint.project(start)
    with np.errstate(all="ignore"):
        here = data.stand(x)
        share = SHARE if math.isfinite(newton.concordance) else STRAIGHT_SHARE
        steps, end = _taken(data, here, asked.times(share))
        slope = norm(here.tangent)
    work = Work(0, math.ceil((data.looks + data.bends * price) * facts.n_samples), steps, steps)
    limit = 0.0 if end is None else asked.limit_after(here.value, end.value)
    mu = newton.convexity
    steepness = newton.concordance / math.sqrt(mu) if mu > 0.0 else math.inf
    return Approach(work, x, here.value, slope, steps, end, limit, steepness)


def _price(newton: NewtonAlgorithm, facts: Facts) -> float:
    """Return what a Hessian costs, in looks at F."""
    a_look = facts.n_samples * work_of_sample(facts) + A_LOOK
    return (newton.price * work_of_request(facts) + A_BEND) / a_look


def _taken(data: Data, here: Stand, accuracy: Tolerance) -> tuple[int, Stand | None]:
    """Take steps until the gap is likely to be small enough; return how many, and their end if it is."""
    first = here.value
    for step in range(STEPS):
        enough = 2.0 * accuracy.limit_after(first, here.value)
        if 0.0 <= here.decrement <= enough:
            return step, here
        try:
            there = _further(data, here, enough)
        except NotFinite:  # a Hessian is out of scale
            there = None
        if there is None:
            return step, None
        here = there
    return STEPS, None


def _further(data: Data, here: Stand, enough: float) -> Stand | None:
    """Return the end of a step with the last Hessian while that is likely to pay, else of Newton's step.

    Where that leads too far, the end of a step with a model above F, if there is one.
    """
    if _may_serve(data, here, enough):
        there = _stepped(data, here, here.bent, here.direction)
        if there is not None and (there.decrement <= enough or _may_serve(data, there, enough)):
            return there
        here = here if there is None else there
    there = _stepped(data, here, data.bent(here.point, here.hessian))
    majorised = data.problem.objective.majorised if there is None else None
    if majorised is None:
        return there
    above = data.bent(here.point, majorised.expansion(here.point).hessian, exact=False)
    there = _stepped(data, here, above)
    return None if there is None else there._replace(decrement=math.inf, gain=math.inf)


def _may_serve(data: Data, here: Stand, enough: float) -> bool:
    """Say whether steps with the last Hessian, each gaining as much, are likely to cost less than another."""
    if not (enough > 0.0 and 0.0 < here.gain < 1.0):
        return False
    return math.log(here.decrement / enough) <= -math.log(here.gain) * (data.price + ONE_MORE)


def _stepped(data: Data, here: Stand, bent: Bent | None, direction: Array | None = None) -> Stand | None:
    """Return the end of a step, cut where F did not fall; None where it would have to be cut too often."""
    if bent is None:
        return None
    direction = bent.image(here.tangent) if direction is None else direction
    slope = float(direction @ here.tangent)
    if not slope > 0.0:
        return None
    length, rounding = 1.0, VALUE_ROUNDING * abs(here.value)
    for _ in range(CUTS + 1):
        there = data.stand(here.point - length * direction)
        if there.value <= here.value - DECREASE * length * slope + rounding:
            ahead = bent.image(there.tangent)
            left = float(ahead @ there.tangent)
            return there._replace(bent=bent, direction=ahead, decrement=left, gain=left / slope)
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
