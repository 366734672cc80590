"""What every answer of `tether.solve` claims, measured by the reference.

A claim takes the problem and the solution and yields a sentence for everything that is not so.
"""

import traceback
import warnings

import numpy as np

import tether

from .problems import random_problem
from .reference import minimum

FEASIBLE = 1e-9
SLACK = 1e-6  # by which promised numbers may be missed, relatively
COUNTS = ("steps", "stages", "rounds", "projections", "gradients", "sent", "received")
REPEATED = 8  # every so many problems are solved twice


def violations(seed):
    """Solve the problem of a seed; return its words and a list of sentences, empty if all claims hold."""
    problem = random_problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            solution = run(problem)
            again = run(random_problem(seed)) if seed % REPEATED == 0 else None
        except Exception:
            return problem.words, [f"raised:\n{traceback.format_exc()}"]
    found = [sentence for claim in CLAIMS for sentence in claim(problem, solution)]
    if again is not None:
        found.extend(same_bits(solution, again))
    return f"{problem.words}\n  -> {solution.status.name}, {solution.counts}", found


def run(problem):
    return tether.solve(problem.drawn.objective, problem.bound.constraint, problem.method, **problem.settings)


def x_is_feasible(problem, solution):
    missed = problem.plane.misses(solution.x)
    if not missed <= FEASIBLE * (1 + np.linalg.norm(solution.x)):
        yield f"x is off the constraint by {missed:.3g} at ||x|| = {np.linalg.norm(solution.x):.3g}"


def fun_is_the_value_at_x(problem, solution):
    value, rounding = float(problem.total.value(solution.x)), problem.total.rounding(solution.x)
    if not abs(solution.fun - value) <= rounding:
        yield f"fun is {solution.fun!r} but F(x) is {value!r}, rounding {rounding:.2g}"


def gap_is_a_bound(problem, solution):
    if solution.gap is None:
        return
    gap, rounding = _true_gap(problem, solution)
    if not gap <= solution.gap + rounding:
        yield f"gap is {solution.gap:.6g} but F(x) - F* is {gap:.6g}, rounding {rounding:.2g}"
    if solution.success and not gap <= _accuracy(problem, solution) + rounding:
        yield f"success, but F(x) - F* is {gap:.6g} for tol = {problem.settings['tol']:g}"


def success_is_what_tol_asks(problem, solution):
    if not solution.success:
        return
    if solution.gap is not None:
        if not solution.gap <= (1 + SLACK) * _accuracy(problem, solution):
            yield f"success with gap {solution.gap:.6g} for tol = {problem.settings['tol']:g}"
        return
    gradient = problem.total.gradient(solution.x).astype(float)
    slope, size = np.linalg.norm(problem.plane.tangent(gradient)), np.linalg.norm(gradient)
    wanted = problem.settings["tol"] * max(1.0, size)
    if not slope <= (1 + SLACK) * wanted + problem.total.noise(solution.x):
        yield f"success, but ||P grad F|| is {slope:.6g} where {wanted:.6g} is asked"


def multipliers_are_those_of_the_gradient(problem, solution):
    if solution.multipliers is None or not len(problem.plane.A):
        return
    gradient = problem.total.gradient(solution.x).astype(float)
    normal = gradient - problem.plane.tangent(gradient)
    missed = np.linalg.norm(problem.bound.normal(solution.multipliers) - normal)
    size = np.linalg.norm(gradient)
    if not missed <= SLACK * size + problem.total.noise(solution.x):
        yield f"A'lambda is off the gradient's normal part by {missed:.3g} of ||grad F|| = {size:.3g}"


def x_is_no_worse_than_the_start(problem, solution):
    start = float(problem.total.value(problem.start))
    value = float(problem.total.value(problem.plane.nearest(solution.x)))
    rounding = problem.total.rounding(solution.x) + problem.total.rounding(problem.start)
    allowed = rounding + (_accuracy(problem, solution) if solution.success else 0.0)
    if solution.gap is not None and not value <= start + allowed:
        yield f"F(x) = {value!r} is above F = {start!r} at the start ({solution.status.name})"


def counts_only_grow(problem, solution):
    for name in COUNTS:
        column = solution.history[name]
        if len(column) and (column[0] < 0 or (np.diff(column) < 0).any()):
            yield f"{name} falls in the history: {column.tolist()[:20]}"
        if len(column) and column[-1] != getattr(solution.counts, name):
            yield f"counts.{name} is {getattr(solution.counts, name)}, the history ends with {column[-1]}"
    counts = solution.counts
    if min(counts.rounds, counts.projections, counts.gradients + counts.audit_gradients) <= 0:
        yield f"no work was counted: {counts}"
    if counts.projections < counts.rounds:
        yield f"fewer vectors projected than there were rounds: {counts}"


def budgets_are_kept(problem, solution):
    """The method's own work is within the budget."""
    n, passes, rounds = problem.drawn.n_samples, *map(problem.settings.get, ("max_passes", "max_rounds"))
    if passes is not None and solution.counts.gradients > passes * n:
        yield f"{solution.counts.gradients / n:.3g} passes were made, max_passes = {passes:g}"
    if rounds is not None and solution.counts.rounds > rounds:
        yield f"{solution.counts.rounds} rounds were made, max_rounds = {rounds}"


def same_bits(one, other):
    if one.x.tobytes() != other.x.tobytes() or one.counts != other.counts:
        yield f"a second run gave another answer: {one.counts} and {other.counts}, {one.x - other.x}"


CLAIMS = (
    x_is_feasible,
    fun_is_the_value_at_x,
    gap_is_a_bound,
    success_is_what_tol_asks,
    multipliers_are_those_of_the_gradient,
    x_is_no_worse_than_the_start,
    counts_only_grow,
    budgets_are_kept,
)


def _accuracy(problem, solution):
    """Return the gap that tol allows."""
    size = max(abs(solution.fun), problem.total.usual_size(solution.x))
    return problem.settings["tol"] * max(1.0, size)


def _true_gap(problem, solution):
    """Return F(x) - F*, compared within the plane, and what rounding may add to it."""
    total, plane = problem.total, problem.plane
    best, lowest = minimum(total, plane, solution.x)
    gap = float(total.value(plane.nearest(solution.x)) - lowest)
    rounding = total.rounding(solution.x) + total.rounding(best.astype(float))
    Z, noise = plane.directions, total.noise(solution.x)
    if Z.shape[1]:
        flattest = np.linalg.eigvalsh(Z.T @ total.second_derivative(best) @ Z)[0]
        rounding += noise**2 / (2 * max(flattest, 1e-12))
    return gap, rounding
