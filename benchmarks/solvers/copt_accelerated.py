"""copt's accelerated proximal gradient, the projection as its proximal step.

copt's SAGA and SVRG want a prox that is separable over coordinates, which a linear constraint is not.
"""

import copt
import numpy as np
from benchmark_utils.solver import Counted, Iterative


class Solver(Iterative):
    """FISTA with backtracking, by Tether's compiled gradient and projector."""

    name = "copt accelerated"
    requirements = ["pip::copt"]  # noqa: RUF012

    def run(self, go_on):
        """Iterate until told to stop."""
        count = Counted(self)

        def value_and_gradient(x):
            evaluation = count.evaluate(x)
            return evaluation.value, evaluation.gradient

        def heard(variables):
            self.x = np.array(variables["x"])
            return go_on()

        copt.minimize_proximal_gradient(
            value_and_gradient,
            self.x,
            prox=lambda x, _: count.project(x),
            jac=True,
            accelerated=True,
            tol=0.0,
            max_iter=10**9,
            callback=heard,
        )
