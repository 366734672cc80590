"""The hot loop: E local steps off the constraint, in plain NumPy.

One update serves every method of the library:

    x <- prox_{eta_t g}( x - eta_t ( grad f_B(x) - grad f_B(anchor) + shift + ridge x ) )

SGD has no anchor, ProxSkip puts its dual variable into the shift, and momentum only moves the first and the
last point of a walk. g is what bounds and l1 terms say of single variables, its pieces; without them the prox
does nothing. Compiled kernels are tested against this loop.
"""

from typing import TYPE_CHECKING, NamedTuple

from tether.arrays import Array, Indices
from tether.polyhedral import Pieces

if TYPE_CHECKING:
    from tether.objectives.base import Objective


class Averaging(NamedTuple):
    """A running weighted sum of the iterates, S <- (1 - mu eta) S + x and W <- (1 - mu eta) W + 1."""

    total: Array
    weight: float
    convexity: float  # mu
    after: bool  # count the iterate after each step (x_1..x_m) rather than before it (x_0..x_{m-1})

    def add(self, x: Array, step_size: float) -> "Averaging":
        """Return the sum with one more iterate."""
        fade = 1.0 - self.convexity * step_size
        return self._replace(total=fade * self.total + x, weight=fade * self.weight + 1.0)


class Walk(NamedTuple):
    """What a walker has to know before it leaves the constraint."""

    start: Array  # x_0
    steps: int  # E
    step_size: float  # eta
    batches: Indices | None  # one row of sample numbers a step; None: all samples at every step
    shift: Array | None = None
    anchor: Array | None = None
    slopes: Array | None = None  # what the objective kept of its full pass at the anchor
    ridge: float = 0.0
    decay: float = 0.0  # eta_t = eta / (1 + decay (clock + t))
    clock: int = 0  # steps taken before this walk
    averaging: Averaging | None = None
    pieces: Pieces | None = None  # g, one for each variable


class Walked(NamedTuple):
    """Where the walk ended and the running sum of what it passed."""

    end: Array
    averaging: Averaging | None
    gradients: int  # component gradients spent


def walk_in_numpy(objective: "Objective", walk: Walk) -> Walked:
    """Take the steps of a walk one by one with the objective's batch gradients."""
    x = walk.start.copy()
    average = walk.averaging
    for t in range(walk.steps):
        batch = None if walk.batches is None else walk.batches[t]
        g = objective.batch_gradient(x, batch, walk.anchor, walk.slopes)
        if walk.shift is not None:
            g += walk.shift
        if walk.ridge:
            g += walk.ridge * x
        eta = walk.step_size / (1.0 + walk.decay * (walk.clock + t))
        if average is not None and not average.after:
            average = average.add(x, eta)
        g *= eta
        x -= g
        if walk.pieces is not None:
            x = walk.pieces.prox(x, eta)
        if average is not None and average.after:
            average = average.add(x, eta)
    samples = objective.n_samples if walk.batches is None else walk.batches.shape[1]
    return Walked(x, average, walk.steps * samples * objective.cost_of_step(walk))
