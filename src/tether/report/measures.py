"""What can be on the axes of a plot of runs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tether.arrays import Array
from tether.run.history import History
from tether.run.solution import Solution

AGAINST = {
    "rounds": "rounds",
    "projections": "projections",
    "passes": "passes over the data",
    "seconds": "seconds",
}
MEASURES = {
    "gap": "certified gap",
    "excess": "F(x) - F*",
    "value": "F(x)",
    "slope": "||P grad F(x)||",
    "residual": "||A x - b||",
}


def as_runs(name: str, runs: Any) -> dict[str, Solution | History]:
    """Return runs by name, or refuse what is none."""
    if not isinstance(runs, Mapping):
        raise TypeError(f"{name} must be a dictionary of solutions by name, got {type(runs).__name__}.")
    for key, run in runs.items():
        if not isinstance(key, str) or not isinstance(run, Solution | History):
            raise TypeError(
                f"{name} must hold solutions by name, got {type(run).__name__} under {key!r}; pass "
                '{"name": solution}.'
            )
    return dict(runs)


def history_of(run: Solution | History) -> History:
    """Return how a run went."""
    return run.history if isinstance(run, Solution) else run


def lowest_value(runs: Mapping[str, Solution | History]) -> float:
    """Return the lowest F that runs have seen; nan where they saw none."""
    values = np.concatenate([np.zeros(0), *(history_of(run)["value"] for run in runs.values())])
    return float(np.min(values[np.isfinite(values)], initial=np.inf)) if np.isfinite(values).any() else np.nan


def measured(history: History, measure: str, best: float) -> Array:
    """Return a column of a history, or F - F*."""
    return history["value"] - best if measure == "excess" else history[measure]


def usual_measure(runs: Mapping[str, Solution | History]) -> str:
    """Return what shows best how runs went: the gap where it was certified, else the slope."""
    certified = any(np.isfinite(history_of(run)["gap"]).any() for run in runs.values())
    return "gap" if certified else "slope"


def require_word(argument: str, word: Any, words: Mapping[str, str]) -> str:
    """Return a word that is among some, or refuse it."""
    if not isinstance(word, str) or word not in words:
        raise ValueError(f"{argument} must be one of {', '.join(words)}, got {word!r}.")
    return word
