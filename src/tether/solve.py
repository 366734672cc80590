"""The one loop of the library.

    state = method.start(engine.project(x0))
    while not stopping(state):
        state = method.tell(state, engine.exchange(method.ask(state)))

A `Session` takes the turns. Around it live four separate things: stopping, recording, reporting and checkpoints.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import LinearConstraint, OptimizeResult

from tether import checkpoint as storage
from tether.constraints import Constraint, as_constraint
from tether.conversation import Array, Measured, Reply
from tether.engines.base import Engine, Problem
from tether.engines.serial import Serial
from tether.methods import Method, as_method, check_method
from tether.objectives import Objective
from tether.progress import Live, Reporter, Silent
from tether.session import Run, Session
from tether.solution import Counts, History, Row, Solution, Status
from tether.stopping import DEFAULT_PASSES, Stopping, check_budgets, has_diverged

Callback = Callable[[OptimizeResult], Any]
SAVE_EVERY = 3.0  # seconds between two checkpoints


class CallbackError(RuntimeError):
    """A callback raised; ``solution`` holds the run as it was."""

    def __init__(self, message: str, solution: Solution) -> None:
        super().__init__(message)
        self.solution = solution


class Moment(NamedTuple):
    """A run after one more request, as `iterate` yields it."""

    x: Array  # the feasible estimate
    state: Any  # the method's
    reply: Reply  # what was heard last
    counts: Counts


def solve(
    objective: Objective,
    constraint: Constraint | LinearConstraint | None = None,
    method: str | Method[Any] = "auto",
    *,
    x0: ArrayLike | Solution | None = None,
    tol: float = 1e-6,
    seed: int = 0,
    max_passes: float | None = None,
    max_rounds: int | None = None,
    max_seconds: float | None = None,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
    engine: Engine | None = None,
    verbose: bool = False,
) -> Solution:
    """Minimise a finite sum subject to linear equations.

    minimise F(x) = (1/N) sum_i f_i(x)  subject to  A x = b

    Parameters
    ----------
    objective : Objective
        `GLM`, `Quadratic`, `FiniteSum`, `from_jax(...)` or `from_torch(...)`.
    constraint : Constraint or scipy.optimize.LinearConstraint, optional
        `Affine`, `Range`, `Flow`, `Consensus`; none means no constraint.
    method : str or Method, default "auto"
        A short name or an object from `tether.methods`.
    x0 : array or Solution, optional
        Where to start; it is projected first. Default: the feasible point nearest to 0.
    tol : float, default 1e-6
        Stop when the gap is certainly at most tol max(1, |F|); for mu = 0, when
        ||P grad F|| <= tol max(1, ||grad F||).
    seed : int, default 0
        The same seed gives the same iterates.
    max_passes, max_rounds, max_seconds : optional
        Budgets: component gradients over N, projection events, wall time. Without any, max_passes is 1000.
    callback : callable, optional
        Called after every request with an `OptimizeResult` (x, fun, gap, counts, nit); stops the run by raising
        StopIteration.
    checkpoint : path, optional
        Where to keep the run. If the file exists, the run continues from it, bit for bit.
    engine : Engine, optional
        Where the work is done. Default: this process.
    verbose : bool, default False
        Show progress.

    Returns
    -------
    Solution
        With x feasible to rounding whatever stopped the run.

    Examples
    --------
    >>> import numpy as np, tether
    >>> rng = np.random.default_rng(0)
    >>> X, A = rng.standard_normal((500, 5)), np.ones((1, 5))
    >>> y = X @ np.array([1.0, -2.0, 3.0, 0.0, 1.0])
    >>> sol = tether.solve(tether.GLM(X, y, loss="squared"), tether.Affine(A, [0.0]), tol=1e-10)
    >>> sol.success, abs(sol.x.sum()) < 1e-12
    (True, True)
    """
    check_budgets(tol, max_passes, max_rounds, max_seconds)
    session = _open(objective, constraint, method, seed, engine)
    if max_passes is None and max_rounds is None and max_seconds is None:
        max_passes = DEFAULT_PASSES
    facts = session.facts
    stopping = Stopping(tol, facts.smoothness.convexity, facts.n_samples, max_passes, max_rounds, max_seconds)
    path = None if checkpoint is None else Path(checkpoint)
    logbook = Logbook(session, stopping, Live() if verbose else Silent(), callback)
    return logbook.write(session.begin(_starting_point(x0, facts.dim)), path)


def iterate(
    objective: Objective,
    constraint: Constraint | LinearConstraint | None = None,
    method: str | Method[Any] = "auto",
    *,
    x0: ArrayLike | Solution | None = None,
    seed: int = 0,
    engine: Engine | None = None,
) -> Iterator[Moment]:
    """Step by hand: yield a `Moment` after every request, for as long as the caller wants.

    Examples
    --------
    >>> import numpy as np, tether
    >>> objective = tether.Quadratic(matrix=np.eye(3), linear=np.ones(3))
    >>> for moment in tether.iterate(objective, tether.Affine(np.ones((1, 3)), [3.0]), "nesterov"):
    ...     if moment.counts.rounds >= 5:
    ...         break
    >>> moment.x
    array([1., 1., 1.])
    """
    session = _open(objective, constraint, method, seed, engine)
    run = session.begin(_starting_point(x0, session.facts.dim))
    while True:
        run, reply = session.turn(run)
        yield Moment(session.method.estimate(run.state), run.state, reply, run.counts)


@dataclass
class Logbook:
    """Keeps a run's record while it goes, and closes it into a `Solution`."""

    session: Session
    stopping: Stopping
    reporter: Reporter
    callback: Callback | None
    rows: list[Row] = field(default_factory=list)

    def write(self, run: Run, path: Path | None) -> Solution:
        """Take turns until something stops the run."""
        keeper = None if path is None else Keeper(path, self.session.identity())
        if keeper is not None:
            run = keeper.resume(run, self.rows)
        self.reporter.begin(_name(self.session.method))
        message = "the run ended with an error"
        try:
            solution = self._converse(run, keeper)
            message = solution.message
        finally:
            self.reporter.end(message)
        return solution

    def _converse(self, run: Run, keeper: "Keeper | None") -> Solution:
        status = self._already_over(run)
        detail = ""
        try:
            while status is None:
                run, reply = self.session.turn(run)
                self._record(run, reply)
                status, detail = self._judge(run, reply)
                status = self._call_back(run) or status
                if keeper is not None and status is not Status.DIVERGED:
                    keeper.save(run, self.rows)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        finally:
            if keeper is not None and status is not Status.DIVERGED:
                keeper.save(run, self.rows, now=True)
        return self._close(run, status, detail)

    def _already_over(self, run: Run) -> Status | None:
        """Say whether a resumed run has nothing left to do."""
        if run.best is not None and self.stopping.is_accurate(run.best):
            return Status.CONVERGED
        return self.stopping.spent(run.counts, run.seconds)

    def _record(self, run: Run, reply: Reply) -> None:
        measured = isinstance(reply, Measured)
        value = reply.value if measured else np.nan
        gap = self.stopping.gap(reply.certificate) if measured else np.nan
        passes = run.counts.gradients / self.session.facts.n_samples
        self.rows.append(Row(*run.counts, passes, run.seconds, value, gap))
        self.reporter.update(self.rows[-1], self.stopping.fraction(run.counts, run.seconds))

    def _judge(self, run: Run, reply: Reply) -> tuple[Status | None, str]:
        method = self.session.method
        if not method.recovers and has_diverged(reply, run.first):
            return Status.DIVERGED, _advice(method, run.counts)
        if isinstance(reply, Measured) and self.stopping.is_accurate(reply):
            return Status.CONVERGED, ""
        if method.exhausted(run.state):
            return Status.EXHAUSTED, ""
        return self.stopping.spent(run.counts, run.seconds), ""

    def _call_back(self, run: Run) -> Status | None:
        if self.callback is None:
            return None
        try:
            self.callback(self._intermediate(run))
        except StopIteration:
            return Status.CALLBACK
        except Exception as error:
            solution = self._close(run, Status.CALLBACK, "")
            raise CallbackError(
                f"callback raised {type(error).__name__}: {error} (after {run.counts.rounds} rounds); the run so far is "
                "in this error's `solution`, which solve takes as x0.",
                solution,
            ) from error
        return None

    def _intermediate(self, run: Run) -> OptimizeResult:
        best = run.best
        return OptimizeResult(
            x=self.session.method.estimate(run.state),
            fun=np.nan if best is None else best.value,
            gap=np.nan if best is None else self.stopping.gap(best.certificate),
            nit=run.counts.rounds,
            counts=run.counts,
            seconds=run.seconds,
        )

    def _close(self, run: Run, status: Status, detail: str) -> Solution:
        """Measure the last estimate if nobody has, and answer with the best point."""
        settled = status in (Status.CONVERGED, Status.DIVERGED, Status.INTERRUPTED)
        if run.best is None or not settled:
            run = self.session.measure(run)
        best = run.best
        assert best is not None
        constraint = self.session.problem.constraint
        x, residual = best.x, constraint.residual(best.x)
        if residual > 1e-12 * (1.0 + float(np.linalg.norm(x))):
            x = self.session.engine.project(self.session.problem, x)
            residual = constraint.residual(x)
        if status is not Status.DIVERGED and self.stopping.is_accurate(best):
            status = Status.CONVERGED
        gap = self.stopping.gap(best.certificate)
        return Solution(
            x=x,
            fun=best.value,
            gap=None if np.isnan(gap) else gap,
            residual=residual,
            multipliers=None if best.normal is None else constraint.multipliers(best.normal),
            status=status,
            message=status.message + detail,
            counts=run.counts,
            history=History(self.rows),
            seconds=run.seconds,
            method=repr(self.session.method),
        )


class Keeper:
    """Writes a run to its checkpoint, at most every few seconds."""

    def __init__(self, path: Path, identity: storage.Identity) -> None:
        storage.check_path(path)
        self._path, self._identity = path, identity
        self._saved = time.monotonic()

    def resume(self, run: Run, rows: list[Row]) -> Run:
        """Return the run on disk, or the given one if there is none."""
        if not self._path.exists():
            return run
        run, table = storage.load(self._path, self._identity, run)
        rows.extend(Row(*(int(v) for v in line[:5]), *(float(v) for v in line[5:])) for line in table)
        return run

    def save(self, run: Run, rows: list[Row], now: bool = False) -> None:
        """Write the run down if it is time."""
        if now or time.monotonic() - self._saved >= SAVE_EVERY:
            light = run._replace(memory=run.memory._replace(evaluation=None))
            storage.save(self._path, self._identity, light, rows)
            self._saved = time.monotonic()


def _open(
    objective: Objective,
    constraint: Constraint | LinearConstraint | None,
    method: str | Method[Any],
    seed: int,
    engine: Engine | None,
) -> Session:
    """Validate the user's words and fill the method's open settings."""
    if not isinstance(objective, Objective):
        raise TypeError(
            f"objective must be a tether objective (GLM, Quadratic, FiniteSum, from_jax, from_torch), got {objective!r}."
        )
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}.")
    check_method(method)
    problem = Problem(objective, as_constraint(constraint, objective.dim), int(seed))
    engine = Serial() if engine is None else engine
    facts = engine.facts(problem)
    return Session(problem, engine, as_method(method, facts), facts)


def _starting_point(x0: ArrayLike | Solution | None, dim: int) -> Array:
    if x0 is None:
        return np.zeros(dim)
    start = np.array(x0.x if isinstance(x0, Solution) else x0, dtype=np.float64)
    if start.shape != (dim,):
        raise ValueError(f"x0 must be a vector of length {dim}, got an array of shape {start.shape}.")
    if not np.isfinite(start).all():
        raise ValueError("x0 must be finite; it has NaN or infinite entries.")
    return start


def _name(method: Method[Any]) -> str:
    inner = getattr(method, "method", None)
    return type(method).__name__ + (f"({_name(inner)})" if inner is not None else "")


def _advice(method: Method[Any], counts: Counts) -> str:
    """Say what to change after a divergence."""
    step = getattr(method, "step_size", None)
    if step is None:
        return f" (after {counts.rounds} rounds); start from another x0 or rescale the data"
    return f" (after {counts.rounds} rounds with step_size={step:g}); try step_size={step / 4:.2g} or a smaller interval"
