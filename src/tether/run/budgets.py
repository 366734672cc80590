"""How much a run may take, and walks cut to what is left of it."""

import math
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tether.inputs import positive, positive_integer
from tether.problem import Facts
from tether.requests import Descend, Gradient
from tether.run.history import Counts
from tether.run.solution import Status
from tether.run.turn import Question, Run, price_of_gradient, price_of_step

DEFAULT_PASSES = 1000.0
AMPLE_SECONDS = 1.0  # for a start next to the minimum, see `tether.shortcuts.approach`


class Budgets(NamedTuple):
    """The limits of a run; the first that is met ends it. They are for the method's own work and all time."""

    max_passes: float | None
    max_rounds: int | None
    max_seconds: float | None

    @classmethod
    def checked(cls, max_passes: Any, max_rounds: Any, max_seconds: Any) -> "Budgets":
        """Return budgets that make sense, 1000 passes where nothing is said."""
        passes, seconds = _limit("max_passes", max_passes), _limit("max_seconds", max_seconds)
        rounds = None if _is_unlimited(max_rounds) else positive_integer("max_rounds", max_rounds)
        unlimited = passes is rounds is seconds is None
        return cls(DEFAULT_PASSES if unlimited else passes, rounds, seconds)

    @property
    def ample(self) -> bool:
        """Whether rounds and seconds leave room for some steps before the run."""
        return self.max_rounds is None and (self.max_seconds or math.inf) >= AMPLE_SECONDS

    def spent(self, counts: Counts, seconds: float, facts: Facts) -> Status | None:
        """Return the budget that is used up, if one is."""
        if self.max_rounds is not None and counts.rounds >= self.max_rounds:
            return Status.MAX_ROUNDS
        if self.max_passes is not None and counts.gradients >= self.max_passes * facts.n_samples:
            return Status.MAX_PASSES
        if self.max_seconds is not None and seconds >= self.max_seconds:
            return Status.MAX_SECONDS
        return None

    def fit(
        self, question: Question, run: Run, facts: Facts, affordable: float
    ) -> tuple[Question | None, Status | None]:
        """Return a question that the budgets allow, and which of them cut it short; none where none is left.

        ``affordable`` is what there is time for, in component gradients of a walk.
        """
        if question.audit:
            return question, None
        gradients = math.inf
        if self.max_passes is not None:
            gradients = self.max_passes * facts.n_samples - run.counts.gradients
        if isinstance(question.request, Gradient):
            price = price_of_gradient(question.request, facts)
            return (question, None) if price <= gradients else (None, Status.MAX_PASSES)
        left, status = min((gradients, Status.MAX_PASSES), (affordable, Status.MAX_SECONDS), key=_amount)
        step = price_of_step(question.request, facts)
        if step * question.request.steps <= left:
            return question, None
        return _shortened(question, question.request, int(left // step), status), status

    def fraction(self, counts: Counts, seconds: float, facts: Facts) -> float:
        """Return how much of the tightest budget is used."""
        used = [0.0]
        if self.max_rounds is not None:
            used.append(counts.rounds / self.max_rounds)
        if self.max_passes is not None:
            used.append(counts.gradients / (self.max_passes * facts.n_samples))
        if self.max_seconds is not None:
            used.append(seconds / self.max_seconds)
        return min(1.0, max(used))


@dataclass
class Clock:
    """The time a run takes, set-up and callbacks included, and how quick its walks have been."""

    began: float = field(default_factory=time.perf_counter)
    earlier: float = 0.0  # seconds of the run before it was resumed
    pace: float = 0.0  # seconds a component gradient of a walk; 0: none was seen yet

    def seconds(self) -> float:
        """Return the seconds of the run so far."""
        return self.earlier + time.perf_counter() - self.began

    def left(self, max_seconds: float | None) -> float:
        """Return the seconds that are left."""
        return math.inf if max_seconds is None else max(0.0, max_seconds - self.seconds())

    def saw(self, gradients: int, seconds: float) -> None:
        """Learn from a walk."""
        if gradients > 0:
            self.pace = seconds / gradients

    def heard(self, gradients: int, seconds: float) -> None:
        """Learn from a rehearsal: the quickest one tells what the machine can do."""
        if gradients > 0:
            pace = seconds / gradients
            self.pace = min(self.pace, pace) if self.pace else pace

    def affordable(self, max_seconds: float | None) -> float:
        """Return the component gradients of a walk for which there is time left."""
        if max_seconds is None or self.pace == 0.0:
            return math.inf
        return self.left(max_seconds) / self.pace


def _shortened(question: Question, walk: Descend, steps: int, status: Status) -> Question | None:
    """Return a walk of fewer steps, which reports its average where it ends; None without any step."""
    if steps < 1:
        return None
    average = None if walk.average is None else walk.average._replace(collect=True)
    return question._replace(request=walk._replace(steps=steps, average=average), cut_by=status.name)


def _amount(pair: tuple[float, Status]) -> float:
    return pair[0]


def _limit(name: str, value: Any) -> float | None:
    return None if _is_unlimited(value) else positive(name, value)


def _is_unlimited(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value == math.inf)
