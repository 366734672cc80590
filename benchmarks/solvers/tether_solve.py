"""Tether's own methods, with their defaults."""

from benchmark_utils.solver import Iterative
from scipy.optimize import OptimizeResult

import tether


class Solver(Iterative):
    """`tether.solve` with a method's short name."""

    name = "tether"
    requirements = ["pip::tether"]  # noqa: RUF012
    parameters = {  # noqa: RUF012
        "method": ["auto", "skip", "lbfgs", "dp-svrg", "dp-asvrg", "nesterov", "p-svrg"]
    }

    def run(self, go_on):
        """Build, then solve until told to stop."""
        objective, constraint = self.problem.objective(), self.problem.constraint()
        _ = objective.smoothness  # computed once, part of the set-up
        self.x = constraint.project([0.0] * objective.dim)
        self.projections = self.passes = 0
        if not go_on():
            return

        def heard(state: OptimizeResult) -> None:
            self.x, self.projections = state.x, state.counts.projections
            self.passes = state.counts.gradients / objective.n_samples
            if not go_on():
                raise StopIteration

        settings = {"tol": 0.0, "seed": self.seed, "max_passes": 1e9, "callback": heard}
        sol = tether.solve(objective, constraint, self.method, **settings)
        if sol.status is not tether.Status.CALLBACK:  # it ended by itself
            self.x, self.projections = sol.x, sol.counts.projections
            self.passes = sol.counts.gradients / objective.n_samples
