"""Performance profiles as figures."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from profiling import ratios
from profiling.pages import TITLES, figure_name

WIDEST = 64.0


def draw(results: dict[str, Any], folder: Path) -> None:
    """Write one figure for each half and each cost."""
    matplotlib.rcParams["svg.hashsalt"] = "profiles"  # the same numbers make the same file
    for half, heading in TITLES.items():
        problems = ratios.entries(results, half)
        if not problems:
            continue
        for what in ("seconds", "projections"):
            figure = _figure(ratios.profile(problems, what), f"{heading}, {what} to the target")
            figure.savefig(folder / figure_name(half, what), metadata={"Date": None})
            plt.close(figure)


def _figure(found: dict[str, list[float]], title: str) -> Any:
    figure, axes = plt.subplots(figsize=(8.0, 4.5), layout="constrained")
    for name, costs in found.items():
        ours = name.startswith("tether")
        places = np.concatenate([[1.0], np.minimum(costs, 2.0 * WIDEST), [2.0 * WIDEST]])
        heights = np.concatenate([[0.0], np.arange(1, len(costs) + 1), [len(costs)]]) / len(costs)
        heights[places >= 2.0 * WIDEST] = np.mean(np.isfinite(costs) & (np.array(costs) < 2.0 * WIDEST))
        style = "-" if ours else ":" if name.startswith("null-space") else "--"
        axes.step(
            places,
            heights,
            style,
            where="post",
            linewidth=2.2 if name == ratios.AUTO else 1.3,
            label=f"{name} ({len(costs)})",
        )
    axes.set(
        xscale="log",
        xlim=(1.0, WIDEST),
        ylim=(0.0, 1.02),
        xlabel="times the best",
        ylabel="share of problems",
        title=title,
    )
    axes.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
    axes.legend(loc="lower right", fontsize="small")
    axes.grid(alpha=0.3)
    return figure
