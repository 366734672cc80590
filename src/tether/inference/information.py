"""What samples say of coefficients: their scores, and the curvature of all losses together."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tether.arrays import Array
from tether.curvature import FULL, unpacked
from tether.inference.distributions import Distribution, distribution_of
from tether.inputs import has_missing, plain_array
from tether.lazy import lazy
from tether.objectives import GLM
from tether.objectives.design import BLOCK
from tether.objectives.gram import gram_triangle, summed


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of a model at its coefficients; weights are frequencies.

    Parameters
    ----------
    objective : GLM
        The model, without a ridge.
    x : ndarray
        The coefficients.
    """

    objective: GLM
    x: Array

    @lazy
    def weights(self) -> Array:
        """How often each sample counts."""
        own = self.objective.weights
        return np.ones(self.objective.n_samples) if own is None else own * self.scale

    @property
    def scale(self) -> float:
        """What a sample of mean weight counts."""
        return self.objective.mass / self.objective.n_samples

    @lazy
    def predictions(self) -> Array:
        """The linear predictors, with their offsets."""
        z, offset = self.objective.design.predict(self.x), self.objective.offset
        return z if offset is None else z + offset

    @property
    def distribution(self) -> Distribution | None:
        """The distribution of the labels, where the loss stands for one."""
        return distribution_of(self.objective.loss)

    @property
    def slopes(self) -> Array:
        """The derivatives of the losses in their predictions."""
        return np.asarray(self.objective.loss.slopes(self.predictions, self.objective.y), dtype=float)

    @property
    def score(self) -> Array:
        """The gradient of the sum of losses."""
        return self.objective.design.combine(self.weights * self.slopes)

    def hessian(self, expected: bool = False) -> Array:
        """Return the second derivatives of the sum of losses, or what they are expected to be."""
        if not expected:
            return self.objective.mass * unpacked(self.objective.curvature(self.x, FULL))
        if self.distribution is None:
            raise ValueError(
                f"expected_information must be False for {self.objective.words}, which has no likelihood."
            )
        curvatures = self.distribution.information(self.distribution.mean(self.predictions))
        return self._products(self.weights * curvatures)

    def outer_products(self) -> Array:
        """Return the sum of the products of the scores of samples."""
        return self._products(self.weights * np.square(self.slopes))

    def _products(self, factors: Array) -> Array:
        return unpacked(gram_triangle(summed(self.objective.design, factors)))

    def sums(self, groups: Any) -> Array:
        """Return the scores summed up over groups, one row for each."""
        labels = plain_array("groups", groups)
        if labels.ndim != 1 or len(labels) != self.objective.n_samples:
            raise ValueError(
                f"groups must have one entry for each of the {self.objective.n_samples} samples, got shape "
                f"{labels.shape}."
            )
        if has_missing(labels):
            raise ValueError(
                "groups must say of every sample where it belongs, got None or NaN; drop such rows."
            )
        found, places = np.unique(labels, return_inverse=True)
        total, factors = np.zeros((len(found), len(self.x))), self.weights * self.slopes
        step = max(1, BLOCK // max(1, len(self.x)))
        for begin in range(0, len(factors), step):
            rows = slice(begin, min(begin + step, len(factors)))
            np.add.at(total, places[rows], factors[rows, None] * self.objective.design.block(rows))
        return total
