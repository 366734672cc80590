"""ProxQP: a proximal augmented Lagrangian method for quadratic programs."""

import numpy as np
from benchmark_utils.solver import Quadratic
from proxsuite import proxqp


class Solver(Quadratic):
    """ProxQP's dense solver on the matrix 2C."""

    name = "proxqp"
    requirements = ["pip::proxsuite"]  # noqa: RUF012

    def run(self, tolerance):
        """Form the matrix and solve."""
        A, b = self.problem.A, self.problem.b
        solver = proxqp.dense.QP(A.shape[1], A.shape[0], 0)
        solver.settings.eps_abs = min(tolerance, 1e-1)
        solver.init(self.matrix(), self.problem.y, A, b)
        solver.solve()
        self.x = np.array(solver.results.x)
