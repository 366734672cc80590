"""Sparse rows, several outputs (multinomial): as `tether.kernels.sparse`, with K numbers a coefficient."""

from numba import njit

from tether.kernels.losses import FAST, softmax_slopes
from tether.kernels.sparse import TINY, _ask_for_row, _write_out


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
def walk(rows, samples, steps, mean, v, q, total, products, scales, change):
    """Walk from v, in place, and return the weight of the running sum; ``change`` has K columns."""
    scales[0], scales[1], scales[2], scales[3], scales[4] = 1.0, 0.0, 0.0, 0.0, 1.0
    weight = mean.weight
    size = steps.batch
    for t in range(len(steps.order) // size):
        eta = steps.step_size / (1.0 + steps.decay * (steps.clock + t))
        for s in range(size):
            _ask_for_row(rows, steps.order, t * size + s)
            i, z = steps.order[t * size + s], change[s]
            z[:] = 0.0
            _predict(rows, samples.ones, i, v, scales[0], z)
            if len(products):
                for c in range(len(z)):
                    z[c] += scales[1] * products[i, c]
            elif len(steps.drift):
                _predict(rows, samples.ones, i, steps.drift, scales[1], z)
            softmax_slopes(z, samples.y[i])
            if len(steps.slopes):
                for c in range(len(z)):
                    z[c] -= steps.slopes[i, c]
            if len(samples.weights):
                for c in range(len(z)):
                    z[c] *= samples.weights[i]
        fade = 1.0 - mean.convexity * eta
        if mean.on and not mean.after:
            weight = fade * weight + 1.0
            scales[4] *= fade
            scales[2] += scales[0] / scales[4]
            scales[3] += scales[1] / scales[4]
        shrink = 1.0 - eta * steps.ridge
        scales[0] *= shrink
        scales[1] = shrink * scales[1] - eta
        factor = -eta / (scales[0] * size)
        for s in range(size):
            i = steps.order[t * size + s]
            _spread(rows, samples.ones, i, v, factor, change[s])
            if mean.on:
                _spread(rows, samples.ones, i, q, factor * scales[2], change[s])
        if mean.on and mean.after:
            weight = fade * weight + 1.0
            scales[4] *= fade
            scales[2] += scales[0] / scales[4]
            scales[3] += scales[1] / scales[4]
        if scales[0] < TINY or scales[4] < TINY:
            _write_out(v, q, total, steps.drift, scales)
    _write_out(v, q, total, steps.drift, scales)
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
