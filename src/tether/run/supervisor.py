"""What goes on around the turns of a run: judging, recording, calling back, keeping, and its end."""

import math
import time
from dataclasses import dataclass, field
from functools import partial

from tether.engines.base import Engine
from tether.requests import Descend, Measured, Reply
from tether.run.budgets import Budgets, Clock
from tether.run.callback import CallbackError, Listener
from tether.run.closing import Closing, Ending
from tether.run.history import rows_of
from tether.run.keeper import Keeper, unkept
from tether.run.record import Record
from tether.run.seen import Incumbent
from tether.run.solution import Solution, Status
from tether.run.statement import Statement
from tether.run.turn import Conversation, Question, Run, price_of_step
from tether.run.verdict import Judge, Verdict
from tether.shortcuts import Way

REHEARSAL, REHEARSALS = 256, 3  # steps of a walk that is only timed, and how often at most
SAME_VALUE = 1e-6  # relative difference of F at the best point of a checkpoint that rounding may make


@dataclass(frozen=True)
class Bystander:
    """Lets a conversation go on for ever."""

    conversation: Conversation

    def next_question(self, run: Run) -> Question | None:
        """Return what is asked next."""
        return self.conversation.next_question(run)

    def note(self, run: Run, reply: Reply, question: Question) -> Run:
        """Leave the run as it is."""
        return run


@dataclass(kw_only=True)
class Supervisor:
    """Watches over a run until one agreed verdict ends it.

    In a job of several processes all of them have one; the leader's word counts, once a turn.
    """

    conversation: Conversation
    way: Way
    judge: Judge
    budgets: Budgets
    clock: Clock
    listener: Listener
    record: Record
    keeper: Keeper
    statement: Statement | None = None
    verdict: Verdict = field(default=Verdict(), init=False)
    kept: Run | None = field(default=None, init=False)  # what a checkpoint has to hold, and its rows
    rows_kept: int = field(default=0, init=False)
    asked: float = field(default=0.0, init=False)  # when the last question was asked

    @property
    def _engine(self) -> Engine:
        return self.conversation.engine

    def resume(self, run: Run) -> Run:
        """Go on from the checkpoint, if there is one, or begin."""
        if self.keeper.keeps:
            run = self._read(run)
        self.kept, self.rows_kept = run, len(self.record.rows)
        self.verdict = self._engine.agree(partial(self._opening, run), Verdict)
        return run._replace(seconds=self.verdict.seconds)

    def next_question(self, run: Run) -> Question | None:
        """Return what is asked next, cut to the budgets; None if the run is over."""
        if not self.verdict.goes_on:
            return None
        question = self.conversation.next_question(run)
        self._rehearse(run, question)
        fitting, status = self.budgets.fit(question, run, self.conversation.facts, self.verdict.affordable)
        if fitting is None and status is not None:
            self.verdict = self.verdict._replace(status=status.name)
        self.asked = time.perf_counter()
        return fitting

    def note(self, run: Run, reply: Reply, question: Question) -> Run:
        """Judge a turn, call back, write it down; all in one agreed verdict."""
        if isinstance(question.request, Descend):
            self.clock.saw(reply.work.gradients, time.perf_counter() - self.asked)
        gap = self.judge.gap(run, reply) if isinstance(reply, Measured) else math.nan
        self.verdict = self._engine.agree(partial(self._decision, run, reply, gap, question), Verdict)
        run = self._in_view_of(run, reply)
        facts = self.conversation.facts
        self.record.add(run, reply, gap, self.budgets.fraction(run.counts, run.seconds, facts))
        if not question.cut_by and not self.verdict.says(Status.DIVERGED):
            self.kept, self.rows_kept = run, len(self.record.rows)
        if self.verdict.save:
            self._write()
        return run

    def interrupt(self) -> None:
        """Take note of Ctrl-C."""
        if self.verdict.goes_on:
            self.verdict = self.verdict._replace(status=Status.INTERRUPTED.name)

    def keep(self) -> None:
        """Write the run down at its end, unless it diverged: it would only do so again."""
        if not self.verdict.says(Status.DIVERGED):
            self._write()

    def close(self, run: Run) -> Solution:
        """Return the answer; raise it inside an error if the callback raised."""
        ending = Ending(Status[self.verdict.status], self.verdict.detail)
        closing = Closing(self.conversation, self.way, self.judge, self.record, self.statement)
        if ending.status is Status.DIVERGED and run.best is None and self.kept is not None:
            run = self.kept._replace(counts=run.counts, seconds=run.seconds)  # where F was never looked at
        solution = closing.solution(run, ending)
        if not self.verdict.complaint:
            return solution
        raise CallbackError(
            f"callback raised {self.verdict.complaint} (after {run.counts.rounds} rounds); "
            "the run so far is in this error's `solution`, which solve takes as x0.",
            solution,
        ) from self.listener.error

    def _read(self, run: Run) -> Run:
        """Return the run on disk with its rows, or the given one."""
        packed = self.conversation.packed(run)
        kept = self._engine.agree(partial(self.keeper.read, packed), unkept(packed))
        if not kept.found:
            return run
        self.record.rows = rows_of(kept.table, kept.reports)
        self.clock.earlier = kept.run.seconds
        return self._remeasured(self.conversation.unpacked(kept.run))

    def _opening(self, run: Run) -> Verdict:
        """Say whether there is anything to do at all."""
        seconds = self.clock.seconds()
        spent = self.budgets.spent(run.counts, seconds, self.conversation.facts)
        status = self.judge.before(run) or spent
        return Verdict("" if status is None else status.name, seconds=seconds)

    def _decision(self, run: Run, reply: Reply, gap: float, question: Question) -> Verdict:
        """Judge, then hear the user."""
        begun = run.first is not None or not isinstance(reply, Measured)  # else it was a look at the origin
        status, detail = self.judge.after(run, reply, gap) if begun else (None, "")
        confirm = status is None and self.judge.wants_confirmation(run, reply)
        seconds = self.clock.seconds()
        if status is None and not confirm:
            status = self.budgets.spent(run.counts, seconds, self.conversation.facts)
        if status is None and question.cut_by:
            status = Status[question.cut_by]
        said = self._hear(run, seconds)
        status = status or said
        return Verdict(
            status="" if status is None else status.name,
            detail=detail,
            seconds=self.clock.seconds(),
            affordable=self.clock.affordable(self.budgets.max_seconds),
            confirm=confirm,
            save=self.keeper.is_due(),
            complaint=self.listener.complaint,
        )

    def _hear(self, run: Run, seconds: float) -> Status | None:
        best = run.best
        if self.listener.callback is None:
            return None
        if best is None:
            x, value, gap = self.conversation.estimate(run), math.nan, math.nan
        else:
            x, value, gap = best.x, best.value, self.judge.gap(run, best)
        return self.listener.hear(self.way.lift(x), value, gap, run.counts, seconds)

    def _in_view_of(self, run: Run, reply: Reply) -> Run:
        """Answer with a point that is certified; have one confirmed that a learned dual certifies."""
        seconds = self.verdict.seconds
        if self.verdict.says(Status.CONVERGED) and isinstance(reply, Measured):
            return run._replace(seconds=seconds, best=Incumbent.at(reply))  # a lower point may lack that
        if self.verdict.confirm and isinstance(reply, Measured):
            return run._replace(seconds=seconds, confirm=reply.point, unconfirmed=reply.certificate)
        return run._replace(seconds=seconds)

    def _rehearse(self, run: Run, question: Question) -> None:
        """Time a few steps if there is a limit on time and the first walk is about to begin."""
        walk = question.request
        if self.budgets.max_seconds is None or self.clock.pace or not self._engine.rehearses:
            return
        if not isinstance(walk, Descend):
            return
        self.conversation.rehearse(run, walk, 1)  # compiles what has to be compiled
        for _ in range(REHEARSALS):  # a busy machine may be slow once: only what is slow again counts
            self.clock.heard(*self._pace_of(run, walk))
            self.verdict = self._engine.agree(self._with_pace, Verdict)
            price = price_of_step(walk, self.conversation.facts) * walk.steps
            if self.verdict.affordable >= min(price, REHEARSALS * REHEARSAL):
                break

    def _pace_of(self, run: Run, walk: Descend) -> tuple[int, float]:
        """Return component gradients of a few steps and their seconds, without what every walk costs."""
        few, many = (self._timed(run, walk, steps) for steps in (1, min(walk.steps, REHEARSAL)))
        if walk.batch_size is not None and many[0] > few[0]:
            return many[0] - few[0], max(0.0, many[1] - few[1])
        return many

    def _timed(self, run: Run, walk: Descend, steps: int) -> tuple[int, float]:
        """Return the component gradients and the seconds of a walk that is thrown away."""
        began = time.perf_counter()
        return self.conversation.rehearse(run, walk, steps), time.perf_counter() - began

    def _with_pace(self) -> Verdict:
        return self.verdict._replace(affordable=self.clock.affordable(self.budgets.max_seconds))

    def _remeasured(self, run: Run) -> Run:
        """Measure the best point of a checkpoint again before it is believed."""
        before = run.best
        if before is None or not self.conversation.sees:
            return run
        _, reply = self.conversation.measure(run, before.x)
        size = max(abs(before.value), 0.0 if run.reference is None else run.reference.size)
        if abs(reply.value - before.value) > SAME_VALUE * size:
            raise ValueError(
                f"the checkpoint belongs to other data: F = {before.value:.9g} there and {reply.value:.9g} "
                "here at its best point; delete it or choose another path."
            )
        if before.exact and reply.complete:
            return run._replace(best=before._replace(value=reply.value, certificate=reply.certificate))
        return run

    def _write(self) -> None:
        if self.kept is None or not self.keeper.keeps:
            return
        packed = self.conversation.packed(self.kept)
        if self._engine.leads:
            self.keeper.write(packed, self.record.rows[: self.rows_kept])
