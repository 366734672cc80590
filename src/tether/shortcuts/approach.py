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
from tether.objectives import Evaluation
from tether.problem import Facts, Problem
from tether.requests import VALUE_ROUNDING, Work
from tether.tolerance import Tolerance

STEPS = 20  # at most
CUTS = 4  # of a step, at most
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
    """A feasible point with F, its slope, and how often F was evaluated so far."""

    point: Array
    value: float
    tangent: Array  # P grad F
    looks: int


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
    """Take steps until the gap is likely to be small enough, by the last metric."""
    first = problem.objective.evaluate(start)
    here = Stand(start, first.value, problem.constraint.tangent(first.gradient), 1)
    slope, share = norm(here.tangent), SHARE if math.isfinite(newton.concordance) else STRAIGHT_SHARE
    accuracy, image = asked.times(share), None
    for step in range(STEPS):
        if image is not None:
            left = 0.5 * float(here.tangent @ image(here.tangent))
            size = abs(here.value)
            fall = min(first.value - here.value, LARGEST_FALL * size)
            if left >= 0.0 and accuracy.allows(left, max(size, fall)):
                gradients = problem.objective.n_samples * (here.looks + step * _price(newton, facts))
                work = Work(0, math.ceil(gradients), step, step)
                return Approach(here.point, step, work, start, first, slope)
        image = _image(problem, newton, here.point)
        found = None if image is None else _stepped(problem, here, image(here.tangent))
        if found is None:
            return None
        here = found
    return None


def _price(newton: NewtonAlgorithm, facts: Facts) -> float:
    """Return what second derivatives of all samples cost, in passes."""
    return facts.second_order.price(newton.form)


def _image(problem: Problem, newton: NewtonAlgorithm, x: Array) -> Map | None:
    """Return P_H for the Hessian at x; None where that is not positive."""
    curvature = problem.objective.curvature(x, newton.form)
    metric = metric_of(newton.form, curvature, len(x))
    within = _by_elimination(problem.constraint, metric) if metric.exact else None
    if within is not None:
        return within
    tangent = problem.constraint.in_metric(metric)
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


def _stepped(problem: Problem, here: Stand, direction: Array) -> Stand | None:
    """Return the end of a step, cut where F did not fall; None where it would have to be cut too often."""
    slope = float(direction @ here.tangent)
    if not slope > 0.0:
        return None
    length, rounding = 1.0, VALUE_ROUNDING * abs(here.value)
    for cut in range(CUTS + 1):
        x = here.point - length * direction
        there = problem.objective.evaluate(x)
        if there.value <= here.value - DECREASE * length * slope + rounding:
            tangent = problem.constraint.tangent(there.gradient)
            return Stand(x, there.value, tangent, here.looks + 1 + cut)
        length *= 0.5
    return None
