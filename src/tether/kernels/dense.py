"""Dense rows: products and updates on rows where they lie, four rows at a time, no temporaries.

The coefficients w have one row for each of the K outputs, so that loops run along the data. Four rows share
each coefficient that is loaded and stay in the first cache until they are used again; gathering rows for BLAS
takes about twice as long.
"""

from tether.kernels.catch_up import shrunk, within
from tether.kernels.codes import MULTINOMIAL
from tether.kernels.losses import loss_of, softmax_slopes
from tether.kernels.options import inlined, kernel


@inlined
def _predict_one(rows, i, w, z, s):
    for k in range(len(w)):
        dot = 0.0
        for j in range(rows.shape[1]):
            dot += rows[i, j] * w[k, j]
        z[s, k] = dot


@inlined
def _predict_four(rows, i0, i1, i2, i3, w, z, s):
    width, outputs = rows.shape[1], len(w)
    for k in range(0, outputs - 1, 2):
        a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
        b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0
        for j in range(width):
            r0, r1, r2, r3 = rows[i0, j], rows[i1, j], rows[i2, j], rows[i3, j]
            a, b = w[k, j], w[k + 1, j]
            a0, a1, a2, a3 = a0 + a * r0, a1 + a * r1, a2 + a * r2, a3 + a * r3
            b0, b1, b2, b3 = b0 + b * r0, b1 + b * r1, b2 + b * r2, b3 + b * r3
        z[s, k], z[s + 1, k], z[s + 2, k], z[s + 3, k] = a0, a1, a2, a3
        z[s, k + 1], z[s + 1, k + 1], z[s + 2, k + 1], z[s + 3, k + 1] = b0, b1, b2, b3
    if outputs % 2:
        k = outputs - 1
        a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
        for j in range(width):
            a = w[k, j]
            a0, a1 = a0 + a * rows[i0, j], a1 + a * rows[i1, j]
            a2, a3 = a2 + a * rows[i2, j], a3 + a * rows[i3, j]
        z[s, k], z[s + 1, k], z[s + 2, k], z[s + 3, k] = a0, a1, a2, a3


@inlined
def _spread_one(rows, i, w, z, s, factor):
    for k in range(len(w)):
        c = factor * z[s, k]
        for j in range(rows.shape[1]):
            w[k, j] += c * rows[i, j]


@inlined
def _spread_four(rows, i0, i1, i2, i3, w, z, s, factor):
    width, outputs = rows.shape[1], len(w)
    for k in range(0, outputs - 1, 2):
        a0, a1, a2, a3 = z[s, k], z[s + 1, k], z[s + 2, k], z[s + 3, k]
        b0, b1, b2, b3 = z[s, k + 1], z[s + 1, k + 1], z[s + 2, k + 1], z[s + 3, k + 1]
        for j in range(width):
            r0, r1, r2, r3 = rows[i0, j], rows[i1, j], rows[i2, j], rows[i3, j]
            w[k, j] += factor * (a0 * r0 + a1 * r1 + a2 * r2 + a3 * r3)
            w[k + 1, j] += factor * (b0 * r0 + b1 * r1 + b2 * r2 + b3 * r3)
    if outputs % 2:
        k = outputs - 1
        a0, a1, a2, a3 = z[s, k], z[s + 1, k], z[s + 2, k], z[s + 3, k]
        for j in range(width):
            near = a0 * rows[i0, j] + a1 * rows[i1, j] + a2 * rows[i2, j] + a3 * rows[i3, j]
            w[k, j] += factor * near


@inlined
def _slopes(code, parameters, y, weights, offset, ones, i, w, z, s):
    """Turn the predictions z[s] of sample i into slopes, and return its loss and its weight."""
    if len(offset):
        z[s, 0] += offset[i]
    if ones:
        for k in range(len(w)):
            z[s, k] += w[k, w.shape[1] - 1]
    if code == MULTINOMIAL:
        loss = softmax_slopes(z, s, int(y[i]))
    else:
        loss, z[s, 0] = loss_of(code, parameters, z[s, 0], y[i])
    return loss, weights[i] if len(weights) else 1.0


@inlined
def _drift(drift, excess, shrink, eta, w):
    for k in range(len(w)):
        for j in range(w.shape[1]):
            moved = shrink * w[k, j] - (eta * drift[k, j] if drift.size else 0.0)
            w[k, j] = moved - (eta * excess[k, j] * w[k, j] if excess.size else 0.0)


@kernel
def _settle(w, pieces, eta):
    """Apply the prox of the pieces to every coefficient."""
    lower, upper, left, right = pieces
    for k in range(len(w)):
        for j in range(w.shape[1]):
            moved = shrunk(w[k, j], -eta * left[k, j], eta * right[k, j])
            w[k, j] = within(moved, lower[k, j], upper[k, j])


@inlined
def _accumulate(w, total, fade):
    for k in range(len(w)):
        for j in range(w.shape[1]):
            total[k, j] = fade * total[k, j] + w[k, j]


@kernel
def walk(
    rows, code, parameters, y, weights, offset, ones,
    order, size, step_size, decay, clock, ridge, excess, drift, slopes,
    convexity, weight, after, on, w, total, change, pieces,
):  # fmt: skip
    """Walk from w, in place, and return the weight of the running sum.

    ``change`` has a row a sample. ``pieces`` is None or four arrays shaped as w; walks without are compiled
    apart, so that they take no notice of it.
    """
    fours = size - size % 4
    for t in range(len(order) // size):
        first, eta = t * size, step_size / (1.0 + decay * (clock + t))
        fade = 1.0 - convexity * eta
        for s in range(0, fours, 4):
            at = first + s
            _predict_four(rows, order[at], order[at + 1], order[at + 2], order[at + 3], w, change, s)
        for s in range(fours, size):
            _predict_one(rows, order[first + s], w, change, s)
        for s in range(size):
            i = order[first + s]
            _, share = _slopes(code, parameters, y, weights, offset, ones, i, w, change, s)
            for k in range(len(w)):
                change[s, k] = share * (change[s, k] - (slopes[i, k] if len(slopes) else 0.0))
        if on and not after:
            _accumulate(w, total, fade)
        if drift.size or excess.size or ridge > 0.0:
            _drift(drift, excess, 1.0 - eta * ridge, eta, w)
        factor = -eta / size
        for s in range(0, fours, 4):
            at = first + s
            _spread_four(rows, order[at], order[at + 1], order[at + 2], order[at + 3], w, change, s, factor)
        for s in range(fours, size):
            _spread_one(rows, order[first + s], w, change, s, factor)
        if ones:
            for s in range(size):
                for k in range(len(w)):
                    w[k, w.shape[1] - 1] += factor * change[s, k]
        if pieces is not None:
            _settle(w, pieces, eta)
        if on and after:
            _accumulate(w, total, fade)
        weight = fade * weight + 1.0
    return weight


@kernel
def full_pass(rows, code, parameters, y, weights, offset, ones, first, past, w, slopes, gradient, change):
    """Add the gradients of a range of samples, keep their slopes, return the sum of their losses."""
    value = 0.0
    fours = past - (past - first) % 4
    for i in range(first, past, 4):
        if i < fours:
            _predict_four(rows, i, i + 1, i + 2, i + 3, w, change, 0)
        else:
            for s in range(past - i):
                _predict_one(rows, i + s, w, change, s)
        for s in range(min(4, past - i)):
            loss, share = _slopes(code, parameters, y, weights, offset, ones, i + s, w, change, s)
            value += share * loss
            for k in range(len(w)):
                slopes[i + s, k] = change[s, k]
                change[s, k] *= share
            if ones:
                for k in range(len(w)):
                    gradient[k, w.shape[1] - 1] += change[s, k]
        if i < fours:
            _spread_four(rows, i, i + 1, i + 2, i + 3, gradient, change, 0, 1.0)
        else:
            for s in range(past - i):
                _spread_one(rows, i + s, gradient, change, s, 1.0)
    return value
