"""One turn of the conversation between a method and an engine: ask, exchange, tell."""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array, same
from tether.engines.base import Engine, MemoryLost
from tether.lazy import lazy
from tether.methods import Algorithm
from tether.needs import Need
from tether.problem import Facts, Problem
from tether.requests import Descend, Gradient, Hold, Measured, Reply, Request, price_of
from tether.run.history import Counts, Decision
from tether.run.recession import Trail
from tether.run.seen import (
    Incumbent,
    Progress,
    Reference,
    Tangent,
    better,
    contradiction,
    lowest_value,
    tangent_at,
)

log = logging.getLogger("tether")


class Run(NamedTuple):
    """Everything that changes during a run; a checkpoint is this, written down."""

    state: Any  # the method's
    memory: Any  # of the workers in this process
    counts: Counts
    seconds: float = 0.0
    first: float | None = None  # F where it was first measured
    audited: int = 0  # component gradients spent when F was last measured
    measured: Array | None = None  # where F was last measured
    best: Incumbent | None = None
    reference: Reference | None = None  # what accuracies are relative to
    progress: Progress = Progress()
    trail: Trail | None = None  # of points where F may fall for ever; None where it cannot
    lowest: float = -math.inf  # F, by all that was measured, if it has a minimum
    stage_end: Array | None = None  # the estimate after the last stage
    still: int = 0  # stages in succession that did not move it
    confirm: Array | None = None  # a point that a learned dual certifies, to be measured exactly
    unconfirmed: float = math.inf  # the dual's certificate when such a measurement last disagreed
    tangent: Tangent | None = None  # the last exact measurement, for what two of them say of convexity
    nonconvex: str = ""  # how F was seen not to be as convex as it says
    hold: Hold | None = None  # what was found to hold points, beyond equations
    requests: int = 0  # answered so far
    decisions: tuple[Decision, ...] = ()  # what was chosen to run, and when


class Question(NamedTuple):
    """What is asked next."""

    request: Request
    audit: bool = False  # to look at F; the method does not hear the answer
    cut_by: str = ""  # the name of the budget that cut it short: the run ends with it


@dataclass(frozen=True)
class Conversation:
    """One method and one engine that talk about one problem."""

    problem: Problem
    engine: Engine
    algorithm: Algorithm[Any]
    facts: Facts
    audit: float | None  # passes after which F is looked at if the method did not; None: never
    origin: Callable[[], Array] | None = None  # where it would have begun without x0; None: it did
    refers: bool = False  # F is measured at the origin first

    @property
    def sees(self) -> bool:
        """Whether F can be measured at all."""
        return Need.GRADIENTS not in self.engine.lacks

    def begin(self, x0: Array, warm: bool) -> Run:
        """Project the starting point and start the method there."""
        state = self.algorithm.start(self.engine.project(self.problem, x0))
        state = self.algorithm.warm(state) if warm else state
        return self._decided(Run(state, self.engine.blank(self.problem), Counts(rounds=1, projections=1)))

    def estimate(self, run: Run) -> Array:
        """Return the point that the method would answer with now."""
        return self.algorithm.estimate(run.state)

    def next_question(self, run: Run) -> Question:
        """Return what the method asks; before that an audit, if one is due or a point is to be confirmed."""
        if self.refers and self.origin is not None and run.reference is None and self.sees:
            return Question(Gradient(self.origin()), audit=True)
        if run.confirm is not None:
            return Question(Gradient(run.confirm, hold=run.hold), audit=True)
        request = self.algorithm.ask(run.state)
        if isinstance(request, Gradient) or not self._audit_is_due(run):
            return Question(request)
        return Question(self.algorithm.inspect(run.state), audit=True)

    def turn(self, run: Run, question: Question) -> tuple[Run, Reply]:
        """Exchange a question for its answer: one request further."""
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                reply, memory = self.engine.exchange(self.problem, question.request, run.memory)
            except MemoryLost as loss:
                log.warning("%s; %s starts anew from its last point.", loss, self.algorithm.name)
                run = self._anew(run)
                return self.turn(run, self.next_question(run))
            if question.audit:
                run = run._replace(counts=run.counts.plus_audit(reply.work), requests=run.requests + 1)
            else:
                run = self._told(run, reply, memory)
            if reply.hold is not None:
                run = run._replace(hold=reply.hold)
        run = self._decided(run)
        return (self.noted(run, reply) if isinstance(reply, Measured) else run), reply

    def rehearse(self, run: Run, walk: Descend, steps: int) -> int:
        """Take a few steps of a walk and forget them; return the component gradients that they cost."""
        with np.errstate(over="ignore", invalid="ignore"):
            reply, _ = self.engine.exchange(self.problem, walk._replace(steps=steps), run.memory)
        return reply.work.gradients

    def measure(self, run: Run, x: Array) -> tuple[Run, Measured]:
        """Measure F at a point exactly, outside the conversation."""
        reply = self.look(run, x)
        return self.noted(run._replace(counts=run.counts.plus_audit(reply.work)), reply), reply

    def look(self, run: Run, x: Array) -> Measured:
        """Return F and its projected gradient at a point, which the run forgets."""
        request = Gradient(x, hold=run.hold)
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                reply, _ = self.engine.exchange(self.problem, request, run.memory)
            except MemoryLost:  # the point can be measured without
                blank = self.engine.blank(self.problem)
                reply, _ = self.engine.exchange(self.problem, request, blank)
        assert isinstance(reply, Measured)
        return reply

    def is_measured(self, run: Run) -> bool:
        """Say whether the method's current estimate is the point where F was last measured."""
        return same(run.measured, self.estimate(run))

    def packed(self, run: Run) -> Run:
        """Return a run as it goes into a checkpoint, with the memory of all workers."""
        return run._replace(memory=self.engine.collect(run.memory))

    def unpacked(self, run: Run) -> Run:
        """Return a run from a checkpoint with the memory that belongs here."""
        return run._replace(memory=self.engine.hand_out(run.memory))

    def noted(self, run: Run, reply: Measured) -> Run:
        """Remember what was measured, and the best point of all."""
        refers = self._is_reference(run, reply)
        aside = refers and self.refers  # no point of the run
        seen: dict[str, Any] = {
            "reference": Reference.at(reply) if refers else run.reference,
            "first": reply.value if run.first is None and not aside else run.first,
            "audited": run.counts.gradients,
            "measured": reply.point,
            "confirm": None if same(run.confirm, reply.point) else run.confirm,
        }
        if not (reply.complete and math.isfinite(reply.value) and math.isfinite(reply.certificate)):
            return run._replace(**seen)
        seen["best"] = better(Incumbent.at(reply), run.best)
        if aside:
            return run._replace(**seen)
        run = run._replace(
            **seen,
            progress=run.progress.after(reply),
            trail=Trail.after(run.trail, reply) if self._may_recede else None,
            lowest=max(run.lowest, self._lowest_value(reply)),
        )
        return run if self.facts.proven_convex or run.nonconvex else self._probed(run, reply)

    def _lowest_value(self, reply: Measured) -> float:
        """Return the lowest F that a measured point allows; where F is nowhere below a floor, that."""
        floor = self.facts.floor
        return floor if math.isfinite(floor) else lowest_value(reply, self.facts.smoothness)

    @lazy
    def _may_recede(self) -> bool:
        """Whether F may fall for ever, as far as its constants go."""
        return self.facts.smoothness.convexity == 0

    def _is_reference(self, run: Run, reply: Measured) -> bool:
        """Say whether this is the first look at F, where the run began or would have begun."""
        if run.reference is not None:
            return False
        if self.refers and self.origin is not None:
            return same(self.origin(), reply.point)
        return self.origin is None or self.facts.smoothness.convexity == 0

    def _told(self, run: Run, reply: Reply, memory: Any) -> Run:
        """Have the method hear the answer; notice where its stages no longer move the estimate."""
        state = self.algorithm.tell(run.state, reply)
        here, still = run.stage_end, run.still
        if state.stage != run.state.stage:
            here = self.algorithm.estimate(state)
            stays = same(run.stage_end, here) and self.algorithm.settled(state)
            still = run.still + 1 if stays else 0
        return run._replace(
            state=state,
            memory=memory,
            counts=run.counts.plus(reply.work, state.stage),
            requests=run.requests + 1,
            stage_end=here,
            still=still,
        )

    def _decided(self, run: Run) -> Run:
        """Write down what was chosen to run next, if that is something else than before."""
        chosen, before = self.algorithm.choice(run.state), run.decisions
        if chosen is None or (before and before[-1][2:] == chosen):
            return run
        passes = run.counts.gradients / self.facts.n_samples
        return run._replace(decisions=(*before, Decision(run.requests, passes, *chosen)))

    def _probed(self, run: Run, reply: Measured) -> Run:
        """Compare F here and where it was measured before with what a convex function allows."""
        here, before, mu = tangent_at(reply), run.tangent, self.facts.smoothness.convexity
        if here is None:
            return run
        if before is None:
            return run._replace(tangent=here)
        here = here._replace(scale=max(here.scale, before.scale))  # single precision errs by a share of that
        found = contradiction(before, here, mu) or contradiction(here, before, mu)
        return run._replace(tangent=here, nonconvex=found)

    def _audit_is_due(self, run: Run) -> bool:
        """Say whether enough passes went by in which nobody saw F."""
        if self.audit is None or not self.sees or self.is_measured(run):
            return False
        since = run.counts.gradients - run.audited
        return run.first is None or since >= self.audit * self.facts.n_samples

    def _anew(self, run: Run) -> Run:
        """Start the method again where it got: a worker that forgot its dual would spoil the sum of all."""
        x = self.engine.project(self.problem, self.estimate(run))
        state = self.algorithm.start(x, clock=self.algorithm.clock(run.state))
        memory = self.engine.blank(self.problem)
        return run._replace(state=self.algorithm.warm(state), memory=memory, confirm=None)


def price_of_gradient(request: Gradient, facts: Facts) -> float:
    """Return the component gradients that a full gradient costs, with second derivatives taken there."""
    metric = request.metric
    if metric is None or not same(metric.point, request.point):
        return float(facts.n_samples)
    return facts.n_samples * (1.0 + metric.share * price_of(metric, facts.second_order))


def price_of_step(walk: Descend, facts: Facts) -> float:
    """Return the component gradients that a step of a walk costs all workers together."""
    each = facts.anchored_price if walk.anchor is not None else 1
    if walk.batch_size is None:
        return float(each * facts.n_samples)
    workers = max(1, round(walk.participation * facts.n_workers))
    return float(each * workers * walk.batch_size)
