"""The history of a run, a row a request, and the word to the progress line."""

import math
from dataclasses import dataclass, field

from tether.problem import Facts
from tether.requests import Measured, Reply
from tether.run.progress import Reporter
from tether.run.solution import History, Row
from tether.run.turn import Run


@dataclass
class Record:
    """Keeps the rows of a run while it goes."""

    facts: Facts
    reporter: Reporter
    rows: list[Row] = field(default_factory=list)

    def add(self, run: Run, reply: Reply, gap: float, fraction: float) -> None:
        """Write a row and move the progress line."""
        self.rows.append(self.row(run, reply, gap))
        self.reporter.update(self.rows[-1], fraction)

    def row(self, run: Run, reply: Reply, gap: float) -> Row:
        """Return the row of a turn; F and gap are nan where they were not measured."""
        value = reply.value if isinstance(reply, Measured) else math.nan
        passes = run.counts.gradients / self.facts.n_samples
        return Row(*run.counts, passes, run.seconds, value, gap, reply.work.workers)

    def history(self, *more: Row) -> History:
        """Return the rows, and more that are no part of what a checkpoint keeps."""
        return History([*self.rows, *more])
