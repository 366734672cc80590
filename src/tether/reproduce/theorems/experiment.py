"""All theorems as one experiment."""

from typing import Any

from tether.reproduce.experiment import Experiment, Results, Settings
from tether.reproduce.theorems.part import Part
from tether.reproduce.theorems.sgd import sgd
from tether.reproduce.theorems.staged import staged


def theorems(settings: Settings) -> Experiment:
    """Return the error bounds of Theorems 3.1, 3.2, 4.1, 5.1 and 5.2 against measured errors."""
    parts = [sgd(settings), staged(settings)]
    return Experiment(
        name="theorems",
        title="Theorems 3.1 to 5.2: error bounds",
        series=tuple(series for part in parts for series in part.series),
        claims=tuple(claim for part in parts for claim in part.claims),
        draw=lambda results, figure: _draw(parts, results, figure),
        panels=("3.1", "3.2", "4.1", "4.1 flat", "5.1", "5.2"),
        of="value",
        size=(13.0, 6.4),
    )


def _draw(parts: list[Part], results: Results, figure: Any) -> None:
    panels = [panel for part in parts for panel in part.panels]
    for axes, panel in zip(figure.subplots(2, 4).ravel(), panels, strict=True):
        panel(results, axes)
