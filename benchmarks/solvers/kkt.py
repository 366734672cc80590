"""The optimality conditions of a quadratic program as one linear system, by SuperLU."""

import numpy as np
from benchmark_utils.solver import Quadratic
from scipy import sparse
from scipy.sparse.linalg import splu


class Solver(Quadratic):
    """2C x + A'u = -g, A x = b."""

    name = "sparse KKT (splu)"
    requirements = ["pip::scipy"]  # noqa: RUF012
    exact = True

    def run(self, tolerance):
        """Form the matrix, factorise, substitute."""
        A = sparse.csc_matrix(self.problem.A)
        system = sparse.block_array([[sparse.csc_matrix(self.matrix()), A.T], [A, None]], format="csc")
        answer = splu(system).solve(np.concatenate([-self.problem.y, self.problem.b]))
        self.x = answer[: A.shape[1]]
