"""What a run returns: the point, why it stopped, what it cost, and how it went."""

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.feasible import Active, Multipliers
from tether.requests import Work

if TYPE_CHECKING:
    import pandas


class Status(Enum):
    """Why a run stopped."""

    CONVERGED = "the certificate is within tolerance"
    MAX_PASSES = "max_passes is used up"
    MAX_ROUNDS = "max_rounds is used up"
    MAX_SECONDS = "max_seconds is used up"
    CALLBACK = "the callback stopped the run"
    INTERRUPTED = "interrupted; x is the best feasible point so far"
    EXHAUSTED = "rounding errors allow no further progress"
    DIVERGED = "the run diverged; x is the best point before that"

    @property
    def message(self) -> str:
        """The reason in words."""
        return str(self.value)


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
        return self._moved(work)._replace(
            steps=self.steps + work.steps,
            stages=stages,
            rounds=self.rounds + work.rounds,
            projections=self.projections + work.projections,
            gradients=self.gradients + work.gradients,
        )

    def plus_audit(self, work: Work) -> "Counts":
        """Return the counts after the work of an audit."""
        return self._moved(work)._replace(
            audits=self.audits + work.rounds, audit_gradients=self.audit_gradients + work.gradients
        )

    def _moved(self, work: Work) -> "Counts":
        return self._replace(sent=self.sent + work.sent, received=self.received + work.received)


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
    workers: Array | None = None  # what each worker reported


class History:
    """A table of the run, one row a request: counts, seconds, and the value and gap where they were measured.

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

    def __repr__(self) -> str:
        return f"History({len(self)} rows: {', '.join(self.columns)})"

    def to_dict(self) -> dict[str, Array]:
        """Return the columns as a dictionary of arrays."""
        return {column: self[column] for column in self.columns}

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.to_dict())


@dataclass(frozen=True)
class Solution:
    """The answer of `tether.solve`.

    Attributes
    ----------
    x : ndarray
        The best point found, feasible to rounding.
    fun : float
        F(x); nan where workers withhold their losses.
    gap : float or None
        A rigorous bound on F(x) - F*, ||P grad F(x)||^2 / (2 mu); None where mu = 0 or F
        was not measured.
    residual : float
        ||A x - b||.
    multipliers : ndarray, Multipliers or None
        lambda with grad F(x) = A^T lambda at the optimum, from an exact projection of grad F(x); None where
        workers withhold their gradients. Beyond equations a `Multipliers` with ``equalities``,
        ``inequalities``, ``bounds`` and ``penalty``.
    active : Active or None
        Which inequalities, bounds and kinks of penalties hold with equality; None with equations only.
    ray : ndarray or None
        Where F + penalty has no minimum: a direction that leads along the constraints for ever, and on which
        it falls, if one was found.
    status, message, success
        Why the run stopped, in words, and whether that is the accuracy asked for.
    counts : Counts
        T, S, P and G of the method as they happened, and apart from them what audits of F cost.
    history : History
        One row a request.
    seconds : float
        Wall time.
    method : str
        The method with all its settings.
    """

    x: Array
    fun: float
    gap: float | None
    residual: float
    multipliers: Array | Multipliers | None = field(repr=False)
    status: Status
    message: str
    counts: Counts
    history: History = field(repr=False)
    seconds: float
    method: str = field(repr=False)
    active: Active | None = field(repr=False, default=None)
    ray: Array | None = field(repr=False, default=None)

    @property
    def success(self) -> bool:
        """Whether the accuracy asked for was reached."""
        return self.status is Status.CONVERGED

    def __str__(self) -> str:
        lines: list[tuple[str, Any]] = [
            ("status", f"{self.status.name.lower()}: {self.message}"),
            *self._quality(),
            ("||Ax - b||", f"{self.residual:.3g}"),
            ("rounds", f"{self.counts.rounds} ({self.counts.projections} vectors projected)"),
            ("work", f"{self.counts.gradients} component gradients in {self.seconds:.3g} s"),
            *self._audits(),
            *self._traffic(),
            ("method", self.method),
        ]
        return "\n".join(f"{name:>12}  {text}" for name, text in lines)

    def _quality(self) -> list[tuple[str, str]]:
        if np.isnan(self.fun):
            return [("F(x)", "not measured: the workers keep their losses to themselves")]
        gap = "unknown" if self.gap is None else f"{self.gap:.3g}"
        return [("F(x)", f"{self.fun:.12g}"), ("gap at most", gap)]

    def _audits(self) -> list[tuple[str, str]]:
        if not (self.counts.audits or self.counts.audit_gradients):
            return []
        looks, gradients = self.counts.audits, self.counts.audit_gradients
        rounds = "1 round" if looks == 1 else f"{looks} rounds"
        return [("audits", f"{rounds} and {gradients} component gradients to look at F")]

    def _traffic(self) -> list[tuple[str, str]]:
        if not self.counts.sent:
            return []
        sent, received = self.counts.sent / 1e6, self.counts.received / 1e6
        return [("traffic", f"{sent:.3g} MB from workers, {received:.3g} MB to them")]
