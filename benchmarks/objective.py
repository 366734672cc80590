"""The gap F(x) - F* of linearly constrained finite sums, and the violation of the constraint."""

from typing import Any

import numpy as np
from benchmark_utils.problem import FEASIBLE, Problem
from benchmark_utils.reference import optimum
from benchopt import BaseObjective


class Objective(BaseObjective):
    """Minimise a finite sum subject to linear equations."""

    name = "Linearly constrained finite sums"
    min_benchopt_version = "1.6"
    requirements = ["pip::tether"]  # noqa: RUF012
    sampling_strategy = "callback"
    test_dataset_name = "small"

    def skip(self, problem: Problem | None, missing: str | None) -> tuple[bool, str | None]:
        """Skip what has no data."""
        return problem is None, missing

    def set_data(self, problem: Problem, missing: str | None) -> None:
        """Take the problem and look up its optimum."""
        self.problem = problem
        self.function = problem.objective()
        self.optimum = optimum(problem, self.function)

    def get_objective(self) -> dict[str, Any]:
        """Hand the arrays to a solver."""
        return {"problem": self.problem}

    def evaluate_result(self, x: Any, projections: int | None, passes: float | None) -> dict[str, float]:
        """Return the gap as `value`; an infeasible point's is no smaller than its violation."""
        missing = {"projections": projections, "passes": passes}
        counts = {key: np.nan if count is None else float(count) for key, count in missing.items()}
        if x is None or not np.isfinite(x).all():
            return {"value": 1e4, "violation": 1e4, **counts}
        gap, violation = abs(self.function.evaluate(x).value - self.optimum), self.problem.violation(x)
        value = gap if violation <= FEASIBLE else max(gap, violation)
        return {"value": min(value, 1e4), "violation": violation, **counts}

    def get_one_result(self) -> dict[str, Any]:
        """Return a point that can be evaluated."""
        return {"x": np.zeros(self.function.dim), "projections": 0, "passes": 0}
