"""SciPy's L-BFGS-B and trust-constr in the null space.

Small dense problems get a basis Z and their data times Z, in NumPy. Large or sparse ones and those with
several outputs keep x and use Tether's compiled gradient, projected on the tangent space: the same iterates
without Z.
"""

from contextlib import suppress
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.sparse.linalg import LinearOperator

from profiling.contestants.base import Answer, Contestant
from profiling.null_space import NullSpace
from profiling.pieces import Pieces
from profiling.watch import Over, Watch


class Tangent:
    """A problem in x, with projected derivatives."""

    def __init__(self, pieces: Pieces) -> None:
        self.pieces, self.objective, constraint = pieces, pieces.objective(), pieces.constraint()
        self.dim = pieces.dim
        self.tangent = (lambda g: g) if constraint is None else constraint.tangent
        self.origin = np.zeros(self.dim) if constraint is None else constraint.project(np.zeros(self.dim))

    def lift(self, v: np.ndarray) -> np.ndarray:
        """Return the point at distance v from the first one."""
        return self.origin + v

    def evaluate(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """Return F and its projected gradient."""
        seen = self.objective.evaluate(self.origin + v)
        return seen.value, self.tangent(seen.gradient)

    def bend(self, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the projected Hessian at v times u."""
        return self.tangent(self.pieces.bend(self.origin + v, self.tangent(u)))


def coordinates(pieces: Pieces) -> NullSpace | Tangent:
    """Choose what suits the problem: sparse data times Z would be dense."""
    suits = not pieces.is_sparse and pieces.n_outputs == 1
    explicit = pieces.is_constrained and suits and NullSpace.fits(pieces)
    return NullSpace(pieces) if explicit else Tangent(pieces)


class SciPySolver(Contestant):
    """One of SciPy's minimisers, from v = 0."""

    tolerances = (0.0,)
    compiles = True  # Tether's gradient does

    def __init__(self, method: str, options: dict[str, Any]) -> None:
        self.method, self.name, self.options = method, f"scipy {method}", options

    def refuses(self, pieces: Pieces) -> str:
        """Take all problems."""
        return ""

    def run(self, problem: Pieces, tolerance: float, watch: Watch) -> Answer:
        """Minimise until the watch says stop."""
        space = coordinates(problem)
        counts = {"projections": 0, "passes": 0}

        def evaluate(v: np.ndarray) -> tuple[float, np.ndarray]:
            counts["projections"] += 1
            counts["passes"] += 1
            return space.evaluate(v)

        def hessian(v: np.ndarray) -> LinearOperator:
            def product(u: np.ndarray) -> np.ndarray:
                counts["projections"] += 1
                counts["passes"] += 1
                return space.bend(v, u.ravel())

            return LinearOperator((space.dim, space.dim), matvec=product, dtype=float)

        last = np.zeros(space.dim)

        def heard(intermediate_result: OptimizeResult) -> None:
            nonlocal last
            last = np.array(intermediate_result.x)
            if watch.see(space.lift(last), float(intermediate_result.fun), **counts):
                raise Over

        more = {"hess": hessian} if self.method == "trust-constr" else {}
        with suppress(Over):
            last = minimize(
                evaluate, last, method=self.method, jac=True, callback=heard, options=self.options, **more
            ).x
        return Answer(space.lift(last), counts)


SOLVERS = [
    SciPySolver("L-BFGS-B", {"maxiter": 10**9, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0, "maxcor": 10}),
    SciPySolver("trust-constr", {"maxiter": 10**9, "gtol": 0.0, "xtol": 0.0}),
]
