"""The ridge of a linear model, sum_j l_j x_j^2 / 2: one number for all coefficients, or one for each.

Where all but a few numbers are equal they are seen as a *common* ridge and the *excess* of single ones over
it, which may be negative: an intercept without penalty has -l. Walks take the common part as they take any
ridge, and the excess as a part of the gradient.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tether.arrays import Array
from tether.digest import digest_of
from tether.inputs import LARGEST_NUMBER, nonnegative, vector
from tether.lazy import lazy
from tether.names import Names, aligned_vector
from tether.objectives.smoothness import require_moderate

_DIGITS = 9  # that must agree among workers: processors may compute l2 with other last bits


@dataclass(frozen=True, eq=False)
class Ridge:
    """sum_j l_j x_j^2 / 2.

    Attributes
    ----------
    weights : float or ndarray, shape (p,)
        The l_j; a number where all are equal.
    """

    weights: float | Array

    @property
    def uniform(self) -> bool:
        """Whether one number serves all."""
        return not isinstance(self.weights, np.ndarray)

    @lazy
    def smallest(self) -> float:
        """By how much the ridge is strongly convex."""
        return float(self.weights.min() if isinstance(self.weights, np.ndarray) else self.weights)

    @lazy
    def largest(self) -> float:
        """How curved it is at most."""
        return float(self.weights.max() if isinstance(self.weights, np.ndarray) else self.weights)

    @lazy
    def mean(self) -> float:
        """The mean of the l_j."""
        return float(self.weights.mean() if isinstance(self.weights, np.ndarray) else self.weights)

    @lazy
    def common(self) -> float:
        """That of the first coefficient, which all but an intercept are likely to have."""
        return float(np.ravel(self.weights)[0])

    @lazy
    def excess(self) -> Array | None:
        """What each coefficient has beyond the common number; None where all have that."""
        return self.weights - self.common if isinstance(self.weights, np.ndarray) else None

    def among(self, dim: int, kept: int) -> "Ridge":
        """Return the ridge of other coefficients, all with the common number but some last ones that stay."""
        if not isinstance(self.weights, np.ndarray) or not kept:
            return Ridge(self.common)
        return Ridge(np.append(np.full(dim - kept, self.common), self.weights[-kept:]))

    def value(self, x: Array) -> float:
        """Return sum_j l_j x_j^2 / 2."""
        if isinstance(self.weights, np.ndarray):
            return 0.5 * float(np.einsum("i,i,i->", self.weights, x, x))
        return 0.5 * self.weights * float(x @ x) if self.weights else 0.0

    def gradient(self, x: Array) -> Array | float:
        """Return l_j x_j; 0 where there is no ridge."""
        return self.weights * x if self.largest else 0.0

    def settled(self) -> Array:
        """Return the rows of the identity for coefficients with a ridge: no fall for ever moves them."""
        assert isinstance(self.weights, np.ndarray)
        return np.eye(len(self.weights))[self.weights > 0.0]

    @property
    def setting(self) -> float | str:
        """The number, or a text that tells several numbers apart, up to rounding."""
        if not isinstance(self.weights, np.ndarray):
            return self.weights
        rounded = ",".join(f"{weight:.{_DIGITS - 1}e}" for weight in self.weights)
        return f"{len(self.weights)} numbers ({digest_of(rounded)[:12]})"

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        if self.uniform:
            return f"l2 = {self.weights:g}"
        return f"l2 from {self.smallest:g} to {self.largest:g}"


NO_RIDGE = Ridge(0.0)


def as_ridge(l2: Any, width: int, n_outputs: int, names: Names | None) -> Ridge:
    """Return a ridge of (width, K) coefficients, or refuse it; K numbers of a row may share one."""
    if not (isinstance(l2, list | tuple) or getattr(l2, "ndim", 0) > 0):
        number = nonnegative("l2", l2)
        require_moderate("l2", number)
        return Ridge(number)
    weights = vector("l2", aligned_vector(l2, names, "l2"), largest=LARGEST_NUMBER)
    if len(weights) not in (width, width * n_outputs):
        raise ValueError(
            f"l2 must be a number or have one entry for each of the {width} coefficients, got "
            f"{len(weights)}; a model with an intercept has one coefficient more than its data has columns."
        )
    if weights.min() < 0.0:
        k = int(np.argmin(weights))
        raise ValueError(f"l2 must be at least 0, got {weights[k]:g} at [{k}]; use 0 for no penalty.")
    require_moderate("l2", float(weights.max()))
    if len(weights) < width * n_outputs:
        weights = np.repeat(weights, n_outputs)
    if (weights == weights[0]).all():
        return Ridge(float(weights[0]))
    return Ridge(weights.copy())
