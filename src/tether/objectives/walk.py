"""The hot loop: E local steps off the constraint, in plain NumPy.

One update serves every method of the library:

    u <- u - (eta_t / theta) ( grad f_B(x) - grad f_B(anchor) + shift + ridge x )
    x <- anchor + theta (u - anchor)

SGD has no anchor, SVRG has theta = 1, ProxSkip puts its dual variable into the shift.
Compiled kernels are tested against this loop.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tether.objectives.base import Objective

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Averaging(NamedTuple):
    """A running weighted sum of the iterates, S <- (1 - mu eta) S + x and W <- (1 - mu eta) W + 1."""

    total: Array
    weight: float
    convexity: float  # mu
    after: bool  # count the iterate after each step (x_1..x_m) rather than before it (x_0..x_{m-1})


class Walk(NamedTuple):
    """What a walker has to know before it leaves the constraint."""

    start: Array  # u_0
    steps: int  # E
    step_size: float  # eta
    batches: Indices | None  # one row of sample numbers a step; None: all samples at every step
    shift: Array | None = None
    anchor: Array | None = None
    slopes: Array | None = None  # what the objective kept of its full pass at the anchor
    momentum: float = 1.0  # theta
    ridge: float = 0.0
    decay: float = 0.0  # eta_t = eta / (1 + decay (clock + t))
    clock: int = 0  # steps taken before this walk
    averaging: Averaging | None = None


class Walked(NamedTuple):
    """Where the walk ended and the running sum of what it passed."""

    end: Array
    averaging: Averaging | None
    gradients: int  # component gradients spent


def walk_in_numpy(objective: "Objective", walk: Walk) -> Walked:
    """Take the steps of a walk one by one with the objective's batch gradients."""
    u = walk.start.copy()
    average = walk.averaging
    gradients = 0
    for t in range(walk.steps):
        x = _position(walk, u)
        batch = None if walk.batches is None else walk.batches[t]
        g = objective.batch_gradient(x, batch, walk.anchor, walk.slopes)
        gradients += (objective.n_samples if batch is None else len(batch)) * objective.cost_of_step(walk)
        if walk.shift is not None:
            g = g + walk.shift
        if walk.ridge:
            g = g + walk.ridge * x
        eta = walk.step_size / (1.0 + walk.decay * (walk.clock + t))
        if average is not None and not average.after:
            average = _add(average, x, eta)
        u -= (eta / walk.momentum) * g
        if average is not None and average.after:
            average = _add(average, _position(walk, u), eta)
    return Walked(u, average, gradients)


def _position(walk: Walk, u: Array) -> Array:
    if walk.momentum == 1.0 or walk.anchor is None:
        return u
    return walk.anchor + walk.momentum * (u - walk.anchor)


def _add(average: Averaging, x: Array, eta: float) -> Averaging:
    fade = 1.0 - average.convexity * eta
    return average._replace(total=fade * average.total + x, weight=fade * average.weight + 1.0)
