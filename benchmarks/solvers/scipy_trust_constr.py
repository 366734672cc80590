"""SciPy's trust-constr with a LinearConstraint, Tether's compiled gradient and exact Hessian products."""

import numpy as np
from benchmark_utils.hessian import hessian_at
from benchmark_utils.solver import Counted, Iterative
from scipy.optimize import LinearConstraint, minimize


class Solver(Iterative):
    """The trust-region method of Byrd and Omojokun; A is factorised by SciPy."""

    name = "scipy trust-constr"
    requirements = ["pip::scipy"]  # noqa: RUF012

    def run(self, go_on):
        """Minimise until told to stop."""
        count = Counted(self)
        self.projections = None  # it works in the null space by its own means
        if not go_on():
            return

        def value_and_gradient(x):
            evaluation = count.evaluate(x)
            return evaluation.value, evaluation.gradient

        def heard(intermediate_result):
            self.x = np.array(intermediate_result.x)
            return not go_on()

        minimize(
            value_and_gradient,
            self.x,
            method="trust-constr",
            jac=True,
            hess=lambda x: hessian_at(self, count.objective, x),
            constraints=LinearConstraint(self.problem.A, self.problem.b, self.problem.b),
            callback=heard,
            options={"maxiter": 10**9, "gtol": 0.0, "xtol": 0.0},
        )
