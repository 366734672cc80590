"""How a run went: a row a request, and what was decided on the way."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.requests import Work

if TYPE_CHECKING:
    import pandas


class Counts(NamedTuple):
    """The four complexities of Definition 4.1, counted: T, S, P (as rounds and as vectors) and G.

    They are the method's own. What it costs to look at F beside the method (see ``audit`` of `tether.solve`)
    is counted apart; only bytes are counted together.
    """

    steps: int = 0  # T
    stages: int = 0  # S
    rounds: int = 0  # projection events, communication rounds
    projections: int = 0  # P: vectors projected
    gradients: int = 0  # G: component gradients
    sent: int = 0  # bytes from workers
    received: int = 0  # bytes to workers
    audits: int = 0  # projection events of audits
    audit_gradients: int = 0  # component gradients of audits

    def plus(self, work: Work, stages: int) -> "Counts":
        """Return the counts after the work of one of the method's requests."""
        return Counts(
            self.steps + work.steps,
            stages,
            self.rounds + work.rounds,
            self.projections + work.projections,
            self.gradients + work.gradients,
            self.sent + work.sent,
            self.received + work.received,
            self.audits,
            self.audit_gradients,
        )

    def plus_audit(self, work: Work) -> "Counts":
        """Return the counts after the work of an audit."""
        return self._replace(
            sent=self.sent + work.sent,
            received=self.received + work.received,
            audits=self.audits + work.rounds,
            audit_gradients=self.audit_gradients + work.gradients,
        )


METRICS = ("value", "slope", "seconds", "sent")  # what each worker of a federation reports


class Row(NamedTuple):
    """One line of the history."""

    steps: int
    stages: int
    rounds: int
    projections: int
    gradients: int
    sent: int
    received: int
    audits: int
    audit_gradients: int
    passes: float
    seconds: float
    value: float  # F where it was measured, else nan
    gap: float  # the rigorous bound where there is one, else nan
    slope: float = math.nan  # a bound on ||P grad F|| where F was measured, else nan
    residual: float = math.nan  # ||A x - b||, at some of the points where F was measured, else nan
    workers: Array | None = None  # what each worker reported


class History:
    """A table of the run, one row a request: counts, seconds, and what was measured of F.

    "value" and "slope" (||P grad F||) are nan where F was not measured, "gap" also where nothing bounds it.
    "residual" (||A x - b||) is taken at the first two such points and then ever more rarely, because
    it may cost as much as a projection.

    ``workers`` has the same rows for each worker of a federation: arrays of shape (rows, workers) with the
    worker's loss ("value"), gradient norm ("slope"), working time ("seconds") and bytes sent ("sent"), nan
    where a request did not ask for it.

    Examples
    --------
    >>> history = History([Row(*Counts(5, 1, 1, 1, 50), 0.5, 0.01, 2.5, 0.1)])
    >>> history["value"]
    array([2.5])
    """

    columns = Row._fields[:-1]

    def __init__(self, rows: list[Row]) -> None:
        self._rows = tuple(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, column: str) -> Array:
        if column not in self.columns:
            raise KeyError(f"history has no column {column!r}; it has {', '.join(self.columns)}.")
        place = self.columns.index(column)
        return np.array([row[place] for row in self._rows])

    @property
    def workers(self) -> dict[str, Array]:
        """What each worker reported, by metric; empty without workers."""
        reports = [row.workers for row in self._rows]
        known = [report for report in reports if report is not None]
        if not known:
            return {}
        none = np.full_like(known[0], np.nan)
        table = np.stack([none if report is None else report for report in reports])
        return {name: table[:, :, place] for place, name in enumerate(METRICS)}

    @property
    def table(self) -> Array:
        """The numbers of all rows, for a file."""
        numbers = [row[:-1] for row in self._rows]
        return np.array(numbers, dtype=np.float64).reshape(len(self), len(self.columns))

    @property
    def reports(self) -> Array | None:
        """What workers reported, for a file; None without workers."""
        each = self.workers
        return np.stack(list(each.values()), axis=-1) if each else None

    def __repr__(self) -> str:
        return f"History({len(self)} rows: {', '.join(self.columns)})"

    def to_dict(self) -> dict[str, Array]:
        """Return the columns as a dictionary of arrays."""
        return {column: self[column] for column in self.columns}

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.to_dict())


def rows_of(table: Array, reports: Array | None) -> list[Row]:
    """Return the rows that `History.table` and `History.reports` were made of; counts are whole numbers."""
    counts, rows = len(Counts._fields), []
    for place, line in enumerate(table):
        numbers: list[Any] = [int(v) for v in line[:counts]] + [float(v) for v in line[counts:]]
        report = None if reports is None else reports[place]
        report = None if report is None or np.isnan(report).all() else report
        rows.append(Row(*numbers)._replace(workers=report))
    return rows


class Decision(NamedTuple):
    """What was chosen to run, when, and why."""

    request: int  # how many requests went before it
    passes: float  # and how many passes over the data
    words: str
    reason: str
