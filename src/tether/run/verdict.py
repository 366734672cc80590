"""When a run is over: accurate enough, at a standstill, without a minimum to find, or diverging."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array, norm
from tether.methods import Algorithm
from tether.objectives.smoothness import Constants, known_smoothness
from tether.requests import Arrived, Measured, Reply
from tether.run.seen import ROUNDING, Bend, Incumbent, Reference, bend_at, gap_bound
from tether.run.solution import Status
from tether.run.turn import Run
from tether.tolerance import LARGEST_FALL, Tolerance

SEVERAL = 4.0  # times the gap that rounding of grad F hides at least
SEEN_FALL = 1e-13  # of the fall since the start: less cannot be told from 0
FAR_NORM = 1e6  # a norm of x that few problems mean
FLOOR_LOOKS = 30  # at F without progress, where its slope is next to rounding
FLOOR_SLOPE = 300.0  # times the rounding of grad F
# Data may be in single precision, which nobody tells: then patience is longer, and as long as the run before.
SINGLE_LOOKS = 100
SINGLE_SLOPE = 1e-4  # of the slope where the run began
BENT_SHARE = 1e-3  # of what was asked of the slope, where a Hessian may soon tell the gap instead
STILL_STAGES = 3  # stages in succession that left a point where it was


class Verdict(NamedTuple):
    """What is decided after a turn; among several processes the leader's word."""

    status: str = ""  # the name of a `Status`; empty: the run goes on
    detail: str = ""  # more about it
    seconds: float = 0.0  # of the run so far
    affordable: float = math.inf  # component gradients of a walk for which there is time left
    confirm: bool = False  # the certificate rests on a learned dual: measure the point exactly
    save: bool = False  # it is time for a checkpoint
    complaint: str = ""  # what the callback raised

    @property
    def goes_on(self) -> bool:
        """Whether there is a next turn."""
        return not self.status

    def says(self, status: Status) -> bool:
        """Say whether this is why the run ends."""
        return bool(self.status) and self.status == status.name


class Accuracy(NamedTuple):
    """What is good enough.

    A point is accurate when the bound on its gap is at most tol, or rtol times the size of F. Without strong
    convexity ||P grad F|| stands for the gap.
    """

    asked: Tolerance
    convexity: float
    reference: Reference | None = None  # F where the run began
    origin: Callable[[], Array] | None = None  # where it would have begun without x0; None: it did
    floor: float = -math.inf  # F is nowhere lower

    def gap(self, point: Measured | Incumbent) -> float:
        """Return the bound on the gap at a measured point; nan where nothing bounds it.

        What rounding may have hidden of P grad F is added.
        """
        bound = gap_bound(point, self.convexity, self.floor)
        return bound if self.convexity > 0 or math.isfinite(bound) else math.nan

    def is_met(self, point: Measured | Incumbent) -> bool:
        """Say whether a measured point is good enough."""
        return _is_finite(point) and self.is_met_by(point, self.gap(point))

    def is_met_by(self, point: Measured | Incumbent, gap: float) -> bool:
        """Say whether a measured point with this bound on its gap is good enough."""
        if not _is_finite(point):
            return False
        if not math.isnan(gap):
            return self.allows(gap, point)
        asked = self.asked.times(BENT_SHARE) if self._is_bent(point) else self.asked
        steepness = max(point.scale, 0.0 if self.reference is None else self.reference.slope)
        slope = math.sqrt(point.certificate)
        return asked.allows(slope, steepness) and self._leaves_little(slope, point)

    def _leaves_little(self, slope: float, point: Measured | Incumbent) -> bool:
        """Say whether a slope over the length of the way from the origin would lower F by little.

        Where F was enormous at first, a slope that is small against the first one may be none against F.
        """
        size = abs(point.value) if point.size is None else point.size
        fall = 0.0 if self.reference is None else self.reference.fall(point.value, size)
        rtol = self.asked.rtol
        return rtol is None or slope * self._distance(point) <= max(
            LARGEST_FALL * rtol * size, SEEN_FALL * fall
        )

    def size(self, point: Measured | Incumbent) -> float:
        """Return the size of F as far as it was seen; it grows with F, in whatever units F is."""
        size = abs(point.value) if point.size is None else point.size
        fall = 0.0 if self.reference is None else self.reference.fall(point.value, size)
        if fall > LARGEST_FALL * size:
            fall = min(fall, LARGEST_FALL * max(size, self._rise(point)))
        return max(size, fall)

    def _rounded(self, point: Measured | Incumbent) -> float:
        """Return a gap that may be nothing but rounding of grad F; as large an F cannot be told from 0."""
        bend = _bend_of(point)
        curvature = max(self.convexity, 0.0 if bend is None else bend.smallest)
        hidden = ROUNDING * point.scale
        return SEVERAL * hidden * hidden / (2.0 * curvature) if curvature > 0.0 else 0.0

    def _rise(self, point: Measured | Incumbent) -> float:
        """Return mu/2 ||x - o||^2, by which F is higher at the origin o at least, if x is optimal.

        F* may be 0, and x0 good or bad: then neither |F| nor the fall since x0 is a measure of F.
        """
        if self.convexity == 0 or self.asked.rtol is None:
            return 0.0
        return 0.5 * self.convexity * self._distance(point) ** 2

    def _distance(self, point: Measured | Incumbent) -> float:
        """Return ||x - o||."""
        x = point.point if isinstance(point, Measured) else point.x
        began = None if self.reference is None else self.reference.point
        origin = began if self.origin is None else self.origin()
        return norm(x if origin is None else x - origin)

    def allows(self, gap: float, point: Measured | Incumbent) -> bool:
        """Say whether a gap is small enough."""
        size = self.size(point)
        if self.asked.allows(gap, size) or self.asked.allows(gap, self._rise(point)):
            return True
        return bool(self.asked.rtol) and max(gap, size) <= self._rounded(point) < math.inf

    def _is_bent(self, point: Measured | Incumbent) -> bool:
        bend = _bend_of(point)
        return bend is not None and bend.smallest != 0.0

    def without_convexity(self) -> "Accuracy":
        """Return what is good enough where nothing is known of a minimum."""
        return self._replace(convexity=0.0, floor=-math.inf)

    def shortfall(self, point: Incumbent, gap: float) -> str:
        """Say what was reached instead of what was asked for."""
        if not math.isnan(gap):
            return f": the gap is certainly below {gap:.1e}, {self.asked} was asked for"
        return f": ||P grad F|| = {math.sqrt(point.certificate):.1e}, {self.asked} was asked for"


@dataclass(frozen=True)
class Judge:
    """Says after every turn whether the run is over, budgets aside."""

    accuracy: Accuracy
    algorithm: Algorithm[Any]
    constants: Constants
    bound: Callable[[Array, Array, float], float] | None = None  # on the gap, which a way knows beside

    def accuracy_of(self, run: Run) -> Accuracy:
        """Return what is good enough for what has been seen of F."""
        accuracy = self._plain(run)
        return accuracy if run.reference is None else accuracy._replace(reference=run.reference)

    def gap(self, run: Run, point: Measured | Incumbent) -> float:
        """Return the bound on the gap at a measured point, after what has been seen of F."""
        return self._plain(run).gap(point)

    def _plain(self, run: Run) -> Accuracy:
        return self.accuracy.without_convexity() if run.nonconvex else self.accuracy

    def before(self, run: Run) -> Status | None:
        """Say whether a run that goes on from its checkpoint has nothing left to do."""
        best = run.best
        if best is not None and best.exact and self._is_met(run, best, self.gap(run, best)):
            return Status.CONVERGED
        return Status.EXHAUSTED if self._is_exhausted(run) or self._is_at_floor(run) else None

    def after(self, run: Run, reply: Reply, gap: float) -> tuple[Status | None, str]:
        """Say what a turn led to, and more about it in words, given the bound on the gap."""
        if has_diverged(reply, run.first) and not self.algorithm.recovers(run.state):
            return Status.DIVERGED, f" (after {run.counts.rounds} rounds); {self.algorithm.remedy()}"
        if isinstance(reply, Measured) and reply.complete:
            if reply.gradient is not None and self._is_met(run, reply, gap):
                return Status.CONVERGED, ""
            if self._falls_for_ever(run, reply):
                return Status.DIVERGED, _fall(reply)
            if self._is_at_floor(run):
                return Status.EXHAUSTED, ""
        if self._is_exhausted(run):
            return Status.EXHAUSTED, self._suspicion(run)
        return None, ""

    def _is_met(self, run: Run, reply: Measured | Incumbent, gap: float) -> bool:
        """Say whether a measured point is good enough, by what was measured or by what the way knows."""
        accuracy = self.accuracy_of(run)
        if accuracy.is_met_by(reply, gap):
            return True
        if self.bound is None or reply.normal is None or run.nonconvex:
            return False
        point = reply.x if isinstance(reply, Incumbent) else reply.point
        return accuracy.allows(self.bound(point, reply.normal, reply.scale), reply)

    def wants_confirmation(self, run: Run, reply: Reply) -> bool:
        """Say whether a learned dual certifies the point, which an exact projection has to confirm.

        A confirmation that failed is tried again once the dual's certificate has halved.
        """
        if not isinstance(reply, Measured) or not reply.complete or reply.gradient is not None:
            return False
        return reply.certificate < 0.5 * run.unconfirmed and self.accuracy_of(run).is_met(reply)

    def _is_at_floor(self, run: Run) -> bool:
        """Say whether neither F nor its slope came lower for long, and the slope is no more than rounding."""
        best, idle = run.best, run.progress.looks - run.progress.last
        if best is None or idle < FLOOR_LOOKS:
            return False
        slope, size = math.sqrt(best.certificate), best.scale
        size += 0.0 if run.reference is None else run.reference.slope
        bend = known_smoothness(self.constants) * norm(best.x)  # of x, which is rounded too
        if slope <= FLOOR_SLOPE * ROUNDING * (size + bend):
            return True
        return slope <= SINGLE_SLOPE * size and idle >= max(SINGLE_LOOKS, run.progress.last)

    def _is_exhausted(self, run: Run) -> bool:
        return run.still >= STILL_STAGES or self.algorithm.exhausted(run.state)

    def _falls_for_ever(self, run: Run, reply: Measured) -> bool:
        """Say whether F has no minimum."""
        if run.first is None or not falls_for_ever(reply, run.first, run.lowest):
            return False
        return self._plain(run).convexity == 0

    def _suspicion(self, run: Run) -> str:
        """Say what a method that came to its end far out may have met."""
        best, accuracy = run.best, self.accuracy_of(run)
        if accuracy.convexity > 0 or best is None or accuracy.is_met(best) or not is_far(best.x):
            return ""
        return f"; ||x|| = {norm(best.x):.2g}, so F may be unbounded below on the constraint"


def _bend_of(point: Measured | Incumbent) -> Bend | None:
    return point.bend if isinstance(point, Incumbent) else bend_at(point)


def _is_finite(point: Measured | Incumbent) -> bool:
    return math.isfinite(point.value) and math.isfinite(point.certificate)


def has_diverged(reply: Reply, first: float | None) -> bool:
    """Say whether a reply shows a run out of control: not finite, or far above where it began."""
    if isinstance(reply, Arrived):
        return not np.isfinite(reply.end).all()
    if not (math.isfinite(reply.value) and math.isfinite(reply.certificate)):
        return True
    return first is not None and reply.value > first + 1e3 * max(1.0, abs(first))


def falls_for_ever(reply: Measured, first: float, lowest: float) -> bool:
    """Say whether F is far below where it began, and more than rounding below its lowest value, far out."""
    if not math.isfinite(reply.value) or reply.value > first - 1e3 * max(1.0, abs(first)):
        return False
    return reply.value < 2.0 * min(lowest, 0.0) and is_far(reply.point)


def is_far(x: Array) -> bool:
    """Say whether x is so long that F may have led it on and on."""
    return norm(x) >= FAR_NORM


def _fall(reply: Measured) -> str:
    """Say that there is nothing to find."""
    return (
        f": F is unbounded below on the constraint (F = {reply.value:.2g} at ||x|| = "
        f"{norm(reply.point):.2g}); add equations, or a quadratic term such as l2"
    )
