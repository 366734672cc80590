"""Sparse rows, one output: a step costs the row's non-zeros, whatever the dimension.

Between two projections x_t = a_t v_t + b_t c with c the constant drift: ridge and drift change two scalars,
and the sample changes v on its support. The running sum of iterates has the same form. It equals
A v - q + B c: A and B are the sums of the weighted a_t and b_t, and q collects A times each change of v.
"""

from numba import njit

from tether.kernels.losses import FAST, loss_of, slope_of
from tether.kernels.prefetch import prefetch

TINY = 1e-8  # of a scale: time to write x out and start from one again


@njit(cache=True, fastmath=FAST, nogil=True)
def ask_for_row(rows, order, t):
    """Prefetch the address of a row far ahead and the entries of one nearer."""
    if t + 16 < len(order):
        prefetch(rows.indptr, order[t + 16])
    if t + 8 < len(order):
        begin, end = rows.indptr[order[t + 8]], rows.indptr[order[t + 8] + 1]
        for k in range(begin, end, 16):
            prefetch(rows.indices, k)
            prefetch(rows.data, k)
            prefetch(rows.data, k + 8)


@njit(cache=True, fastmath=FAST, nogil=True)
def _ask_for_sample(samples, steps, products, t):
    if t + 8 < len(steps.order):
        i = steps.order[t + 8]
        prefetch(samples.y, i)
        if len(steps.slopes):
            prefetch(steps.slopes, i)
        if len(products):
            prefetch(products, i)


@njit(cache=True, fastmath=FAST, nogil=True)
def _predict(rows, ones, i, x):
    z = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        z += rows.data[k] * x[rows.indices[k]]
    return z + x[-1] if ones else z


@njit(cache=True, fastmath=FAST, nogil=True)
def _spread(rows, ones, i, x, d):
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        x[rows.indices[k]] += d * rows.data[k]
    if ones:
        x[-1] += d


@njit(cache=True, fastmath=FAST, nogil=True)
def write_out(v, q, total, drift, position, sums):
    """Make x = a v + b c and the running sum of x explicit."""
    (a, b), (sum_a, sum_b, fade) = position, sums
    for j in range(len(q)):
        c = drift[j] if len(drift) else 0.0
        total[j] = fade * (total[j] + sum_a * v[j] - q[j] + sum_b * c)
        q[j] = 0.0
    for j in range(len(v)):
        c = drift[j] if len(drift) else 0.0
        v[j] = a * v[j] + b * c


@njit(cache=True, fastmath=FAST, nogil=True)
def walk(rows, samples, steps, mean, v, q, total, products, change):
    """Walk from v, in place, and return the weight of the running sum.

    ``products`` holds <a_i, drift> of every sample; empty: computed when needed. ``change`` has one number a
    sample of a batch. ``q`` and ``total`` are empty when no sum is kept.
    """
    a, b, sum_a, sum_b, faded, weight = 1.0, 0.0, 0.0, 0.0, 1.0, mean.weight
    size = steps.batch
    for t in range(len(steps.order) // size):
        eta = steps.step_size / (1.0 + steps.decay * (steps.clock + t))
        for s in range(size):
            ask_for_row(rows, steps.order, t * size + s)
            _ask_for_sample(samples, steps, products, t * size + s)
            i = steps.order[t * size + s]
            z = a * _predict(rows, samples.ones, i, v)
            if len(products):
                z += b * products[i]
            elif len(steps.drift):
                z += b * _predict(rows, samples.ones, i, steps.drift)
            d = slope_of(samples.code, samples.parameter, z, samples.y[i])
            if len(steps.slopes):
                d -= steps.slopes[i]
            change[s] = d * samples.weights[i] if len(samples.weights) else d
        fade = 1.0 - mean.convexity * eta
        if mean.on and not mean.after:
            weight, faded = fade * weight + 1.0, faded * fade
            sum_a, sum_b = sum_a + a / faded, sum_b + b / faded
        shrink = 1.0 - eta * steps.ridge
        a, b = a * shrink, b * shrink - eta
        for s in range(size):
            i, d = steps.order[t * size + s], -eta * change[s] / (a * size)
            _spread(rows, samples.ones, i, v, d)
            if mean.on:
                _spread(rows, samples.ones, i, q, d * sum_a)
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
        z = _predict(rows, samples.ones, i, x)
        w = samples.weights[i] if len(samples.weights) else 1.0
        loss, s = loss_of(samples.code, samples.parameter, z, samples.y[i])
        value += w * loss
        slopes[i] = s
        _spread(rows, samples.ones, i, gradient, w * s)
    return value


@njit(cache=True, fastmath=FAST, nogil=True)
def predict(rows, ones, begin, end, x, z):
    """Write <a_i, x> of a range of samples."""
    for i in range(begin, end):
        z[i] = _predict(rows, ones, i, x)
