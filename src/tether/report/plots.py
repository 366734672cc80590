"""Convergence curves with matplotlib."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from tether.run.solution import History


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
    for number, (name, history) in enumerate(histories.items()):
        measured = ~np.isnan(history["value"])
        excess = np.maximum(history["value"][measured] - best, 1e-16)
        style = ("-", "--", "-.")[number % 3]
        axes.plot(history[against][measured], excess, style, marker=".", ms=4, lw=1.4, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(against)
    axes.set_ylabel("F(x) - F*")
    axes.set_title(title)
    axes.grid(alpha=0.3, which="both", lw=0.4)
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=150)
    return Path(path)
