"""Sparse rows, one output: a step costs the row's non-zeros, whatever the dimension.

Between two projections x_t = a_t v_t + b_t c with c the constant drift: ridge and drift change two scalars,
and the sample changes v on its support. The running sum of iterates has the same form. It equals
A v - q + B c: A and B are the sums of the weighted a_t and b_t, and q collects A times each change of v.
"""

from numba import njit

from tether.kernels.losses import FAST, slope_of, value_of
from tether.kernels.prefetch import prefetch

TINY = 1e-8  # of a scale: time to write x out and start from one again


@njit(cache=True, fastmath=FAST, nogil=True)
def _ask_for_row(rows, order, t):
    """Prefetch the addresses of a row far ahead and the entries of one nearer."""
    if t + 16 < len(order):
        prefetch(rows.indptr, order[t + 16])
    if t + 6 < len(order):
        begin, end = rows.indptr[order[t + 6]], rows.indptr[order[t + 6] + 1]
        for k in range(begin, end, 8):
            prefetch(rows.data, k)
        for k in range(begin, end, 16):
            prefetch(rows.indices, k)


@njit(cache=True, fastmath=FAST, nogil=True)
def _ask_for_sample(samples, steps, t):
    if t + 12 < len(steps.order):
        i = steps.order[t + 12]
        prefetch(samples.y, i)
        if len(steps.slopes):
            prefetch(steps.slopes, i)
        if len(samples.weights):
            prefetch(samples.weights, i)


@njit(cache=True, fastmath=FAST, nogil=True)
def _predict(rows, ones, i, x):
    z = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        z += rows.data[k] * x[rows.indices[k]]
    return z + x[-1] if ones else z


@njit(cache=True, fastmath=FAST, nogil=True)
def _write_out(v, q, total, drift, scales):
    """Make x = a v + b c and the running sum explicit, and reset their scales."""
    a, b, sum_a, sum_b, fade = scales[0], scales[1], scales[2], scales[3], scales[4]
    for j in range(len(q)):
        c = drift[j] if len(drift) else 0.0
        total[j] = fade * (total[j] + sum_a * v[j] - q[j] + sum_b * c)
        q[j] = 0.0
    for j in range(len(v)):
        c = drift[j] if len(drift) else 0.0
        v[j] = a * v[j] + b * c
    scales[0], scales[1], scales[2], scales[3], scales[4] = 1.0, 0.0, 0.0, 0.0, 1.0


@njit(cache=True, fastmath=FAST, nogil=True)
def walk(rows, samples, steps, mean, v, q, total, products, scales, change):
    """Walk from v, in place, and return the weight of the running sum.

    ``products`` holds <a_i, drift> of every sample; empty: computed when needed. ``scales`` (5 numbers) and
    ``change`` (one a sample of a batch) are scratch space. ``q`` and ``total`` are empty when no sum is kept.
    """
    scales[0], scales[1], scales[2], scales[3], scales[4] = 1.0, 0.0, 0.0, 0.0, 1.0
    weight = mean.weight
    size = steps.batch
    for t in range(len(steps.order) // size):
        eta = steps.step_size / (1.0 + steps.decay * (steps.clock + t))
        for s in range(size):
            _ask_for_row(rows, steps.order, t * size + s)
            _ask_for_sample(samples, steps, t * size + s)
            i = steps.order[t * size + s]
            z = scales[0] * _predict(rows, samples.ones, i, v)
            if len(products):
                z += scales[1] * products[i]
            elif len(steps.drift):
                z += scales[1] * _predict(rows, samples.ones, i, steps.drift)
            d = slope_of(samples.code, samples.parameter, z, samples.y[i])
            if len(steps.slopes):
                d -= steps.slopes[i]
            change[s] = d * samples.weights[i] if len(samples.weights) else d
        fade = 1.0 - mean.convexity * eta
        if mean.on and not mean.after:
            weight = fade * weight + 1.0
            scales[4] *= fade
            scales[2] += scales[0] / scales[4]
            scales[3] += scales[1] / scales[4]
        shrink = 1.0 - eta * steps.ridge
        scales[0] *= shrink
        scales[1] = shrink * scales[1] - eta
        factor = eta / (scales[0] * size)
        for s in range(size):
            i = steps.order[t * size + s]
            d = factor * change[s]
            for k in range(rows.indptr[i], rows.indptr[i + 1]):
                v[rows.indices[k]] -= d * rows.data[k]
            if samples.ones:
                v[-1] -= d
            if mean.on:
                d *= scales[2]
                for k in range(rows.indptr[i], rows.indptr[i + 1]):
                    q[rows.indices[k]] -= d * rows.data[k]
                if samples.ones:
                    q[-1] -= d
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
        z = _predict(rows, samples.ones, i, x)
        w = samples.weights[i] if len(samples.weights) else 1.0
        value += w * value_of(samples.code, samples.parameter, z, samples.y[i])
        s = slope_of(samples.code, samples.parameter, z, samples.y[i])
        slopes[i] = s
        s *= w
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            gradient[rows.indices[k]] += s * rows.data[k]
        if samples.ones:
            gradient[-1] += s
    return value


@njit(cache=True, fastmath=FAST, nogil=True)
def predict(rows, ones, begin, end, x, z):
    """Write <a_i, x> of a range of samples."""
    for i in range(begin, end):
        z[i] = _predict(rows, ones, i, x)
