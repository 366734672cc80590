"""What has been seen of F: the best point so far, how low F can be, and whether F is as convex as it says."""

import math
from typing import NamedTuple

import numpy as np

from tether.arrays import Array
from tether.objectives.smoothness import Constants
from tether.requests import Measured

ROUNDING = 1e-15  # relative error of a projected gradient, about
FLAT_CURVATURE = 1e-13  # of L: rounding hides a smaller one
SLOPE_ERROR = 1e-6  # of a gradient: what single precision may hide of it
VALUE_ERROR = 1e-6  # of F


class Incumbent(NamedTuple):
    """The best feasible point measured so far."""

    x: Array
    value: float
    certificate: float
    scale: float
    normal: Array | None
    size: float | None = None
    exact: bool = False  # the certificate was made with a projection, not with a learned dual

    @classmethod
    def at(cls, reply: Measured) -> "Incumbent":
        """Return the point that was measured."""
        exact = reply.gradient is not None
        return cls(reply.point, reply.value, reply.certificate, reply.scale, reply.normal, reply.size, exact)


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
    noise = 1e-13 * max(1.0, abs(best.value))
    if abs(candidate.value - best.value) <= noise:
        return candidate if candidate.certificate <= best.certificate else best
    return candidate if candidate.value < best.value else best


def gap_bound(point: Measured | Incumbent, convexity: float) -> float:
    """Return ||P grad F||^2 / (2 mu), what rounding may have hidden of P grad F included."""
    slope = math.sqrt(point.certificate) + ROUNDING * point.scale
    return slope * slope / (2.0 * convexity)


def lowest_value(reply: Measured, constants: Constants) -> float:
    """Return the lowest F that a measured point allows, unless the curvature is below what rounding shows."""
    if not (math.isfinite(reply.value) and math.isfinite(reply.certificate)):
        return -math.inf
    largest = constants.full if constants.known else 0.0
    return reply.value - gap_bound(reply, constants.convexity or FLAT_CURVATURE * (largest or 1.0))


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
