"""The yardstick: plain Newton in the null space, in NumPy. It is ours, so it does not count as a peer."""

import numpy as np

from profiling.contestants.base import Answer, Contestant
from profiling.newton import newton
from profiling.null_space import NullSpace
from profiling.pieces import Pieces
from profiling.watch import Watch

LARGEST = 1_000


class NullSpaceNewton(Contestant):
    """Basis, Hessian, Cholesky, line search."""

    name = "null-space newton"
    family = "yardstick"
    tolerances = (1e-16,)

    def refuses(self, pieces: Pieces) -> str:
        """Take small dimensions."""
        return "" if pieces.dim <= LARGEST and NullSpace.fits(pieces) else "too many variables"

    def run(self, problem: Pieces, tolerance: float, watch: Watch) -> Answer:
        """Iterate until the watch says stop."""
        space = NullSpace(problem)
        count = 0

        def see(v: np.ndarray, value: float) -> bool:
            nonlocal count
            count += 1
            return watch.see(space.lift(v), value, projections=count, passes=count)

        v, _ = newton(space, see, tolerance)
        return Answer(space.lift(v), {"projections": count, "passes": count})


SOLVERS = [NullSpaceNewton()]
