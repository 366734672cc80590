"""Losses of counts and amounts, whose spread grows with their mean: claims, costs, durations, rainfall.

Predictions are logarithms of means. Each loss is half the unit deviance of its distribution, without the part
that depends on the label alone.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from tether.arrays import Array
from tether.inputs import number, vector
from tether.objectives.losses.base import Labels, Loss


@dataclass(frozen=True)
class Poisson(Loss):
    """exp(z) - y z with y >= 0, the negative log-likelihood of counts up to a constant.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives.losses import Poisson
    >>> Poisson().slopes(np.zeros(2), np.array([0.0, 3.0]))
    array([ 1., -2.])
    """

    words = "Poisson regression"

    concordance = 1.0  # all derivatives from the second on are exp(z)

    def prepare(self, y: Any) -> Labels:
        """Return the counts as floats."""
        counts = vector("y", y)
        if counts.size and counts.min() < 0.0:
            raise ValueError(
                f"y must be >= 0 for the poisson loss, got {counts.min():g}; try the squared loss."
            )
        return counts

    def floors(self, y: Labels) -> Array | float:
        """Return y - y log y."""
        return y - xlogy(y, y)

    def values(self, z: Array, y: Labels) -> Array:
        """Return exp(z) - y z, which is infinite where exp(z) overflows."""
        return _exp(z) - y * z

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return exp(z) - y."""
        return _exp(z) - y

    def values_and_slopes(self, z: Array, y: Labels) -> tuple[Array, Array]:
        """Return both, made of one exponential."""
        means = _exp(z)
        return means - y * z, means - y

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return exp(z)."""
        return _exp(z)

    def best_constant(self, y: Labels, weights: Array | None = None, offset: Array | None = None) -> float:
        """Return the logarithm of the mean count over that of exp(offset)."""
        return _log_of_ratio(y, 1.0 if offset is None else _exp(offset), weights)


@dataclass(frozen=True)
class Gamma(Loss):
    """z + y exp(-z) with y > 0: the spread of y is proportional to its mean exp(z).

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives.losses import Gamma
    >>> Gamma().slopes(np.zeros(2), np.array([0.5, 3.0]))
    array([ 0.5, -2. ])
    """

    words = "gamma regression"

    concordance = 1.0  # all derivatives from the second on are y exp(-z), up to the sign

    def prepare(self, y: Any) -> Labels:
        """Return the amounts as floats."""
        amounts = vector("y", y)
        if amounts.size and amounts.min() <= 0.0:
            raise ValueError(
                f"y must be > 0 for the gamma loss, got {amounts.min():g}; amounts that may be 0 are for the "
                "tweedie loss."
            )
        return amounts

    def floors(self, y: Labels) -> Array | float:
        """Return 1 + log y."""
        return 1.0 + np.log(y)

    def values(self, z: Array, y: Labels) -> Array:
        """Return z + y exp(-z), which is infinite where the exponential overflows."""
        return z + y * _exp(-z)

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return 1 - y exp(-z)."""
        return 1.0 - y * _exp(-z)

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return y exp(-z)."""
        return y * _exp(-z)

    def best_constant(self, y: Labels, weights: Array | None = None, offset: Array | None = None) -> float:
        """Return the logarithm of the mean of y exp(-offset)."""
        return _log_of_ratio(y if offset is None else y * _exp(-offset), 1.0, weights)


@dataclass(frozen=True)
class Tweedie(Loss):
    """y exp((1 - p) z) / (p - 1) + exp((2 - p) z) / (2 - p) with y >= 0: sums of a few amounts, often none.

    Parameters
    ----------
    power : float
        p, between 1 (counts) and 2 (amounts): the variance of y is proportional to its mean to that power.

    Notes
    -----
    The concordance is max(p - 1, 2 - p): both exponentials have derivatives that are themselves, times
    1 - p or 2 - p.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives.losses import Tweedie
    >>> Tweedie(power=1.5).slopes(np.zeros(2), np.array([0.0, 3.0]))
    array([ 1., -2.])
    """

    power: float = 1.5
    words = "Tweedie regression"

    def __post_init__(self) -> None:
        power = number("power", self.power)
        if not 1.0 < power < 2.0:
            raise ValueError(
                f"power must be between 1 and 2 for the tweedie loss, got {power:g}; 1 is the poisson loss "
                "and 2 the gamma loss."
            )

    @property
    def concordance(self) -> float:  # type: ignore[override]
        """max(p - 1, 2 - p)."""
        return max(self.power - 1.0, 2.0 - self.power)

    def prepare(self, y: Any) -> Labels:
        """Return the amounts as floats."""
        amounts = vector("y", y)
        if amounts.size and amounts.min() < 0.0:
            raise ValueError(
                f"y must be >= 0 for the tweedie loss, got {amounts.min():g}; try the squared loss."
            )
        return amounts

    def floors(self, y: Labels) -> Array | float:
        """Return y^(2 - p) / ((p - 1) (2 - p)), the value at z = log y."""
        p = self.power
        return np.asarray(y ** (2.0 - p) / ((p - 1.0) * (2.0 - p)))

    def values(self, z: Array, y: Labels) -> Array:
        """Return the loss, which is infinite where an exponential overflows."""
        falling, rising = self._parts(z, y)
        return falling / (self.power - 1.0) + rising / (2.0 - self.power)

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return exp((2 - p) z) - y exp((1 - p) z)."""
        falling, rising = self._parts(z, y)
        return rising - falling

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return (p - 1) y exp((1 - p) z) + (2 - p) exp((2 - p) z)."""
        falling, rising = self._parts(z, y)
        return (self.power - 1.0) * falling + (2.0 - self.power) * rising

    def best_constant(self, y: Labels, weights: Array | None = None, offset: Array | None = None) -> float:
        """Return the logarithm of a mean, each amount over its exp(offset) and weighted as the slopes are."""
        falling, rising = self._parts(np.zeros(len(y)) if offset is None else offset, y)
        return _log_of_ratio(falling, rising, weights)

    def _parts(self, z: Array, y: Labels) -> tuple[Array, Array]:
        """Return y exp((1 - p) z), which is 0 for y = 0 whatever z, and exp((2 - p) z)."""
        falling = y * np.where(y > 0.0, _exp((1.0 - self.power) * z), 0.0)
        return falling, _exp((2.0 - self.power) * z)


def _exp(z: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.exp(z)


def _log_of_ratio(above: Array, below: Array | float, weights: Array | None) -> float:
    """Return the logarithm of a mean over another; minus infinity where the first is 0."""
    total, share = (
        float(np.average(np.broadcast_to(part, len(above)), weights=weights)) for part in (above, below)
    )
    with np.errstate(all="ignore"):
        ratio = float(np.divide(total, share))
    return math.log(ratio) if 0.0 < ratio < math.inf else -math.inf
