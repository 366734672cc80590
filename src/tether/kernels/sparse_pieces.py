"""What the walks over sparse rows with pieces share: a step still costs the row's non-zeros.

Every coefficient has a stamp, the number of steps that it has taken. It takes those that it missed when a
sample asks for it, in closed form (`tether.kernels.catch_up`), then the sample's own step. With batches that
step has two halves, because several samples may move a coefficient before the pieces do; the stamp of one
that is in between is half a step ahead.

What a step needs of a coefficient lies side by side: a row of the table has its K numbers w, K times what a
step takes from them below zero, K times above, and the stamp. ``walls`` has K lower and K upper ones in a
row, ``kinks`` K slopes left of zero and K right of it. Either is None where there are none, and its part of
the code then is not compiled: None has a type of its own.
"""

import numpy as np

from tether.kernels.catch_up import caught_up, shrunk, within
from tether.kernels.options import kernel

TABLE_LEAD = 2  # samples ahead at which coefficients are asked for
_LARGEST = 1e300  # that a step takes: no step times an infinite slope would not be a number


@kernel
def laid_out(x, drift, kinks, step_size):
    """Return the table of coefficients at the start of a walk; everything has K columns."""
    rows, outputs = x.shape
    table = np.zeros((rows, 3 * outputs + 1))
    for j in range(rows):
        for c in range(outputs):
            d = drift[j, c] if len(drift) else 0.0
            left, right = 0.0, 0.0
            if kinks is not None:
                left, right = kinks[j, c], kinks[j, outputs + c]
            table[j, c] = x[j, c]
            table[j, outputs + c] = within(step_size * (d - left), -_LARGEST, _LARGEST)
            table[j, 2 * outputs + c] = within(step_size * (d + right), -_LARGEST, _LARGEST)
    return table


@kernel
def enter(table, walls, shrink):
    """Have coefficients that began beyond their walls take the first step, unless a sample has moved them."""
    outputs = walls.shape[1] // 2
    for j in range(len(walls)):
        inside = True
        for c in range(outputs):
            inside &= walls[j, c] <= table[j, c] <= walls[j, outputs + c]
        if not inside and table[j, 3 * outputs] == 0.0:
            table[j, 3 * outputs] = 1.0
            for c in range(outputs):
                w = shrunk(shrink * table[j, c], table[j, outputs + c], table[j, 2 * outputs + c])
                table[j, c] = within(w, walls[j, c], walls[j, outputs + c])


@kernel
def read_off(table, walls, steps, near, far, loss, x):
    """Have all coefficients take the steps that they have missed, and write x."""
    outputs = x.shape[1]
    for j in range(len(x)):
        n = steps - table[j, 3 * outputs]
        for c in range(outputs):
            below, above = table[j, outputs + c], table[j, 2 * outputs + c]
            w = caught_up(table[j, c], below, above, n, near, far, loss)
            if walls is not None:
                w = within(w, walls[j, c], walls[j, outputs + c])
            x[j, c] = w
