"""Sparse rows, several outputs (multinomial): as `tether.kernels.sparse`, with K numbers a coefficient."""

import numpy as np

from tether.kernels.catch_up import passes_zero, places, powers, shrunk, through_zero, within
from tether.kernels.losses import softmax_slopes
from tether.kernels.options import inlined, kernel
from tether.kernels.sparse_pieces import enter, laid_out, read_off
from tether.kernels.sparse_walk import (
    accumulate,
    ask_ahead,
    drift_on,
    side_by_side,
    start_again,
    vanishing,
    write_out,
)


@inlined
def _predict(data, indices, begin, end, ones, w, first, scale, z, s):
    """Add scale <a_i, w> to the K predictions z[s], with K columns of w from the first one given."""
    outputs = z.shape[1]
    for k in range(begin, end):
        entry, row = scale * data[k], indices[k]
        for c in range(outputs):
            z[s, c] += entry * w[row, first + c]
    if ones:
        for c in range(outputs):
            z[s, c] += scale * w[len(w) - 1, first + c]


@inlined
def _spread(data, indices, begin, end, ones, w, scale, slopes, s):
    """Add scale a_i slopes[s]^T to the first K columns of w."""
    outputs = slopes.shape[1]
    for k in range(begin, end):
        entry, row = scale * data[k], indices[k]
        for c in range(outputs):
            w[row, c] += entry * slopes[s, c]
    if ones:
        for c in range(outputs):
            w[len(w) - 1, c] += scale * slopes[s, c]


@kernel
def walk(
    data,
    indices,
    indptr,
    code,
    parameters,
    y,
    weights,
    offset,
    ones,
    order,
    size,
    step_size,
    decay,
    clock,
    ridge,
    excess,
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
    """Walk from x, in place, and return the weight of the running sum; K columns everywhere."""
    pair, outputs = side_by_side(x, drift), x.shape[1]
    a, b, sums, last, more = 1.0, 0.0, (0.0, 0.0, 1.0, weight), len(x) - 1, np.zeros(len(excess))
    for t in range(len(order) // size):
        eta = step_size / (1.0 + decay * (clock + t))
        for s in range(size):
            now = t * size + s
            ask_ahead(data, indices, indptr, order, now)
            i = order[now]
            begin, end = indptr[i], indptr[i + 1]
            change[s, :] = 0.0
            _predict(data, indices, begin, end, ones, pair, 0, a, change, s)
            if len(drift):
                _predict(data, indices, begin, end, ones, pair, outputs, b, change, s)
            softmax_slopes(change, s, y[i])
            for c in range(outputs):
                if len(slopes):
                    change[s, c] -= slopes[i, c]
                if len(weights):
                    change[s, c] *= weights[i]
        for c in range(len(excess)):
            more[c] = eta * excess[c] * (a * pair[last, c] + b * pair[last, outputs + c])
        factors = 1.0 - eta * ridge, eta, 1.0 - convexity * eta
        if vanishing(a, sums, factors):
            sums = start_again(pair, q, total, (a, b), sums, factors, on and not after)
            a, b, fade = 1.0, 0.0, 1.0
        else:
            a, b, sums, fade = drift_on(a, b, sums, factors, on and not after)
        for s in range(size):
            i, d = order[t * size + s], -eta / (a * size)
            begin, end = indptr[i], indptr[i + 1]
            _spread(data, indices, begin, end, ones, pair, d, change, s)
            if on:
                _spread(data, indices, begin, end, ones, q, d * sums[0], change, s)
        for c in range(len(excess)):  # of the ones, whose coefficients every step moves
            pair[last, c] -= more[c] / a
            if on:
                q[last, c] -= more[c] / a * sums[0]
        if on and after:
            sums = accumulate(sums, a, b, fade)
    write_out(pair, q, total, (a, b), sums)
    x[:] = pair[:, :outputs]
    return sums[3]


@kernel
def walk_with_pieces(
    data,
    indices,
    indptr,
    code,
    parameters,
    y,
    weights,
    offset,
    ones,
    order,
    size,
    step_size,
    ridge,
    excess,
    drift,
    slopes,
    walls,
    kinks,
    x,
    change,
):
    """Walk from x, in place, with steps of one length and a prox at the end of each; K columns everywhere."""
    table, outputs, steps = laid_out(x, drift, kinks, step_size), x.shape[1], len(order) // size
    loss, stamp = step_size * ridge, 3 * outputs
    shrink, scale, last = 1.0 - loss, -step_size / size, len(x) - 1
    near, far = powers(loss, steps)
    for step in range(steps):
        t = float(step)
        for s in range(size):
            now = step * size + s
            ask_ahead(data, indices, indptr, order, now)
            i = order[now]
            begin, end = indptr[i], indptr[i + 1]
            for k in range(begin, end):
                j = indices[k]
                n = t - table[j, stamp]
                few, many = places(n)
                a, b = near[few, 0] * far[many, 0], near[few, 1] + near[few, 0] * far[many, 1]
                table[j, stamp] = t
                for c in range(outputs):
                    w, below, above = table[j, c], table[j, outputs + c], table[j, 2 * outputs + c]
                    moved = shrunk(a * w, b * below, b * above)
                    if kinks is not None and passes_zero(w, moved, below, above):
                        moved = through_zero(w, below, above, n, near, far, loss)
                    if walls is not None and step > 0:  # the start may be beyond walls
                        moved = within(moved, walls[j, c], walls[j, outputs + c])
                    table[j, c] = moved
            change[s, :] = 0.0
            _predict(data, indices, begin, end, ones, table, 0, 1.0, change, s)
            softmax_slopes(change, s, y[i])
            for c in range(outputs):
                if len(slopes):
                    change[s, c] -= slopes[i, c]
                if len(weights):
                    change[s, c] *= weights[i]
        if ones:  # which has never missed a step
            for c in range(outputs):
                table[last, c] *= shrink - (step_size * excess[c] if len(excess) else 0.0)
            table[last, stamp] = t + 0.5
        for s in range(size):
            i = order[step * size + s]
            begin, end = indptr[i], indptr[i + 1]
            for k in range(begin, end):
                j = indices[k]
                if table[j, stamp] == t:
                    table[j, stamp] = t + 0.5
                    for c in range(outputs):
                        table[j, c] *= shrink
            _spread(data, indices, begin, end, ones, table, scale, change, s)
        for s in range(size):
            i = order[step * size + s]
            begin, end = indptr[i], indptr[i + 1]
            for k in range(begin, end + ones):
                j = indices[k] if k < end else last
                if table[j, stamp] < t + 1.0:
                    table[j, stamp] = t + 1.0
                    for c in range(outputs):
                        w = shrunk(table[j, c], table[j, outputs + c], table[j, 2 * outputs + c])
                        if walls is not None:
                            w = within(w, walls[j, c], walls[j, outputs + c])
                        table[j, c] = w
        if walls is not None and step == 0:
            enter(table, walls, shrink)
    read_off(table, walls, float(steps), near, far, loss, x)


@kernel
def full_pass(
    data, indices, indptr, code, parameters, y, weights, offset, ones, first, past, x, slopes, gradient
):
    """Add the gradients of a range of samples, keep their slopes, return the sum of their losses."""
    value = 0.0
    for i in range(first, past):
        begin, end = indptr[i], indptr[i + 1]
        slopes[i, :] = 0.0
        _predict(data, indices, begin, end, ones, x, 0, 1.0, slopes, i)
        w = weights[i] if len(weights) else 1.0
        value += w * softmax_slopes(slopes, i, y[i])
        _spread(data, indices, begin, end, ones, gradient, w, slopes, i)
    return value
