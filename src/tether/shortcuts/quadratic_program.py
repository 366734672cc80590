"""One quadratic program instead of a run: quadratics whose matrix is at hand, beyond equations."""

import math
from dataclasses import dataclass, replace

import numpy as np

from tether.arrays import Array
from tether.inputs import InfeasibleError
from tether.methods.base import Choice
from tether.methods.confirmed import Confirmed
from tether.problem import Facts
from tether.qp import Answer, Program, Status, solve_program
from tether.requests import Hold
from tether.shortcuts.way import Way

CHOICE = Choice("one quadratic program", "the objective is quadratic and its matrix is at hand")


@dataclass(frozen=True, kw_only=True)
class SolvedProgram(Way):
    """The straight way, from the solution of the program on."""

    answer: Answer
    constant: float  # F(0)

    @property
    def exact(self) -> bool:
        """That it is."""
        return True

    def gap(self, x: Array, normal: Array, scale: float) -> float:
        """Return what the dual of the program leaves of F + psi."""
        value = self.problem.objective.value(x) + self._psi(x)
        gap = value - self.constant - self.answer.lower
        return max(gap, 0.0) if math.isfinite(gap) else math.nan

    def _psi(self, x: Array) -> float:
        return 0.0 if self.problem.region is None else self.problem.region.polyhedral.value(x)

    def convexity(self, facts: Facts) -> float:
        """Return mu."""
        return facts.smoothness.convexity


def solved_program(way: Way, warm: bool) -> Way | None:
    """Return the way from the solution of a quadratic program, if the problem is one and has a solution."""
    objective, region = way.problem.objective, way.problem.region
    quadratic = objective.hessian()
    if region is None or quadratic is None or not objective.convex:
        return None
    plane = region.constraint.equations
    program = Program(quadratic[0], quadratic[1], plane, region.polyhedral)
    answer = solve_program(program, seconds=way.seconds)
    if answer.status is Status.INFEASIBLE:
        raise InfeasibleError(region.contradiction())
    if answer.status is Status.UNBOUNDED:
        return replace(way, method=Confirmed(), start=answer.x, ray=answer.ray, choice=CHOICE, direct=True)
    if answer.status is not Status.SOLVED:
        return None
    normal = np.zeros(objective.dim) if plane is None else plane[0].T @ answer.equalities
    own = {
        "method": Confirmed(Hold(normal, *answer.duals)),
        "start": answer.x,
        "note": "the quadratic program was solved directly",
        "choice": CHOICE,
        "direct": True,
    }
    constant = objective.value(np.zeros(objective.dim))
    return SolvedProgram(**(vars(way) | own), answer=answer, constant=constant)
