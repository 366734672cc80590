"""The one loop of the library.

    state = method.start(engine.project(x0))
    while not stopping(state):
        state = method.tell(state, engine.exchange(method.ask(state)))

A `Session` takes the turns. Around it live four separate things: stopping, recording, reporting and
checkpoints.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import LinearConstraint

from tether.arrays import Array
from tether.constraints import Constraint, as_constraint
from tether.engines.base import Engine
from tether.engines.in_process import Workers
from tether.engines.serial import Serial
from tether.inputs import numbers
from tether.methods import LBFGS, Method, as_method, check_method
from tether.objectives import Federation, Objective
from tether.problem import Problem
from tether.requests import Reply
from tether.run.keeper import as_path
from tether.run.progress import Live, Silent
from tether.run.record import Callback, CallbackError, Logbook
from tether.run.solution import Counts, Solution
from tether.run.turn import Run, Session
from tether.run.verdict import DEFAULT_PASSES, Stopping, check_budgets
from tether.shortcuts.optimality_system import direct_solution
from tether.shortcuts.projected_data import STRICTER, Reduced, reduce
from tether.threads import one_blas_thread


class Moment(NamedTuple):
    """A run after one more request, as `iterate` yields it."""

    x: Array  # the feasible estimate
    state: Any  # the method's
    reply: Reply  # what was heard last
    counts: Counts


class Terms(NamedTuple):
    """What a run is asked for, beside the problem."""

    tol: float
    max_passes: float | None
    max_rounds: int | None
    max_seconds: float | None
    callback: Callback | None
    path: Path | None
    verbose: bool
    began: float


def solve(
    objective: Objective,
    constraint: Constraint | LinearConstraint | None = None,
    method: str | Method = "auto",
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
        `GLM`, `Quadratic`, `FiniteSum`, `from_jax(...)` or `from_torch(...)`; `Federation([...])` for
        workers that keep their data.
    constraint : Constraint or scipy.optimize.LinearConstraint, optional
        `Affine`, `Range`, `Flow`, `Consensus`; none means no constraint.
    method : str or Method, default "auto"
        A short name or an object from `tether.methods`. "auto" also projects the data of a linear model
        once, where that pays: then the run goes on in the few directions that the equations leave.
    x0 : array or Solution, optional
        Where to start; it is projected first. Default: the feasible point nearest to 0. A run that continues
        from its checkpoint goes on from there instead.
    tol : float, default 1e-6
        Stop when the gap is certainly at most tol max(1, |F|); for mu = 0, when
        ||P grad F|| <= tol max(1, ||grad F||).
    seed : int, default 0
        The same seed gives the same iterates.
    max_passes, max_rounds, max_seconds : optional
        Budgets: component gradients over N, projection events, wall time. Without any, max_passes is 1000.
        Measuring the point that is returned may add one pass and one round at the end, twice where "auto"
        ran on projected data.
    callback : callable, optional
        Called after every request with an `OptimizeResult`: x, fun and gap of the best point so far, nit,
        counts and seconds of the run; stops it by raising StopIteration.
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
    >>> sol.success, bool(abs(sol.x.sum()) < 1e-12)
    (True, True)
    """
    began = time.perf_counter()
    engine = _engine(objective, engine)
    with engine.together():
        check_budgets(tol, max_passes, max_rounds, max_seconds)
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be a function of one argument, got {callback!r}.")
        path = engine.lead(lambda: None if checkpoint is None else as_path(checkpoint))
        problem, start = _prepare(objective, constraint, method, seed, engine, x0)
        if max_passes is None and max_rounds is None and max_seconds is None:
            max_passes = DEFAULT_PASSES
        terms = Terms(tol, max_passes, max_rounds, max_seconds, callback, path, verbose, began)
        if method == "auto" and isinstance(engine, Serial):
            reduced = reduce(problem)
            if reduced is not None:
                return _solve_reduced(reduced, engine, start, terms)
        return _solve(problem, method, engine, start, terms)


def iterate(
    objective: Objective,
    constraint: Constraint | LinearConstraint | None = None,
    method: str | Method = "auto",
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
    began = time.perf_counter()
    engine = _engine(objective, engine)
    with engine.together():
        problem, start = _prepare(objective, constraint, method, seed, engine, x0)
        begun = _begin(problem, method, engine, start, began)
    return _moments(*begun)


def _moments(session: Session, run: Run) -> Iterator[Moment]:
    while True:
        with one_blas_thread():
            run, reply = session.turn(run)
        yield Moment(session.method.estimate(run.state), run.state, reply, run.counts)


def _solve(
    problem: Problem,
    method: str | Method,
    engine: Engine,
    start: Array | None,
    terms: Terms,
    finish: Callable[[Solution], Solution] = lambda solution: solution,
) -> Solution:
    """Run the conversation to its end."""
    session, run = _begin(problem, method, engine, start, terms.began)
    mu, size = session.facts.smoothness.convexity, session.facts.n_samples
    stopping = Stopping(terms.tol, mu, size, terms.max_passes, terms.max_rounds, terms.max_seconds)
    reporter = Live() if terms.verbose and engine.leads else Silent()
    logbook = Logbook(session, stopping, reporter, terms.callback, finish=finish)
    with one_blas_thread():
        return logbook.write(run, terms.path)


def _solve_reduced(reduced: Reduced, engine: Engine, start: Array | None, terms: Terms) -> Solution:
    """Run in the few variables that the equations leave, and answer in the user's."""
    inside = None if start is None else reduced.lower(start)
    below = terms._replace(tol=STRICTER * terms.tol, callback=reduced.watch(terms.callback))
    finish = partial(reduced.answer, tol=terms.tol)
    try:
        return _solve(reduced.problem, "auto", engine, inside, below, finish)
    except CallbackError as error:
        raise CallbackError(str(error), finish(error.solution)) from error.__cause__


def _prepare(
    objective: Objective,
    constraint: Constraint | LinearConstraint | None,
    method: str | Method,
    seed: int,
    engine: Engine,
    x0: ArrayLike | Solution | None,
) -> tuple[Problem, Array | None]:
    """Validate the user's words; return the problem and where to start, if the user says so."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}.")
    check_method(method)
    problem = engine.prepare(Problem(objective, as_constraint(constraint, objective.dim), int(seed)))
    return problem, None if x0 is None else _starting_point(x0, objective.dim)


def _begin(
    problem: Problem, method: str | Method, engine: Engine, start: Array | None, began: float
) -> tuple[Session, Run]:
    """Fill the method's open settings and start."""
    warm = start is not None
    if start is None and method == "auto" and isinstance(engine, Serial):
        start = direct_solution(problem.objective, problem.constraint)
        method = method if start is None else LBFGS()
    facts = engine.facts(problem)
    session = Session(problem, engine, as_method(method).prepare(facts), facts)
    with one_blas_thread():
        run = session.begin(np.zeros(facts.dim) if start is None else start, warm=warm)
    return session, run._replace(seconds=engine.lead(lambda: time.perf_counter() - began))


def _engine(objective: Objective, engine: Engine | None) -> Engine:
    """Return where the work is to be done: in this process, unless the user says otherwise."""
    if not isinstance(objective, Objective):
        raise TypeError(
            "objective must be a GLM, Quadratic, FiniteSum, Federation, or come from from_jax or from_torch; "
            f"got {type(objective).__name__}."
        )
    if engine is None:
        return Workers() if isinstance(objective, Federation) else Serial()
    if not isinstance(engine, Engine):
        raise TypeError(f"engine must be an object from tether.engines, got {engine!r}.")
    return engine


def _starting_point(x0: ArrayLike | Solution, dim: int) -> Array:
    start = np.array(numbers("x0", x0.x if isinstance(x0, Solution) else x0), dtype=np.float64)
    if start.shape != (dim,):
        raise ValueError(f"x0 must be a vector of length {dim}, got an array of shape {start.shape}.")
    if not np.isfinite(start).all():
        raise ValueError("x0 must be finite; it has NaN or infinite entries.")
    return start
