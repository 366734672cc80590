"""Steps that a coordinate has missed, taken all at once.

A walk with pieces moves every coordinate at every step, but a sparse sample only says something about a few
of them. All others take a step that does not depend on the sample, and always the same one:

    y = (1 - loss) w,    loss = eta ridge
    w <- y - above  if y > above,    y - below  if y < below,    else 0;    then back between the walls

with above = eta (drift + right) and below = eta (drift - left): what a step takes away from a w above or
below zero. So nothing is done until a sample asks for the coordinate, n steps later. Then all of them are
taken in one formula, for 0 <= loss < 1 and a w between its walls:

* On one side of zero the step is affine. Its n-th power is A w - S above (or A w - S below), A = (1 - loss)^n
  and S = 1 + (1 - loss) + ... + (1 - loss)^(n - 1).
* The step is monotone, so a path only rises or only falls. It meets at most one wall, and stays there: walls
  may be left aside until the end.
* It meets zero at most once. If below <= 0 <= above it stays there, so that n steps are one step with A, S
  below and S above in the places of 1 - loss, below and above. The same formula holds for paths that do not
  meet zero.
* Else it goes through zero: a logarithm says how many steps are taken before, one step leads across, and the
  rest is affine again. By continuity a count that is one off, because of rounding, does no harm.

A and S come from two short tables, because an exponential for every non-zero of a sample would take longer
than the rest of the step: one for n below 256, one for the multiples of 256. A of a sum is a product, and
S(n + m) = S(n) + A(n) S(m).
"""

import math

import numpy as np

from tether.kernels.options import inlined, kernel

_BLOCK_BITS = 8
_BLOCK = 1 << _BLOCK_BITS  # entries of the first table, and steps between two entries of the second
_NO_LOSS = 1e-30  # what is below is not lost in any number of steps, but cannot always be divided by


@kernel
def powers(loss, steps):
    """Return the two tables of A and S, for up to that many steps."""
    near, far = np.empty((_BLOCK, 2)), np.empty(((steps >> _BLOCK_BITS) + 1, 2))
    _fill(near, loss, 1)
    _fill(far, loss, _BLOCK)
    return near, far


@kernel
def _fill(table, loss, stride):
    for k in range(len(table)):
        n = float(k * stride)
        exponent = n * math.log1p(-loss)
        table[k, 0], table[k, 1] = math.exp(exponent), -math.expm1(exponent) / loss if loss > _NO_LOSS else n


@inlined
def places(n):
    """Return where the two tables have their parts of n steps."""
    whole = np.uint64(np.int64(n))  # by way of a signed number, as processors have no other way
    return whole & np.uint64(_BLOCK - 1), whole >> np.uint64(_BLOCK_BITS)


@inlined
def shrunk(y, below, above):
    """Take away what a step takes: ``above`` from a y above it, ``below`` from one below, else everything.

    What is not a number stays so, because it tells of divergence: min and max keep their first argument then.
    """
    return y - min(above, max(below, y))


@inlined
def within(w, lower, upper):
    """Put w back between its walls; what is not a number stays so."""
    return min(max(w, lower), upper)


@inlined
def passes_zero(w, moved, below, above):
    """Say whether w, which one formula has moved, came to zero and could not rest there; seldom true.

    Signs of w are compared and not multiplied: a product of tiny numbers is zero whatever theirs are. Where
    that of what a step takes is zero, a path through zero is off by such numbers.
    """
    crossed = ((w > 0.0) & (moved <= 0.0)) | ((w < 0.0) & (moved >= 0.0))
    return crossed & (below * above > 0.0) & (below < above)


@kernel
def power(near, far, n):
    """Return A and S of n steps."""
    few, many = places(n)
    return near[few, 0] * far[many, 0], near[few, 1] + near[few, 0] * far[many, 1]


@kernel
def through_zero(w, below, above, n, near, far, loss):
    """Return w after n steps, of a w that goes from one side of zero to the other or is next to it."""
    if n < 1.0:
        return w
    if w < 0.0:
        return -_fall(-w, -above, -below, n, near, far, loss)
    return _fall(w, below, above, n, near, far, loss)


@kernel
def _fall(w, below, above, n, near, far, loss):
    """Return w after n > 0 steps, of a w above zero that falls below it: 0 < below <= above."""
    ratio = w / above
    before = -math.log1p(loss * ratio) / math.log1p(-loss) if loss > _NO_LOSS else ratio
    m = max(min(np.ceil(before) - 1.0, n - 1.0), 0.0)
    a, s = power(near, far, m)
    across = shrunk((1.0 - loss) * (a * w - s * above), below, above)
    a, s = power(near, far, n - m - 1.0)
    return a * across - s * below


@kernel
def caught_up(w, below, above, n, near, far, loss):
    """Return w after n steps without a sample, walls aside.

    Kernels have these lines in their loops, where handing over tables would count references.
    """
    a, s = power(near, far, n)
    moved = shrunk(a * w, s * below, s * above)
    if passes_zero(w, moved, below, above):
        return through_zero(w, below, above, n, near, far, loss)
    return moved
