"""OSQP: operator splitting for quadratic programs."""

import numpy as np
import osqp
from benchmark_utils.solver import Quadratic
from scipy import sparse


class Solver(Quadratic):
    """OSQP on the matrix 2C."""

    name = "osqp"
    requirements = ["pip::osqp"]  # noqa: RUF012

    def run(self, tolerance):
        """Form the matrix, factorise, iterate."""
        tolerance = min(tolerance, 1e-1)
        A, b = sparse.csc_matrix(self.problem.A), self.problem.b
        P = sparse.csc_matrix(np.triu(self.matrix()))
        solver = osqp.OSQP()
        solver.setup(
            P,
            self.problem.y,
            A,
            b,
            b,
            verbose=False,
            eps_abs=tolerance,
            eps_rel=tolerance,
            max_iter=10**8,
            polishing=True,
        )
        self.x = solver.solve().x
