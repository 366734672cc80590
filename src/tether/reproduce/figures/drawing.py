"""Panels: curves with bands over seeds, the optimum as a line, and colours that all eyes can tell apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter

from tether.arrays import Array
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

#: Colour and dash of methods, by what their labels begin with; baselines are dashed.
LOOKS: dict[str, tuple[int, int | None]] = {
    "P-SGD": (1, 1),
    "D-SGD": (1, 1),
    "P-SVRG": (0, 1),
    "D-SVRG": (0, 1),
    "DP-SGD": (1, 0),
    "Local SGD": (1, 0),
    "DP-SVRG, E = 10": (0, 0),
    "DP-SVRG,": (5, None),  # several intervals, told apart by dashes
    "DP-SVRG": (0, 0),
    "Local SVRG": (0, 0),
    "DP-ASVRG": (2, 0),
    "Local ASVRG": (2, 0),
    "ProxSkip": (3, 3),
    "Tether": (6, 0),
    "Nesterov": (4, 3),
    "L-BFGS": (4, 1),
    "Newton": (8, 1),
}


def losses(
    axes: Any,
    curves: Sequence[Curve],
    *,
    of: str = "iterate",
    ordered: bool = False,
    across: str = "projections",
) -> None:
    """Draw F against projections with the optimum as reference, as the paper's panels are."""
    for curve, style in zip(curves, styles(curves, ordered), strict=True):
        values = curve.gaps(of) + curve.best
        _line(axes, curve.rounds, values, curve.label, style)
    _reference(axes, curves[0].best)
    axes.set_yscale("log")
    _plain_logarithms(axes)
    finish(axes, across, "training loss F")


def gaps(
    axes: Any,
    curves: Sequence[Curve],
    *,
    against: str = "rounds",
    of: str = "iterate",
    linear: bool = False,
    legend: bool = True,
    across: str = "projections",
) -> None:
    """Draw F - F* against a column, both on logarithmic axes."""
    for curve, style in zip(curves, styles(curves), strict=True):
        shown = np.maximum(curve.gaps(of), 1e-12)
        _line(axes, np.maximum(_column(curve, against), 1e-3), shown, curve.label, style)
    axes.set_yscale("log")
    if not linear:
        axes.set_xscale("log")
    finish(axes, across if against == "rounds" else against, "F − F*", legend)


def _column(curve: Curve, name: str) -> Array:
    if name == "megabytes":
        return (curve.common("sent") + curve.common("received")) / 1e6
    return curve.common(name)


def styles(curves: Sequence[Curve], ordered: bool = False) -> list[dict[str, Any]]:
    """Return how lines are drawn: a method looks the same everywhere; where lines have an order, by shade."""
    if not ordered:
        return [_style(curve.label, place) for place, curve in enumerate(curves)]
    from matplotlib import colormaps

    shades = colormaps["viridis"](np.linspace(0.0, 0.85, len(curves)))
    return [{"color": tuple(shade), "ls": "-"} for shade in shades]


def _style(label: str, place: int) -> dict[str, Any]:
    known = next((look for name, look in LOOKS.items() if label.startswith(name)), None)
    colour, dash = known if known is not None else (place, place)
    return {"color": COLOURS[colour % 9], "ls": DASHES[(place if dash is None else dash) % 9]}


def finish(axes: Any, across: str, up: str, legend: bool = True) -> None:
    """Name the axes, and draw grid and legend lightly."""
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    for axis in (axes.xaxis, axes.yaxis):
        _few_ticks(axis)
    axes.grid(alpha=0.25, which="both", lw=0.4)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if legend:
        shown = axes.legend(fontsize=7, handlelength=2.4, labelspacing=0.25, borderaxespad=0.2)
        shown.get_frame().set(alpha=0.7, linewidth=0)


def _line(axes: Any, x: np.ndarray, runs: np.ndarray, label: str, style: dict[str, Any]) -> None:
    """Draw the mean of runs, and from the lowest to the highest a band."""
    axes.plot(x, np.mean(runs, axis=0), lw=1.5, label=label, **style)
    if len(runs) > 1:
        axes.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=style["color"], alpha=0.18, lw=0)


def _reference(axes: Any, best: float) -> None:
    """Draw the optimum as a line with many points, so that legends keep away from it."""
    low, high = axes.get_xlim()
    axes.plot(np.linspace(low, high, 60), np.full(60, best), color="0.35", lw=0.9, ls=(0, (4, 3)))
    axes.set_xlim(low, high)
    axes.annotate(
        "F*",
        (1.0, best),
        (-3, 2),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=8,
        color="0.25",
    )


def _few_ticks(axis: Any) -> None:
    """Keep minor ticks to axes of few decades: they are slow to draw, and clutter."""
    if axis.get_scale() != "log" or isinstance(axis.get_major_locator(), _Plain):
        return
    low, high = axis.get_view_interval()
    if high > 1e3 * low:
        axis.set_minor_locator(NullLocator())
    axis.set_major_locator(LogLocator(numticks=7))
    axis.set_minor_formatter(NullFormatter())


def _plain_logarithms(axes: Any) -> None:
    """Write 0.3 and not 3 x 10^-1."""
    axes.yaxis.set_major_locator(_Plain(subs=(1.0, 2.0, 3.0, 5.0)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


class _Plain(LogLocator):
    """Ticks at 1, 2, 3 and 5 of every decade."""
