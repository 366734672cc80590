"""The end of a run: its best point, measured exactly in the user's own problem, becomes a `Solution`."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array, norm
from tether.feasible import Active, Multipliers
from tether.methods import Algorithm
from tether.objectives import Objective
from tether.polyhedral import Duals
from tether.problem import Problem
from tether.requests import Gradient, Measured
from tether.run.history import Row
from tether.run.recession import Trail, falls_on
from tether.run.record import Record
from tether.run.seen import Bend, Incumbent, Reference
from tether.run.solution import Solution, Status
from tether.run.statement import Statement
from tether.run.turn import Conversation, Run
from tether.run.verdict import Accuracy, Judge
from tether.shortcuts import Way

SAME_VALUE = 1e-12  # relative difference of F that rounding may make
RESIDUAL_LIMIT = 1e-12  # of 1 + ||x||: a larger residual is projected away once more
NO_GAP = 1e-13  # of the size of F: a smaller bound need not be improved

NO_MINIMUM = (
    "F has no minimum on the constraint: it falls for ever along a direction (the data may be separable); "
    "add l2 or equations"
)

UNBOUNDED = "F is unbounded below on the constraint, along `ray`; add bounds, or a quadratic term such as l2"
SEEMS_UNBOUNDED = NO_MINIMUM.replace("has no minimum", "seems to have no minimum")

#: After these the last estimate need not be measured if there is a best point.
SETTLED_ENDINGS = (Status.CONVERGED, Status.DIVERGED, Status.INTERRUPTED)


class Ending(NamedTuple):
    """Why a run is over."""

    status: Status
    detail: str = ""
    ray: Array | None = None  # a direction along which F falls for ever


@dataclass(frozen=True)
class Closing:
    """What it takes to answer: the conversation, the way back to the user's problem, and the rules."""

    conversation: Conversation
    way: Way
    judge: Judge
    record: Record
    statement: Statement | None = None

    def solution(self, run: Run, ending: Ending) -> Solution:
        """Measure what has to be measured and answer with the best point."""
        rows: list[Row] = []
        run = self._with_estimate(run, ending.status, rows)
        best = run.best
        if best is None and self.conversation.sees:
            raise ValueError(
                "F is not finite at the projection of x0, or of 0 where none was given; choose an x0 that "
                "satisfies the equations inside the domain of F, or rescale the data."
            )
        if best is None:
            nan = math.nan
            best = Incumbent(self.way.lift(self.conversation.estimate(run)), nan, nan, nan, None)
            residual = self.way.original.residual(best.x)
        else:
            run, best, residual = self._exact(run, best, rows)
            run, ending = self._receding(run, best, ending, rows)
            run = self._referred(run, best)
        return self._answer(run, best, ending, rows, residual)

    def _with_estimate(self, run: Run, status: Status, rows: list[Row]) -> Run:
        """Measure the last estimate if nobody has and it may be better."""
        if not self.conversation.sees or self.conversation.is_measured(run):
            return run
        if run.best is not None and status in SETTLED_ENDINGS:
            return run
        run, reply = self.conversation.measure(run, self.conversation.estimate(run))
        rows.append(self.record.row(run, reply, self.judge.gap(run, reply)))
        return run

    def _exact(self, run: Run, best: Incumbent, rows: list[Row]) -> tuple[Run, Incumbent, float]:
        """Return the best point in the user's variables, certified by projection, and its residual."""
        problem, x = self.way.original, self.way.lift(best.x)
        residual = problem.residual(x)
        if residual > RESIDUAL_LIMIT * (1.0 + norm(x)) and not self.way.exact:
            x = self.conversation.engine.project(problem, x)
            residual = problem.residual(x)
        if best.exact and np.array_equal(x, best.x) and problem is self.conversation.problem:
            return run, best, residual
        if problem is self.conversation.problem:
            run, reply = self.conversation.measure(run, x)
        else:
            engine = self.conversation.engine
            answer, _ = engine.exchange(problem, Gradient(x, hold=best.hold), engine.blank(problem))
            assert isinstance(answer, Measured)
            reply = answer
            run = run._replace(counts=run.counts.plus_audit(reply.work))
        found = Incumbent.at(reply)
        if abs(found.value - best.value) <= SAME_VALUE * self.way.coarseness * abs(best.value):
            run, bend = self._carried(run, best, found.value)
            found = found._replace(bend=bend)  # in which coordinates it was seen makes no difference
        row = self.record.row(run, reply, self._accuracy(run).gap(found))
        rows.append(row._replace(residual=residual))
        return run, found if reply.complete else found._replace(certificate=math.nan), residual

    def _carried(self, run: Run, best: Incumbent, value: float) -> tuple[Run, Bend | None]:
        """Return what the run's second derivatives say of the user's F, which has this value.

        Where the user's products are coarser than those of the run, so is what the gradient there says.
        """
        mu, coarse = self.conversation.facts.smoothness.convexity, self.way.coarseness > 1.0
        bend = Bend.by_convexity(best.certificate, mu) if best.bend is None and coarse and mu else best.bend
        if bend is None:
            return run, None
        hidden, work = self.way.hidden(best.x)
        risen = max(0.0, value - best.value)
        return run._replace(counts=run.counts.plus_audit(work)), bend._replace(hidden=hidden + risen)

    def _referred(self, run: Run, best: Incumbent) -> Run:
        """Measure F at the origin, if only that can tell whether a solution is accurate for its size."""
        if not self.way.exact:
            return run
        accuracy = self._accuracy(run)
        if accuracy.allows(self._gap(run, best, accuracy), best):
            return run
        origin = self.conversation.engine.project(self.conversation.problem, np.zeros(len(best.x)))
        reply = self.conversation.look(run, origin)
        counts = run.counts.plus_audit(reply.work)
        return run._replace(counts=counts, reference=Reference.at(reply))

    def _receding(self, run: Run, best: Incumbent, ending: Ending, rows: list[Row]) -> tuple[Run, Ending]:
        """Say of an accurate point, or of one that is as accurate as can be, that F has no minimum."""
        if self.way.ray is not None:
            return run, Ending(Status.DIVERGED, UNBOUNDED, self.way.ray)
        if run.trail is None or run.nonconvex or run.best is None:
            return run, ending
        over = ending.status is Status.EXHAUSTED or self._accuracy(run).is_met(best)
        if ending.status is Status.DIVERGED or not over:
            return run, ending
        if math.isfinite(self._accuracy(run)._replace(floor=-math.inf).gap(best)):
            return run, ending  # curvature shows a minimum
        direction = self._direction_of_fall(run.best.x, run.trail)
        if direction is not None:
            return run, Ending(Status.DIVERGED, NO_MINIMUM, direction)
        run, falls = self._followed(run, run.best.x, run.trail, rows)
        return run, Ending(Status.DIVERGED, SEEMS_UNBOUNDED) if falls else ending

    def _direction_of_fall(self, x: Array, trail: Trail) -> Array | None:
        """Return a direction along which F falls for ever, from the data, where it is here."""
        problem, region = self.conversation.problem, self.conversation.problem.region
        if not self.conversation.engine.local or problem.constraint.equations is None:
            return None
        if region is not None and region.polyhedral.coordinates.holds:
            return None
        rows = problem.constraint.equations[0] if region is None else region.held_rows(x)
        d = problem.objective.direction_of_fall(x, x - trail.points[0], rows)
        return d if d is None or region is None or region.recedes(d) else None

    def _followed(self, run: Run, x: Array, trail: Trail, rows: list[Row]) -> tuple[Run, bool]:
        """Look where a run was going, and say whether F falls there for ever."""
        looks: list[Measured] = []

        def look(at: Array) -> Measured:
            looks.append(self.conversation.look(run, at))
            return looks[-1]

        falls = trail.leads_on and falls_on(x, x - trail.points[0], look)
        for reply in looks:  # at points that nobody may take for answers
            run = run._replace(counts=run.counts.plus_audit(reply.work))
            rows.append(self.record.row(run, reply, math.nan)._replace(value=math.nan))
        return run, falls

    def _answer(
        self, run: Run, best: Incumbent, ending: Ending, rows: list[Row], residual: float
    ) -> Solution:
        accuracy, problem = self._accuracy(run), self.way.original
        gap = self._gap(run, best, accuracy)
        status = _judged(ending.status, accuracy.is_met(best) or accuracy.allows(gap, best))
        detail = ending.detail if status is ending.status else ""
        algorithm = self.conversation.algorithm
        words = "" if detail in (NO_MINIMUM, SEEMS_UNBOUNDED, UNBOUNDED) else status.message
        if status is Status.CONVERGED and math.isnan(gap):
            words = "the projected gradient is within tolerance"
        if status is Status.EXHAUSTED:
            words += accuracy.shortfall(best, gap)
        edge = "" if status is Status.CONVERGED else _edge(self.way.original.objective, best)
        doubt = self._doubt(run)
        remarks = [words + detail, edge, algorithm.describe(run.state), self.way.note, doubt]
        multipliers = _multipliers(problem, best)
        return Solution(
            x=best.x,
            fun=best.value,
            gap=None if math.isnan(gap) else gap,
            residual=residual,
            multipliers=multipliers,
            active=_active(problem, best, multipliers),
            ray=None if ending.ray is None else self.way.lift(ending.ray) - self.way.lift(0.0 * ending.ray),
            status=status,
            message="; ".join(filter(None, remarks)),
            counts=run.counts,
            history=self.record.history(*rows),
            seconds=run.seconds,
            method=repr(algorithm),
            solver=_solver(self.way, algorithm, run),
            problem=self.statement,
            decisions=run.decisions,
            doubt=doubt,
        )

    def _gap(self, run: Run, best: Incumbent, accuracy: Accuracy) -> float:
        """Return the bound on the gap: the way's own where it has one, as its mu may come from probes."""
        plain = accuracy.gap(best)
        negligible = plain <= NO_GAP * accuracy.size(best) and accuracy.allows(plain, best)
        if best.normal is None or run.nonconvex or negligible:
            return plain
        own = self.way.gap(best.x, best.normal, best.scale)
        return plain if math.isnan(own) else own

    def _doubt(self, run: Run) -> str:
        """Say why there is no certificate though there should be one."""
        seen = self.way.original.objective.nonconvexity
        if seen:
            return f"F is not convex ({seen}), so that x is at best stationary and no gap can be certified"
        if run.nonconvex:
            return f"F is not as convex as it says ({run.nonconvex}), so that no gap can be certified"
        return ""

    def _accuracy(self, run: Run) -> Accuracy:
        """Return what is good enough in the user's variables."""
        convexity = 0.0 if run.nonconvex else self.way.convexity(self.conversation.facts)
        origin = self.conversation.origin
        lifted = None if origin is None else lambda: self.way.lift(origin())
        reference = run.reference
        if reference is not None and reference.point is not None:
            reference = reference._replace(point=self.way.lift(reference.point))
        floor = -math.inf if run.nonconvex else self.conversation.facts.floor
        return Accuracy(self.way.asked, convexity, reference, lifted, floor)


def _solver(way: Way, algorithm: Algorithm[Any], run: Run) -> str:
    """Return what solved the problem, in words: one thing after the other."""
    before, last = [decision.words for decision in run.decisions[:-1]], algorithm.account(run.state)
    if way.direct and way.choice is not None:
        before, last = [way.choice.words], last if run.state.stage else ""
    return ", then ".join(filter(None, [*before, last]))


def _multipliers(problem: Problem, best: Incumbent) -> Array | Multipliers | None:
    """Return the multipliers of the equations, or of everything by name where there is more."""
    if best.normal is None:
        return None
    feasible, hold = problem.feasible, best.hold
    if feasible is None or feasible.plain:
        return problem.constraint.multipliers(best.normal)
    return feasible.multipliers(best.normal, None if hold is None else Duals(hold.coordinates, hold.rows))


def _active(problem: Problem, best: Incumbent, multipliers: Array | Multipliers | None) -> Active | None:
    """Return what holds with equality; None with equations only."""
    if problem.feasible is None or not isinstance(multipliers, Multipliers):
        return None
    return problem.feasible.active(best.x, multipliers)


def _edge(objective: Objective, best: Incumbent) -> str:
    """Say where a run came to the edge of the domain of F, beyond which no line search goes."""
    found = objective.edge(best.x)
    return f"{found}, which is no constraint: what F has beyond it cannot be found" if found else ""


def _judged(status: Status, accurate: bool) -> Status:
    """Return why the run stopped, now that x was measured exactly."""
    if accurate and status is not Status.DIVERGED:
        return Status.CONVERGED
    return Status.EXHAUSTED if status is Status.CONVERGED else status
