"""No equations, no rows: each variable has a prox of its own."""

import numpy as np

from tether.arrays import Array
from tether.polyhedral import Duals, Pieces
from tether.prox.base import Algorithm, Proximal


class Separable(Algorithm):
    """The prox of scalar functions, side by side.

    Parameters
    ----------
    pieces : Pieces
        One function for each variable.
    """

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces

    def at(self, z: Array, t: Array, start: Proximal | None) -> Proximal:
        """Return the prox of z; there is nothing to start from."""
        point = self._pieces.prox(z, t)
        slopes = self._pieces.nearest((z - point) / t, point)
        return Proximal(point, np.zeros(len(z)), Duals(slopes, np.zeros(0)), None, 1)
