"""Dense rows in small batches: dot products and updates fused, no temporaries.

x has K numbers for each column of the data (K = 1 for one output); large batches go through BLAS instead, see
`tether.objectives.compiled`.
"""

from tether.kernels.losses import MULTINOMIAL, loss_of, slope_of, softmax_slopes
from tether.kernels.options import inlined, kernel


@inlined
def _predict(rows, i, ones, x, z, s):
    """Write the K predictions z[s] of a row."""
    width, outputs = rows.shape[1], z.shape[1]
    if outputs == 1:
        dot = x[width] if ones else 0.0
        for j in range(width):
            dot += rows[i, j] * x[j]
        z[s, 0] = dot
    else:
        for c in range(outputs):
            z[s, c] = x[width * outputs + c] if ones else 0.0
        for j in range(width):
            for c in range(outputs):
                z[s, c] += rows[i, j] * x[j * outputs + c]


@inlined
def _spread(rows, i, ones, x, factor, slopes, s):
    """Add factor row slopes[s]^T to x."""
    width, outputs = rows.shape[1], slopes.shape[1]
    if outputs == 1:
        d = factor * slopes[s, 0]
        for j in range(width):
            x[j] += d * rows[i, j]
    else:
        for j in range(width):
            entry = factor * rows[i, j]
            for c in range(outputs):
                x[j * outputs + c] += entry * slopes[s, c]
    if ones:
        for c in range(outputs):
            x[width * outputs + c] += factor * slopes[s, c]


@kernel
def change_slopes(code, parameter, y, weights, ones, order, first, slopes, z):
    """Turn the predictions of a batch into weighted changes of its slopes since the anchor, in place."""
    for s in range(len(z)):
        i = order[first + s]
        if code == MULTINOMIAL:
            softmax_slopes(z, s, int(y[i]))
        else:
            z[s, 0] = slope_of(code, parameter, z[s, 0], y[i])
        w = weights[i] if len(weights) else 1.0
        for c in range(z.shape[1]):
            anchored = slopes[i, c] if len(slopes) else 0.0
            z[s, c] = w * (z[s, c] - anchored)


@kernel
def drift_and_add(drift, ridge, on, after, eta, x, total, fade):
    """Apply ridge and drift to x; when a sum is kept of iterates before each step, add x to it first."""
    shrink = 1.0 - eta * ridge
    if on and not after:
        for j in range(len(x)):
            total[j] = fade * total[j] + x[j]
    if len(drift):
        for j in range(len(x)):
            x[j] = shrink * x[j] - eta * drift[j]
    else:
        for j in range(len(x)):
            x[j] *= shrink


@kernel
def add_after(on, after, x, total, fade):
    """Add x to a sum that is kept of iterates after each step."""
    if on and after:
        for j in range(len(x)):
            total[j] = fade * total[j] + x[j]


@kernel
def walk(
    rows,
    code,
    parameter,
    y,
    weights,
    ones,
    order,
    size,
    step_size,
    decay,
    clock,
    ridge,
    drift,
    slopes,
    convexity,
    weight,
    after,
    on,
    x,
    total,
    change,
):
    """Walk from x, in place, and return the weight of the running sum."""
    for t in range(len(order) // size):
        eta = step_size / (1.0 + decay * (clock + t))
        fade = 1.0 - convexity * eta
        for s in range(size):
            _predict(rows, order[t * size + s], ones, x, change, s)
        change_slopes(code, parameter, y, weights, ones, order, t * size, slopes, change)
        drift_and_add(drift, ridge, on, after, eta, x, total, fade)
        for s in range(size):
            _spread(rows, order[t * size + s], ones, x, -eta / size, change, s)
        add_after(on, after, x, total, fade)
        weight = fade * weight + 1.0
    return weight


@kernel
def measure(code, parameter, y, weights, ones, begin, z, slopes, weighted):
    """Turn predictions of consecutive samples into slopes, plain and weighted; return the sum of losses."""
    value = 0.0
    for s in range(len(z)):
        i = begin + s
        w = weights[i] if len(weights) else 1.0
        if code == MULTINOMIAL:
            value += w * softmax_slopes(z, s, int(y[i]))
        else:
            loss, z[s, 0] = loss_of(code, parameter, z[s, 0], y[i])
            value += w * loss
        for c in range(z.shape[1]):
            slopes[i, c] = z[s, c]
            weighted[s, c] = w * z[s, c]
    return value
