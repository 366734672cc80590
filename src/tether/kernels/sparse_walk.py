"""What the walks over sparse rows share, whatever the number of outputs.

Between two projections x_t = a_t v_t + b_t c with c the constant drift: ridge and drift change two scalars,
and the sample changes v on its support. The running sum of iterates has the same form. It equals
A v - q + B c: A and B are the sums of the weighted a_t and b_t, and q collects A times each change of v.
A step needs v and c at the same places, so they lie side by side.

Indices are unsigned, so that the compiler need not ask whether one counts from the end, and the arrays are
taken out of their tuples before the loop: inside, every access would count references.
"""

import numpy as np

from tether.kernels.options import inlined, kernel
from tether.kernels.prefetch import prefetch

SMALLEST_SCALE = 1e-8  # a scale that would get below is written out first, and starts from one again
ADDRESS_LEAD, ENTRY_LEAD = 16, 8  # samples ahead at which the address of a row and its entries are asked for
LINE_LENGTH = 8  # numbers that come with one request


@inlined
def ask_ahead(data, indices, indptr, order, now):
    """Ask for the rows of samples to come, and return the one whose entries were asked for."""
    last = len(order) - 1
    prefetch(indptr, order[min(now + ADDRESS_LEAD, last)])
    soon = order[min(now + ENTRY_LEAD, last)]
    for k in range(indptr[soon], indptr[soon + 1], LINE_LENGTH):
        prefetch(data, k)
        prefetch(indices, k)
    return soon


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
def start_again(pair, q, total, position, sums, factors, before):
    """Do as `drift_on` does, but on all coordinates, so that the scalars start from one; return the sums."""
    shrink, eta, fade = factors
    write_out(pair, q, total, position, sums)
    move_in_full(pair, total, (shrink, eta), fade, before)
    return 0.0, 0.0, 1.0, fade * sums[3] + (1.0 if before else 0.0)


@inlined
def vanishing(a, sums, factors):
    """Say whether a step would make one of the scales too small to divide by."""
    return abs(a * factors[0]) < SMALLEST_SCALE or abs(sums[2] * factors[2]) < SMALLEST_SCALE


@inlined
def drift_on(a, b, sums, factors, before):
    """Take the part of a step that ridge and drift make, on the scalars alone."""
    shrink, eta, fade = factors
    if before:
        sums = accumulate(sums, a, b, fade)
    return a * shrink, b * shrink - eta, sums, fade
