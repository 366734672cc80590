"""log(1 + exp(z)) and its derivatives, on arrays and without overflow.

All are made of exp(-|z|), which NumPy computes many at a time.
"""

import numpy as np

from tether.arrays import Array


def softplus(z: Array) -> Array:
    """Return log(1 + exp(z)).

    Examples
    --------
    >>> import numpy as np
    >>> from tether.objectives.losses.softplus import softplus
    >>> softplus(np.array([-800.0, 0.0, 800.0])).round(6).tolist()
    [0.0, 0.693147, 800.0]
    """
    return np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0.0)


def softplus_and_sigmoid(z: Array) -> tuple[Array, Array]:
    """Return log(1 + exp(z)) and its first derivative, made of one exponential."""
    small = np.exp(-np.abs(z))
    share = 1.0 / (1.0 + small)
    return np.log1p(small) + np.maximum(z, 0.0), np.where(z < 0.0, small * share, share)


def sigmoid(z: Array) -> Array:
    """Return 1 / (1 + exp(-z)), the first derivative."""
    small = np.exp(-np.abs(z))
    share = 1.0 / (1.0 + small)
    return np.where(z < 0.0, small * share, share)


def sigmoid_slope(z: Array) -> Array:
    """Return s (1 - s) with s = 1 / (1 + exp(-z)), the second derivative."""
    small = np.exp(-np.abs(z))
    return small / np.square(1.0 + small)
