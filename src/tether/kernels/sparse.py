"""Sparse rows, one output: a step costs the row's non-zeros, whatever the dimension.

Between two projections x_t = a_t v_t + b_t c with c the constant drift: ridge and drift change two scalars,
and the sample changes v on its support. The running sum of iterates has the same form. It equals
A v - q + B c: A and B are the sums of the weighted a_t and b_t, and q collects A times each change of v.
A step needs v and c at the same places, so they lie side by side.

Indices are unsigned, so that the compiler need not ask whether one counts from the end, and the arrays are
taken out of their tuples before the loop: inside, every access would count references.
"""

import numpy as np

from tether.kernels.losses import loss_of, slope_of
from tether.kernels.options import kernel
from tether.kernels.prefetch import prefetch

TINY = 1e-8  # a scale that would get below is written out first, and starts from one again
FAR, NEAR = 16, 8  # steps ahead in which the address of a row and its entries are asked for
LINE = 8  # numbers that come with one request


@kernel
def side_by_side(x, drift):
    """Return v = x and c with one row a coefficient: its K numbers in v, then those in c."""
    rows, outputs = x.shape
    pair = np.zeros((rows, 2 * outputs))
    pair[:, :outputs] = x
    if len(drift):
        pair[:, outputs:] = drift
    return pair


@kernel
def accumulate(sums, a, b, fade):
    """Add x = a v + b c to the running sum, of which only the scalars A, B, fading and weight change."""
    sum_a, sum_b, faded, weight = sums
    faded *= fade
    return sum_a + a / faded, sum_b + b / faded, faded, fade * weight + 1.0


@kernel
def write_out(pair, q, total, position, sums):
    """Make v = a v + b c and the running sum of these explicit."""
    (a, b), (sum_a, sum_b, faded, _), outputs = position, sums, pair.shape[1] // 2
    for j in range(len(q)):
        for k in range(outputs):
            now = sum_a * pair[j, k] - q[j, k] + sum_b * pair[j, outputs + k]
            total[j, k] = faded * (total[j, k] + now)
            q[j, k] = 0.0
    for j in range(len(pair)):
        for k in range(outputs):
            pair[j, k] = a * pair[j, k] + b * pair[j, outputs + k]


@kernel
def move_in_full(pair, total, factors, fade, before):
    """Take the part of a step that ridge and drift make, and fade the running sum, on all coordinates."""
    (shrink, eta), outputs = factors, pair.shape[1] // 2
    for j in range(len(total)):
        for k in range(outputs):
            total[j, k] = fade * total[j, k] + (pair[j, k] if before else 0.0)
    for j in range(len(pair)):
        for k in range(outputs):
            pair[j, k] = shrink * pair[j, k] - eta * pair[j, outputs + k]


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
    x,
    q,
    total,
    change,
):
    """Walk from x, in place, and return the weight of the running sum.

    Vectors of coefficients have one column; ``q`` and ``total`` are empty when no sum is kept. ``change`` has
    one number a sample of a batch.
    """
    pair, last = side_by_side(x, drift), len(x) - 1
    a, b, sums = 1.0, 0.0, (0.0, 0.0, 1.0, weight)
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
                for k in range(indptr[soon], indptr[soon + 1], LINE):
                    prefetch(data, k)
                    prefetch(indices, k)
            i, z = order[now], 0.0
            for k in range(indptr[i], indptr[i + 1]):
                z += data[k] * (a * pair[indices[k], 0] + b * pair[indices[k], 1])
            if ones:
                z += a * pair[last, 0] + b * pair[last, 1]
            d = slope_of(code, parameter, z, y[i])
            if len(slopes):
                d -= slopes[i]
            change[s] = d * weights[i] if len(weights) else d
        fade, shrink = 1.0 - convexity * eta, 1.0 - eta * ridge
        if abs(a * shrink) < TINY or abs(sums[2] * fade) < TINY:
            write_out(pair, q, total, (a, b), sums)
            move_in_full(pair, total, (shrink, eta), fade, on and not after)
            weight = fade * sums[3] + (1.0 if on and not after else 0.0)
            a, b, sums, fade = 1.0, 0.0, (0.0, 0.0, 1.0, weight), 1.0
        else:
            if on and not after:
                sums = accumulate(sums, a, b, fade)
            a, b = a * shrink, b * shrink - eta
        scale = -eta / (a * size)
        for s in range(size):
            i, d = order[t * size + s], scale * change[s]
            for k in range(indptr[i], indptr[i + 1]):
                pair[indices[k], 0] += d * data[k]
            if ones:
                pair[last, 0] += d
            if on:
                for k in range(indptr[i], indptr[i + 1]):
                    q[indices[k], 0] += d * sums[0] * data[k]
                if ones:
                    q[last, 0] += d * sums[0]
        if on and after:
            sums = accumulate(sums, a, b, fade)
    write_out(pair, q, total, (a, b), sums)
    x[:] = pair[:, :1]
    return sums[3]


@kernel
def full_pass(data, indices, indptr, code, parameter, y, weights, ones, first, past, x, slopes, gradient):
    """Add the gradients of a range of samples, keep their slopes, return the sum of their losses."""
    value, last = 0.0, len(x) - 1
    for i in range(first, past):
        z = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            z += data[k] * x[indices[k]]
        if ones:
            z += x[last]
        w = weights[i] if len(weights) else 1.0
        loss, slope = loss_of(code, parameter, z, y[i])
        value += w * loss
        slopes[i] = slope
        for k in range(indptr[i], indptr[i + 1]):
            gradient[indices[k]] += w * slope * data[k]
        if ones:
            gradient[last] += w * slope
    return value
