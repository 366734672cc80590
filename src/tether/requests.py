"""The things a method may ask for, and the answers.

A method never touches data or constraint. It asks for a gradient, perhaps with curvature, or for a walk; an
engine has the work done where the data lives, projects what comes back and replies. Everything in a request
is *common*: the same for all workers. What is private to a worker (dual variables, running sums, slopes at
the anchor) stays in its `tether.engines.local_work.Memory`, and a request only says how to use it.
"""

import math
from typing import NamedTuple

import numpy as np

from tether.arrays import Array, Indices
from tether.curvature import SecondOrder
from tether.polyhedral import Pieces

VALUE_ROUNDING = 1e-13  # of F: a smaller change of it may be rounding
POINT_ROUNDING = 1e-15  # of x
UNSOUGHT = -1.0  # an eigenvalue that nobody looked for, because no gap could have been bounded by it


class Dual(NamedTuple):
    """How the worker's dual variable h in range(A^T) takes part in a request.

    Steps use grad - h. After the projection x' = Pi(w) of a walk the worker sets h <- h + rate (x' - w).
    """

    rate: float = 0.0  # p / gamma in ProxSkip, 1 / (eta m) with m steps between projections
    weights: Array | None = None  # h is this mix of the remembered duals, newest last; None: the newest
    keep: int = 1  # how many duals to remember
    renew: bool = False  # replace the newest remembered dual instead of adding one
    seed: bool = False  # of a gradient that is projected: remember h = grad F - P grad F
    own: bool = False  # learn from the walk alone: h <- h - shift + rate (start - w), SCAFFOLD's c_k
    prox: bool = False  # beyond equations: x' = prox(w + t (s - h)), and h = (x' - w - t (s - h)) / t + s'
    metric: Array | None = None  # t, one for each variable; None: 1 / rate
    inside: bool = False  # slopes s of single variables act inside walks and are no part of h


class Pull(NamedTuple):
    """A quadratic pull towards a feasible point: (strength/2) ||x - center||^2 on top of F."""

    center: Array
    strength: float


class Average(NamedTuple):
    """Have the worker keep the running weighted average of its iterates."""

    convexity: float  # mu: weights (1 - mu eta)^(age)
    after: bool = False  # count iterates after each step rather than before it
    since: int = 0  # the clock at which the sum began; what was summed before is forgotten
    collect: bool = False  # report the average with this request


class Curvature(NamedTuple):
    """Ask for second derivatives at a feasible point, as the metric M of gradients.

    They travel with the first gradient that names them; later ones find them where projections are made.
    """

    point: Array
    form: str  # one of `tether.curvature.FORMS`
    outputs: int = 1  # K, the outputs of a sample
    share: float = 1.0  # of every worker's samples; drawn with the seed of the run
    concordance: float = math.inf  # R with H(x + v) >= exp(-R ||v||) H(x); infinite: M is no such H
    spectrum: bool = False  # the smallest eigenvalue on the tangent space is wanted as well
    above: bool = False  # instead: what makes the model lie above F, see `Objective.majorised`
    convexity: float = 0.0  # mu as far as it is known, which serves where it is as good as that eigenvalue
    among: Indices | None = None  # the variables whose second derivatives are wanted, in order; None: all


def price_of(asked: Curvature, offered: SecondOrder) -> float:
    """Return the price of second derivatives that are asked for."""
    return offered.price(asked.form) if asked.among is None else offered.price_among(len(asked.among))


class Hold(NamedTuple):
    """What holds a point: at the optimum grad F + s + K^T y = A^T l.

    As a hint it says with which subgradients a point is to be certified.
    """

    normal: Array  # A^T l
    coordinates: Array  # s, a slope of each variable's own function
    rows: Array  # y, a slope of each row's


class Gradient(NamedTuple):
    """Ask for the full gradient at a feasible point."""

    point: Array
    tangent: bool = True  # project it; without, only F and the certificate ||grad F - h||^2 come back
    dual: Dual | None = None
    metric: Curvature | None = None  # project it in this metric as well
    beside: Array | None = None  # vectors, one a row, that are to be projected in the metric too
    hold: Hold | None = None  # what may hold the point, beyond equations
    model: bool = (
        False  # minimise the quadratic model with the metric on the region, others than `among` still
    )
    pieces: Pieces | None = None  # what single variables pay, where that acts inside walks


class Descend(NamedTuple):
    """Ask for a walk of E steps off the constraint, from a feasible point."""

    start: Array
    steps: int  # E
    step_size: float  # eta
    batch_size: int | None  # b; None: every step uses all samples
    clock: int = 0  # steps taken before: fixes the samples drawn and the decay of the step size
    anchor: Array | None = None
    shift: Array | None = None  # added to every step; None with an anchor: the worker's own gradient there
    momentum: float = 1.0  # theta
    from_anchor: bool = False  # take the first gradient at the anchor, as Algorithm 4 writes it
    pull: Pull | None = None
    decay: float = 0.0
    replacement: bool = False
    shares: bool = False  # cut long rows into shares, see `tether.objectives.shares`
    average: Average | None = None
    dual: Dual | None = None
    participation: float = 1.0  # the share of workers to ask, drawn anew for every request
    pieces: Pieces | None = None  # g: every step ends with its prox
    hold: Hold | None = None  # what held the start: the prox of the end begins with it


Request = Gradient | Descend


class Work(NamedTuple):
    """What a request cost."""

    steps: int = 0
    gradients: int = 0  # component gradients
    rounds: int = 0  # projection events
    projections: int = 0  # vectors projected
    sent: int = 0  # bytes from all workers
    received: int = 0  # bytes to all workers
    workers: Array | None = None  # a row a worker: its loss, gradient norm, seconds and bytes sent


class Target(NamedTuple):
    """Where a quadratic model of F is least on the region."""

    point: Array
    hold: Hold
    fall: float  # at most by how much F + psi is lower there, to first order; 0: x is where it was


class Curved(NamedTuple):
    """What a metric M says of F at a point."""

    image: Array  # P_M grad F, the direction to the minimum of the quadratic model with M
    images: Array | None  # P_M v for the vectors beside the gradient
    decrement: float  # <grad F, P_M grad F>
    shift: float  # at most by what the logarithm of the Hessian fell on the way from where M was taken
    smallest: float  # below the eigenvalues of M on the tangent space; 0: no bound is known; or `UNSOUGHT`
    concordance: float  # R, if M is the Hessian itself, else infinite
    error: float  # relative, of the decrement, about
    steepness: float = math.inf  # k with <r, |v|> <= k sqrt(<v, M v>), r as in `Objective.reach`


class Fenchel(NamedTuple):
    """A bound on the gap, fixed - share m, where m is any number that F is nowhere below."""

    fixed: float
    share: float  # 1 - c, by which a dual point had to be shrunk


class Measured(NamedTuple):
    """The answer to `Gradient`: what is known of F at the point."""

    point: Array
    value: float
    certificate: float  # an upper bound on ||P grad F(point)||^2
    scale: float  # ||grad F(point)||
    gradient: Array | None  # P grad F(point); None if no tangent was asked for
    normal: Array | None  # grad F(point) - P grad F(point); None if no tangent was asked for
    work: Work
    complete: bool = True  # False: some workers' last known numbers stand in for fresh ones
    size: float | None = None  # of F, for accuracies relative to it; None: |value|
    curved: Curved | None = None  # None without a metric, or where no projection in it exists
    hold: Hold | None = None  # beyond equations: the subgradients that the certificate was made with
    slack: float = 0.0  # what they lack of being subgradients at the point, in units of F
    fenchel: Fenchel | None = None  # beyond equations: a bound on the gap that needs no curvature
    target: Target | None = None  # the minimum of the quadratic model, where it was asked for
    diagonal: Array | None = None  # of second derivatives that were asked for without a projection

    @property
    def rounding(self) -> float:
        """A change of F, in its own units, that may be due to rounding: of F or of the point."""
        length = math.sqrt(np.vdot(self.point, self.point))  # which may overflow
        moved = POINT_ROUNDING * float(self.scale) * length
        return VALUE_ROUNDING * abs(self.value) + (moved if math.isfinite(moved) else 0.0)


class Arrived(NamedTuple):
    """The answer to `Descend`: where the walk ended, pulled back."""

    end: Array  # Pi(w)
    average: Array | None  # Pi of the running average, when it was collected
    work: Work
    share: float = 1.0  # of the workers that took part
    hold: Hold | None = None  # beyond equations: what the projection found to hold the end


Reply = Measured | Arrived
