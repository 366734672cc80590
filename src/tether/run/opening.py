"""The beginning of a run: the user's words, validated once and turned into a conversation."""

import math
from typing import Any

import numpy as np

from tether.arrays import Array
from tether.constraints import as_constraint
from tether.engines import Engine
from tether.inputs import numbers
from tether.methods import as_method
from tether.needs import check_needs
from tether.objectives import Objective
from tether.problem import Problem
from tether.run.keeper import Identity
from tether.run.solution import Solution
from tether.run.turn import Conversation, Run
from tether.shortcuts import Way, shortest_way


class Opening:
    """A problem, a method and an engine as the user gave them, checked to fit together."""

    def __init__(
        self, objective: Objective, constraint: Any, method: Any, *, x0: Any, seed: Any, engine: Engine
    ) -> None:
        self._objective, self._seed, self.engine = objective, as_seed(seed), engine
        self.method = as_method(method)
        self._constraint = constraint
        self._x0 = None if x0 is None else as_start(x0, self._objective.dim)

    def way(self, tol: float) -> Way:
        """Return the problem to run, by a shortcut where the method allows it and the data is here."""
        constraint = as_constraint(self._constraint, self._objective.dim)
        check_needs(
            type(self.method).__name__,
            self.method.needs,
            self._objective.lacks,
            constraint.lacks,
            self.engine.lacks,
        )
        problem = self.engine.prepare(Problem(self._objective, constraint, self._seed))
        straight = Way(problem=problem, original=problem, method=self.method, tol=tol)
        if not (self.method.takes_shortcuts and self.engine.local):
            return straight
        return shortest_way(straight, warm=self._x0 is not None)

    def conversation(self, way: Way, audit: float | None) -> tuple[Conversation, Run]:
        """Fill the method's open settings and start it."""
        facts = self.engine.facts(way.problem)
        conversation = Conversation(way.problem, self.engine, way.method.prepare(facts), facts, audit)
        warm, start = self._x0 is not None, way.start
        if self._x0 is not None:
            start = way.lower(self._x0)
        elif start is None and self._objective.initial is not None:
            start = way.lower(self._objective.initial)
        return conversation, conversation.begin(np.zeros(facts.dim) if start is None else start, warm)

    def identity(self, way: Way, conversation: Conversation) -> Identity:
        """Return what tells this run from others."""
        facts, original = conversation.facts, way.original
        return Identity(
            seed=self._seed,
            workers=facts.n_workers,
            n_samples=facts.n_samples,
            dim=original.objective.dim,
            objective=self.engine.digest(original),
            constraint=original.constraint.digest(),
            method=f"{conversation.algorithm!r}{way.note and ', ' + way.note}",
        )


def as_objective(objective: Any) -> Objective:
    """Return an objective, or refuse what is none."""
    if not isinstance(objective, Objective):
        raise TypeError(
            "objective must be a GLM, Quadratic, FiniteSum, Federation, or come from from_jax or from_torch; "
            f"got {type(objective).__name__}."
        )
    return objective


def as_seed(seed: Any) -> int:
    """Return a seed, or refuse what is none."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}.")
    return int(seed)


def as_tol(tol: Any) -> float:
    """Return an accuracy, or refuse what is none."""
    if not (_is_number(tol) and 0 <= tol < math.inf):
        raise ValueError(f"tol must be a number of at least 0, got {tol!r}.")
    return float(tol)


def as_audit(audit: Any) -> float | None:
    """Return the passes between two audits; None: never."""
    if audit is not None and not (_is_number(audit) and audit > 0):
        raise ValueError(f"audit must be a positive number of passes, or None for never, got {audit!r}.")
    return None if audit is None or math.isinf(audit) else float(audit)


def as_switch(name: str, value: Any) -> bool:
    """Return True or False, or refuse what is neither."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def as_start(x0: Any, dim: int) -> Array:
    """Return a starting point, or refuse what is none."""
    start = np.array(numbers("x0", x0.x if isinstance(x0, Solution) else x0), dtype=np.float64)
    if start.shape != (dim,):
        raise ValueError(f"x0 must be a vector of length {dim}, got an array of shape {start.shape}.")
    if not np.isfinite(start).all():
        raise ValueError("x0 must be finite; it has NaN or infinite entries.")
    return start


def _is_number(value: Any) -> bool:
    real = isinstance(value, int | float | np.integer | np.floating)
    return real and not isinstance(value, bool) and not math.isnan(value)
