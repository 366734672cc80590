"""SGD stalls where its step leaves it, so its work to a gap is measured the other way round.

For a number T of steps the step size that suits T is taken, and the gap that is left is measured; T against
that gap is then compared with the T that the tables give for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tether.arrays import Array
from tether.methods import DelayedSGD
from tether.reproduce.experiment import Results, Series
from tether.reproduce.figures.drawing import COLOURS, finish
from tether.reproduce.fits import power
from tether.reproduce.tables.sweep import Fit
from tether.reproduce.task import Budget, Looks, Problem, Task
from tether.theory import Complexity


@dataclass(frozen=True)
class Horizon:
    """Runs of several lengths, each with the step that suits it."""

    label: str
    problem: Problem
    interval: int
    steps: tuple[int, ...]
    step_sizes: tuple[float, ...]
    convexity: float | None
    predict: Callable[[float], Complexity]  # by the gap
    seeds: int = 4
    varied: str = "1/ε"

    def series(self) -> list[Series]:
        """Return a series a length."""
        made = []
        for T, eta in zip(self.steps, self.step_sizes, strict=True):
            method = DelayedSGD(
                interval=self.interval,
                step_size=eta,
                batch_size=1,
                replacement=True,
                stage_length=T,
                convexity=self.convexity,
            )
            task = Task(problem=self.problem, method=method, budget=Budget(steps=T), looks=Looks(every=T + 1))
            made.append(Series(f"{self.label}/{T}", f"T = {T:,}", task, self.seeds))
        return made

    def gaps(self, results: Results) -> Array:
        """Return the mean gap that is left after each length."""
        return np.array([np.mean(results[f"{self.label}/{T}"].end("value")) for T in self.steps])

    @property
    def values(self) -> Array:
        """The lengths."""
        return np.array(self.steps, dtype=float)

    def span(self, results: Results) -> tuple[float, float]:
        """Return the largest and the smallest gap that is left, inverted."""
        gaps = self.gaps(results)
        return float(1 / gaps.max()), float(1 / gaps.min())

    def fits(self, results: Results) -> list[Fit]:
        """Return the powers of 1/eps with which T and P grow."""
        gaps = self.gaps(results)
        made = []
        for counter, name in {"steps": "steps", "rounds": "projections"}.items():
            counted = self.values / (self.interval if counter == "rounds" else 1)
            expected = np.array([getattr(self.predict(gap), name) for gap in gaps])
            made.append(Fit(self, counter, power(1 / gaps, counted), power(1 / gaps, expected).exponent))
        return made

    def draw(self, axes: Any, results: Results) -> None:
        """Draw steps against the gap that is left, and dotted what is predicted."""
        gaps = self.gaps(results)
        expected = np.array([self.predict(gap).steps for gap in gaps])
        axes.plot(1 / gaps, self.values, color=COLOURS[0], marker="o", ms=4, lw=1.2, label="T")
        axes.plot(1 / gaps, expected * self.values[0] / expected[0], color=COLOURS[0], ls=":", lw=1.2)
        axes.set_xscale("log")
        axes.set_yscale("log")
        finish(axes, f"{self.varied} that is left", "counted", legend=False)
        axes.set_title(self.label, loc="left", fontsize=8)
