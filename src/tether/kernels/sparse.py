"""Sparse rows, one output: a step costs the row's non-zeros, whatever the dimension.

Between two projections x_t = a_t v_t + b_t c with c the constant drift: ridge and drift change two scalars,
and the sample changes v on its support. The running sum of iterates has the same form. It equals
A v - q + B c: A and B are the sums of the weighted a_t and b_t, and q collects A times each change of v.

Indices are unsigned, so that the compiler need not ask whether one counts from the end, and the arrays are
taken out of their tuples before the loop: inside, every access would count references.
"""

from tether.kernels.losses import loss_of, slope_of
from tether.kernels.options import inlined, kernel
from tether.kernels.prefetch import prefetch

TINY = 1e-8  # a scale that would get below is written out first, and starts from one again
FAR, NEAR = 16, 8  # steps ahead in which the address of a row and its entries are asked for
LINE = 8  # numbers that come with one request


@inlined
def _dot(data, indices, begin, end, x):
    z = 0.0
    for k in range(begin, end):
        z += data[k] * x[indices[k]]
    return z


@inlined
def _add(data, indices, begin, end, d, x):
    for k in range(begin, end):
        x[indices[k]] += d * data[k]


@kernel
def accumulate(sums, a, b, fade):
    """Add x = a v + b c to the running sum, of which only the scalars A, B, fading and weight change."""
    sum_a, sum_b, faded, weight = sums
    faded *= fade
    return sum_a + a / faded, sum_b + b / faded, faded, fade * weight + 1.0


@kernel
def write_out(v, q, total, drift, position, sums):
    """Make x = a v + b c and the running sum of x explicit."""
    (a, b), (sum_a, sum_b, faded, _) = position, sums
    for j in range(len(q)):
        c = drift[j] if len(drift) else 0.0
        total[j] = faded * (total[j] + sum_a * v[j] - q[j] + sum_b * c)
        q[j] = 0.0
    for j in range(len(v)):
        c = drift[j] if len(drift) else 0.0
        v[j] = a * v[j] + b * c


@kernel
def move_in_full(v, total, drift, factors, fade, before):
    """Take the part of a step that ridge and drift make, and fade the running sum, on all coordinates."""
    shrink, eta = factors
    for j in range(len(total)):
        total[j] = fade * total[j] + (v[j] if before else 0.0)
    for j in range(len(v)):
        v[j] = shrink * v[j] - (eta * drift[j] if len(drift) else 0.0)


@kernel
def walk(
    data,
    indices,
    indptr,
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
    v,
    q,
    total,
    products,
    change,
):
    """Walk from v, in place, and return the weight of the running sum.

    ``products`` holds <a_i, drift> of every sample; empty: computed when needed. ``change`` has one number a
    sample of a batch. ``q`` and ``total`` are empty when no sum is kept.
    """
    a, b, sums, last = 1.0, 0.0, (0.0, 0.0, 1.0, weight), len(v) - 1
    for t in range(len(order) // size):
        eta = step_size / (1.0 + decay * (clock + t))
        for s in range(size):
            now = t * size + s
            if now + FAR < len(order):
                prefetch(indptr, order[now + FAR])
            if now + NEAR < len(order):
                soon = order[now + NEAR]
                prefetch(y, soon)
                prefetch(slopes, soon)
                prefetch(products, soon)
                for k in range(indptr[soon], indptr[soon + 1], LINE):
                    prefetch(data, k)
                    prefetch(indices, k)
            i = order[now]
            begin, end = indptr[i], indptr[i + 1]
            z = a * _dot(data, indices, begin, end, v)
            if ones:
                z += a * v[last]
            if len(products):
                z += b * products[i]
            elif len(drift):
                z += b * _dot(data, indices, begin, end, drift)
                if ones:
                    z += b * drift[last]
            d = slope_of(code, parameter, z, y[i])
            if len(slopes):
                d -= slopes[i]
            change[s] = d * weights[i] if len(weights) else d
        fade, shrink = 1.0 - convexity * eta, 1.0 - eta * ridge
        if abs(a * shrink) < TINY or abs(sums[2] * fade) < TINY:
            write_out(v, q, total, drift, (a, b), sums)
            move_in_full(v, total, drift, (shrink, eta), fade, on and not after)
            weight = fade * sums[3] + (1.0 if on and not after else 0.0)
            a, b, sums, fade = 1.0, 0.0, (0.0, 0.0, 1.0, weight), 1.0
        else:
            if on and not after:
                sums = accumulate(sums, a, b, fade)
            a, b = a * shrink, b * shrink - eta
        for s in range(size):
            i, d = order[t * size + s], -eta * change[s] / (a * size)
            begin, end = indptr[i], indptr[i + 1]
            _add(data, indices, begin, end, d, v)
            if ones:
                v[last] += d
            if on:
                _add(data, indices, begin, end, d * sums[0], q)
                if ones:
                    q[last] += d * sums[0]
        if on and after:
            sums = accumulate(sums, a, b, fade)
    write_out(v, q, total, drift, (a, b), sums)
    return sums[3]


@kernel
def full_pass(data, indices, indptr, code, parameter, y, weights, ones, first, past, x, slopes, gradient):
    """Add the gradients of a range of samples, keep their slopes, return the sum of their losses."""
    value, last = 0.0, len(x) - 1
    for i in range(first, past):
        begin, end = indptr[i], indptr[i + 1]
        z = _dot(data, indices, begin, end, x)
        if ones:
            z += x[last]
        w = weights[i] if len(weights) else 1.0
        loss, slope = loss_of(code, parameter, z, y[i])
        value += w * loss
        slopes[i] = slope
        _add(data, indices, begin, end, w * slope, gradient)
        if ones:
            gradient[last] += w * slope
    return value


@kernel
def predict(data, indices, indptr, ones, first, past, x, z):
    """Write <a_i, x> of a range of samples."""
    last = len(x) - 1
    for i in range(first, past):
        z[i] = _dot(data, indices, indptr[i], indptr[i + 1], x)
        if ones:
            z[i] += x[last]
