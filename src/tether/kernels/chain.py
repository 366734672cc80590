"""The prox on a chain: scalar functions of variables, and of the differences of neighbours.

    min_x  sum_k g_k(x_k) + (x_k - z_k)^2 / (2 t_k)  +  sum_k down_k max(-e_k, 0) + up_k max(e_k, 0),
    e_k = x_{k+1} - x_k.

Dynamic programming after Johnson, "A dynamic programming algorithm for the fused lasso and L0-segmentation"
(2013): the derivative of the least value of the first k terms, as a function of x_k, rises in straight
pieces. Going over a difference clips it to [-down_k, up_k]; the next term adds a line, a jump at zero and
walls. It is kept as its leftmost and rightmost lines and the changes at the knots between; all jumps at zero
are one number, so that nothing is ever inserted in the middle. Each knot comes once and goes once: O(p).
"""

import numpy as np

from tether.kernels.options import kernel


@kernel
def chain_prox(z, t, down, up, pieces, x):
    """Write the minimum into x; down and up have one entry for each difference, at least 0, maybe infinite.

    Where some of them are infinite, no variable may have walls.
    """
    lower, upper, left, right = pieces
    p = len(z)
    # Knots first..last: where they are, and by how much slope and intercept change there.
    place, slope, intercept = np.empty(2 * p + 2), np.empty(2 * p + 2), np.empty(2 * p + 2)
    first, last = p + 1, p
    low, high = np.empty(p), np.empty(p)  # where the derivative is -down and up
    aa, bb = 0.0, 0.0
    a0, b0, a1, b1, jump = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(p):
        rate = 1.0 / t[k]
        a0, b0 = a0 + rate, b0 - z[k] * rate - left[k]
        a1, b1 = a1 + rate, b1 - z[k] * rate + right[k]
        jump += left[k] + right[k]
        below, above = (-down[k], up[k]) if k + 1 < p else (0.0, 0.0)

        low[k] = -np.inf
        if below > -np.inf:
            a, b, here = a0, b0, lower[k]
            while True:
                knot = place[first] if first <= last else np.inf
                at_zero = jump > 0.0 and knot >= 0.0
                knot = 0.0 if at_zero else knot
                here = max(here, min((below - b) / a, upper[k]))
                if here <= knot or knot >= upper[k]:
                    break
                if at_zero:
                    b, jump = b + jump, 0.0
                else:
                    a, b = a + slope[first], b + intercept[first]
                    first += 1
                here = max(lower[k], knot)
            low[k] = here
            aa, bb = a, b
        high[k] = np.inf
        if above < np.inf:
            a, b, here = a1, b1, upper[k]
            while True:
                knot = place[last] if first <= last else -np.inf
                at_zero = jump > 0.0 and knot <= 0.0
                knot = 0.0 if at_zero else knot
                here = min(here, max((above - b) / a, lower[k]))
                if here >= knot or knot <= lower[k]:
                    break
                if at_zero:
                    b, jump = b - jump, 0.0
                else:
                    a, b = a - slope[last], b - intercept[last]
                    last -= 1
                here = min(upper[k], knot)
            high[k] = max(here, low[k])
            last += 1
            place[last], slope[last], intercept[last] = high[k], -a, above - b
            a1, b1 = 0.0, above
        if below > -np.inf:
            if low[k] == high[k]:  # one jump: between two knots at one place the line would mean nothing
                first, last = p + 1, p + 1
                aa, bb, jump = 0.0, above, 0.0
            else:
                first -= 1
            place[first], slope[first], intercept[first] = low[k], aa, bb - below
            a0, b0 = 0.0, below
    x[p - 1] = low[p - 1]  # where the derivative is zero
    for k in range(p - 2, -1, -1):
        x[k] = min(max(x[k + 1], low[k]), high[k])


@kernel
def chain_refine(z, t, down, up, pieces, x):
    """Compute anew each value that neighbours share, where it is on no kink and at no wall."""
    lower, upper, left, right = pieces
    p, begin = len(z), 0
    while begin < p:
        end = begin
        free, pull, weight, value = True, 0.0, 0.0, x[begin]
        low, high = -np.inf, np.inf
        while True:
            j = end
            kink = value == 0.0 and left[j] + right[j] > 0.0
            free = free and lower[j] < value < upper[j] and not kink
            low, high = max(low, lower[j]), min(high, upper[j])
            pull += (z[j] - value) / t[j] - (right[j] if value > 0.0 else -left[j] if value < 0.0 else 0.0)
            weight += 1.0 / t[j]
            end += 1
            if end == p or x[end] != value:
                break
        if begin > 0:
            pull -= up[begin - 1] if x[begin] > x[begin - 1] else -down[begin - 1]
        if end < p:
            pull += up[end - 1] if x[end] > x[begin] else -down[end - 1]
        value += pull / weight
        if begin > 0:  # keeps its place among its neighbours
            free = free and (value > x[begin - 1]) == (x[begin] > x[begin - 1]) and value != x[begin - 1]
        if end < p:
            free = free and (value < x[end]) == (x[begin] < x[end]) and value != x[end]
        if free and low < value < high and value * x[begin] >= 0.0:
            for j in range(begin, end):
                x[j] = value
        begin = end


@kernel
def chain_duals(z, t, down, up, pieces, x, s, u):
    """Write subgradients: u of the differences and s of the variables, (x - z)/t + s + u_{k-1} - u_k = 0.

    What s and u may be are intervals: forward, those that the variables before allow; backward, a choice.
    """
    lower, upper, left, right = pieces
    p = len(z)
    least, most = np.empty(p), np.empty(p)
    before_least, before_most = 0.0, 0.0
    for k in range(p):
        pull = (x[k] - z[k]) / t[k]
        low = -np.inf if x[k] <= lower[k] else right[k] if x[k] > 0.0 else -left[k]
        high = np.inf if x[k] >= upper[k] else -left[k] if x[k] < 0.0 else right[k]
        least[k], most[k] = before_least + pull + low, before_most + pull + high
        below, above = (-down[k], up[k]) if k + 1 < p else (0.0, 0.0)
        if k + 1 < p and x[k + 1] > x[k]:
            below = above
        elif k + 1 < p and x[k + 1] < x[k]:
            above = below
        least[k] = min(max(least[k], below), above)
        most[k] = min(max(most[k], below), above)
        before_least, before_most = least[k], most[k]
    after = 0.0
    for k in range(p - 1, -1, -1):
        pull = (x[k] - z[k]) / t[k]
        low = -np.inf if x[k] <= lower[k] else right[k] if x[k] > 0.0 else -left[k]
        high = np.inf if x[k] >= upper[k] else -left[k] if x[k] < 0.0 else right[k]
        before = 0.0
        if k > 0:
            before = min(max(after - pull - min(max(0.0, low), high), least[k - 1]), most[k - 1])
            u[k - 1] = before
        s[k] = min(max(after - before - pull, low), high)
        after = before
