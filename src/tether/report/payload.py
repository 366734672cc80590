"""Runs as the numbers that a page's script draws."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from plotly.utils import PlotlyJSONEncoder

from tether.arrays import Array, Indices
from tether.report.measures import AGAINST, history_of, usual_measure
from tether.report.parts import Curves, Figure
from tether.run.history import History
from tether.run.solution import Solution

MOST_ROWS = 20_000  # of a history that a page holds; longer ones are thinned
MOST_POINTS = 400  # of each worker's line
SUMMED = ("seconds", "sent")  # of workers' reports: what is added up as a run goes on
DIGITS = 6  # of workers' numbers


class Payload:
    """What the script of a page needs, gathered while the page is written; each run once."""

    def __init__(self) -> None:
        self._keys: dict[int, str] = {}  # by identity of the history
        self._kept: list[History] = []  # which must live as long as their identities count
        self._colours: dict[str, int] = {}  # by name, so that a method looks the same in all plots
        self._data: dict[str, Any] = {"runs": {}, "figures": {}}

    def curves(self, part: Curves, comparable: bool = True) -> str:
        """Take a plot of runs in and return its key."""
        show = usual_measure(part.runs) if part.show is None else part.show
        own = {"best": part.best, "against": part.against, "show": show, "comparable": comparable}
        return self._figure("curves", {"runs": self._named(part.runs), **own})

    def histories(self, runs: Mapping[str, Solution]) -> str:
        """Take the tables of runs in and return their key."""
        return self._figure("history", {"runs": self._named(runs)})

    def workers(self, name: str, sol: Solution) -> str:
        """Take what workers reported in and return its key."""
        reports, history = sol.history.workers, sol.history
        metrics = {metric: _worker_lines(history, metric, table) for metric, table in reports.items()}
        return self._figure("workers", {"name": name, "metrics": {k: v for k, v in metrics.items() if v}})

    def figure(self, part: Figure) -> str:
        """Take a figure of plotly's in and return its key."""
        plain = part.figure if isinstance(part.figure, dict) else part.figure.to_plotly_json()
        return self._figure("figure", json.loads(json.dumps(plain, cls=PlotlyJSONEncoder)))

    def text(self) -> str:
        """Return everything as JSON that may stand inside a script element."""
        return json.dumps(self._data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")

    def _named(self, runs: Mapping[str, Solution | History]) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "run": self._run(run),
                "colour": self._colours.setdefault(name, len(self._colours)),
            }
            for name, run in runs.items()
        ]

    def _run(self, run: Solution | History) -> str:
        history = history_of(run)
        if id(history) not in self._keys:
            self._keys[id(history)] = f"run{len(self._keys)}"
            self._kept.append(history)
            decisions = run.decisions if isinstance(run, Solution) else ()
            self._data["runs"][self._keys[id(history)]] = {
                "rows": len(history),
                "columns": columns_of(history),
                "decisions": [[decision.request, decision.words, decision.reason] for decision in decisions],
                "requests": rows_shown(history).tolist(),
            }
        return self._keys[id(history)]

    def _figure(self, kind: str, content: dict[str, Any]) -> str:
        key = f"{kind}{len(self._data['figures'])}"
        self._data["figures"][key] = content
        return key


def columns_of(history: History) -> dict[str, list[Any]]:
    """Return the columns of a history as lists, None where nothing was measured."""
    chosen = rows_shown(history)
    return {name: _plain(column[chosen]) for name, column in history.to_dict().items()}


def rows_shown(history: History) -> Indices:
    """Return the rows that a page holds: all, or where there are too many those measured and some between."""
    count = len(history)
    if count <= MOST_ROWS:
        return np.arange(count)
    measured = _thinned(np.flatnonzero(~np.isnan(history["value"])), MOST_ROWS // 2)
    return np.unique(np.concatenate([measured, _thinned(np.arange(count), MOST_ROWS - len(measured))]))


def _thinned(places: Indices, most: int) -> Indices:
    """Return at most so many of some places, spread evenly, the first and the last among them."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).astype(int)]


def _worker_lines(history: History, metric: str, table: Array) -> dict[str, Any] | None:
    """Return a line a worker over the requests that asked for a metric."""
    known = np.flatnonzero(np.isfinite(table).any(axis=1))
    if not len(known):
        return None
    if metric in SUMMED:
        table = np.nancumsum(table, axis=0)
    chosen = _thinned(known, MOST_POINTS)
    return {
        "x": {name: _plain(history[name][chosen]) for name in AGAINST},
        "lines": [_plain(column, DIGITS) for column in table[chosen].T],
    }


def _plain(column: Array, digits: int | None = None) -> list[Any]:
    numbers = np.asarray(column).tolist()
    if digits is not None:
        numbers = [float(f"{number:.{digits}g}") for number in numbers]
    return [None if isinstance(v, float) and not math.isfinite(v) else v for v in numbers]
