"""When a run is over: the certificate, the budgets, and signs of divergence."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np

from tether.arrays import Array
from tether.objectives.base import Smoothness
from tether.requests import Arrived, Measured, Reply
from tether.run.solution import Counts, Status

ROUNDING = 1e-15  # relative error of a projected gradient, about
FLAT = 1e-13  # of L: rounding hides a smaller curvature
FAR = 1e6  # a norm of x that few problems mean
DEFAULT_PASSES = 1000.0


class Incumbent(NamedTuple):
    """The best feasible point measured so far."""

    x: Array
    value: float
    certificate: float
    scale: float
    normal: Array | None

    @classmethod
    def at(cls, reply: Measured) -> "Incumbent":
        """Return the point that was measured."""
        return cls(reply.point, reply.value, reply.certificate, reply.scale, reply.normal)


@dataclass(frozen=True)
class Stopping:
    """Accuracy and budgets; the first that is met ends the run.

    A point is accurate when the bound ||P grad F||^2/(2 mu) on its gap is at most tol max(1, |F|), or, where
    mu = 0, when ||P grad F|| <= tol max(1, ||grad F||).
    """

    tol: float
    convexity: float
    n_samples: int
    max_passes: float | None
    max_rounds: int | None
    max_seconds: float | None

    def gap(self, point: Measured | Incumbent) -> float:
        """Return the bound on the gap at a measured point; nan without strong convexity.

        What rounding may have hidden of P grad F is added.
        """
        return _gap(point, self.convexity) if self.convexity > 0 else math.nan

    def is_accurate(self, reply: Measured | Incumbent) -> bool:
        """Say whether a measured point is good enough."""
        if not (math.isfinite(reply.value) and math.isfinite(reply.certificate)):
            return False
        if self.convexity > 0:
            return self.gap(reply) <= self.tol * max(1.0, abs(reply.value))
        return math.sqrt(reply.certificate) <= self.tol * max(1.0, reply.scale)

    def spent(self, counts: Counts, seconds: float) -> Status | None:
        """Return the budget that is used up, if any."""
        if self.max_rounds is not None and counts.rounds >= self.max_rounds:
            return Status.MAX_ROUNDS
        if self.max_passes is not None and counts.gradients >= self.max_passes * self.n_samples:
            return Status.MAX_PASSES
        if self.max_seconds is not None and seconds >= self.max_seconds:
            return Status.MAX_SECONDS
        return None

    def fraction(self, counts: Counts, seconds: float) -> float:
        """Return how much of the tightest budget is used."""
        used = [0.0]
        if self.max_rounds is not None:
            used.append(counts.rounds / self.max_rounds)
        if self.max_passes is not None:
            used.append(counts.gradients / (self.max_passes * self.n_samples))
        if self.max_seconds is not None:
            used.append(seconds / self.max_seconds)
        return min(1.0, max(used))


def check_budgets(
    tol: float, max_passes: float | None, max_rounds: int | None, max_seconds: float | None
) -> None:
    """Refuse accuracies and budgets that make no sense."""
    if not (_is_number(tol) and 0 <= tol < math.inf):
        raise ValueError(f"tol must be a number of at least 0, got {tol!r}.")
    budgets = {"max_passes": max_passes, "max_rounds": max_rounds, "max_seconds": max_seconds}
    for name, value in budgets.items():
        if value is not None and not (_is_number(value) and value > 0):
            raise ValueError(f"{name} must be a positive number, got {value!r}; leave it out for no limit.")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def has_diverged(reply: Reply, first: float | None) -> bool:
    """Say whether a reply shows a run out of control: not finite, or far above where it began."""
    if isinstance(reply, Arrived):
        return not np.isfinite(reply.end).all()
    if not (math.isfinite(reply.value) and math.isfinite(reply.certificate)):
        return True
    return first is not None and reply.value > first + 1e3 * max(1.0, abs(first))


def _gap(point: Measured | Incumbent, convexity: float) -> float:
    slope = math.sqrt(point.certificate) + ROUNDING * point.scale
    return slope * slope / (2.0 * convexity)


def lowest_value(reply: Measured, constants: Smoothness) -> float:
    """Return the lowest F that a measured point allows, unless the curvature is below what rounding shows."""
    if not (math.isfinite(reply.value) and math.isfinite(reply.certificate)):
        return -math.inf
    return reply.value - _gap(reply, constants.convexity or FLAT * (constants.full or 1.0))


def falls_for_ever(reply: Measured, first: float, lowest: float) -> bool:
    """Say whether F is far below where it began, and more than rounding below its lowest value, far out."""
    if not math.isfinite(reply.value) or reply.value > first - 1e3 * max(1.0, abs(first)):
        return False
    return reply.value < 2.0 * min(lowest, 0.0) and is_far(reply.point)


def is_far(x: Array) -> bool:
    """Say whether x is so long that F may have led it on and on."""
    return float(np.linalg.norm(x)) >= FAR


def better(candidate: Incumbent, best: Incumbent | None) -> Incumbent:
    """Return the lower of two points; the certificate decides where values agree to rounding."""
    if best is None:
        return candidate
    noise = 1e-13 * max(1.0, abs(best.value))
    if abs(candidate.value - best.value) <= noise:
        return candidate if candidate.certificate <= best.certificate else best
    return candidate if candidate.value < best.value else best
