"""A start next to the minimum: where data are few and at hand, Newton's steps are taken before the run.

A round of conversation takes the time of a pass over some hundred thousand numbers. Where a step of Newton's
method takes less, the steps are taken here, beside the data, and the run begins where they lead: its first
request certifies that point as it would any other, and the run goes on where that is not enough. Where steps
do not converge soon (they have to be cut often, a Hessian is not positive, F has no minimum) nothing is
believed of what was found, and the run begins where it would have.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from tether.arrays import Array, norm
from tether.constraints import Constraint
from tether.methods.auto import AutoAlgorithm
from tether.methods.newton import NewtonAlgorithm
from tether.methods.prices import work_of_request
from tether.metric import Metric, NotFinite, metric_of
from tether.objectives import Evaluation, Objective
from tether.problem import Facts, Problem
from tether.requests import VALUE_ROUNDING, Work
from tether.tolerance import Tolerance

STEPS = 25  # at most
CUTS = 3  # of a step, at most
DECREASE = 1e-4  # of what the slope promises (Armijo)
DEAREST_STEP = 5e6  # nanoseconds: next to dearer steps the conversation hardly counts
LARGEST_SIZE = 1_000  # variables
SINGULAR = 1e-8  # of the largest diagonal, below which pivots of a Schur complement are not trusted
SHARE = 0.1  # of the accuracy that was asked for, so that the certificate is sure to meet it
LARGEST_FALL = 100.0  # times the size of F: a longer fall is no measure of it
STRAIGHT_SHARE = 1e-3  # the same where no decrement bounds the gap


Map = Callable[[Array], Array]


class Approach(NamedTuple):
    """Where some steps led, what they cost, and F where they began."""

    point: Array
    steps: int
    work: Work
    start: Array
    first: Evaluation
    slope: float  # ||P grad F|| at the start


class Stand(NamedTuple):
    """A feasible point with F and its slope, and what it took to get there."""

    point: Array
    value: float
    tangent: Array  # P grad F
    looks: int = 1  # evaluations of F
    bends: int = 0  # second derivatives taken
    image: Map | None = None  # P_H, H taken a step before


def approached(
    problem: Problem, algorithm: object, facts: Facts, asked: Tolerance, start: Array
) -> Approach | None:
    """Return where Newton's steps from a point lead; None where they are no shortcut or do not converge."""
    if not isinstance(algorithm, AutoAlgorithm) or algorithm.newton is None or not facts.proven_convex:
        return None
    newton = algorithm.newton
    dear = (1.0 + newton.price) * work_of_request(facts) > DEAREST_STEP
    if not (algorithm.begins_with_newton and newton.exact) or dear or facts.dim > LARGEST_SIZE:
        return None
    with np.errstate(all="ignore"):
        try:
            return _taken(problem, newton, facts, asked, problem.constraint.project(start))
        except NotFinite:
            return None


def _taken(
    problem: Problem, newton: NewtonAlgorithm, facts: Facts, asked: Tolerance, start: Array
) -> Approach | None:
    """Take steps until the gap is likely to be small enough."""
    first = problem.objective.evaluate(start)
    here = Stand(start, first.value, problem.constraint.tangent(first.gradient))
    slope = norm(here.tangent)
    accuracy = asked.times(SHARE if math.isfinite(newton.concordance) else STRAIGHT_SHARE)
    for step in range(STEPS):
        if _is_near(here, first.value, accuracy):
            passes = here.looks + here.bends * facts.second_order.price(newton.form)
            work = Work(0, math.ceil(passes * facts.n_samples), step, step)
            return Approach(here.point, step, work, start, first, slope)
        there = _further(problem, newton.form, here)
        if there is None:
            return None
        here = there
    return None


def _is_near(here: Stand, first: float, accuracy: Tolerance) -> bool:
    """Say whether the gap is likely to be small enough, by the Hessian of the step before."""
    if here.image is None:
        return False
    left, size = 0.5 * float(here.tangent @ here.image(here.tangent)), abs(here.value)
    return left >= 0.0 and accuracy.allows(left, max(size, min(first - here.value, LARGEST_FALL * size)))


def _further(problem: Problem, form: str, here: Stand) -> Stand | None:
    """Return the end of Newton's step, or where that leads too far of one with a model above F, if any."""
    there = _stepped(problem, here, _image(problem.objective, problem.constraint, form, here.point))
    majorised = problem.objective.majorised if there is None else None
    if majorised is None:
        return there
    image = _image(majorised, problem.constraint, form, here.point)
    looks, bends = here.looks + CUTS + 1, here.bends + 1
    there = _stepped(problem, here._replace(looks=looks, bends=bends), image)
    return None if there is None else there._replace(image=None)


def _image(objective: Objective, constraint: Constraint, form: str, x: Array) -> Map | None:
    """Return P_H for the second derivatives at x; None where they are not positive."""
    metric = metric_of(form, objective.curvature(x, form), len(x))
    within = _by_elimination(constraint, metric) if metric.exact else None
    if within is not None:
        return within
    tangent = constraint.in_metric(metric)
    return tangent.tangent if tangent.exact else None


def _by_elimination(constraint: Constraint, metric: Metric) -> Map | None:
    """Return P_H by the Schur complement of a few dense equations; None for others, or if it is singular."""
    equations = constraint.equations
    if equations is None or not isinstance(equations[0], np.ndarray) or not len(equations[0]):
        return None
    rows, own = metric.rows(equations[0]), constraint.tangent
    schur = rows @ rows.T
    factor, info = dpotrf(schur, lower=1)
    if info != 0 or not np.diag(factor).min() ** 2 > SINGULAR * np.diag(schur).max():
        return None

    def image(gradient: Array) -> Array:
        w = metric.whiten(gradient)
        return own(metric.colour(w - dpotrs(factor, rows @ w, lower=1)[0] @ rows))

    return image


def _stepped(problem: Problem, here: Stand, image: Map | None) -> Stand | None:
    """Return the end of a step, cut where F did not fall; None where it would have to be cut too often."""
    direction = None if image is None else image(here.tangent)
    slope = 0.0 if direction is None else float(direction @ here.tangent)
    if direction is None or not slope > 0.0:
        return None
    length, rounding = 1.0, VALUE_ROUNDING * abs(here.value)
    for looks in range(here.looks + 1, here.looks + CUTS + 2):
        x = here.point - length * direction
        there = problem.objective.evaluate(x)
        if there.value <= here.value - DECREASE * length * slope + rounding:
            tangent = problem.constraint.tangent(there.gradient)
            return Stand(x, there.value, tangent, looks, here.bends + 1, image)
        length *= 0.5
    return None
