"""Losses of labels that are measurements: squares, and squares with long tails."""

from dataclasses import dataclass

import numpy as np

from tether.arrays import Array
from tether.inputs import nonnegative
from tether.objectives.losses.base import Labels, Loss


@dataclass(frozen=True)
class Squared(Loss):
    """(z - y)^2 / 2.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives.losses import Squared
    >>> Squared().slopes(np.array([1.0, 3.0]), np.array([0.0, 5.0]))
    array([ 1., -2.])
    """

    words = "least squares"
    curvature = 1.0
    convexity = 1.0
    concordance = 0.0

    def floors(self, y: Labels) -> Array | float:
        """Return 0."""
        return 0.0

    def values(self, z: Array, y: Labels) -> Array:
        """Return (z - y)^2 / 2."""
        return 0.5 * np.square(z - y)

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return z - y."""
        return z - y

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return 1 for every sample."""
        return np.ones_like(z)


@dataclass(frozen=True)
class Huber(Loss):
    """(z - y)^2 / 2 where |z - y| <= delta, and delta (|z - y| - delta / 2) beyond.

    Parameters
    ----------
    delta : float
        The residual from which the loss grows linearly.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives.losses import Huber
    >>> Huber(delta=1.0).slopes(np.array([0.5, 9.0]), np.zeros(2))
    array([0.5, 1. ])
    """

    words = "Huber regression"

    delta: float = 1.35
    curvature = 1.0

    def __post_init__(self) -> None:
        if nonnegative("delta", self.delta) == 0.0:
            raise ValueError("delta must be positive, got 0; use a small positive number.")

    def floors(self, y: Labels) -> Array | float:
        """Return 0."""
        return 0.0

    def values(self, z: Array, y: Labels) -> Array:
        """Return s (|r| - s / 2) with r = z - y and s = min(|r|, delta), which is both branches."""
        size = np.abs(z - y)
        inside = np.minimum(size, self.delta)
        return inside * (size - 0.5 * inside)

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return the residual, cut off at delta."""
        return np.clip(z - y, -self.delta, self.delta)

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return 1 where the loss is quadratic and 0 where it is linear."""
        return (np.abs(z - y) <= self.delta).astype(np.float64)

    def majorants(self, z: Array, y: Labels) -> Array:
        """Return the slope over the residual."""
        return self.delta / np.maximum(np.abs(z - y), self.delta)
