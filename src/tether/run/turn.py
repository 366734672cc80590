"""A run under way: the conversation between one method and one engine, turn by turn."""

import logging
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.engines.base import Engine, MemoryLost
from tether.methods import Algorithm
from tether.problem import Facts, Problem
from tether.requests import Gradient, Measured, Reply, Request
from tether.run.keeper import Identity
from tether.run.solution import Counts
from tether.run.verdict import Incumbent, better, lowest_value

log = logging.getLogger("tether")


class Run(NamedTuple):
    """Everything that changes during a run; a checkpoint is this, written down."""

    state: Any
    memory: Any  # of the workers in this process
    counts: Counts
    seconds: float
    first: float | None = None  # F where it was first measured
    checked: int = 0  # component gradients spent when F was last measured
    checked_point: Array | None = None
    best: Incumbent | None = None
    lowest: float = -np.inf  # F, by all that was measured, if it has a minimum


@dataclass(frozen=True)
class Session:
    """A problem, an engine and a method with all settings filled."""

    problem: Problem
    engine: Engine
    method: Algorithm[Any]
    facts: Facts

    def begin(self, x0: Array, warm: bool = False) -> Run:
        """Project the starting point and start the method there."""
        state = self.method.start(self.engine.project(self.problem, x0))
        counts = Counts(rounds=1, projections=1)
        return Run(self.method.warm(state) if warm else state, self.engine.blank(self.problem), counts, 0.0)

    def turn(self, run: Run) -> tuple[Run, Reply]:
        """Ask, exchange, tell: one request further."""
        began = time.perf_counter()
        request, audit = self._next_request(run)
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                reply, memory = self.engine.exchange(self.problem, request, run.memory)
            except MemoryLost as loss:
                log.warning("%s; %s starts anew from its last point.", loss, self.method.name)
                return self.turn(self._anew(run))
            if not audit:
                run = run._replace(state=self.method.tell(run.state, reply), memory=memory)
        counts = run.counts.plus(reply.work, run.state.stage)
        spent = self.engine.lead(lambda: time.perf_counter() - began)
        run = run._replace(counts=counts, seconds=run.seconds + spent)
        return (self._note(run, reply) if isinstance(reply, Measured) else run), reply

    def measure(self, run: Run) -> tuple[Run, Measured]:
        """Measure F at the method's current estimate, outside the conversation."""
        began = time.perf_counter()
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                reply, _ = self.engine.exchange(self.problem, self.method.inspect(run.state), run.memory)
            except MemoryLost:  # the point can be measured without
                reply = self._fresh(Gradient(self.method.estimate(run.state)))
        assert isinstance(reply, Measured)
        seconds = run.seconds + self.engine.lead(lambda: time.perf_counter() - began)
        run = run._replace(counts=run.counts.plus(reply.work, run.counts.stages), seconds=seconds)
        return self._note(run, reply), reply

    def is_measured(self, run: Run) -> bool:
        """Say whether the method's current estimate is the point where F was last measured."""
        return _same(run.checked_point, self.method.estimate(run.state))

    def look(self, x: Array, known: Incumbent) -> Incumbent:
        """Return what is known of F at x, where a known point was moved to; measure if that was far."""
        moved = float(np.linalg.norm(x - known.x))
        if moved <= 1e-9 * (1.0 + float(np.linalg.norm(x))):
            return known._replace(x=x)
        reply = self._fresh(Gradient(x))
        return Incumbent(x, reply.value, reply.certificate, reply.scale, reply.normal)

    def identity(self) -> Identity:
        """Describe the run by its method and by what the problem looks like from one fixed point."""
        if self.engine.blind:
            facts = self.facts
            return Identity(repr(self.method), self.problem.seed, *_sizes(facts), 0.0, 0.0, 0.0)
        rng = np.random.default_rng(0)
        probe = 0.01 * rng.standard_normal(self.facts.dim)
        reply = self._fresh(Gradient(probe))
        moved = float(np.linalg.norm(self.engine.project(self.problem, probe)))
        facts, seed = self.facts, self.problem.seed
        return Identity(repr(self.method), seed, *_sizes(facts), reply.value, reply.scale, moved)

    def packed(self, run: Run) -> Run:
        """Return a run as it goes into a checkpoint, with the memory of all workers."""
        return run._replace(memory=self.engine.collect(run.memory))

    def unpacked(self, run: Run) -> Run:
        """Return a run from a checkpoint with the memory that belongs here."""
        return run._replace(memory=self.engine.hand_out(run.memory))

    def _anew(self, run: Run) -> Run:
        """Start the method again where it got: a worker that forgot its dual would spoil the sum of all."""
        x = self.engine.project(self.problem, self.method.estimate(run.state))
        state = self.method.warm(self.method.start(x))
        return run._replace(state=state, memory=self.engine.blank(self.problem))

    def _fresh(self, request: Gradient) -> Measured:
        """Measure as if nobody had worked before."""
        reply, _ = self.engine.exchange(self.problem, request, self.engine.blank(self.problem))
        assert isinstance(reply, Measured)
        return reply

    def _next_request(self, run: Run) -> tuple[Request, bool]:
        """Return what the method asks, or an audit: at the start, and if a pass went by and nobody saw F."""
        request = self.method.ask(run.state)
        if self.engine.blind:
            return request, False
        due = run.first is None or run.counts.gradients - run.checked >= self.facts.n_samples
        if not due or isinstance(request, Gradient):
            return request, False
        return (request, False) if self.is_measured(run) else (self.method.inspect(run.state), True)

    def _note(self, run: Run, reply: Measured) -> Run:
        """Remember what was measured, and the best point of all."""
        finite = np.isfinite(reply.value) and np.isfinite(reply.certificate) and reply.complete
        return run._replace(
            first=reply.value if run.first is None else run.first,
            checked=run.counts.gradients,
            checked_point=reply.point,
            best=better(Incumbent.at(reply), run.best) if finite else run.best,
            lowest=max(run.lowest, lowest_value(reply, self.facts.smoothness)) if finite else run.lowest,
        )


def _sizes(facts: Facts) -> tuple[int, int, int]:
    return facts.n_samples, facts.dim, facts.n_workers


def _same(one: Array | None, other: Array) -> bool:
    return one is not None and (one is other or np.array_equal(one, other))
