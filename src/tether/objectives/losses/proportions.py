"""The loss of proportions: successes among trials."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from tether.arrays import Array
from tether.inputs import vector
from tether.objectives.losses.base import Labels, Loss
from tether.objectives.losses.softplus import sigmoid, sigmoid_slope, softplus


@dataclass(frozen=True)
class Binomial(Loss):
    """log(1 + exp(z)) - y z with y from 0 to 1, the share of successes; trials are sample weights.

    For labels 0 and 1 it is the logistic loss.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives.losses import Binomial
    >>> Binomial().slopes(np.zeros(3), np.array([0.0, 0.25, 1.0]))
    array([ 0.5 ,  0.25, -0.5 ])
    """

    words = "logistic regression of proportions"

    curvature = 0.25
    concordance = 1.0  # the third derivative is s (1 - s) (1 - 2 s)

    def prepare(self, y: Any) -> Labels:
        """Return the shares as floats."""
        shares = vector("y", y)
        if shares.size and not (shares.min() >= 0.0 and shares.max() <= 1.0):
            raise ValueError(
                f"y must be between 0 and 1 for the binomial loss, got {shares.min():g} to "
                f"{shares.max():g}; divide successes by trials, and give the trials as sample_weight."
            )
        return shares

    def floors(self, y: Labels) -> Array | float:
        """Return -y log y - (1 - y) log(1 - y)."""
        return np.asarray(-xlogy(y, y) - xlogy(1.0 - y, 1.0 - y))

    def values(self, z: Array, y: Labels) -> Array:
        """Return log(1 + exp(z)) - y z."""
        return softplus(z) - y * z

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return s - y with s = 1 / (1 + exp(-z))."""
        return sigmoid(z) - y

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return s (1 - s)."""
        return sigmoid_slope(z)
