"""JAXopt's accelerated projected gradient, with Tether's compiled gradient and projector.

JAXopt's own projection onto an affine set runs an iterative solver at every call; ours is factorised once.
"""

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
from benchmark_utils.solver import Counted, Iterative

jax.config.update("jax_enable_x64", True)


class Solver(Iterative):
    """FISTA with backtracking; jit is off because the gradient is not JAX's."""

    name = "jaxopt ProjectedGradient"
    requirements = ["pip::jaxopt"]  # noqa: RUF012

    def run(self, go_on):
        """Step until told to stop."""
        count = Counted(self)

        def value_and_gradient(x):
            evaluation = count.evaluate(np.asarray(x))
            return jnp.asarray(evaluation.value), jnp.asarray(evaluation.gradient)

        def project(x, _=None):
            return jnp.asarray(count.project(np.asarray(x)))

        method = jaxopt.ProjectedGradient(value_and_gradient, project, value_and_grad=True, jit=False)
        x = jnp.asarray(self.x)
        state = method.init_state(x)
        while go_on():
            x, state = method.update(x, state)
            self.x = np.asarray(x)
