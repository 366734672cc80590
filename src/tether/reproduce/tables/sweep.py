"""One number varied: what was counted, what the tables predict, and whether the powers agree.

The tables give upper bounds up to constants, so there are three verdicts: a measured power agrees with the
predicted one (fitted over the same points, logarithms included), or the method did better, or worse.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import NullLocator

from tether.arrays import Array
from tether.methods import Method
from tether.report import Mark, Table
from tether.report.parts import Cell
from tether.reproduce.experiment import Judgement, Results, Series
from tether.reproduce.figures.drawing import COLOURS, finish
from tether.reproduce.fits import UNCLEAR, Power, power
from tether.reproduce.task import Budget, Looks, Problem, Task
from tether.theory import Complexity

CLOSE = 0.15  # powers that differ by no more than this and the interval agree
VERDICTS = {"agrees": "", "better": " ↓", "worse": " ↑", "unclear": " ?"}
COUNTERS = {"steps": "T", "stages": "S", "rounds": "P", "gradients": "G"}
PREDICTED = {"steps": "steps", "stages": "stages", "rounds": "projections", "gradients": "gradients"}
MARKERS = {"steps": "o", "stages": "s", "rounds": "^", "gradients": "D"}
MOST_ROUNDS = 2_000_000
HEADINGS = ("method", "varied", "T", "S", "P", "G", "verdict")
LEGEND = "; measured power ± 95% (predicted), ↓ smaller, ↑ larger than predicted, ? unclear"

#: What the theorems assume: single samples, drawn independently, and steps for which they are proved.
THEORY: dict[str, Any] = {"parameters": "theory", "batch_size": 1, "replacement": True}


class Point(NamedTuple):
    """One setting: the number that is varied, the run, the gap it has to reach, and the predicted work."""

    value: float
    problem: Problem
    method: Method
    target: float
    expected: Complexity


@dataclass(frozen=True)
class Sweep:
    """Runs to a gap at several values of one number."""

    label: str
    varied: str
    points: tuple[Point, ...]
    counters: tuple[str, ...] = tuple(COUNTERS)
    seeds: int = 1

    def series(self) -> list[Series]:
        """Return a series a point."""
        return [
            Series(
                self._key(point),
                f"{self.varied} = {point.value:g}",
                Task(
                    problem=point.problem,
                    method=point.method,
                    budget=Budget(rounds=MOST_ROUNDS),
                    looks=Looks(every=1, share=0.005),
                    target=point.target,
                ),
                self.seeds,
            )
            for point in self.points
        ]

    def fits(self, results: Results) -> list["Fit"]:
        """Return the powers, a counter each."""
        return [self._fit(results, counter) for counter in self.counters]

    def counted(self, results: Results, counter: str) -> Array:
        """Return what was counted, a row a run; nan where the gap was not reached."""
        table = []
        for point in self.points:
            curve = results[self._key(point)]
            reached = curve.end("value") <= point.target
            table.append(np.where(reached, curve.counts(counter), np.nan))
        return np.array(table).T

    def expected(self, counter: str) -> Array:
        """Return what is predicted."""
        return np.array([getattr(point.expected, PREDICTED[counter]) for point in self.points])

    @property
    def values(self) -> Array:
        """The number that is varied."""
        return np.array([point.value for point in self.points])

    def span(self, results: Results) -> tuple[float, float]:
        """Return the ends of what is varied."""
        return float(self.values[0]), float(self.values[-1])

    def draw(self, axes: Any, results: Results) -> None:
        """Draw counts with their lines, and dotted through the first the predicted ones."""
        for counter in self.counters:
            counted, colour = self.counted(results, counter), COLOURS[list(COUNTERS).index(counter)]
            measured = np.nanmean(counted, axis=0)
            axes.plot(
                self.values,
                measured,
                ls="-",
                lw=1.2,
                color=colour,
                marker=MARKERS[counter],
                ms=4,
                label=COUNTERS[counter],
            )
            shape = self.expected(counter)
            axes.plot(self.values, shape * measured[0] / shape[0], ls=":", lw=1.2, color=colour)
        axes.set_xscale("log")
        axes.set_yscale("log")
        finish(axes, self.varied, "counted", legend=False)
        axes.set_xticks(self.values, [f"{value:g}" for value in self.values])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_title(self.label, loc="left", fontsize=8)

    def _key(self, point: Point) -> str:
        return f"{self.label}, {self.varied}/{point.value:g}"

    def _fit(self, results: Results, counter: str) -> "Fit":
        counted = self.counted(results, counter)
        predicted = power(self.values, self.expected(counter)).exponent
        if np.isnan(counted).any():
            return Fit(self, counter, None, predicted)
        return Fit(self, counter, power(self.values, counted), predicted)


class Fit(NamedTuple):
    """A measured power and a predicted one."""

    sweep: Any
    counter: str
    measured: Power | None  # None: some run did not reach its gap
    predicted: float

    @property
    def verdict(self) -> str:
        """Whether the measured power agrees with the predicted one, or is better, worse or unclear."""
        if self.measured is None:
            return "worse"
        if self.measured.half_width > UNCLEAR:
            return "unclear"
        if abs(self.measured.exponent - self.predicted) <= CLOSE + self.measured.half_width:
            return "agrees"
        return "better" if self.measured.exponent < self.predicted else "worse"

    @property
    def words(self) -> str:
        """Both powers, and a mark where they differ."""
        found = "not reached" if self.measured is None else str(self.measured)
        return f"{found} ({self.predicted:+.2f}){VERDICTS[self.verdict]}"


def table_of(sweeps: Sequence[Any], caption: str) -> Callable[[Results], Table]:
    """Return what makes the table of several sweeps."""

    def made(results: Results) -> Table:
        return Table(HEADINGS, [_row(sweep, results) for sweep in sweeps], caption + LEGEND)

    return made


def _row(sweep: Any, results: Results) -> list[Cell]:
    fits, (low, high) = sweep.fits(results), sweep.span(results)
    words = {fit.counter: fit.words for fit in fits}
    tally = [fit.verdict for fit in fits]
    said = ", ".join(f"{tally.count(word)} {word}" for word in VERDICTS if word in tally)
    ends = f"{sweep.varied} from {low:,.4g} to {high:,.4g}"
    return [
        sweep.label,
        ends,
        *map(words.get, COUNTERS),
        Mark(said, None if set(tally) == {"unclear"} else "worse" not in tally),
    ]


def no_worse(sweeps: Sequence[Any]) -> Callable[[Results], Judgement]:
    """Return what judges whether no power is worse than predicted."""

    def judged(results: Results) -> Judgement:
        fits = [fit for sweep in sweeps for fit in sweep.fits(results)]
        words = [fit.verdict for fit in fits]
        tally = ", ".join(f"{words.count(word)} {word}" for word in VERDICTS if word in words)
        worse = [
            f"{COUNTERS[fit.counter]} of {fit.sweep.label} in {fit.sweep.varied}: {fit.words}"
            for fit in fits
            if fit.verdict == "worse"
        ]
        holds = False if worse else None if set(words) == {"unclear"} else True
        return Judgement(holds, "; ".join([tally, *worse]))

    return judged


def growth(sweep: Sweep, counter: str, low: float, high: float) -> Callable[[Results], Judgement]:
    """Return what judges whether a counter grows with a power between two."""

    def judged(results: Results) -> Judgement:
        counted = sweep.counted(results, counter)
        found, mean = power(sweep.values, counted), counted.mean(axis=0)
        ends = f"{mean[0]:,.0f} at {sweep.values[0]:g}, {mean[-1]:,.0f} at {sweep.values[-1]:g}"
        words = f"{COUNTERS[counter]} grows with the power {found} of {sweep.varied}: {ends}"
        known = found.half_width <= UNCLEAR
        return Judgement(bool(low <= found.exponent <= high) if known else None, words)

    return judged


def draw_all(sweeps: Sequence[Any], columns: int = 3) -> Callable[[Results, Any], None]:
    """Return what draws a panel a sweep, and a legend in what is left."""

    def drawn(results: Results, figure: Any) -> None:
        rows = -(-(len(sweeps) + 1) // columns)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, sweep in zip(panels, sweeps, strict=False):
            sweep.draw(axes, results)
        for axes in panels[len(sweeps) :]:
            axes.set_axis_off()
        _explain(panels[len(sweeps)])

    return drawn


def _explain(axes: Any) -> None:
    words = {"T": "steps T", "S": "stages S", "P": "projections, rounds P", "G": "component gradients G"}
    for (counter, letter), colour in zip(COUNTERS.items(), COLOURS, strict=False):
        axes.plot([], [], ls="-", lw=1.2, color=colour, marker=MARKERS[counter], ms=4, label=words[letter])
    axes.plot([], [], ls=":", lw=1.2, color="0.3", label="predicted, through the first point")
    axes.legend(fontsize=8, loc="center left", frameon=False)
