"""Whether F has a minimum at all: without strong convexity it may fall for ever, ever more slowly.

So it is with separable data: the better x separates the classes the longer it is, F comes down to a bound
that it never reaches, and its slope vanishes on the way as it does at a minimum. An objective that knows its
terms says so (`Objective.direction_of_fall`); of others this is what the run shows. Near a minimum x has ever
less way to go; without one it takes as long a way again to halve the slope (`Trail.leads_on`). Then the
direction u of the way tells. Beyond a minimum F rises; where there is none its slope along the ray

    s(t) = <grad F(x + t u), u>

shrinks like exp(-t) and stays below zero. That of a quadratic falls in a line: it is 1/2 at t and 0 at 2 t.
That of a robust loss may vanish like exp(-t) between two samples, and rise beyond the next one: so F is
looked at far out as well.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tether.arrays import Array
from tether.requests import Measured
from tether.run.seen import ROUNDING

STEEPER = 3.0  # between two points of a trail, in ||P grad F||
KEPT = 3  # points of a trail
LEADS_ON = 0.1  # of the way before
SHRUNK = 0.03  # of the slope at x
SHORTEST, LONGEST = 2.0**-5, 2.0**3  # lengths tried
FASTER = 1.2  # than exp(-t): what rounding and other directions may add

FAR = (1e3, 1e6)  # times as far: where F rises there, it has a minimum, however flat

Look = Callable[[Array], Measured]


class Trail(NamedTuple):
    """Points of a run, each where F is much flatter than at the one before, the newest last."""

    points: Array
    slopes: Array  # ||P grad F||

    @classmethod
    def after(cls, trail: "Trail | None", reply: Measured) -> "Trail":
        """Return the trail with the point of a reply, if F is much flatter there."""
        slope = math.sqrt(reply.certificate)
        if trail is None:
            return cls(reply.point[None], np.array([slope]))
        if STEEPER * slope > trail.slopes[-1]:
            return trail
        return cls(np.vstack([trail.points, reply.point])[-KEPT:], np.append(trail.slopes, slope)[-KEPT:])

    @property
    def leads_on(self) -> bool:
        """Whether the way is hardly shorter than the one before, for the same relative fall of the slope."""
        if len(self.slopes) < KEPT or not self.slopes[-1] > 0:
            return len(self.slopes) > 1
        ways = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        before, last = ways / -np.diff(np.log(self.slopes))
        return bool(last >= LEADS_ON * before)


def falls_on(x: Array, onward: Array, look: Look) -> bool:
    """Say whether F falls along a ray as it does where it has no minimum."""

    def slope(t: float) -> float:
        return _slope(look(x + t * onward), onward)

    first = slope(0.0)
    if not first < 0:
        return False
    reach = _reach(slope, first)
    if reach is None or slope(0.5 * reach) ** 2 > FASTER * first * slope(reach):
        return False
    return not any(slope(far * reach) > 0.0 for far in FAR)


def _reach(slope: Callable[[float], float], first: float) -> float | None:
    """Return how far it is until a slope has shrunk to a little of itself; None where it changes its sign."""
    t, here = 1.0, slope(1.0)
    while here < SHRUNK * first and t < LONGEST:
        t *= 2.0
        here = slope(t)
    while not here < 0 and t > SHORTEST:
        t *= 0.5
        here = slope(t)
    return t if SHRUNK * first <= here < 0 else None


def _slope(reply: Measured, direction: Array) -> float:
    """Return the slope of F along a direction; 0 where it is no more than rounding, or not all is known."""
    if reply.gradient is None or not (reply.complete and math.isfinite(reply.value)):
        return 0.0
    slope = float(reply.gradient @ direction)
    noise = ROUNDING * reply.scale * float(np.linalg.norm(direction))
    return 0.0 if abs(slope) <= noise else slope
