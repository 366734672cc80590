"""JAXopt's accelerated projected gradient with loss, gradient and projection in JAX, compiled by XLA.

The projection is x - Q Q'(x - c) with Q from a QR factorisation of A' and c feasible, as one would write it;
JAXopt's own projection onto an affine set runs an iterative solver at every call.
"""

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
from benchmark_utils.solver import Iterative
from jax.experimental import sparse
from scipy.sparse import issparse

jax.config.update("jax_enable_x64", True)


def loss(x, X, y, l2):
    """Return the objective of logistic regression."""
    return jnp.logaddexp(0.0, -y * (X @ x)).mean() + 0.5 * l2 * x @ x


def project(x, affine):
    """Project onto the set through c whose normals are the columns of Q."""
    Q, c = affine
    return x - Q @ (Q.T @ (x - c))


METHOD = jaxopt.ProjectedGradient(loss, project)
UPDATE = jax.jit(METHOD.update)


class Solver(Iterative):
    """FISTA with backtracking."""

    name = "jaxopt all in JAX"
    requirements = ["pip::jaxopt"]  # noqa: RUF012

    def skip(self, problem):
        """Take logistic losses and dense equations."""
        unfit = problem.loss != "logistic" or problem.fit_intercept or issparse(problem.A)
        return unfit, "written for logistic losses and dense equations"

    def run(self, go_on):
        """Step until told to stop; XLA does not say how many passes its line searches take."""
        X, y, A = self.problem.X, jnp.asarray(self.problem.y), jnp.asarray(self.problem.A)
        data = sparse.BCOO.from_scipy_sparse(X) if issparse(X) else jnp.asarray(X), y, self.problem.l2
        Q, R = jnp.linalg.qr(A.T)
        affine = Q, Q @ jax.scipy.linalg.solve_triangular(R, jnp.asarray(self.problem.b), trans="T")
        x = project(jnp.zeros(A.shape[1]), affine)
        state = METHOD.init_state(x, affine, *data)
        self.x, self.projections, self.passes = np.asarray(x), 0, 0
        while go_on():
            x, state = UPDATE(x, state, affine, *data)
            self.x, self.projections, self.passes = np.asarray(x), None, None
