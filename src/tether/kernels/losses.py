"""Value and slope of one prediction, by the integer code of its loss; of an unknown code, NaN."""

import math

from tether.kernels.codes import (
    BINOMIAL,
    FACTOR,
    GAMMA,
    HUBER,
    LOGISTIC,
    POISSON,
    QUANTILE,
    SQUARED,
    TWEEDIE,
)
from tether.kernels.options import kernel


@kernel
def slope_of(code, parameters, z, y):
    """Return the derivative of the loss in z."""
    if code == LOGISTIC:
        return -y / (1.0 + math.exp(y * z))
    if code == SQUARED:
        return z - y
    if code == HUBER:
        return min(max(z - y, -parameters[0]), parameters[0])
    if code == POISSON:
        return math.exp(z) - y
    if code == FACTOR:
        return 2.0 * z
    if code == BINOMIAL:
        return 1.0 / (1.0 + math.exp(-z)) - y
    if code == GAMMA:
        return 1.0 - y * math.exp(-z)
    if code == TWEEDIE:
        falling, rising = _tweedie_parts(parameters[0], z, y)
        return rising - falling
    if code == QUANTILE:
        return 1.0 / (1.0 + math.exp((y - z) / parameters[1])) - parameters[0]
    return math.nan


@kernel
def loss_of(code, parameters, z, y):
    """Return the loss and its derivative in z, which share an exponential."""
    if code == LOGISTIC:
        m = y * z
        e = math.exp(-abs(m))
        share = 1.0 / (1.0 + e)
        return math.log1p(e) + max(-m, 0.0), -y * (e * share if m > 0.0 else share)
    if code == SQUARED:
        return 0.5 * (z - y) * (z - y), z - y
    if code == HUBER:
        r, delta = abs(z - y), parameters[0]
        value = 0.5 * r * r if r <= delta else delta * (r - 0.5 * delta)
        return value, min(max(z - y, -delta), delta)
    if code == POISSON:
        e = math.exp(z)
        return e - y * z, e - y
    if code == FACTOR:
        return z * z, 2.0 * z
    if code == BINOMIAL:
        value, share = _softplus(z)
        return value - y * z, share - y
    if code == GAMMA:
        e = y * math.exp(-z)
        return z + e, 1.0 - e
    if code == TWEEDIE:
        falling, rising = _tweedie_parts(parameters[0], z, y)
        return falling / (parameters[0] - 1.0) + rising / (2.0 - parameters[0]), rising - falling
    if code == QUANTILE:
        value, share = _softplus((z - y) / parameters[1])
        return parameters[0] * (y - z) + parameters[1] * value, share - parameters[0]
    return math.nan, math.nan


@kernel
def _softplus(z):
    """Return log(1 + exp(z)) and its derivative."""
    e = math.exp(-abs(z))
    share = 1.0 / (1.0 + e)
    return math.log1p(e) + max(z, 0.0), share if z > 0.0 else e * share


@kernel
def _tweedie_parts(power, z, y):
    """Return y exp((1 - p) z), which is 0 for y = 0 whatever z, and exp((2 - p) z)."""
    falling = y * math.exp((1.0 - power) * z) if y > 0.0 else 0.0
    return falling, math.exp((2.0 - power) * z)


@kernel
def softmax_slopes(z, s, y):
    """Turn the K predictions z[s] into the slopes of the multinomial loss, in place, and return its value."""
    outputs, top = z.shape[1], z[s, 0]
    for k in range(1, outputs):
        top = max(top, z[s, k])
    chosen, others = z[s, y] - top, 0.0
    for k in range(outputs):
        z[s, k] = math.exp(z[s, k] - top)
        others += z[s, k] if k != y else 0.0
    own = z[s, y]
    total = others + own
    for k in range(outputs):
        z[s, k] /= total
    z[s, y] = -others / total
    return math.log1p(others / own) if others < own else math.log(total) - chosen
