"""Losses of one prediction z against one label y: small frozen objects behind one interface.

A loss is a convex function of the prediction alone. The design matrix turns it into a function of x:
the gradient of sample i is slope_i a_i, and its curvature is at most ``curvature`` ||a_i||^2.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tether.arrays import Array
from tether.inputs import nonnegative, numbers, positive_integer, vector

Labels = NDArray[Any]

_ENCODE = "encode the labels first, for example with sklearn.preprocessing.LabelEncoder"


class Loss(ABC):
    """A smooth convex loss(z, y) of a prediction, vectorised over samples."""

    #: What users call it.
    name: ClassVar[str]
    #: What compiled kernels switch on.
    code: ClassVar[int]
    #: A bound on the second derivative in z that holds everywhere; infinite when there is none.
    curvature: ClassVar[float]

    @property
    def parameter(self) -> float:
        """The one number a kernel needs beside the code."""
        return 0.0

    def kind(self) -> dict[str, str | float | int | bool]:
        """Return which loss this is, with its settings: workers of a federation must have the same."""
        plain = {name: value for name, value in vars(self).items() if isinstance(value, str | float | int)}
        return {"loss": type(self).__name__} | plain

    @abstractmethod
    def prepare(self, y: Any) -> Labels:
        """Return the labels in the form the other functions take, or refuse them."""

    def n_outputs(self, y: Labels) -> int:
        """Return how many numbers predict one sample."""
        return 1

    @abstractmethod
    def values(self, z: Array, y: Labels) -> Array:
        """Return the loss of every sample."""

    @abstractmethod
    def slopes(self, z: Array, y: Labels) -> Array:
        """Return the derivative of every sample's loss in its prediction, in the shape of z."""

    @abstractmethod
    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return the second derivative of every sample's loss in its prediction."""


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-y z)) with labels -1 and 1; 0 and 1 or booleans are accepted."""

    name: ClassVar[str] = "logistic"
    code: ClassVar[int] = 0
    curvature: ClassVar[float] = 0.25

    def prepare(self, y: Any) -> Labels:
        """Return the labels as -1.0 and 1.0."""
        labels = _labels(y)
        found = np.unique(labels)
        if not (np.isin(found, (0.0, 1.0)).all() or np.isin(found, (-1.0, 1.0)).all()):
            raise ValueError(
                f"y must hold 0 and 1, or -1 and 1, for the logistic loss, got {_some(found)}; "
                f"{_ENCODE}, or use the multinomial loss."
            )
        return np.where(labels > 0.0, 1.0, -1.0)

    def values(self, z: Array, y: Labels) -> Array:
        """Return log(1 + exp(-y z))."""
        return np.logaddexp(0.0, -y * z)

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return -y / (1 + exp(y z))."""
        return -y * expit(-y * z)

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return s (1 - s) with s = 1 / (1 + exp(-z))."""
        return expit(z) * expit(-z)


@dataclass(frozen=True)
class Squared(Loss):
    """(z - y)^2 / 2."""

    name: ClassVar[str] = "squared"
    code: ClassVar[int] = 1
    curvature: ClassVar[float] = 1.0

    def prepare(self, y: Any) -> Labels:
        """Return the responses as floats."""
        return vector("y", y)

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
class Multinomial(Loss):
    """log sum_k exp(z_k) - z_y, the cross-entropy of K classes numbered 0 to K - 1.

    Parameters
    ----------
    n_classes : int, optional
        K. By default the labels tell; give it where some class may have no sample, as on one worker of
        a federation.
    """

    n_classes: int | None = None
    name: ClassVar[str] = "multinomial"
    code: ClassVar[int] = 2
    curvature: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        if self.n_classes is not None and positive_integer("n_classes", self.n_classes) < 2:
            raise ValueError("n_classes must be at least 2, got 1; one class leaves nothing to learn.")

    def prepare(self, y: Any) -> Labels:
        """Return the class numbers as integers."""
        labels = _labels(y)
        found = np.unique(labels)
        if (found != np.floor(found)).any() or found[0] < 0:
            raise ValueError(f"y must hold class numbers 0, 1, ... K - 1, got {_some(found)}; {_ENCODE}.")
        if self.n_classes is None and (len(found) < 2 or found[-1] != len(found) - 1):
            raise ValueError(
                f"y must hold every class number 0 to K - 1 with K >= 2, got {_some(found)}; {_ENCODE}, "
                "or give the number of classes as loss=Multinomial(n_classes=K)."
            )
        if self.n_classes is not None and found[-1] >= self.n_classes:
            raise ValueError(
                f"y must hold class numbers below n_classes = {self.n_classes}, got {int(found[-1])}; "
                "raise n_classes."
            )
        return labels.astype(np.int64)

    def kind(self) -> dict[str, str | float | int | bool]:
        """Return which loss this is; K may be given or told by the labels."""
        return {"loss": type(self).__name__}

    def n_outputs(self, y: Labels) -> int:
        """Return K."""
        return int(y.max()) + 1 if self.n_classes is None else self.n_classes

    def values(self, z: Array, y: Labels) -> Array:
        """Return log sum_k exp(z_k) - z_y."""
        top = z.max(axis=1)
        total = np.exp(z - top[:, None]).sum(axis=1)
        return np.log(total) + top - z[np.arange(len(z)), y]

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return the class probabilities minus 1 at the true class."""
        slopes = _softmax(z)
        slopes[np.arange(len(z)), y] -= 1.0
        return slopes

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return the diagonal p_k (1 - p_k) of the Hessian in z."""
        probabilities = _softmax(z)
        return probabilities * (1.0 - probabilities)


@dataclass(frozen=True)
class Huber(Loss):
    """(z - y)^2 / 2 where |z - y| <= delta, and delta (|z - y| - delta / 2) beyond.

    Parameters
    ----------
    delta : float
        The residual from which the loss grows linearly.
    """

    delta: float = 1.35
    name: ClassVar[str] = "huber"
    code: ClassVar[int] = 3
    curvature: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        if nonnegative("delta", self.delta) == 0.0:
            raise ValueError("delta must be positive, got 0; use a small positive number.")

    @property
    def parameter(self) -> float:
        """The residual delta."""
        return float(self.delta)

    def prepare(self, y: Any) -> Labels:
        """Return the responses as floats."""
        return vector("y", y)

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


@dataclass(frozen=True)
class Poisson(Loss):
    """exp(z) - y z with y >= 0, the negative log-likelihood of counts up to a constant."""

    name: ClassVar[str] = "poisson"
    code: ClassVar[int] = 4
    curvature: ClassVar[float] = np.inf

    def prepare(self, y: Any) -> Labels:
        """Return the counts as floats."""
        counts = vector("y", y)
        if counts.size and counts.min() < 0.0:
            raise ValueError(
                f"y must be >= 0 for the poisson loss, got {counts.min():g}; try the squared loss."
            )
        return counts

    def values(self, z: Array, y: Labels) -> Array:
        """Return exp(z) - y z, which is infinite where exp(z) overflows."""
        return _exp(z) - y * z

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return exp(z) - y."""
        return _exp(z) - y

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return exp(z)."""
        return _exp(z)


LOSSES: dict[str, type[Loss]] = {loss.name: loss for loss in (Logistic, Squared, Multinomial, Huber, Poisson)}


def as_loss(loss: "str | Loss") -> Loss:
    """Return the loss of that name, or the loss itself."""
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        names = ", ".join(f'"{name}"' for name in LOSSES)
        raise ValueError(f"loss must be one of {names} or a Loss object, got {loss!r}.")
    return LOSSES[loss]()


def _labels(y: Any) -> Array:
    kind = np.asarray(y).dtype.kind
    if kind in "OUS":
        raise ValueError(f"y must hold numbers, got dtype {np.asarray(y).dtype}; {_ENCODE}.")
    labels = vector("y", numbers("y", y))
    if not labels.size:
        raise ValueError("y must hold at least one label, got none.")
    return labels


def _some(found: Array) -> str:
    shown = ", ".join(f"{label:g}" for label in found[:5])
    return f"{{{shown}{', ...' if len(found) > 5 else ''}}}"


def _softmax(z: Array) -> Array:
    weights = np.exp(z - z.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _exp(z: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.exp(z)
