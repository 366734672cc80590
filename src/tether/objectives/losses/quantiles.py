"""The loss of quantile regression, with a round corner."""

import math
from dataclasses import dataclass

from tether.arrays import Array
from tether.inputs import number, positive
from tether.objectives.losses.base import Labels, Loss
from tether.objectives.losses.majorised import above_softplus
from tether.objectives.losses.softplus import sigmoid, sigmoid_slope, softplus


@dataclass(frozen=True)
class SmoothedQuantile(Loss):
    """q (y - z) + h log(1 + exp((z - y) / h)): the check loss, averaged over logistic noise of scale h.

    Parameters
    ----------
    quantile : float
        q, between 0 and 1.
    bandwidth : float
        h, in the units of y. The loss is above max(q (y - z), (q - 1) (y - z)) by at most h log 2, and by
        next to nothing where the residual is more than a few h.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives.losses import SmoothedQuantile
    >>> SmoothedQuantile(quantile=0.9, bandwidth=0.1).slopes(np.array([-5.0, 0.0, 5.0]), np.zeros(3))
    array([-0.9, -0.4,  0.1])

    References
    ----------
    He, Pan, Tan & Zhou, "Smoothed quantile regression with large-scale inference", 2023.
    """

    quantile: float = 0.5
    bandwidth: float = 0.1
    words = "smoothed quantile regression"

    def __post_init__(self) -> None:
        if not 0.0 < number("quantile", self.quantile) < 1.0:
            raise ValueError(f"quantile must be between 0 and 1, got {self.quantile:g}; the median is 0.5.")
        positive("bandwidth", self.bandwidth)

    @property
    def curvature(self) -> float:  # type: ignore[override]
        """1 / (4 h)."""
        return 0.25 / self.bandwidth

    @property
    def concordance(self) -> float:  # type: ignore[override]
        """1 / h: that of the logistic loss, in other units."""
        return 1.0 / self.bandwidth

    def floors(self, y: Labels) -> Array | float:
        """Return the value where the share of the noise below is q."""
        q = self.quantile
        return -self.bandwidth * (q * math.log(q) + (1.0 - q) * math.log1p(-q))

    def values(self, z: Array, y: Labels) -> Array:
        """Return q (y - z) + h log(1 + exp((z - y) / h))."""
        return self.quantile * (y - z) + self.bandwidth * softplus((z - y) / self.bandwidth)

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return 1 / (1 + exp((y - z) / h)) - q."""
        return sigmoid((z - y) / self.bandwidth) - self.quantile

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return s (1 - s) / h with s = 1 / (1 + exp((y - z) / h))."""
        residual = (z - y) / self.bandwidth
        return sigmoid_slope(residual) / self.bandwidth

    def majorants(self, z: Array, y: Labels) -> Array:
        """Return tanh(r / (2 h)) / (2 r) with r = z - y."""
        return above_softplus((z - y) / self.bandwidth) / self.bandwidth
