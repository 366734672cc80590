"""Parabolas above a loss: what to take for its curvature where that says too little.

Where a loss is all but straight, as far off its corner, the parabola that fits it there leads too far. One
with the majorising curvature touches the loss where it is taken and lies above it everywhere else, so that a
step to the lowest point of a model made of such parabolas never goes uphill.
"""

from dataclasses import dataclass

import numpy as np

from tether.arrays import Array
from tether.objectives.losses.base import Labels, Loss

_SMALL = 1e-6  # an argument up to which tanh(u / 2) / (2 u) is 1/4 to rounding


@dataclass(frozen=True)
class Majorised(Loss):
    """A loss with majorising curvatures in place of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives.losses import Huber
    >>> loss, far = Huber(delta=1.0), (np.array([100.0]), np.zeros(1))
    >>> loss.curvatures(*far), Majorised(loss).curvatures(*far)
    (array([0.]), array([0.01]))
    """

    loss: Loss

    def values(self, z: Array, y: Labels) -> Array:
        """Return those of the loss."""
        return self.loss.values(z, y)

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return those of the loss."""
        return self.loss.slopes(z, y)

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return the majorising ones."""
        found = self.loss.majorants(z, y)
        assert found is not None
        return found


def is_majorised(loss: Loss) -> bool:
    """Say whether a loss knows majorising curvatures."""
    return type(loss).majorants is not Loss.majorants


def above_softplus(u: Array) -> Array:
    """Return tanh(u / 2) / (2 u), the smallest curvature of a parabola that touches log(1 + exp(.)) at u.

    Examples
    --------
    >>> above_softplus(np.array([0.0, 50.0]))
    array([0.25, 0.01])
    """
    small = np.abs(u) < _SMALL
    safe = np.where(small, 1.0, u)
    return np.where(small, 0.25, np.tanh(0.5 * safe) / (2.0 * safe))
