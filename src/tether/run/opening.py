"""The beginning of a run: the user's words, validated once and turned into a conversation."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.constraints import aligned_vector
from tether.engines import Engine
from tether.expressions import spelled_out
from tether.feasible import as_feasible
from tether.inputs import positive, vector, whole_number
from tether.lazy import Once
from tether.methods import as_method
from tether.methods.auto import AutoAlgorithm
from tether.needs import Need, check_needs
from tether.objectives import Objective
from tether.problem import Facts, Problem
from tether.region import Region
from tether.run.budgets import Budgets
from tether.run.history import Decision
from tether.run.keeper import Identity, as_path
from tether.run.seen import Reference
from tether.run.solution import Solution
from tether.run.statement import Statement, statement_of
from tether.run.turn import Conversation, Run
from tether.shortcuts import Approach, Way, approached, shortest_way, started_inside
from tether.tolerance import Tolerance

NO_PLANE = {
    Need.PLANE: "there are bounds, inequalities or penalties; use auto, newton, skip, proxskip, "
    "proxskip-svrg, dp-sgd or p-sgd, or leave out what is more than equations."
}


class Asked(NamedTuple):
    """What x must satisfy and what it pays for, in the user's words."""

    constraint: Any
    penalty: Any = None


class Terms(NamedTuple):
    """What a run is to reach and may cost; in a job of several processes the leader's word counts."""

    asked: Tolerance
    audit: float | None
    budgets: Budgets
    checkpoint: str  # empty: the run is not kept

    @classmethod
    def checked(
        cls, asked: Callable[[], Tolerance], audit: Any, budgets: Callable[[], Budgets], checkpoint: Any
    ) -> "Terms":
        """Return terms that make sense, or refuse them."""
        path = as_path(checkpoint)
        return cls(asked(), as_audit(audit), budgets(), "" if path is None else str(path))


class Opening:
    """A problem, a method and an engine as the user gave them, checked to fit together."""

    def __init__(
        self, objective: Objective, asked: Asked, method: Any, *, x0: Any, seed: Any, engine: Engine
    ) -> None:
        self._objective, self._seed, self.engine = objective, as_seed(seed), engine
        self.method = as_method(method)
        self._asked, self._initial = asked, objective.initial
        self._x0 = None if x0 is None else as_start(x0, objective.dim, objective.names)

    def way(self, asked: Tolerance, seconds: float = math.inf) -> Way:
        """Return the problem to run, by a shortcut where method, place of the data and time allow it."""
        objective = self._objective
        constraint = spelled_out(self._asked.constraint, partial(names_of, objective))
        feasible = as_feasible(constraint, self._asked.penalty, objective.dim, objective.names)
        region = None if feasible.polyhedral is None else Region(feasible)
        lacks = NO_PLANE if region is not None else feasible.plane.lacks
        name = type(self.method).__name__
        check_needs(name, self.method.needs, objective.lacks, lacks, self.engine.lacks)
        problem = Problem(objective, feasible.plane, self._seed, region, feasible)
        if self._x0 is not None:
            start = self.engine.project(problem, self._x0)
            problem = problem._replace(objective=objective.starting_at(start))
        problem = self.engine.prepare(problem)
        straight = Way(problem=problem, original=problem, method=self.method, asked=asked, seconds=seconds)
        if not (self.method.takes_shortcuts and self.engine.local):
            return straight
        return shortest_way(straight, warm=self._x0 is not None)

    def conversation(
        self, way: Way, audit: float | None, budgets: Budgets | None = None
    ) -> tuple[Conversation, Run]:
        """Fill the method's open settings and start it, next to the minimum if budgets leave room."""
        region = way.problem.region
        facts = way.facts(self.engine.facts(way.problem))
        if region is not None:
            psi = region.polyhedral
            facts = facts._replace(pieces=psi.coordinates, couples=psi.couples)
        warm, initial = self._x0 is not None, self._initial
        origin = np.zeros(facts.dim) if initial is None else way.lower(initial)
        start = origin if way.start is None else way.start
        if self._x0 is not None and not way.direct:
            start = way.lower(self._x0)
        elsewhere = start is not origin and not way.exact
        if self.engine.local and region is None:
            start = started_inside(way.problem, start)
        algorithm, approach = way.method.prepare(facts), None
        fresh = not (warm or way.direct)  # a start that the user gave is looked at first
        if self.engine.local and fresh and budgets is not None and budgets.ample:
            passes = budgets.max_passes or math.inf
            approach = approached(way.problem, algorithm, facts, way.beforehand, start, passes)
        conversation = Conversation(
            way.problem,
            self.engine,
            algorithm,
            facts,
            audit,
            Once(partial(self.engine.project, way.problem, origin)) if elsewhere else None,
            refers=elsewhere and self._may_refer(facts, warm),
        )
        if approach is None:
            run = conversation.begin(start, warm or way.direct)
        else:
            run = begun_near(conversation, approach, known=not elsewhere)
        return conversation, run._replace(decisions=(*decisions_before(way, facts), *run.decisions))

    def _may_refer(self, facts: Facts, warm: bool) -> bool:
        """Say whether F has to be measured at the default start, and is sure to be finite there."""
        everywhere = self._objective.domain is None and (facts.proven_convex or not warm)
        return facts.smoothness.convexity == 0 and everywhere

    def statement(self, way: Way, facts: Facts, terms: Terms) -> Statement:
        """Return what the run is about, and what it takes to have it again."""
        limits = [
            f"{name} = {limit:g}" for name, limit in terms.budgets._asdict().items() if limit is not None
        ]
        settings = (
            ("method", repr(self.method)),
            ("accuracy", str(terms.asked)),
            ("budgets", ", ".join(limits)),
            ("start", "the default" if self._x0 is None else "x0 was given"),
            ("audit", "never" if terms.audit is None else f"{terms.audit:g}"),
            ("seed", str(self._seed)),
            ("engine", type(self.engine).__name__),
        )
        return statement_of(way.original, facts, settings)

    def identity(self, way: Way, conversation: Conversation) -> Identity:
        """Return what tells this run from others."""
        facts, original = conversation.facts, way.original
        return Identity(
            seed=self._seed,
            workers=facts.n_workers,
            n_samples=facts.n_samples,
            dim=original.objective.dim,
            objective=self.engine.digest(original),
            constraint=original.digest(),
            method=f"{conversation.algorithm!r}{way.note and ', ' + way.note}",
        )


def begun_near(conversation: Conversation, approach: Approach, known: bool) -> Run:
    """Begin where steps before the run led; ``known``: accuracies are relative to where these began."""
    end, value = approach.end, approach.first
    if end is None:
        run = conversation.begin(approach.start, warm=False)
        return run._replace(counts=run.counts.plus(approach.work, 0))
    algorithm, problem = conversation.algorithm, conversation.problem
    assert isinstance(algorithm, AutoAlgorithm)
    run = conversation.begin(end.point, warm=False)
    bent = approach.certifying(problem.objective)
    state = algorithm.after(run.state, approach.steps, None if bent is None else bent.point)
    if bent is not None:
        conversation.engine.centre.know(problem, algorithm.ask(state), bent.matrix)
    reference = Reference(value, abs(value), approach.slope, approach.start)
    return run._replace(
        state=state,
        counts=run.counts.plus(approach.work, approach.steps),
        first=value,
        reference=reference if known else None,
    )


def decisions_before(way: Way, facts: Facts) -> list[Decision]:
    """Return what was decided before the run: a shortcut, or a method for what there is beyond equations."""
    chosen = (way.choice, way.method.choice(facts))
    return [Decision(0, 0.0, *choice) for choice in chosen if choice is not None]


def as_objective(objective: Any) -> Objective:
    """Return an objective, or refuse what is none."""
    if not isinstance(objective, Objective):
        raise TypeError(
            "objective must be a GLM, Quadratic, Separable, FiniteSum, Federation, or come from from_jax or "
            f"from_torch; got {type(objective).__name__}."
        )
    return objective


def names_of(objective: Objective) -> tuple[str, ...]:
    """Return what expressions call the variables."""
    labels = objective.labels
    return tuple(map(labels.at, range(labels.size)))


def as_seed(seed: Any) -> int:
    """Return a seed, or refuse what is none."""
    return whole_number("seed", seed)


def as_audit(audit: Any) -> float | None:
    """Return the passes between two audits; None: never."""
    return None if audit is None else positive("audit", audit)


def as_start(x0: Any, dim: int, names: tuple[str, ...] | None) -> Array:
    """Return a starting point in the order of the variables, by name where it has names; or refuse it."""
    given = x0.x if isinstance(x0, Solution) else aligned_vector(x0, names)
    return vector("x0", given, dim).copy()
