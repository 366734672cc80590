"""Sparse rows, one output: a step costs the row's non-zeros, whatever the dimension."""

from tether.kernels.losses import loss_of, slope_of
from tether.kernels.options import kernel
from tether.kernels.prefetch import prefetch
from tether.kernels.sparse_walk import (
    accumulate,
    ask_ahead,
    drift_on,
    side_by_side,
    start_again,
    vanishing,
    write_out,
)


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
            soon = ask_ahead(data, indices, indptr, order, now)
            prefetch(y, soon)
            prefetch(slopes, soon)
            i, z = order[now], 0.0
            for k in range(indptr[i], indptr[i + 1]):
                z += data[k] * (a * pair[indices[k], 0] + b * pair[indices[k], 1])
            if ones:
                z += a * pair[last, 0] + b * pair[last, 1]
            d = slope_of(code, parameter, z, y[i])
            if len(slopes):
                d -= slopes[i]
            change[s] = d * weights[i] if len(weights) else d
        factors = 1.0 - eta * ridge, eta, 1.0 - convexity * eta
        if vanishing(a, sums, factors):
            sums = start_again(pair, q, total, (a, b), sums, factors, on and not after)
            a, b, fade = 1.0, 0.0, 1.0
        else:
            a, b, sums, fade = drift_on(a, b, sums, factors, on and not after)
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
