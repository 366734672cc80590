"""Sparse rows, one output: a step costs the row's non-zeros, whatever the dimension."""

import numpy as np

from tether.kernels.catch_up import passes_zero, places, powers, shrunk, through_zero, within
from tether.kernels.losses import loss_of, slope_of
from tether.kernels.options import kernel
from tether.kernels.prefetch import prefetch
from tether.kernels.sparse_pieces import TABLE_LEAD, enter, laid_out, read_off
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
            if len(offset):
                z += offset[i]
            d = slope_of(code, parameters, z, y[i])
            if len(slopes):
                d -= slopes[i]
            change[s] = d * weights[i] if len(weights) else d
        more = eta * excess[0] * (a * pair[last, 0] + b * pair[last, 1]) if len(excess) else 0.0
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
        if len(excess):  # of the ones, whose coefficient every step moves
            pair[last, 0] -= more / a
            if on:
                q[last, 0] -= more / a * sums[0]
        if on and after:
            sums = accumulate(sums, a, b, fade)
    write_out(pair, q, total, (a, b), sums)
    x[:] = pair[:, :1]
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
    """Walk from x, in place, with steps of one length and a prox at the end of each.

    ``walls`` and ``kinks``, the slopes, may be None: each kind of pieces has a compiled walk of its own.
    """
    table, last, steps = laid_out(x, drift, kinks, step_size), len(x) - 1, len(order) // size
    loss, flat = step_size * ridge, table.ravel()
    shrink, scale = 1.0 - loss, -step_size / size
    own = shrink - (step_size * excess[0] if len(excess) else 0.0)  # of the ones
    near, far = powers(loss, steps)
    wall = flat if walls is None else walls.ravel()
    entry, missed, before = np.empty(len(x) + 1, np.int64), np.empty(len(x) + 1), np.empty(len(x) + 1)
    for step in range(steps):
        t = float(step)
        for s in range(size):
            now = step * size + s
            soon = ask_ahead(data, indices, indptr, order, now)
            prefetch(y, soon)
            prefetch(slopes, soon)
            i = order[min(now + TABLE_LEAD, len(order) - 1)]
            for k in range(indptr[i], indptr[i + 1]):
                prefetch(flat, 4 * np.int64(indices[k]))
                if walls is not None:
                    prefetch(wall, 2 * np.int64(indices[k]))
            i, z, late = order[now], 0.0, 0
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                w, below, above, n = table[j, 0], table[j, 1], table[j, 2], t - table[j, 3]
                few, many = places(n)
                a, b = near[few, 0] * far[many, 0], near[few, 1] + near[few, 0] * far[many, 1]
                moved = shrunk(a * w, b * below, b * above)
                if (
                    kinks is not None
                ):  # noted without a branch: one guessed wrong takes longer than all of this
                    entry[late], missed[late], before[late] = k, n, w
                    late += passes_zero(w, moved, below, above)
                if walls is not None and step > 0:  # the start may be beyond walls
                    moved = within(moved, walls[j, 0], walls[j, 1])
                table[j, 0] = moved
                if size > 1:
                    table[j, 3] = t
                z += data[k] * moved
            for c in range(late):
                k = entry[c]
                j = indices[k]
                moved = through_zero(before[c], table[j, 1], table[j, 2], missed[c], near, far, loss)
                if walls is not None and step > 0:
                    moved = within(moved, walls[j, 0], walls[j, 1])
                z += data[k] * (moved - table[j, 0])
                table[j, 0] = moved
            if ones:  # which has never missed a step
                z += table[last, 0]
            if len(offset):
                z += offset[i]
            d = slope_of(code, parameters, z, y[i])
            if len(slopes):
                d -= slopes[i]
            change[s] = scale * (d * weights[i] if len(weights) else d)
        if size == 1:  # a row has no coefficient twice: both halves of the step at once
            i, d = order[step], change[0]
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                w = shrunk(shrink * table[j, 0] + d * data[k], table[j, 1], table[j, 2])
                if walls is not None:
                    w = within(w, walls[j, 0], walls[j, 1])
                table[j, 0], table[j, 3] = w, t + 1.0
        else:
            for s in range(size):
                i, d = order[step * size + s], change[s]
                for k in range(indptr[i], indptr[i + 1]):
                    j = indices[k]
                    first = table[j, 3] == t
                    table[j, 0] = (shrink if first else 1.0) * table[j, 0] + d * data[k]
                    table[j, 3] = t + 0.5
            for s in range(size):
                i = order[step * size + s]
                for k in range(indptr[i], indptr[i + 1]):
                    j = indices[k]
                    if table[j, 3] < t + 1.0:
                        w = shrunk(table[j, 0], table[j, 1], table[j, 2])
                        if walls is not None:
                            w = within(w, walls[j, 0], walls[j, 1])
                        table[j, 0], table[j, 3] = w, t + 1.0
        if ones:
            w = own * table[last, 0]
            for s in range(size):
                w += change[s]
            w = shrunk(w, table[last, 1], table[last, 2])
            if walls is not None:
                w = within(w, walls[last, 0], walls[last, 1])
            table[last, 0], table[last, 3] = w, t + 1.0
        if walls is not None and step == 0:
            enter(table, walls, shrink)
    read_off(table, walls, float(steps), near, far, loss, x)


@kernel
def full_pass(
    data, indices, indptr, code, parameters, y, weights, offset, ones, first, past, x, slopes, gradient
):
    """Add the gradients of a range of samples, keep their slopes, return the sum of their losses."""
    value, last = 0.0, len(x) - 1
    for i in range(first, past):
        z = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            z += data[k] * x[indices[k]]
        if ones:
            z += x[last]
        if len(offset):
            z += offset[i]
        w = weights[i] if len(weights) else 1.0
        loss, slope = loss_of(code, parameters, z, y[i])
        value += w * loss
        slopes[i] = slope
        for k in range(indptr[i], indptr[i + 1]):
            gradient[indices[k]] += w * slope * data[k]
        if ones:
            gradient[last] += w * slope
    return value
