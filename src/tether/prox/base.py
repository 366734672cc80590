"""What a prox returns, what computes it, and the error of a set that is empty."""

from abc import ABC, abstractmethod
from typing import NamedTuple

from tether.arrays import Array
from tether.polyhedral import Duals


class Proximal(NamedTuple):
    """The nearest point in a metric, psi weighed in, and why no other is nearer."""

    point: Array  # argmin psi(x) + sum_j (x_j - z_j)^2 / (2 t_j) subject to A x = b
    normal: Array  # A^T nu:  (point - z) / t + s + K^T y = normal
    duals: Duals  # s and y, subgradients at the point
    multipliers: Array | None  # what the next call may start from; nu where there are equations
    iterations: int


class Infeasible(ValueError):  # noqa: N818, because it says what the set is
    """A x = b has no solution between the walls; ``rows`` weighs the equations so that one can see it.

    With nu = ``rows`` and q = A^T nu, no x between the walls has q^T x as large as nu^T b.
    """

    def __init__(self, message: str, rows: Array | None = None) -> None:
        super().__init__(message)
        self.rows = rows


class NotConverged(ArithmeticError):  # noqa: N818, because it says what happened
    """The method gave up; the problem may be degenerate beyond it, or have no solution at all."""


class Algorithm(ABC):
    """One way to compute a prox: everything that does not depend on z and t is prepared when it is built."""

    @abstractmethod
    def at(self, z: Array, t: Array, start: Proximal | None) -> Proximal:
        """Return the prox of z in the metric t, from what an earlier one ended with."""
