"""What a run returns: the point, why it stopped, what it cost, and how it went."""

from dataclasses import dataclass
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Any

from tether.arrays import Array
from tether.extras import extra
from tether.feasible import Active, Multipliers
from tether.inputs import positive_integer
from tether.run import printing
from tether.run.history import Counts, Decision, History, Row
from tether.run.statement import Statement

__all__ = ["Counts", "Decision", "History", "Row", "Solution", "Status"]

ROWS = 10  # coefficients and multipliers that are listed


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


@dataclass(frozen=True, repr=False)
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
    solver : str
        What solved it in plain words, as "Newton's method, 7 iterations".
    problem : Statement or None
        What was solved and asked for, in words and numbers: `print` it.
    decisions : tuple of Decision
        What "auto" chose, after how many requests and passes, and why.
    doubt : str
        Why there is no certificate though there should be one; empty where there is none.
    """

    x: Array
    fun: float
    gap: float | None
    residual: float
    multipliers: Array | Multipliers | None
    status: Status
    message: str
    counts: Counts
    history: History
    seconds: float
    method: str
    active: Active | None = None
    ray: Array | None = None
    solver: str = ""
    problem: Statement | None = None
    decisions: tuple[Decision, ...] = ()
    doubt: str = ""

    @property
    def success(self) -> bool:
        """Whether the accuracy asked for was reached."""
        return self.status is Status.CONVERGED

    def summary(self, rows: int = ROWS) -> str:
        """Return what one wants to know of a solution, as text: what `print` shows.

        Parameters
        ----------
        rows : int, default 10
            How many coefficients, and how many multipliers of each kind, are listed; the largest first where
            there are more.
        """
        return printing.text(self, positive_integer("rows", rows))

    def save(self, path: str | PathLike[str]) -> Path:
        """Write everything that is in this solution to a file, .npz, that `tether.load` reads.

        An older file of that name is replaced. Returns the path.
        """
        from tether.run import saved  # which knows solutions

        return saved.save(self, path)

    def report(self, path: str | PathLike[str], *, title: str | None = None) -> Path:
        """Write a page about this solution that anyone can open, without a network; needs tether[report].

        For several solutions in one page there is `tether.report.write_report`. Returns the path.
        """
        pages = extra("report", "tether.report")  # a room above this one, so it is found by name
        return Path(pages.write_report(path, {self._name: self}, title=title))

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        against: str = "projections",
        show: str | None = None,
        best: float | None = None,
    ) -> Any:
        """Draw how the run went, with matplotlib; needs tether[report].

        Parameters
        ----------
        path : path, optional
            Where to write the picture; the ending chooses the format.
        against : str, default "projections"
            What is on the x axis: "rounds", "projections", "passes" or "seconds".
        show : str, optional
            What is on the y axis: "gap", "excess" (F - F*), "value", "slope" (||P grad F||) or "residual".
            Default: the gap where it was certified, else the slope.
        best : float, optional
            F*, where it is known; else the lowest F of the run stands for it.

        Returns
        -------
        matplotlib.figure.Figure
            The picture, which notebooks show.
        """
        pictures = extra("report", "tether.report")
        return pictures.plot({self._name: self}, path, against=against, show=show, best=best)

    @property
    def _name(self) -> str:
        return self.solver.split(",")[0] or self.method.split("(")[0]

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return printing.short(self)

    def _repr_html_(self) -> str:
        return printing.notebook(self, ROWS)
