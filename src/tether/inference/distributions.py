"""The distribution behind a loss: what predictions mean, how labels spread, how likely they are.

A loss is half the unit deviance of its distribution, without what depends on the label alone. Huber's loss
and that of quantiles stand for no distribution: their predictions are values of y, and they have no
likelihood.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special
from scipy.special import expit, gammaln, log_expit

from tether.arrays import Array
from tether.objectives.losses import (
    Binomial,
    Gamma,
    Logistic,
    Loss,
    Poisson,
    Squared,
    Tweedie,
)


class Distribution(ABC):
    """Labels with a mean that is a function of the prediction, and a variance that is one of the mean."""

    name: str
    link: str  # of the mean to the prediction
    dispersed: bool = False  # whether the variance has a factor that is estimated

    @abstractmethod
    def mean(self, z: Array) -> Array:
        """Return the means that predictions stand for."""

    @abstractmethod
    def variance(self, mean: Array) -> Array:
        """Return the variances of labels with these means, in units of the dispersion."""

    @abstractmethod
    def log_likelihoods(self, z: Array, y: Array, dispersion: float, weights: Array) -> Array:
        """Return the log-likelihood of each label; weights are trials where labels are shares."""

    def responses(self, y: Array) -> Array:
        """Return labels as numbers that have these means."""
        return y

    def information(self, mean: Array) -> Array:
        """Return the expected second derivatives of the loss in the prediction: those of a canonical link."""
        return self.variance(mean)


class Normal(Distribution):
    """Measurements with one variance for all."""

    name, link, dispersed = "Normal", "identity", True

    def mean(self, z: Array) -> Array:
        """Return the predictions."""
        return z

    def variance(self, mean: Array) -> Array:
        """Return ones."""
        return np.ones_like(mean)

    def log_likelihoods(self, z: Array, y: Array, dispersion: float, weights: Array) -> Array:
        """Return -((y - z)^2 / s + log(2 pi s)) / 2."""
        return -0.5 * (np.square(y - z) / dispersion + math.log(2.0 * math.pi * dispersion))


class Shares(Distribution):
    """Successes among trials, or labels of two classes, which are one trial each."""

    name, link = "Binomial", "logit"

    def mean(self, z: Array) -> Array:
        """Return 1 / (1 + exp(-z))."""
        return np.asarray(expit(z))

    def variance(self, mean: Array) -> Array:
        """Return m (1 - m)."""
        return mean * (1.0 - mean)

    def responses(self, y: Array) -> Array:
        """Return 0 and 1 for labels -1 and 1."""
        return np.where(y < 0.0, 0.0, y)

    def log_likelihoods(self, z: Array, y: Array, dispersion: float, weights: Array) -> Array:
        """Return those of the number of successes, of each trial."""
        y = self.responses(y)
        one = y * log_expit(z) + (1.0 - y) * log_expit(-z)
        between = (y > 0.0) & (y < 1.0)
        if not between.any():
            return np.asarray(one)
        n = np.where(weights > 0.0, weights, 1.0)
        ways = gammaln(n + 1.0) - gammaln(n * y + 1.0) - gammaln(n * (1.0 - y) + 1.0)
        return np.asarray(one + ways / n)


class Counts(Distribution):
    """Counts after Poisson."""

    name, link = "Poisson", "log"

    def mean(self, z: Array) -> Array:
        """Return exp(z)."""
        return np.exp(z)

    def variance(self, mean: Array) -> Array:
        """Return the mean."""
        return mean

    def log_likelihoods(self, z: Array, y: Array, dispersion: float, weights: Array) -> Array:
        """Return y z - exp(z) - log y!."""
        return np.asarray(y * z - np.exp(z) - gammaln(y + 1.0))


class Amounts(Distribution):
    """Amounts above zero, after Gamma."""

    name, link, dispersed = "Gamma", "log", True

    def mean(self, z: Array) -> Array:
        """Return exp(z)."""
        return np.exp(z)

    def variance(self, mean: Array) -> Array:
        """Return the square of the mean."""
        return np.square(mean)

    def information(self, mean: Array) -> Array:
        """Return ones."""
        return np.ones_like(mean)

    def log_likelihoods(self, z: Array, y: Array, dispersion: float, weights: Array) -> Array:
        """Return those of Gamma with the shape 1 / s."""
        shape, ratio = 1.0 / dispersion, y * np.exp(-z)
        return np.asarray(shape * (np.log(shape * ratio) - ratio) - gammaln(shape) - np.log(y))


@dataclass(frozen=True)
class SumsOfAmounts(Distribution):
    """Sums of a few amounts, often none: Poisson many, after Gamma each.

    Parameters
    ----------
    power : float
        p, to which power of the mean the variance is proportional.
    """

    power: float
    name, link, dispersed = "Tweedie", "log", True

    def mean(self, z: Array) -> Array:
        """Return exp(z)."""
        return np.exp(z)

    def variance(self, mean: Array) -> Array:
        """Return the mean to the power p."""
        return mean**self.power

    def information(self, mean: Array) -> Array:
        """Return the mean to the power 2 - p."""
        return mean ** (2.0 - self.power)

    def log_likelihoods(self, z: Array, y: Array, dispersion: float, weights: Array) -> Array:
        """Return -unit loss / s, and the logarithm of Wright's function for amounts above zero.

        References
        ----------
        Dunn & Smyth, "Series evaluation of Tweedie exponential dispersion model densities", 2005.
        """
        p, s = self.power, dispersion
        rate, alpha = np.exp((2.0 - p) * z) / (s * (2.0 - p)), (2.0 - p) / (p - 1.0)
        amount = np.where(y > 0.0, y, 1.0)
        size = (amount / (p - 1.0)) ** alpha / ((2.0 - p) * s ** (1.0 + alpha))
        density = _log_wright(alpha, size) - np.log(amount)
        exponent = amount * np.exp((1.0 - p) * z) / (s * (1.0 - p))
        return np.where(y > 0.0, density + exponent - rate, -rate)


_DISTRIBUTIONS: dict[type[Loss], Callable[[Any], Distribution]] = {
    Squared: lambda loss: Normal(),
    Logistic: lambda loss: Shares(),
    Binomial: lambda loss: Shares(),
    Poisson: lambda loss: Counts(),
    Gamma: lambda loss: Amounts(),
    Tweedie: lambda loss: SumsOfAmounts(float(loss.power)),
}


def distribution_of(loss: Loss) -> Distribution | None:
    """Return the distribution whose deviance a loss is half of; None for losses that stand for none."""
    found = _DISTRIBUTIONS.get(type(loss))
    return None if found is None else found(loss)


def _log_wright(alpha: float, x: Array) -> Array:
    """Return the logarithm of Wright's function phi(alpha, 0; x); SciPy before 1.14 overflows for large x."""
    if hasattr(special, "log_wright_bessel"):
        return np.asarray(special.log_wright_bessel(alpha, 0.0, x))
    return np.log(special.wright_bessel(alpha, 0.0, x))
