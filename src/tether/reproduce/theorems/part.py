"""What belongs to one theorem: runs, claims and panels; and how a bound is compared with runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tether.arrays import Array
from tether.reproduce.curves import Curve
from tether.reproduce.experiment import Claim, Judgement, Results, Series
from tether.reproduce.figures.drawing import COLOURS, finish
from tether.reproduce.fits import UNCLEAR, power

Panel = Callable[[Results, Any], None]
FLOOR = 1e-13  # of a gap: below it is rounding


@dataclass(frozen=True)
class Part:
    """What belongs to one theorem."""

    series: tuple[Series, ...]
    claims: tuple[Claim, ...]
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Bounded:
    """A curve and the bound that a theorem sets to it, by the steps taken."""

    key: str
    bound: Callable[[float], float]
    after: float = 1.0  # steps from which on it says something

    def measured(self, results: Results) -> tuple[Array, Array, Array]:
        """Return steps, mean gaps of what is answered with, and bounds."""
        curve = results[self.key]
        steps, gaps = curve.common("steps"), curve.mean_gap("value")
        taken = (steps >= self.after) & (gaps > FLOOR)
        return steps[taken], gaps[taken], np.array([self.bound(T) for T in steps[taken]])


def below_bound(name: str, *bounded: Bounded) -> Claim:
    """Return the claim that curves stay below their bounds."""

    def judged(results: Results) -> Judgement:
        largest, ends = 0.0, []
        for one in bounded:
            _, gaps, bounds = one.measured(results)
            largest = max(largest, float(np.max(gaps / bounds)))
            ends.append(f"{results[one.key].label}: {gaps[-1]:.1e} of {bounds[-1]:.1e}")
        numbers = f"measured over bound at most {largest:.2g}; at the ends {', '.join(ends)}"
        return Judgement(largest <= 1.0, numbers)

    return Claim(f"{name}: the error stays below the bound at every look", judged)


def powers(
    words: str, keys: dict[float, str], low: float, high: float, read: Callable[[Curve], Array]
) -> Claim:
    """Return the claim that what is read of runs grows with a power of a number between two."""

    def judged(results: Results) -> Judgement:
        values = np.array(list(keys))
        table = np.array([read(results[key]) for key in keys.values()]).T
        found, pairs = power(values, table), zip(values, table.mean(axis=0), strict=True)
        means = ", ".join(f"{value:.3g}: {mean:.1e}" for value, mean in pairs)
        numbers = f"power {found}, wanted {low:g} to {high:g} ({means})"
        known = found.half_width <= UNCLEAR
        return Judgement(bool(low <= found.exponent <= high) if known else None, numbers)

    return Claim(words, judged)


def draw_bounded(title: str, across: str, *bounded: Bounded, per: float = 1.0, log: bool = False) -> Panel:
    """Return a panel with curves and, dashed, their bounds; ``per`` steps make one unit across."""

    def drawn(results: Results, axes: Any) -> None:
        for one, colour in zip(bounded, COLOURS, strict=False):
            steps, gaps, bounds = one.measured(results)
            axes.plot(steps / per, gaps, color=colour, lw=1.4, label=results[one.key].label)
            axes.plot(steps / per, bounds, color=colour, lw=1.1, ls="--")
        axes.set_yscale("log")
        if log:
            axes.set_xscale("log")
        finish(axes, across, "F − F*, bounds dashed")
        axes.set_title(title, loc="left", fontsize=9)

    return drawn


def draw_powers(
    title: str, across: str, groups: dict[str, dict[float, str]], read: Callable[[Curve], Array]
) -> Panel:
    """Return a panel of what is read of runs against a number, on logarithmic axes, with fitted powers."""

    def drawn(results: Results, axes: Any) -> None:
        for (label, keys), colour in zip(groups.items(), COLOURS, strict=False):
            values = np.array(list(keys))
            table = np.array([read(results[key]) for key in keys.values()]).T
            found = power(values, table)
            mean = table.mean(axis=0)
            axes.plot(values, mean, "o-", color=colour, ms=4, lw=1.3, label=f"{label}: power {found}")
        axes.set_xscale("log")
        axes.set_yscale("log")
        finish(axes, across, "F − F* at the end")
        axes.set_title(title, loc="left", fontsize=9)

    return drawn
