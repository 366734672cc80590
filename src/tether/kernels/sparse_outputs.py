"""Sparse rows, several outputs (multinomial): as `tether.kernels.sparse`, with K numbers a coefficient."""

from numba import njit

from tether.kernels.losses import FAST, softmax_slopes
from tether.kernels.sparse import TINY, ask_for_row, write_out


@njit(cache=True, fastmath=FAST, nogil=True)
def _predict(rows, ones, i, x, scale, z):
    """Add scale <a_i, x> to K predictions."""
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        entry, row = scale * rows.data[k], rows.indices[k] * len(z)
        for c in range(len(z)):
            z[c] += entry * x[row + c]
    if ones:
        last = len(x) - len(z)
        for c in range(len(z)):
            z[c] += scale * x[last + c]


@njit(cache=True, fastmath=FAST, nogil=True)
def _spread(rows, ones, i, x, scale, slopes):
    """Add scale a_i slopes^T to x."""
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        entry, row = scale * rows.data[k], rows.indices[k] * len(slopes)
        for c in range(len(slopes)):
            x[row + c] += entry * slopes[c]
    if ones:
        last = len(x) - len(slopes)
        for c in range(len(slopes)):
            x[last + c] += scale * slopes[c]


@njit(cache=True, fastmath=FAST, nogil=True)
def walk(rows, samples, steps, mean, v, q, total, products, change):
    """Walk from v, in place, and return the weight of the running sum; ``change`` has K columns."""
    a, b, sum_a, sum_b, faded, weight = 1.0, 0.0, 0.0, 0.0, 1.0, mean.weight
    size = steps.batch
    for t in range(len(steps.order) // size):
        eta = steps.step_size / (1.0 + steps.decay * (steps.clock + t))
        for s in range(size):
            ask_for_row(rows, steps.order, t * size + s)
            i, z = steps.order[t * size + s], change[s]
            z[:] = 0.0
            _predict(rows, samples.ones, i, v, a, z)
            if len(products):
                for c in range(len(z)):
                    z[c] += b * products[i, c]
            elif len(steps.drift):
                _predict(rows, samples.ones, i, steps.drift, b, z)
            softmax_slopes(z, samples.y[i])
            if len(steps.slopes):
                for c in range(len(z)):
                    z[c] -= steps.slopes[i, c]
            if len(samples.weights):
                for c in range(len(z)):
                    z[c] *= samples.weights[i]
        fade = 1.0 - mean.convexity * eta
        if mean.on and not mean.after:
            weight, faded = fade * weight + 1.0, faded * fade
            sum_a, sum_b = sum_a + a / faded, sum_b + b / faded
        shrink = 1.0 - eta * steps.ridge
        a, b = a * shrink, b * shrink - eta
        for s in range(size):
            i, d = steps.order[t * size + s], -eta / (a * size)
            _spread(rows, samples.ones, i, v, d, change[s])
            if mean.on:
                _spread(rows, samples.ones, i, q, d * sum_a, change[s])
        if mean.on and mean.after:
            weight, faded = fade * weight + 1.0, faded * fade
            sum_a, sum_b = sum_a + a / faded, sum_b + b / faded
        if a < TINY or faded < TINY:
            write_out(v, q, total, steps.drift, (a, b), (sum_a, sum_b, faded))
            a, b, sum_a, sum_b, faded = 1.0, 0.0, 0.0, 0.0, 1.0
    write_out(v, q, total, steps.drift, (a, b), (sum_a, sum_b, faded))
    return weight


@njit(cache=True, fastmath=FAST, nogil=True)
def full_pass(rows, samples, begin, end, x, slopes, gradient):
    """Add the gradients of a range of samples, keep their slopes, return the sum of their losses."""
    value = 0.0
    for i in range(begin, end):
        z = slopes[i]
        z[:] = 0.0
        _predict(rows, samples.ones, i, x, 1.0, z)
        w = samples.weights[i] if len(samples.weights) else 1.0
        value += w * softmax_slopes(z, samples.y[i])
        _spread(rows, samples.ones, i, gradient, w, z)
    return value


@njit(cache=True, fastmath=FAST, nogil=True)
def predict(rows, ones, begin, end, x, z):
    """Write <a_i, x> of a range of samples."""
    for i in range(begin, end):
        z[i, :] = 0.0
        _predict(rows, ones, i, x, 1.0, z[i])
