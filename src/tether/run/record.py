"""The history of a run, a row a request, and the word to the progress line."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tether.arrays import Array
from tether.problem import Facts
from tether.requests import Measured, Reply
from tether.run.history import History, Row
from tether.run.progress import Reporter
from tether.run.turn import Run

EACH_LOOK = 2  # at F, at which the residual is taken
SPARSER = 1.7  # then only as often as the number of looks has grown by this factor


@dataclass
class Record:
    """Keeps the rows of a run while it goes."""

    facts: Facts
    reporter: Reporter
    residual: Callable[[Array], float] | None = None  # ||A x - b||; None: the run is in other variables
    rows: list[Row] = field(default_factory=list)

    def add(self, run: Run, reply: Reply, gap: float, fraction: float) -> None:
        """Write a row and move the progress line."""
        self.rows.append(self.row(run, reply, gap))
        self.reporter.update(self.rows[-1], fraction)

    def row(self, run: Run, reply: Reply, gap: float) -> Row:
        """Return the row of a turn; F and gap are nan where they were not measured."""
        passes = run.counts.gradients / self.facts.n_samples
        value = slope = residual = math.nan
        if isinstance(reply, Measured):
            slope = math.sqrt(reply.certificate) if reply.certificate >= 0.0 else math.nan
            value, residual = reply.value, self._residual(run, reply)
        return Row(*run.counts, passes, run.seconds, value, gap, slope, residual, reply.work.workers)

    def _residual(self, run: Run, reply: Measured) -> float:
        """Return ||A x - b|| where it is time for it, which adds little to what a run costs."""
        finite = math.isfinite(reply.value) and math.isfinite(reply.certificate)
        if self.residual is None or not finite or not _is_due(run.progress.looks):
            return math.nan
        with np.errstate(over="ignore"):  # of a run that is about to diverge
            return self.residual(reply.point)

    def history(self, *more: Row) -> History:
        """Return the rows, and more that are no part of what a checkpoint keeps."""
        return History([*self.rows, *more])


def _is_due(looks: int) -> bool:
    """Say whether this look at F is one of the first, or the first after their number grew by a factor."""
    return looks <= EACH_LOOK or math.log(looks, SPARSER) // 1 > math.log(looks - 1, SPARSER) // 1
