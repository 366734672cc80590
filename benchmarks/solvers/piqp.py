"""PIQP: a proximal interior point method for quadratic programs."""

import numpy as np
import piqp
from benchmark_utils.solver import Quadratic


class Solver(Quadratic):
    """PIQP's dense solver on the matrix 2C."""

    name = "piqp"
    requirements = ["pip::piqp"]  # noqa: RUF012

    def run(self, tolerance):
        """Form the matrix and solve."""
        solver = piqp.DenseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = min(tolerance, 1e-1)
        P, A = np.asfortranarray(self.matrix()), np.asfortranarray(self.problem.A)
        solver.setup(P, self.problem.y, A, self.problem.b)
        solver.solve()
        self.x = np.array(solver.result.x)
