"""The two kinds of solvers: those that show every iterate, and those that only answer.

`run` does everything that depends on the problem, so that set-up is timed: factorising A, constants of F,
forming a matrix. An iterative solver calls back first when it is set up, at its starting point.
"""

from typing import Any

import numpy as np
from benchopt import BaseSolver
from benchopt.stopping_criterion import StoppingCriterion

import tether
from benchmark_utils.problem import Problem

TARGET = 1e-8


class ReachGap(StoppingCriterion):
    """Stop at the smallest gap of interest."""

    def __init__(self, strategy: str | None = None, key_to_monitor: str = "value", minimize: bool = True):
        super().__init__(strategy=strategy, key_to_monitor=key_to_monitor, minimize=minimize)

    def check_convergence(self, objective_list: list[dict[str, Any]]) -> tuple[bool, float]:
        """Say whether the last point is good enough, and how far the way is."""
        gap = objective_list[-1][self.key_to_monitor_]
        return gap <= TARGET, min(1.0, np.log(max(gap, TARGET)) / np.log(TARGET)) if gap < 1 else 0.0


class Iterative(BaseSolver):
    """Calls back after every iteration, with ``x``, ``projections`` and ``passes`` up to date."""

    sampling_strategy = "callback"
    stopping_criterion = ReachGap(strategy="callback")
    seed = 0

    def set_objective(self, problem: Problem) -> None:
        """Take the arrays."""
        self.problem = problem
        self.x, self.projections, self.passes = None, None, None

    def get_result(self) -> dict[str, Any]:
        """Return the current point and what it has cost."""
        return {"x": self.x, "projections": self.projections, "passes": self.passes}

    def warm_up(self) -> None:
        """Compile: the first few callbacks of a run, not timed."""
        self.run_once(stop_val=4)


class OneShot(BaseSolver):
    """Runs to a tolerance and answers; the curve comes from several tolerances, each from scratch."""

    sampling_strategy = "tolerance"
    stopping_criterion = ReachGap(strategy="tolerance")
    exact = False  # the tolerance makes no difference

    def get_next(self, tolerance: float) -> float:
        """Return the next tolerance."""
        return min(tolerance, 1e-1) * 1e-2

    def set_objective(self, problem: Problem) -> None:
        """Take the arrays."""
        self.problem, self.x = problem, None

    def get_result(self) -> dict[str, Any]:
        """Return the answer."""
        return {"x": self.x, "projections": None, "passes": None}


class Quadratic(OneShot):
    """A solver of quadratic programs: needs the matrix 2C, which it forms on its clock."""

    def skip(self, problem: Problem) -> tuple[bool, str | None]:
        """Take only quadratics."""
        return problem.loss != "quadratic", "solves quadratic programs only"

    def matrix(self) -> np.ndarray:
        """Return 2C = (2/N) sum c_i c_i'."""
        X = self.problem.X
        return X.T @ X * (2.0 / X.shape[0])


class Counted:
    """Tether's compiled gradient and projector for the use of others, counted on the solver."""

    def __init__(self, solver: Iterative) -> None:
        self.solver = solver
        self.objective, self.constraint = solver.problem.objective(), solver.problem.constraint()
        solver.x, solver.projections, solver.passes = self.constraint.project(np.zeros(self.dim)), 1, 0

    @property
    def dim(self) -> int:
        """The length of x."""
        return self.objective.dim

    def evaluate(self, x: np.ndarray) -> tether.objectives.Evaluation:
        """Return F and its gradient."""
        self.solver.passes += 1
        return self.objective.evaluate(x)

    def project(self, x: np.ndarray) -> np.ndarray:
        """Project a point."""
        self.solver.projections += 1
        return self.constraint.project(x)

    def tangent(self, v: np.ndarray) -> np.ndarray:
        """Project a direction."""
        self.solver.projections += 1
        return self.constraint.tangent(v)
