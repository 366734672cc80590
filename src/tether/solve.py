"""The one loop of the library.

    state = method.start(engine.project(x0))
    while not stopping(state):
        state = method.tell(state, engine.exchange(method.ask(state)))

`_turns` is these lines. What goes on around them is in the room `tether.run`: a `Conversation` takes the
turns, a `Judge` says when the run is over, a `Record` writes its history, a `Keeper` its checkpoint, and a
`Closing` makes the answer of it.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from os import PathLike
from typing import Any, NamedTuple, Protocol, TypeAlias

from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint

from tether.arrays import Array
from tether.constraints import Constraint
from tether.engines import Engine, as_engine
from tether.inputs import switch
from tether.methods import Method
from tether.objectives import Objective
from tether.penalties import L1
from tether.requests import Reply
from tether.run.budgets import Budgets, Clock
from tether.run.callback import Callback, Listener, as_callback
from tether.run.history import Counts
from tether.run.keeper import Keeper
from tether.run.opening import Asked, Opening, Terms, as_audit, as_objective
from tether.run.progress import progress
from tether.run.record import Record
from tether.run.solution import Solution
from tether.run.supervisor import Bystander, Supervisor
from tether.run.turn import Conversation, Question, Run
from tether.run.verdict import Accuracy, Judge
from tether.shortcuts import Way
from tether.threads import one_blas_thread
from tether.tolerance import Tolerance

#: What x may have to satisfy.
Restriction: TypeAlias = Constraint | LinearConstraint | Bounds | str


class Moment(NamedTuple):
    """A run after one more request, as `iterate` yields it."""

    x: Array  # the feasible estimate
    state: Any  # the method's
    reply: Reply  # what was heard last
    counts: Counts


def solve(
    objective: Objective,
    constraint: Restriction | Sequence[Restriction] | None = None,
    method: str | Method = "auto",
    *,
    penalty: L1 | Sequence[L1] | None = None,
    x0: ArrayLike | Solution | None = None,
    tol: float | None = None,
    rtol: float | None = None,
    seed: int = 0,
    max_passes: float | None = None,
    max_rounds: int | None = None,
    max_seconds: float | None = None,
    audit: float | None = 1.0,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
    engine: Engine | None = None,
    verbose: bool = False,
) -> Solution:
    """Minimise a finite sum subject to linear equations, and more.

    minimise F(x) = (1/N) sum_i f_i(x) + penalty(x)  subject to  A x = b,  lo <= G x <= hi,  bounds on x

    Parameters
    ----------
    objective : Objective
        `GLM`, `Quadratic`, `Separable`, `FiniteSum`, `from_jax(...)` or `from_torch(...)`;
        `Federation([...])` for workers that keep their data.
    constraint : Constraint, scipy.optimize.LinearConstraint, scipy.optimize.Bounds, str or a list, optional
        `Affine`, `Range`, `Flow`, `Consensus`, `Simplex`, `NonNegative`, or an expression such as
        ``"age_30 <= age_40"`` in the names of the variables (see `constraints_of`), which are x[0], x[1], ...
        where the data has none. Several hold together; none means no constraint. Columns that have names (of
        a pandas DataFrame) are matched with those of the objective's data by name; SciPy keeps no names.
    method : str or Method, default "auto"
        A short name or an object from `tether.methods`. "auto" also takes shortcuts where they pay: small
        quadratics are solved by one linear system, the data of a linear model is projected once where
        equations leave few directions or samples are few, and where a step of Newton's method takes but
        milliseconds such steps are taken before the run (unless x0 or tight budgets are given), so that it
        has only their end to certify. "newton" takes them one request at a time.
    penalty : L1 or a list, optional
        What is added to F: `L1(lam)`, `L1(lam, D)`.
    x0 : array or Solution, optional
        Where to start; it is projected first. Default: the objective's own start where it has one (JAX,
        torch, `Separable`, ``initial=``), else the feasible point nearest to 0. A run that continues from
        its checkpoint goes on from there instead.
    tol, rtol : float, optional
        What is accurate enough: one of the two, absolute or relative; rtol = 1e-6 if neither is given. A run
        has converged when the gap is certainly at most tol, in the units of F, or at most rtol times the size
        of F: the larger of |F(x)| and F(o) - F(x), where o is the default start (see x0). Where nothing
        bounds the gap (mu = 0, and no curvature is known) ||P grad F(x)|| has to be at most tol, or rtol
        times the larger of ||grad F(x)|| and ||P grad F(o)||. So rtol means the same whatever F is multiplied
        by, also where F is 0 at its minimum, and however good or bad x0 is: if x0 is given, the bound
        mu/2 ||x - o||^2 <= F(o) - F(x) is used or, where mu = 0 and F is convex by construction, o is
        measured in one pass more (for other F, x0 stands for o). An accuracy beyond rounding ends the run as
        EXHAUSTED, with what was reached in its message. Where F has no minimum (separable data without l2)
        the run ends as DIVERGED, if that is seen.
    seed : int, default 0
        The same seed gives the same iterates.
    max_passes, max_rounds, max_seconds : optional
        Budgets: component gradients of the method over N, its projection events, wall time with set-up and
        callbacks. Without any, max_passes is 1000. The last walk is cut to what is left. Audits and the
        measurement of the point that is returned come on top of passes and rounds.
    audit : float or None, default 1
        Passes after which F is measured if the method itself has not: a full pass and for some methods a
        projection, counted apart (``counts.audits``). None: never before the end.
    callback : callable, optional
        Called after every request with an `OptimizeResult`: x, fun and gap of the best point so far, nit,
        counts and seconds of the run; stops it by raising StopIteration.
    checkpoint : path, optional
        Where to keep the run. If the file exists, the run continues from it, bit for bit as one with the same
        budgets would (tight ones leave out the steps before a run that "auto" takes); a file of other data,
        another constraint or other settings is refused. It is written every three seconds and at the end.
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
    clock, place = Clock(), as_engine(engine, as_objective(objective))
    with place.together(), one_blas_thread():
        asked = partial(Tolerance.checked, tol, rtol)
        limits = partial(Budgets.checked, max_passes, max_rounds, max_seconds)
        terms = place.agree(partial(Terms.checked, asked, audit, limits, checkpoint), Terms)
        verbose, listener = switch("verbose", verbose), Listener(as_callback(callback))
        opening = Opening(objective, Asked(constraint, penalty), method, x0=x0, seed=seed, engine=place)
        way = opening.way(terms.asked, clock.left(terms.budgets.max_seconds))
        conversation, run = opening.conversation(way, terms.audit, terms.budgets)
        constants, floor = conversation.facts.smoothness, conversation.facts.floor
        accuracy = Accuracy(way.inner, constants.convexity, origin=conversation.origin, floor=floor)
        judge = Judge(accuracy, conversation.algorithm, constants, way.gap if way.direct else None)
        identity = opening.identity(way, conversation) if terms.checkpoint else None
        keeper = Keeper(terms.checkpoint, identity, place.save_every)
        with progress(verbose and place.leads, conversation.algorithm.title) as reporter:
            supervisor = Supervisor(
                conversation=conversation,
                way=way,
                judge=judge,
                budgets=terms.budgets,
                clock=clock,
                listener=listener,
                record=Record(conversation.facts, reporter, way.residual),
                keeper=keeper,
                statement=opening.statement(way, conversation.facts, terms),
            )
            solution = _solution(conversation, run, supervisor)
            reporter.end(solution.message)
    return solution


def _solution(conversation: Conversation, run: Run, supervisor: Supervisor) -> Solution:
    """Take turns until something ends the run."""
    run = supervisor.resume(run)
    try:
        for run, _ in _turns(conversation, run, supervisor):  # noqa: B020, B007
            pass
    except KeyboardInterrupt:
        supervisor.interrupt()
    finally:
        supervisor.keep()
    return supervisor.close(run)


def _turns(conversation: Conversation, run: Run, supervisor: "_Supervision") -> Iterator[tuple[Run, Reply]]:
    """Ask, exchange, tell: the loop."""
    while (question := supervisor.next_question(run)) is not None:
        with one_blas_thread():
            run, reply = conversation.turn(run, question)
        run = supervisor.note(run, reply, question)
        yield run, reply


class _Supervision(Protocol):
    """Says what is asked next, and hears what came of it."""

    def next_question(self, run: Run) -> Question | None: ...

    def note(self, run: Run, reply: Reply, question: Question) -> Run: ...


def iterate(
    objective: Objective,
    constraint: Restriction | Sequence[Restriction] | None = None,
    method: str | Method = "auto",
    *,
    penalty: L1 | Sequence[L1] | None = None,
    x0: ArrayLike | Solution | None = None,
    seed: int = 0,
    audit: float | None = 1.0,
    engine: Engine | None = None,
) -> Iterator[Moment]:
    """Step by hand: yield a `Moment` after every request, for as long as the caller wants.

    The arguments are those of `solve`. It is the same loop without an end, shortcuts included.

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
    place = as_engine(engine, as_objective(objective))
    with place.together(), one_blas_thread():
        audit = as_audit(audit)
        opening = Opening(objective, Asked(constraint, penalty), method, x0=x0, seed=seed, engine=place)
        way = opening.way(Tolerance(tol=0.0))
        conversation, run = opening.conversation(way, audit)
    return _moments(conversation, run, way)


def _moments(conversation: Conversation, run: Run, way: Way) -> Iterator[Moment]:
    for run, reply in _turns(conversation, run, Bystander(conversation)):  # noqa: B020
        yield Moment(way.lift(conversation.estimate(run)), run.state, reply, run.counts)
