"""Losses of labels that name a class: two of them, or K."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tether.arrays import Array
from tether.inputs import plain_array, positive_integer, vector
from tether.objectives.losses.base import Labels, Loss
from tether.objectives.losses.softplus import sigmoid, sigmoid_slope, softplus, softplus_and_sigmoid

_ADVICE = "encode the labels first, for example with sklearn.preprocessing.LabelEncoder"


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-y z)) with labels -1 and 1; 0 and 1 or booleans are accepted.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives.losses import Logistic
    >>> Logistic().slopes(np.zeros(2), Logistic().prepare([0, 1]))
    array([ 0.5, -0.5])
    """

    words = "logistic regression"
    curvature = 0.25
    concordance = 1.0  # the third derivative is s (1 - s) (1 - 2 s)

    def prepare(self, y: Any) -> Labels:
        """Return the labels as -1.0 and 1.0."""
        labels = _labels(y)
        positive = labels == 1.0
        if not ((positive | (labels == 0.0)).all() or (positive | (labels == -1.0)).all()):
            raise ValueError(
                "y must hold 0 and 1, or -1 and 1, for the logistic loss, got "
                f"{_some(np.unique(labels))}; {_ADVICE}, or use the multinomial loss."
            )
        return np.where(positive, 1.0, -1.0)

    def floors(self, y: Labels) -> Array | float:
        """Return 0."""
        return 0.0

    def values(self, z: Array, y: Labels) -> Array:
        """Return log(1 + exp(-y z))."""
        return softplus(-y * z)

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return -y / (1 + exp(y z))."""
        return -y * sigmoid(-y * z)

    def values_and_slopes(self, z: Array, y: Labels) -> tuple[Array, Array]:
        """Return both, made of one exponential."""
        values, shares = softplus_and_sigmoid(-y * z)
        return values, -y * shares

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return s (1 - s) with s = 1 / (1 + exp(-z))."""
        return sigmoid_slope(z)


@dataclass(frozen=True)
class Multinomial(Loss):
    """log sum_k exp(z_k) - z_y, the cross-entropy of K classes numbered 0 to K - 1.

    Parameters
    ----------
    n_classes : int, optional
        K. By default the labels tell; give it where some class may have no sample, as on one worker of
        a federation.

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives.losses import Multinomial
    >>> Multinomial().slopes(np.zeros((1, 4)), np.array([2]))
    array([[ 0.25,  0.25, -0.75,  0.25]])

    Notes
    -----
    The concordance is sqrt(2). With p the class probabilities at z, let u and v be numbers by class, and E
    and Var mean and variance under p. Then D^2[v, v] = Var v and D^3[v, v, u] = E (v - E v)^2 (u - E u), so
    |D^3[v, v, u]| <= max_k |u_k - E u| Var v, and no u_k is further from a mean of u than
    max u - min u <= sqrt(2) ||u||. It is reached: p near a vertex j, v = e_k and u = e_k - e_j.
    """

    words = "multinomial logistic regression"

    n_classes: int | None = None
    curvature = 0.5
    concordance = math.sqrt(2.0)

    def __post_init__(self) -> None:
        if self.n_classes is not None and positive_integer("n_classes", self.n_classes) < 2:
            raise ValueError("n_classes must be at least 2, got 1; one class leaves nothing to learn.")

    def prepare(self, y: Any) -> Labels:
        """Return the class numbers as integers."""
        labels = _labels(y)
        found = np.unique(labels)
        if (found != np.floor(found)).any() or found[0] < 0:
            raise ValueError(f"y must hold class numbers 0, 1, ... K - 1, got {_some(found)}; {_ADVICE}.")
        if self.n_classes is None and (len(found) < 2 or found[-1] != len(found) - 1):
            raise ValueError(
                f"y must hold every class number 0 to K - 1 with K >= 2, got {_some(found)}; {_ADVICE}, "
                "or give the number of classes, GLM(..., n_classes=K)."
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

    def floors(self, y: Labels) -> Array | float:
        """Return 0."""
        return 0.0

    def values(self, z: Array, y: Labels) -> Array:
        """Return log sum_k exp(z_k) - z_y, exact also where it is next to 0."""
        return _values(z, y, *_parts(z, y))

    def slopes(self, z: Array, y: Labels) -> Array:
        """Return the class probabilities, at the true class less 1: minus those of the others."""
        return _slopes(y, *_parts(z, y))

    def values_and_slopes(self, z: Array, y: Labels) -> tuple[Array, Array]:
        """Return both, made of the same exponentials."""
        parts = _parts(z, y)
        return _values(z, y, *parts), _slopes(y, *parts)

    def curvatures(self, z: Array, y: Labels) -> Array:
        """Return the diagonal p_k (1 - p_k) of the Hessian in z."""
        probabilities = _softmax(z)
        return probabilities * (1.0 - probabilities)

    def hessians(self, z: Array, y: Labels) -> Array:
        """Return diag(p) - p p^T for every sample."""
        probabilities = _softmax(z)
        blocks = -probabilities[:, :, None] * probabilities[:, None, :]
        diagonal = np.arange(z.shape[1])
        blocks[:, diagonal, diagonal] += probabilities
        return blocks

    def mixed(self, z: Array, y: Labels) -> Array:
        """Return p: the Hessian is diag(p) - p p^T."""
        return _softmax(z)


def _labels(y: Any) -> Array:
    found = plain_array("y", y)
    if found.dtype.kind in "OUS":
        raise ValueError(f"y must hold numbers, got dtype {found.dtype}; {_ADVICE}.")
    labels = vector("y", found)
    if not labels.size:
        raise ValueError("y must hold at least one label, got none.")
    return labels


def _some(found: Array) -> str:
    shown = ", ".join(f"{label:g}" for label in found[:5])
    return f"{{{shown}{', ...' if len(found) > 5 else ''}}}"


def _parts(z: Array, y: Labels) -> tuple[Array, Array, Array]:
    """Return max_k z_k, exp(z_k) over that of the largest, and their sum without the true class."""
    largest = _largest(z)
    numbers = np.exp(z - largest[:, None])
    apart = numbers.copy()
    apart[np.arange(len(z)), y] = 0.0
    return largest, numbers, _sums(apart)


def _values(z: Array, y: Labels, largest: Array, numbers: Array, others: Array) -> Array:
    rows = np.arange(len(z))
    own = numbers[rows, y]
    far = np.log(others + own) + largest - z[rows, y]
    return np.where(others < own, np.log1p(others / np.where(own > 0.0, own, 1.0)), far)


def _slopes(y: Labels, largest: Array, numbers: Array, others: Array) -> Array:
    rows = np.arange(len(numbers))
    slopes = numbers / (others + numbers[rows, y])[:, None]
    slopes[rows, y] = -others / (others + numbers[rows, y])
    return slopes


def _softmax(z: Array) -> Array:
    weights = np.exp(z - _largest(z)[:, None])
    weights /= _sums(weights)[:, None]
    return weights


def _largest(z: Array) -> Array:
    """Return the largest of every short row, quicker than row by row."""
    return np.ascontiguousarray(z.T).max(axis=0)


def _sums(numbers: Array) -> Array:
    """Return the sum of every short row, quicker than row by row."""
    return numbers @ np.ones(numbers.shape[1])
