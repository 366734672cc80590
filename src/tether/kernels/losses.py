"""Value and slope of one prediction, by the integer code of its loss; of an unknown code, NaN."""

import math

from tether.kernels.codes import FACTOR, HUBER, LOGISTIC, POISSON, SQUARED
from tether.kernels.options import kernel


@kernel
def slope_of(code, parameter, z, y):
    """Return the derivative of the loss in z."""
    if code == LOGISTIC:
        return -y / (1.0 + math.exp(y * z))
    if code == SQUARED:
        return z - y
    if code == HUBER:
        return min(max(z - y, -parameter), parameter)
    if code == POISSON:
        return math.exp(z) - y
    if code == FACTOR:
        return 2.0 * z
    return math.nan


@kernel
def loss_of(code, parameter, z, y):
    """Return the loss and its derivative in z, which share an exponential."""
    if code == LOGISTIC:
        m = y * z
        e = math.exp(-abs(m))
        share = 1.0 / (1.0 + e)
        return math.log1p(e) + max(-m, 0.0), -y * (e * share if m > 0.0 else share)
    if code == SQUARED:
        return 0.5 * (z - y) * (z - y), z - y
    if code == HUBER:
        r = abs(z - y)
        value = 0.5 * r * r if r <= parameter else parameter * (r - 0.5 * parameter)
        return value, min(max(z - y, -parameter), parameter)
    if code == POISSON:
        e = math.exp(z)
        return e - y * z, e - y
    if code == FACTOR:
        return z * z, 2.0 * z
    return math.nan, math.nan


@kernel
def softmax_slopes(z, s, y):
    """Turn the K predictions z[s] into the slopes of the multinomial loss, in place, and return its value."""
    outputs, top = z.shape[1], z[s, 0]
    for k in range(1, outputs):
        top = max(top, z[s, k])
    chosen, total = z[s, y] - top, 0.0
    for k in range(outputs):
        z[s, k] = math.exp(z[s, k] - top)
        total += z[s, k]
    for k in range(outputs):
        z[s, k] /= total
    z[s, y] -= 1.0
    return math.log(total) - chosen
