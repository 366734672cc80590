"""All workers agree: n stacked copies of one vector, so that a projection is a mean."""

import numpy as np
import scipy.sparse as sp

from tether.arrays import Array
from tether.constraints.algebra.subspace import Image, Subspace
from tether.constraints.base import Constraint
from tether.digest import digest_of
from tether.inputs import positive_integer
from tether.names import Labels


class Consensus(Constraint):
    """The set of n equal blocks, {(x_1, ..., x_n) : x_1 = ... = x_n}.

    Pi = P puts the mean of the blocks in place of every block: one projection is one round of
    communication, and delayed projections are local steps between rounds. As multipliers of a vector
    serves its part outside the set, g - P g, itself: each worker's deviation from the mean.

    Parameters
    ----------
    n : int
        The number of blocks (workers).

    Examples
    --------
    >>> from tether.constraints import Consensus
    >>> Consensus(2).project([1.0, 2.0, 3.0, 6.0]).tolist()
    [2.0, 4.0, 2.0, 4.0]

    References
    ----------
    Li & Zhang, "Delayed Projection Techniques for Linearly Constrained Problems", the federated case.
    """

    def __init__(self, n: int) -> None:
        self.n = positive_integer("n", n)

    def project(self, x: Array) -> Array:
        """Return the mean of the blocks in place of every block."""
        return self.tangent(x)

    def tangent(self, v: Array) -> Array:
        """Return the mean of the blocks in place of every block."""
        return np.tile(self._blocks(v).mean(axis=0), self.n)

    def residual(self, x: Array) -> float:
        """Return the distance from the mean."""
        return float(np.linalg.norm(self.multipliers(x)))

    def multipliers(self, gradient: Array) -> Array:
        """Return the deviation of each block from the mean."""
        blocks = self._blocks(gradient)
        return (blocks - blocks.mean(axis=0)).ravel()

    def tangent_space(self, dim: int) -> Subspace:
        """Return the vectors of n equal blocks."""
        block = sp.eye_array(dim // self.n, format="csr")
        return Image(sp.hstack([block] * self.n, format="csr"))

    @property
    def words(self) -> str:
        """Who agrees."""
        return f"agreement of {self.n:,} blocks"

    def labels(self, dim: int) -> Labels:
        """Return what the variables are called: there is one multiplier for each of them."""
        return Labels("x", dim)

    def digest(self) -> str:
        """Return a digest of the number of blocks."""
        return digest_of("Consensus", self.n)

    def _blocks(self, x: Array) -> Array:
        x = np.asarray(x, dtype=float)
        if x.size % self.n:
            raise ValueError(
                f"Consensus({self.n}) got a vector of length {x.size}; it needs a multiple of {self.n}."
            )
        return x.reshape(self.n, -1)

    def __repr__(self) -> str:
        return f"Consensus({self.n})"
