"""What has been seen of F: the best point so far, how low F can be, and whether F is as convex as it says."""

import math
from typing import NamedTuple

import numpy as np

from tether.arrays import Array, norm
from tether.objectives.smoothness import Constants, known_smoothness
from tether.requests import POINT_ROUNDING, VALUE_ROUNDING, Fenchel, Hold, Measured

ROUNDING = 1e-15  # relative error of a projected gradient, about
FLAT_CURVATURE = 1e-13  # of L: rounding hides a smaller one
FLATTER = 0.5  # of the lowest ||P grad F||^2: what is lower is progress
VISIBLE_FALL = 0.01  # of what rounding may change F by: some units in its last place
SLOPE_ERROR = 1e-6  # of a gradient: what single precision may hide of it
VALUE_ERROR = 1e-6  # of F
LARGEST_ERROR = 0.1  # of a decrement that bounds anything


class Bend(NamedTuple):
    """What the Hessian says of F at a point."""

    decrement: float
    shift: float  # at most by what its logarithm fell since it was taken
    smallest: float  # a bound below its eigenvalues on the tangent space; 0: none is known; or `UNSOUGHT`
    concordance: float  # R
    error: float  # relative, of the decrement
    steepness: float  # k of the Hessian that was taken
    hidden: float = 0.0  # by which F may be lower yet, as it was seen in other variables

    @classmethod
    def by_convexity(cls, certificate: float, convexity: float) -> "Bend":
        """Return what a bound from below on all second derivatives says."""
        return cls(certificate / convexity, 0.0, convexity, concordance=0.0, error=0.0, steepness=0.0)


class Incumbent(NamedTuple):
    """The best feasible point measured so far."""

    x: Array
    value: float
    certificate: float
    scale: float
    normal: Array | None
    size: float | None = None
    exact: bool = False  # the certificate was made with a projection, not with a learned dual
    bend: Bend | None = None
    hold: Hold | None = None
    slack: float = 0.0
    fenchel: Fenchel | None = None

    @classmethod
    def at(cls, reply: Measured) -> "Incumbent":
        """Return the point that was measured."""
        exact = reply.gradient is not None
        numbers = (reply.value, reply.certificate, reply.scale, reply.normal, reply.size)
        return cls(reply.point, *numbers, exact, bend_at(reply), reply.hold, reply.slack, reply.fenchel)


class Reference(NamedTuple):
    """F and its slope where the run began, or would have without x0: what accuracies are relative to."""

    value: float
    size: float  # |F|, or what one worker among several cannot choose
    slope: float  # ||P grad F||
    point: Array | None = None

    @classmethod
    def at(cls, reply: Measured) -> "Reference":
        """Return what was measured; a learned dual may bound the slope by more than ||grad F||."""
        size = abs(reply.value) if reply.size is None else reply.size
        slope = min(math.sqrt(reply.certificate), reply.scale)
        return cls(reply.value, size, slope if math.isfinite(slope) else 0.0, reply.point)

    def fall(self, value: float, size: float) -> float:
        """Return how far F has fallen to a value of this size."""
        fall = min(self.value - value, self.size + size)
        return fall if math.isfinite(fall) else 0.0


class Progress(NamedTuple):
    """How low F and its slope came so far, and when."""

    looks: int = 0  # measurements so far
    last: int = 0  # the one that was the last to find something lower
    value: float = math.inf
    projected: float = math.inf  # ||P grad F||^2
    learned: float = math.inf  # the same bounded by a learned dual

    def after(self, reply: Measured) -> "Progress":
        """Return what is known after one more look, at a finite F."""
        learned = reply.gradient is None
        flatter = reply.certificate < FLATTER * (self.learned if learned else self.projected)
        lower = reply.value < self.value - VISIBLE_FALL * reply.rounding
        looks = self.looks + 1
        return Progress(
            looks=looks,
            last=looks if flatter or lower else self.last,
            value=reply.value if lower else self.value,
            projected=reply.certificate if flatter and not learned else self.projected,
            learned=reply.certificate if flatter and learned else self.learned,
        )


class Tangent(NamedTuple):
    """F and its projected gradient at a feasible point."""

    point: Array
    value: float
    gradient: Array
    scale: float  # the largest ||grad F|| seen so far


def better(candidate: Incumbent, best: Incumbent | None) -> Incumbent:
    """Return the lower of two points; the certificate decides where values agree to rounding."""
    if best is None:
        return candidate
    noise = VALUE_ROUNDING * abs(best.value) + POINT_ROUNDING * best.scale * norm(best.x)
    if abs(candidate.value - best.value) <= noise:
        return candidate if candidate.certificate <= best.certificate else best
    return candidate if candidate.value < best.value else best


def gap_bound(point: Measured | Incumbent, convexity: float, floor: float = -math.inf) -> float:
    """Return the better of two bounds on the gap, what rounding may have hidden of P grad F included.

    The first is ||P grad F||^2 / (2 mu). The second rests on a Hessian: let H(x + v) >= exp(-R ||v||) H(x)
    and the eigenvalues of H on the tangent space be at least m. With k = R / sqrt(m) and the decrement
    l = sqrt(<grad F, P_H grad F>),

        F(x) - F*  <=  (k l + (1 - k l) log(1 - k l)) / k^2    if  k l < 1,

    which is l^2/2 for quadratics, where R = 0, whatever m. A Hessian taken at a distance d counts by
    exp(-R d). Where H(x + v) >= exp(-<r, |v|>) H(x), any k with <r, |v|> <= k sqrt(<v, H v>) will do as
    well, whatever the units of variables.

    With kinks, grad F has a subgradient of psi in it; what that lacks of being one at x is added. Then there
    also is a bound by conjugates, which needs a convex F and a number that it is nowhere below.
    """
    plain = point.slack + _slope_bound(point, convexity)
    if point.fenchel is None or not math.isfinite(floor):
        return plain
    return min(plain, point.fenchel.fixed - point.fenchel.share * floor)


def _slope_bound(point: Measured | Incumbent, convexity: float) -> float:
    slope = math.sqrt(point.certificate) + ROUNDING * point.scale
    plain = slope * slope / (2.0 * convexity) if convexity > 0.0 else math.inf
    bend = point.bend if isinstance(point, Incumbent) else bend_at(point)
    if bend is None:
        return plain
    concordance = bend.concordance
    shrink = math.exp(-bend.shift)
    smallest = max(convexity, shrink * bend.smallest)
    if shrink == 0.0 or (smallest == 0.0 and concordance > 0.0):
        return plain
    hidden = ROUNDING * point.scale / math.sqrt(smallest) if smallest else 0.0
    decrement = (1.0 + bend.error) * math.sqrt(bend.decrement / shrink) + hidden
    k = min(concordance / math.sqrt(smallest), bend.steepness / math.sqrt(shrink)) if concordance else 0.0
    return min(plain, _bent_bound(decrement, k) + bend.hidden)


def _bent_bound(decrement: float, k: float) -> float:
    """Return (k l + (1 - k l) log(1 - k l)) / k^2, by its series where k l is small."""
    t = k * decrement
    if t >= 1.0:
        return math.inf
    if t < 1e-3:
        return decrement * decrement * (0.5 + t / 6.0 + t * t / 12.0 + t**3 / 10.0)
    return (t + (1.0 - t) * math.log1p(-t)) / (k * k)


def bend_at(reply: Measured) -> Bend | None:
    """Return what a reply's metric says, if that is the Hessian."""
    curved = reply.curved
    if curved is None or not math.isfinite(curved.concordance) or curved.error > LARGEST_ERROR:
        return None
    return Bend(*curved[2:])


def lowest_value(reply: Measured, constants: Constants) -> float:
    """Return the lowest F that a measured point allows, unless the curvature is below what rounding shows."""
    if not (math.isfinite(reply.value) and math.isfinite(reply.certificate)):
        return -math.inf
    mu = constants.convexity or FLAT_CURVATURE * (known_smoothness(constants) or 1.0)
    return reply.value - gap_bound(reply, mu)


def contradiction(one: Tangent, other: Tangent, convexity: float) -> str:
    """Say how two points show that F is not mu-strongly convex; nothing if they do not."""
    step = other.point - one.point
    square = float(step @ step)
    if square == 0.0:
        return ""
    noise = SLOPE_ERROR * (one.scale + other.scale) * math.sqrt(square)
    turn = float((other.gradient - one.gradient) @ step)
    if turn < convexity * square - noise:
        return f"its curvature between two points of the run is {turn / square:.2g}, below {convexity:.2g}"
    rise = other.value - one.value - float(one.gradient @ step) - 0.5 * convexity * square
    if rise < -noise - VALUE_ERROR * (abs(one.value) + abs(other.value)):
        return f"F lies {-rise:.2g} below its tangent bound"
    return ""


def tangent_at(reply: Measured) -> Tangent | None:
    """Return what a reply says of F and its slope; None where the gradient was not projected or is broken."""
    if reply.gradient is None or not reply.complete or not np.isfinite(reply.gradient).all():
        return None
    if not math.isfinite(reply.value):
        return None
    return Tangent(reply.point, reply.value, reply.gradient, reply.scale)
