"""CVXPY with a conic solver: the model is compiled to cones, then solved to a tolerance."""

from benchmark_utils.model import model_of
from benchmark_utils.solver import OneShot

LARGEST = 1e8  # non-zeros of a model that fit in memory several times over


class Solver(OneShot):
    """SCS (first order) or Clarabel (interior point)."""

    name = "cvxpy"
    requirements = ["pip::cvxpy", "pip::scs", "pip::clarabel"]  # noqa: RUF012
    parameters = {"solver": ["SCS", "CLARABEL"]}  # noqa: RUF012

    def skip(self, problem):
        """Leave out what cannot fit in memory."""
        entries = getattr(problem.X, "nnz", problem.X.size) * problem.n_classes
        too_large = problem.loss != "quadratic" and entries > LARGEST
        return too_large, f"the conic model would have {entries:.0e} non-zeros"

    def run(self, tolerance):
        """Compile and solve."""
        x, problem = model_of(self.problem)
        problem.solve(solver=self.solver, **self._settings(min(tolerance, 1e-1)))
        self.x = x.value

    def _settings(self, tolerance):
        if self.solver == "SCS":
            return {"eps_abs": tolerance, "eps_rel": tolerance, "max_iters": 10**8}
        return {f"tol_{what}": tolerance for what in ("gap_abs", "gap_rel", "feas")}
