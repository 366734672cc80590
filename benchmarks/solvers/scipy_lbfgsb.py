"""SciPy's L-BFGS-B on the constraint: from a feasible point, with projected gradients."""

from benchmark_utils.solver import Counted, Iterative
from scipy.optimize import minimize


class Solver(Iterative):
    """Minimise F(Pi(z)) with gradient P grad F, by Tether's compiled gradient and projector.

    The start is feasible and so are all steps, hence Pi(z) = z and an evaluation needs one projection.
    """

    name = "scipy L-BFGS-B"
    requirements = ["pip::scipy"]  # noqa: RUF012

    def run(self, go_on):
        """Minimise until told to stop."""
        count = Counted(self)
        if not go_on():
            return

        def value_and_gradient(z):
            evaluation = count.evaluate(z)
            return evaluation.value, count.tangent(evaluation.gradient)

        def heard(intermediate_result):
            self.x = intermediate_result.x
            if not go_on():
                raise StopIteration

        endless = {"maxiter": 10**9, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0, "maxcor": 10}
        minimize(value_and_gradient, self.x, method="L-BFGS-B", jac=True, callback=heard, options=endless)
