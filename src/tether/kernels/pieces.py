"""The prox of scalar functions with a kink and two walls, and its sum along a line, in one pass each.

    x_j(alpha) = argmin_u g_j(u) + (u - c_j - alpha t_j q_j)^2 / (2 t_j)

is, as a function of alpha, made of straight pieces; so is q^T x(alpha), which never falls.
"""

import math

from tether.kernels.options import exact_kernel, inlined, kernel


@inlined
def prox_of(u, t, lower, upper, left, right):
    """Return the prox of one function; at most one of the first two terms is not zero."""
    moved = max(u - t * right, 0.0) + min(u + t * left, 0.0)
    return min(max(moved, lower), upper)


@inlined
def is_free(x, lower, upper, left, right):
    """Say whether x moves with what it is the prox of: it is at no wall and on no kink."""
    return (x > lower) & (x < upper) & ((x != 0.0) | (left + right == 0.0))


@kernel
def prox_all(u, t, pieces, x, free):
    """Write the prox of each function into x, and into free whether it moves with u."""
    lower, upper, left, right = pieces
    for j in range(len(u)):
        x[j] = prox_of(u[j], t[j], lower[j], upper[j], left[j], right[j])
        free[j] = is_free(x[j], lower[j], upper[j], left[j], right[j])


@kernel
def sum_along(alpha, centre, t, q, pieces):
    """Return q^T x(alpha), its slope, and the sum of the sizes of its terms."""
    lower, upper, left, right = pieces
    total, slope, size = 0.0, 0.0, 0.0
    for j in range(len(q)):
        u = centre[j] + alpha * t[j] * q[j]
        x = prox_of(u, t[j], lower[j], upper[j], left[j], right[j])
        term = q[j] * x
        total += term
        size += abs(term)
        slope += q[j] * q[j] * t[j] if is_free(x, lower[j], upper[j], left[j], right[j]) else 0.0
    return total, slope, size


@kernel
def breaks_along(low, high, centre, t, q, pieces, found):
    """Write where, strictly between two alphas, x_j(alpha) changes its slope; return how many these are."""
    lower, upper, left, right = pieces
    count = 0
    for j in range(len(q)):
        if q[j] == 0.0:
            continue
        below, above = -t[j] * left[j], t[j] * right[j]  # between them x_j = 0, if no wall is in the way
        at_lower = lower[j] + (below if lower[j] < 0.0 else above)
        at_upper = upper[j] + (above if upper[j] > 0.0 else below)
        step = t[j] * q[j]
        for u in (at_lower, at_upper, below, above):
            alpha = (u - centre[j]) / step
            if low < alpha < high and at_lower <= u <= at_upper:
                found[count] = alpha
                count += 1
    return count


@exact_kernel
def nearest_all(v, z, lower, upper, left, right, found):
    """Write the subgradient of each function at z_j that is nearest to v_j."""
    for j in range(len(z)):
        low = right[j] if z[j] > 0.0 else -left[j]
        high = -left[j] if z[j] < 0.0 else right[j]
        low = -math.inf if z[j] <= lower[j] else low
        high = math.inf if z[j] >= upper[j] else high
        found[j] = low if v[j] < low else high if v[j] > high else v[j]


@exact_kernel
def misfit_all(z, y, lower, upper, left, right, found):
    """Write each g_j(z_j) + g_j*(y_j) - y_j z_j, as an integral."""
    for j in range(len(z)):
        total, above, below = 0.0, y[j] - right[j], y[j] + left[j]
        if above > 0.0:
            total += above * abs(max(upper[j], 0.0) - _upwards(z[j]))
        if above < 0.0:
            total -= above * abs(_upwards(z[j]) - max(lower[j], 0.0))
        if below > 0.0:
            total += below * abs(min(upper[j], 0.0) + _upwards(-z[j]))
        if below < 0.0:
            total -= below * abs(-_upwards(-z[j]) - min(lower[j], 0.0))
        found[j] = total


@inlined
def _upwards(z):
    """Return the part of a number above zero; NaN stays what it is."""
    return 0.0 if z < 0.0 else z
