"""Carry out a task: the library's own loop, with a watch beside it that looks at F off the count."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

import numpy as np

from tether.arrays import Array
from tether.constraints import Constraint
from tether.objectives import Objective
from tether.reproduce.iterates import iterate_of
from tether.reproduce.task import Problem, Setup, Task, Trace
from tether.solve import Moment, iterate, solve

TOL = 1e-10  # of F*
REHEARSAL = 4  # turns: a method has asked for all kinds of work by then
LOST = 1e3  # times F at the start: the run has diverged


@lru_cache(maxsize=1)
def built(problem: Problem) -> Setup:
    """Return a problem; the last one is kept, so tasks that share one follow each other."""
    return problem.build()


def optimum(problem: Problem) -> tuple[float, float]:
    """Return F* and a bound on its error."""
    objective, constraint = built(problem)
    solution = solve(objective, constraint, "newton", tol=TOL, max_passes=5000)
    return solution.fun, math.nan if solution.gap is None else solution.gap


def carry_out(task: Task, best: float) -> Trace:
    """Run a task to its end."""
    objective, constraint = built(task.problem)
    if task.timed:
        _rehearse(objective, constraint, task)
    watch = Watch(objective, task, best)
    moments = iterate(objective, constraint, task.method, seed=task.seed, audit=None)
    for moment in watch.timed(moments):
        if watch.is_over(moment):
            break
    return watch.trace()


def _rehearse(objective: Objective, constraint: Constraint | None, task: Task) -> None:
    """Take a few turns of a run and forget them, so that no compilation is in its seconds."""
    moments = iterate(objective, constraint, task.method, seed=task.seed, audit=None)
    for _ in islice(moments, REHEARSAL):
        pass


@dataclass
class Watch:
    """Looks at F now and then, and says when a run is over."""

    objective: Objective
    task: Task
    best: float
    seconds: float = 0.0
    due: float = 0.0
    rows: list[tuple[float, ...]] = field(default_factory=list)
    seen: list[tuple[Array, float]] = field(default_factory=list)  # the last points looked at

    def timed(self, moments: Iterator[Moment]) -> Iterator[Moment]:
        """Yield what is yielded, with the time that it took added up."""
        while True:
            began = time.perf_counter()
            moment = next(moments)
            self.seconds += time.perf_counter() - began
            yield moment

    def is_over(self, moment: Moment) -> bool:
        """Look at F if it is time to, and say whether this was the last moment."""
        counts, budget = moment.counts, self.task.budget
        passes = counts.gradients / self.objective.n_samples
        spent = counts.rounds >= budget.rounds or passes >= budget.passes or counts.steps >= budget.steps
        if not spent and counts.rounds < self.due:
            return False
        self.due = self.task.looks.after(counts.rounds)
        value = self._look(moment.x) if self.task.looks.answers else math.nan
        iterate = self._look(iterate_of(moment.state, moment.x))
        self.rows.append((*counts[:7], len(self.rows) + 1, passes, self.seconds, value, iterate))
        reached = self.task.target is not None and value - self.best <= self.task.target
        return spent or reached or not iterate < LOST * max(1.0, abs(self.rows[0][-1]))

    def _look(self, x: Array) -> float:
        """Return F(x); an anchor that is looked at again is not measured again."""
        for point, value in self.seen:
            if point is x or np.array_equal(point, x):
                return value
        value = self.objective.value(x)
        self.seen = [*self.seen[-1:], (x, value)]
        return value

    def trace(self) -> Trace:
        """Return what was seen."""
        table = np.array(self.rows, dtype=float)
        return Trace({name: table[:, place] for place, name in enumerate(Trace.columns)})
