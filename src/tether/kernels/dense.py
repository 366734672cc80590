"""Dense rows in small batches: dot products and updates fused, no temporaries.

x has K numbers for each column of the data (K = 1 for one output); large batches go through BLAS instead, see
`tether.objectives.compiled`.
"""

from numba import njit

from tether.kernels.losses import FAST, MULTINOMIAL, loss_of, slope_of, softmax_slopes


@njit(cache=True, fastmath=FAST, nogil=True)
def _predict(row, ones, x, z):
    """Write the K predictions of a row."""
    if len(z) == 1:
        dot = x[-1] if ones else 0.0
        for j in range(len(row)):
            dot += row[j] * x[j]
        z[0] = dot
        return
    last = len(row) * len(z)
    for c in range(len(z)):
        z[c] = x[last + c] if ones else 0.0
    for j in range(len(row)):
        for c in range(len(z)):
            z[c] += row[j] * x[j * len(z) + c]


@njit(cache=True, fastmath=FAST, nogil=True)
def _spread(row, ones, x, factor, slopes):
    """Add factor row slopes^T to x."""
    if len(slopes) == 1:
        d = factor * slopes[0]
        for j in range(len(row)):
            x[j] += d * row[j]
    else:
        for j in range(len(row)):
            entry = factor * row[j]
            for c in range(len(slopes)):
                x[j * len(slopes) + c] += entry * slopes[c]
    if ones:
        last = len(row) * len(slopes)
        for c in range(len(slopes)):
            x[last + c] += factor * slopes[c]


@njit(cache=True, fastmath=FAST, nogil=True)
def change_slopes(samples, steps, t, z):
    """Turn the predictions of a batch into weighted changes of its slopes since the anchor, in place."""
    for s in range(len(z)):
        i = steps.order[t * steps.batch + s]
        if samples.code == MULTINOMIAL:
            softmax_slopes(z[s], int(samples.y[i]))
        else:
            z[s, 0] = slope_of(samples.code, samples.parameter, z[s, 0], samples.y[i])
        w = samples.weights[i] if len(samples.weights) else 1.0
        for c in range(z.shape[1]):
            anchored = steps.slopes[i, c] if len(steps.slopes) else 0.0
            z[s, c] = w * (z[s, c] - anchored)


@njit(cache=True, fastmath=FAST, nogil=True)
def drift_and_add(steps, mean, eta, x, total, fade):
    """Apply ridge and drift to x; when a sum is kept of iterates before each step, add x to it first."""
    shrink = 1.0 - eta * steps.ridge
    if mean.on and not mean.after:
        for j in range(len(x)):
            total[j] = fade * total[j] + x[j]
    if len(steps.drift):
        for j in range(len(x)):
            x[j] = shrink * x[j] - eta * steps.drift[j]
    else:
        for j in range(len(x)):
            x[j] *= shrink


@njit(cache=True, fastmath=FAST, nogil=True)
def add_after(mean, x, total, fade):
    """Add x to a sum that is kept of iterates after each step."""
    if mean.on and mean.after:
        for j in range(len(x)):
            total[j] = fade * total[j] + x[j]


@njit(cache=True, fastmath=FAST, nogil=True)
def walk(rows, samples, steps, mean, x, total, change):
    """Walk from x, in place, and return the weight of the running sum."""
    weight = mean.weight
    for t in range(len(steps.order) // steps.batch):
        eta = steps.step_size / (1.0 + steps.decay * (steps.clock + t))
        fade = 1.0 - mean.convexity * eta
        for s in range(steps.batch):
            _predict(rows[steps.order[t * steps.batch + s]], samples.ones, x, change[s])
        change_slopes(samples, steps, t, change)
        drift_and_add(steps, mean, eta, x, total, fade)
        for s in range(steps.batch):
            row = rows[steps.order[t * steps.batch + s]]
            _spread(row, samples.ones, x, -eta / steps.batch, change[s])
        add_after(mean, x, total, fade)
        weight = fade * weight + 1.0
    return weight


@njit(cache=True, fastmath=FAST, nogil=True)
def measure(samples, begin, z, slopes, weighted):
    """Turn predictions of consecutive samples into slopes, plain and weighted; return the sum of losses."""
    value = 0.0
    for s in range(len(z)):
        i = begin + s
        w = samples.weights[i] if len(samples.weights) else 1.0
        if samples.code == MULTINOMIAL:
            value += w * softmax_slopes(z[s], int(samples.y[i]))
        else:
            loss, z[s, 0] = loss_of(samples.code, samples.parameter, z[s, 0], samples.y[i])
            value += w * loss
        for c in range(z.shape[1]):
            slopes[i, c] = z[s, c]
            weighted[s, c] = w * z[s, c]
    return value
