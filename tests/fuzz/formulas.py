"""The losses, written down a second time: what the library computes is compared with this.

Each formula takes predictions z and targets y and works in the precision of z. Several outputs stand in the
columns of z. ``magnitudes`` are the sizes of the terms that a value is the sum of; rounding is relative to
them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Formula(NamedTuple):
    values: Callable
    slopes: Callable  # first derivatives in z
    curvatures: Callable  # second derivatives, (N,) or (N, K, K)
    magnitudes: Callable


DELTA = 1.35  # of the Huber loss
UNDER = 0.2  # the weight of negative residuals in the expectile loss


def softplus(z):
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


def sigmoid(z):
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, 1.0, small) / (1 + small)


def logistic(temperature=1):
    """t log(1 + exp(-y z / t)) for y = -1 and 1."""
    t = temperature
    return Formula(
        lambda z, y: t * softplus(-y * z / t),
        lambda z, y: -y * sigmoid(-y * z / t),
        lambda z, y: sigmoid(z / t) * sigmoid(-z / t) / t,
        lambda z, y: t * softplus(-y * z / t),
    )


def log_cosh(z):
    return np.abs(z) + np.log1p(np.exp(-2 * np.abs(z))) - np.log(z.dtype.type(2))


def expectile_weights(z, y):
    return np.where(z >= y, 1.0, UNDER)


def huber_values(z, y):
    size = np.abs(z - y)
    return np.where(size <= DELTA, size**2 / 2, DELTA * (size - DELTA / 2))


def poisson_values(z, y):
    with np.errstate(over="ignore"):
        return np.exp(z) - y * z


def softmax(z):
    weights = np.exp(z - z.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def log_sum_exp(z):
    top = z.max(axis=1)
    return top + np.log(np.exp(z - top[:, None]).sum(axis=1))


def of_class(z, y):
    return z[np.arange(len(z)), y]


def softmax_curvatures(z, y):
    p = softmax(z)
    return p[:, :, None] * np.eye(z.shape[1]) - p[:, :, None] * p[:, None, :]


FORMULAS = {
    "logistic": logistic(),
    "tempered": logistic(2),
    "squared": Formula(
        lambda z, y: (z - y) ** 2 / 2,
        lambda z, y: z - y,
        lambda z, y: np.ones_like(z),
        lambda z, y: (z - y) ** 2 / 2,
    ),
    "square": Formula(lambda z, y: z**2, lambda z, y: 2 * z, lambda z, y: 2 + 0 * z, lambda z, y: z**2),
    "huber": Formula(
        huber_values,
        lambda z, y: np.clip(z - y, -DELTA, DELTA),
        lambda z, y: 1.0 * (np.abs(z - y) <= DELTA),
        huber_values,
    ),
    "poisson": Formula(
        poisson_values,
        lambda z, y: np.exp(z) - y,
        lambda z, y: np.exp(z),
        lambda z, y: np.exp(z) + np.abs(y * z),
    ),
    "multinomial": Formula(
        lambda z, y: log_sum_exp(z) - of_class(z, y),
        lambda z, y: softmax(z) - np.eye(z.shape[1])[y],
        softmax_curvatures,
        lambda z, y: np.abs(log_sum_exp(z)) + np.abs(of_class(z, y)),
    ),
    "log-cosh": Formula(
        lambda z, y: log_cosh(z - y),
        lambda z, y: np.tanh(z - y),
        lambda z, y: 1 - np.tanh(z - y) ** 2,
        lambda z, y: 1 + np.abs(z - y),
    ),
    "expectile": Formula(
        lambda z, y: expectile_weights(z, y) * (z - y) ** 2 / 2,
        lambda z, y: expectile_weights(z, y) * (z - y),
        lambda z, y: expectile_weights(z, y),
        lambda z, y: (z - y) ** 2 / 2,
    ),
}
