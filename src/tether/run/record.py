"""The record of a run: watch the conversation, decide when it is over, close it into a `Solution`."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from tether.requests import Measured, Reply
from tether.run import keeper as storage
from tether.run.progress import Reporter
from tether.run.solution import Counts, History, Row, Solution, Status
from tether.run.turn import Run, Session
from tether.run.verdict import Incumbent, Stopping, falls_for_ever, has_diverged, is_far

log = logging.getLogger("tether")
Callback = Callable[[OptimizeResult], Any]


class CallbackError(RuntimeError):
    """A callback raised; ``solution`` holds the run as it was."""

    def __init__(self, message: str, solution: Solution) -> None:
        super().__init__(message)
        self.solution = solution


@dataclass
class Logbook:
    """Keeps a run's record while it goes, and closes it into a `Solution`."""

    session: Session
    stopping: Stopping
    reporter: Reporter
    callback: Callback | None
    rows: list[Row] = field(default_factory=list)
    finish: Callable[[Solution], Solution] = lambda solution: solution  # before it is reported

    def write(self, run: Run, path: Path | None) -> Solution:
        """Take turns until something stops the run."""
        self.reporter.begin(_name(self.session.method))
        message = "the run ended with an error"
        try:
            keeper = None if path is None else Keeper(path, self.session)
            if keeper is not None:
                run, self.rows = self._resume(keeper, run)
            solution = self.finish(self._converse(run, keeper))
            message = solution.message
        finally:
            self.reporter.end(message)
        return solution

    def _converse(self, run: Run, keeper: "Keeper | None") -> Solution:
        lead = self.session.engine.lead
        status = lead(partial(self._already_over, run))
        detail = ""
        try:
            while status is None:
                run, reply = self.session.turn(run)
                self._record(run, reply)
                status, detail = lead(partial(self._judge, run, reply))
                if status is Status.CONVERGED and isinstance(reply, Measured):
                    run = run._replace(best=Incumbent.at(reply))  # a lower point may lack the certificate
                called = self._call_back(run)
                status = status or called
                if status is not Status.DIVERGED:
                    self._keep(keeper, run)
        except KeyboardInterrupt:
            status = status or Status.INTERRUPTED
        finally:
            if status is not Status.DIVERGED:
                self._keep(keeper, run, now=True)
        return self._close(run, status, detail)

    def _resume(self, keeper: "Keeper", run: Run) -> tuple[Run, list[Row]]:
        """Go on from the checkpoint, if there is one."""
        run, rows = self.session.engine.lead(partial(keeper.resume, self.session.packed(run)))
        return self.session.unpacked(run), rows

    def _keep(self, keeper: "Keeper | None", run: Run, now: bool = False) -> None:
        """Write a checkpoint if it is time."""
        engine = self.session.engine
        if keeper is None or not (now or engine.lead(keeper.is_due)):
            return
        packed = self.session.packed(run)
        if engine.leads:
            keeper.save(packed, self.rows)

    def _already_over(self, run: Run) -> Status | None:
        """Say whether a resumed run has nothing left to do."""
        if run.best is not None and self.stopping.is_accurate(run.best):
            return Status.CONVERGED
        if self.session.method.exhausted(run.state):
            return Status.EXHAUSTED
        return self.stopping.spent(run.counts, run.seconds)

    def _record(self, run: Run, reply: Reply) -> None:
        self.rows.append(self._row(run, reply))
        self.reporter.update(self.rows[-1], self.stopping.fraction(run.counts, run.seconds))

    def _row(self, run: Run, reply: Reply) -> Row:
        value = gap = np.nan
        if isinstance(reply, Measured):
            value, gap = reply.value, self.stopping.gap(reply)
        passes = run.counts.gradients / self.session.facts.n_samples
        return Row(*run.counts, passes, run.seconds, value, gap, reply.work.workers)

    def _judge(self, run: Run, reply: Reply) -> tuple[Status | None, str]:
        method = self.session.method
        if not method.recovers(run.state) and has_diverged(reply, run.first):
            return Status.DIVERGED, _advice(self.session, run.counts)
        if isinstance(reply, Measured) and reply.complete:
            if self.stopping.is_accurate(reply):
                return Status.CONVERGED, ""
            if self._falls_for_ever(run, reply):
                return Status.DIVERGED, _fall(reply)
        if method.exhausted(run.state):
            return Status.EXHAUSTED, self._suspicion(run)
        return self.stopping.spent(run.counts, run.seconds), ""

    def _falls_for_ever(self, run: Run, reply: Measured) -> bool:
        """Say whether F has no minimum."""
        if self.stopping.convexity > 0 or run.first is None:
            return False
        return falls_for_ever(reply, run.first, run.lowest)

    def _suspicion(self, run: Run) -> str:
        """Say what a method that came to its end far out may have met."""
        best = run.best
        if (
            self.stopping.convexity > 0
            or best is None
            or self.stopping.is_accurate(best)
            or not is_far(best.x)
        ):
            return ""
        return f"; ||x|| = {np.linalg.norm(best.x):.2g}, so F may be unbounded below on the constraint"

    def _call_back(self, run: Run) -> Status | None:
        """Have the leader call back; if that fails, all close the run together."""
        errors: list[Exception] = []
        called = self.session.engine.lead(partial(self._try_callback, run, errors))
        if not isinstance(called, str):
            return called
        solution = self._close(run, Status.CALLBACK, "")
        raise CallbackError(
            f"callback raised {called} (after {run.counts.rounds} rounds); "
            "the run so far is in this error's `solution`, which solve takes as x0.",
            solution,
        ) from next(iter(errors), None)

    def _try_callback(self, run: Run, errors: list[Exception]) -> Status | str | None:
        if self.callback is None:
            return None
        try:
            self.callback(self._intermediate(run))
        except StopIteration:
            return Status.CALLBACK
        except Exception as error:
            errors.append(error)
            return f"{type(error).__name__}: {error}"
        return None

    def _intermediate(self, run: Run) -> OptimizeResult:
        best = run.best
        fields: dict[str, Any] = {
            "x": np.array(self.session.method.estimate(run.state) if best is None else best.x),
            "fun": np.nan if best is None else best.value,
            "gap": np.nan if best is None else self.stopping.gap(best),
            "nit": run.counts.rounds,
            "counts": run.counts,
            "seconds": run.seconds,
        }
        return OptimizeResult(**fields)

    def _close(self, run: Run, status: Status, detail: str) -> Solution:
        """Measure the last estimate if nobody has, and answer with the best point."""
        rows = list(self.rows)  # a checkpoint goes on without what is measured here
        settled = status in (Status.CONVERGED, Status.DIVERGED, Status.INTERRUPTED)
        seeing = not self.session.engine.blind
        if seeing and not self.session.is_measured(run) and (run.best is None or not settled):
            run, reply = self.session.measure(run)
            rows.append(self._row(run, reply))
        best = run.best
        if best is None and self.session.engine.blind:
            best = Incumbent(self.session.method.estimate(run.state), np.nan, np.nan, np.nan, None)
        if best is None:
            raise ValueError(
                "F is not finite at the projection of x0; choose another x0 or rescale the data."
            )
        constraint = self.session.problem.constraint
        x, residual = best.x, constraint.residual(best.x)
        if seeing and residual > 1e-12 * (1.0 + float(np.linalg.norm(x))):
            x = self.session.engine.project(self.session.problem, x)
            best = self.session.look(x, best)
            residual = constraint.residual(x)
        if status is not Status.DIVERGED and self.stopping.is_accurate(best):
            status = Status.CONVERGED
        gap = self.stopping.gap(best)
        chosen = self.session.method.describe(run.state)
        return Solution(
            x=x,
            fun=best.value,
            gap=None if np.isnan(gap) else gap,
            residual=residual,
            multipliers=None if best.normal is None else constraint.multipliers(best.normal),
            status=status,
            message="; ".join(filter(None, [status.message + detail, chosen])),
            counts=run.counts,
            history=History(rows),
            seconds=run.seconds,
            method=repr(self.session.method),
        )


class Keeper:
    """Writes a run to its checkpoint, at most as often as the engine says."""

    def __init__(self, path: Path, session: Session) -> None:
        self._path, self._identity = path, session.identity()
        self._pause, self._saved = session.engine.save_every, time.monotonic()

    def resume(self, run: Run) -> tuple[Run, list[Row]]:
        """Return the run on disk and its history, or the given run if there is none."""
        if not self._path.exists():
            return run, []
        return storage.load(self._path, self._identity, run)

    def is_due(self) -> bool:
        """Say whether the last checkpoint is old enough."""
        return time.monotonic() - self._saved >= self._pause

    def save(self, run: Run, rows: list[Row]) -> None:
        """Write the run down."""
        try:
            storage.save(self._path, self._identity, run, rows)
        except OSError as error:  # a full disk must not cost the run
            log.warning("checkpoint %s could not be written: %s.", self._path, error)
        self._saved = time.monotonic()


def _name(method: Any) -> str:
    inner = getattr(method, "method", None)
    return getattr(method, "name", type(method).__name__) + (f"({_name(inner)})" if inner is not None else "")


def _fall(reply: Measured) -> str:
    """Say that there is nothing to find."""
    return (
        f": F is unbounded below on the constraint (F = {reply.value:.2g} at ||x|| = "
        f"{np.linalg.norm(reply.point):.2g}); add equations, or a quadratic term such as l2"
    )


def _advice(session: Session, counts: Counts) -> str:
    """Say what to change after a divergence."""
    return f" (after {counts.rounds} rounds); {session.method.remedy()}"
