"""Panels: curves with bands over seeds, the optimum as a line, and colours that all eyes can tell apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tether.reproduce.curves import Curve

#: Okabe and Ito's colours, the darker ones first.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31", "#7F7F7F")
DASHES: tuple[Any, ...] = (
    "-",
    "--",
    "-.",
    ":",
    (0, (5, 1)),
    (0, (3, 1, 1, 1)),
    (0, (1, 1)),
    (0, (7, 2)),
    "-",
)


def losses(axes: Any, curves: Sequence[Curve], *, of: str = "iterate", ordered: bool = False) -> None:
    """Draw F against projections with the optimum as reference, as the paper's panels are."""
    for curve, style in zip(curves, styles(len(curves), ordered), strict=True):
        values = curve.gaps(of) + curve.best
        _line(axes, curve.rounds, values, curve.label, style)
    axes.axhline(curves[0].best, color="0.35", lw=0.9, ls=(0, (4, 3)))
    axes.annotate(
        "F*",
        (1.0, curves[0].best),
        (-3, 2),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=8,
        color="0.25",
    )
    axes.set_yscale("log")
    _plain_logarithms(axes)
    finish(axes, "projections", "training loss F")


def gaps(
    axes: Any,
    curves: Sequence[Curve],
    *,
    against: str = "rounds",
    of: str = "iterate",
    linear: bool = False,
    legend: bool = True,
) -> None:
    """Draw F - F* against a column, both on logarithmic axes."""
    for curve, style in zip(curves, styles(len(curves)), strict=True):
        shown = np.maximum(curve.gaps(of), 1e-12)
        _line(axes, np.maximum(curve.common(against), 1e-3), shown, curve.label, style)
    axes.set_yscale("log")
    if not linear:
        axes.set_xscale("log")
    names = {"rounds": "projections", "seconds": "seconds", "passes": "passes over the data"}
    finish(axes, names[against], "F − F*", legend)


def styles(count: int, ordered: bool = False) -> list[dict[str, Any]]:
    """Return how lines are drawn: by hue and dash, or by shade where they have an order."""
    if not ordered:
        return [{"color": COLOURS[k % 9], "ls": DASHES[k % 9]} for k in range(count)]
    from matplotlib import colormaps

    shades = colormaps["viridis"](np.linspace(0.0, 0.85, count))
    return [{"color": tuple(shade), "ls": "-"} for shade in shades]


def finish(axes: Any, across: str, up: str, legend: bool = True) -> None:
    """Name the axes, and draw grid and legend lightly."""
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(alpha=0.25, which="both", lw=0.4)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if legend:
        axes.legend(frameon=False, fontsize=7, handlelength=2.4, labelspacing=0.25, borderaxespad=0.2)


def _line(axes: Any, x: np.ndarray, runs: np.ndarray, label: str, style: dict[str, Any]) -> None:
    """Draw the mean of runs, and from the lowest to the highest a band."""
    axes.plot(x, np.mean(runs, axis=0), lw=1.5, label=label, **style)
    if len(runs) > 1:
        axes.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=style["color"], alpha=0.18, lw=0)


def _plain_logarithms(axes: Any) -> None:
    """Write 0.3 and not 3 x 10^-1."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
