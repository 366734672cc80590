"""How well a model fits: likelihood, deviance, dispersion, and the criteria made of them."""

from dataclasses import dataclass

import numpy as np

from tether.inference.distributions import Distribution, Normal
from tether.inference.information import Samples
from tether.lazy import lazy
from tether.objectives.losses import Binomial


@dataclass(frozen=True, eq=False)
class Fit:
    """A model and what its samples say of it.

    Parameters
    ----------
    samples : Samples
        The samples at the coefficients.
    n_free : int
        How many coefficients are free: all, less the rank of the equations.
    """

    samples: Samples
    n_free: int

    @lazy
    def n_samples(self) -> float:
        """The samples, counted by their weights; shares of trials count once."""
        objective = self.samples.objective
        if isinstance(objective.loss, Binomial) and ((objective.y > 0.0) & (objective.y < 1.0)).any():
            return float(objective.n_samples)
        return float(objective.mass)

    @property
    def df_resid(self) -> float:
        """Samples less free coefficients."""
        return self.n_samples - self.n_free

    @lazy
    def deviance(self) -> float:
        """Twice the losses above what is best for each sample alone."""
        samples, loss = self.samples, self.samples.objective.loss
        losses = loss.values(samples.predictions, samples.objective.y) - loss.floors(samples.objective.y)
        return max(0.0, 2.0 * float(samples.weights @ losses))

    @lazy
    def pearson(self) -> float:
        """The sum of squared residuals, each over its variance."""
        known = self._known
        mean = known.mean(self.samples.predictions)
        residuals = known.responses(self.samples.objective.y) - mean
        return float(self.samples.weights @ (np.square(residuals) / known.variance(mean)))

    @lazy
    def dispersion(self) -> float:
        """The factor of the variance: estimated by Pearson's sum where a distribution has one, else 1."""
        known = self.samples.distribution
        if known is None or not known.dispersed:
            return 1.0
        return self.pearson / self.df_resid if self.df_resid > 0.0 else np.nan

    @lazy
    def log_likelihood(self) -> float:
        """The logarithm of the probability of the labels; of normal ones with the variance that fits best."""
        samples, known = self.samples, self._known
        scale = self.pearson / self.n_samples if isinstance(known, Normal) else self.dispersion
        each = known.log_likelihoods(samples.predictions, samples.objective.y, scale, samples.weights)
        return float(samples.weights @ each)

    @property
    def aic(self) -> float:
        """-2 log L + 2 k with k free coefficients."""
        return -2.0 * self.log_likelihood + 2.0 * self.n_free

    @property
    def bic(self) -> float:
        """-2 log L + k log n."""
        return -2.0 * self.log_likelihood + np.log(self.n_samples) * self.n_free

    @property
    def _known(self) -> Distribution:
        known = self.samples.distribution
        if known is None:
            raise ValueError(
                f"{self.samples.objective.words} stands for no distribution: it has no likelihood."
            )
        return known

    def statistic_against(self, smaller: "Fit") -> float:
        """Return the likelihood-ratio statistic of a model with more equations.

        Twice the difference of log-likelihoods; where a dispersion is estimated (but not for normal labels,
        whose variance is fitted), the difference of deviances over this model's dispersion.
        """
        known = self._known
        if known.dispersed and not isinstance(known, Normal):
            return (smaller.deviance - self.deviance) / self.dispersion
        return 2.0 * (self.log_likelihood - smaller.log_likelihood)
