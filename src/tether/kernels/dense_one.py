"""A pass over dense rows with one output: a few rows at a time, which stay in the first cache.

Predictions, slopes and the sum of the gradients are three loops over such a block; each is simple enough to
run on vectors, which counts where rows are short.
"""

from tether.kernels.losses import loss_of
from tether.kernels.options import kernel

NUMBERS = 4096  # of the rows of a block


@kernel
def full_pass(rows, code, parameters, y, weights, offset, ones, first, past, w, slopes, gradient):
    """Add the gradients of a range of samples, keep their slopes, return the sum of their losses."""
    value, width = 0.0, rows.shape[1]
    size = max(4, NUMBERS // max(1, width))
    for begin in range(first, past, size):
        end = min(past, begin + size)
        for i in range(begin, end):
            dot = w[width] if ones else 0.0
            for j in range(width):
                dot += rows[i, j] * w[j]
            slopes[i] = dot + offset[i] if len(offset) else dot
        for i in range(begin, end):
            loss, slopes[i] = loss_of(code, parameters, slopes[i], y[i])
            value += weights[i] * loss if len(weights) else loss
        fours = end - (end - begin) % 4
        for i in range(begin, fours, 4):
            a0, a1, a2, a3 = slopes[i], slopes[i + 1], slopes[i + 2], slopes[i + 3]
            if len(weights):
                a0, a1, a2, a3 = (
                    a0 * weights[i],
                    a1 * weights[i + 1],
                    a2 * weights[i + 2],
                    a3 * weights[i + 3],
                )
            for j in range(width):
                near = a0 * rows[i, j] + a1 * rows[i + 1, j] + a2 * rows[i + 2, j] + a3 * rows[i + 3, j]
                gradient[j] += near
            if ones:
                gradient[width] += a0 + a1 + a2 + a3
        for i in range(fours, end):
            a = weights[i] * slopes[i] if len(weights) else slopes[i]
            for j in range(width):
                gradient[j] += a * rows[i, j]
            if ones:
                gradient[width] += a
    return value
