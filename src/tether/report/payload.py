"""Runs as the numbers that a page's script draws."""

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from tether.arrays import Indices
from tether.report.parts import Curves, Figure
from tether.run.solution import History, Solution

MOST_ROWS = 20_000  # of a history that a page holds; longer ones are thinned


class Payload:
    """What the script of a page needs, gathered while the page is written; each run once."""

    def __init__(self) -> None:
        self._runs: dict[int, str] = {}  # by identity of the history
        self._kept: list[History] = []  # which must live as long as their identities count
        self._data: dict[str, Any] = {"runs": {}, "figures": {}}

    def run(self, name: str, run: Solution | History) -> str:
        """Take a run in and return its key."""
        history = run.history if isinstance(run, Solution) else run
        if id(history) not in self._runs:
            key = f"run{len(self._runs)}"
            self._runs[id(history)] = key
            self._kept.append(history)
            self._data["runs"][key] = {"name": name, "columns": columns_of(history)}
        return self._runs[id(history)]

    def curves(self, part: Curves) -> str:
        """Take a plot of runs in and return its key."""
        runs = [{"name": name, "run": self.run(name, run)} for name, run in part.runs.items()]
        own = {"runs": runs, "best": part.best, "against": part.against, "show": part.show}
        return self._figure("curves", own)

    def figure(self, part: Figure) -> str:
        """Take a figure of plotly's in and return its key."""
        made = part.figure.to_json() if hasattr(part.figure, "to_json") else json.dumps(part.figure)
        return self._figure("figure", json.loads(made))

    def _figure(self, kind: str, content: dict[str, Any]) -> str:
        key = f"{kind}{len(self._data['figures'])}"
        self._data["figures"][key] = content
        return key

    def text(self) -> str:
        """Return everything as JSON that may stand inside a script element."""
        return json.dumps(self._data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def columns_of(history: History) -> dict[str, list[Any]]:
    """Return the columns of a history as lists, None where nothing was measured."""
    chosen = rows_shown(history)
    return {name: _plain(column[chosen]) for name, column in history.to_dict().items()}


def rows_shown(history: History) -> Indices:
    """Return the rows that a page holds: all, or where there are too many those measured and some between."""
    count = len(history)
    if count <= MOST_ROWS:
        return np.arange(count)
    measured = np.flatnonzero(~np.isnan(history["value"]))
    if len(measured) > MOST_ROWS:
        measured = measured[np.linspace(0, len(measured) - 1, MOST_ROWS).astype(int)]
    spread = np.linspace(0, count - 1, MOST_ROWS - len(measured)).astype(int)
    return np.unique(np.concatenate([measured, spread]))


def _plain(column: Iterable[Any]) -> list[Any]:
    return [None if isinstance(v, float) and not math.isfinite(v) else v for v in np.asarray(column).tolist()]
