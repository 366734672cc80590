"""Convergence curves with matplotlib."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tether.arrays import Array
from tether.inputs import number
from tether.report.measures import (
    AGAINST,
    MEASURES,
    as_runs,
    history_of,
    lowest_value,
    measured,
    require_word,
    usual_measure,
)
from tether.run.history import History
from tether.run.solution import Solution
from tether.sealed import writable

STYLES = ("-", "--", "-.")
LOWEST = 1e-16  # where zeros are drawn


def plot(
    runs: Mapping[str, Solution | History],
    path: str | Path | None = None,
    *,
    against: str = "projections",
    show: str | None = None,
    best: float | None = None,
) -> Figure:
    """Draw runs, a line each, and return the picture; write it where a path is given.

    Parameters
    ----------
    runs : mapping of str to Solution or History
        The runs by name.
    path : path, optional
        Where to write; the ending chooses the format.
    against : str, default "projections"
        What is on the x axis: "rounds", "projections", "passes" or "seconds".
    show : str, optional
        What is on the y axis: "gap", "excess" (F - F*), "value", "slope" (||P grad F||) or "residual".
        Default: the gap where it was certified, else the slope.
    best : float, optional
        F*, where it is known; else the lowest F of these runs stands for it.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.report import plot
    >>> objective = tether.Quadratic(matrix=np.diag([1.0, 10.0]), linear=np.ones(2))
    >>> sols = {name: tether.solve(objective, None, name) for name in ("nesterov", "lbfgs")}
    >>> plot(sols, show="excess", against="rounds").axes[0].get_ylabel()
    'F(x) - lowest F seen'
    """
    given = as_runs("runs", runs)
    place = None if path is None else writable("path", path)
    require_word("against", against, AGAINST)
    show = usual_measure(given) if show is None else require_word("show", show, MEASURES)
    lowest = lowest_value(given) if best is None else number("best", best)
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for name, run in given.items():
        history = history_of(run)
        _line(axes, name, history[against], measured(history, show, lowest), linear=show == "value")
    if show == "value" and best is not None:
        axes.axhline(lowest, color="grey", lw=0.8, ls=":")
    axes.set_yscale("linear" if show == "value" else "log")
    axes.set_xlabel(AGAINST[against])
    axes.set_ylabel("F(x) - lowest F seen" if show == "excess" and best is None else MEASURES[show])
    _finish(axes)
    if place is not None:
        figure.savefig(place, dpi=150)
    return figure


def plot_convergence(
    histories: Mapping[str, History],
    path: str | Path,
    *,
    best: float,
    against: str = "projections",
    title: str = "",
) -> Path:
    """Draw F - F* against a column of the history, a line a method, and write the picture.

    Parameters
    ----------
    histories : mapping of str to History
        The runs by name.
    path : path
        Where to write; the ending chooses the format.
    best : float
        F*.
    against : str, default "projections"
        The column on the x axis, for example "passes" or "seconds".
    title : str
        A heading.
    """
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for name, history in histories.items():
        _line(axes, name, history[against], measured(history, "excess", best))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(against)
    axes.set_ylabel("F(x) - F*")
    axes.set_title(title)
    _finish(axes)
    figure.savefig(path, dpi=150)
    return Path(path)


def _line(axes: Axes, name: str, x: Array, y: Array, linear: bool = False) -> None:
    """Draw what was measured of a run; zeros near the bottom of a logarithmic axis."""
    known, style = np.isfinite(y), STYLES[len(axes.lines) % len(STYLES)]
    heights = y[known] if linear else np.maximum(y[known], LOWEST)
    axes.plot(x[known], heights, style, marker=".", ms=4, lw=1.4, label=name)


def _finish(axes: Axes) -> None:
    axes.grid(alpha=0.3, which="both", lw=0.4)
    axes.legend(frameon=False, fontsize=9)
