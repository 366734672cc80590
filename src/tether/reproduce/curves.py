"""Runs with several seeds as one curve: what they have in common, and how far they lie apart."""

from dataclasses import dataclass

import numpy as np

from tether.arrays import Array
from tether.reproduce.task import Trace


@dataclass(frozen=True)
class Curve:
    """The same run with several seeds."""

    label: str
    traces: tuple[Trace, ...]
    best: float  # F*

    @property
    def rounds(self) -> Array:
        """The rounds at which F was looked at in all runs."""
        return self.common("rounds")

    def common(self, column: str) -> Array:
        """Return the mean of a column over the runs, as far as all of them go."""
        return np.mean(self._stacked(column), axis=0)

    def gaps(self, of: str = "iterate") -> Array:
        """Return F - F*, a row a run, as far as all of them go."""
        return self._stacked(of) - self.best

    def mean_gap(self, of: str = "iterate") -> Array:
        """Return the mean of F - F* over the runs."""
        return np.mean(self.gaps(of), axis=0)

    def at(self, rounds: float, of: str = "iterate") -> Array:
        """Return F - F* after some rounds, a number a run: at the last look before."""
        return np.array([self._value(trace, rounds, of) for trace in self.traces]) - self.best

    def end(self, of: str = "iterate") -> Array:
        """Return F - F* at the end of each run."""
        return np.array([trace[of][-1] for trace in self.traces]) - self.best

    def counts(self, column: str) -> Array:
        """Return what each run has counted at its end."""
        return np.array([trace[column][-1] for trace in self.traces])

    def _stacked(self, column: str) -> Array:
        shortest = min(map(len, self.traces))
        return np.stack([trace[column][:shortest] for trace in self.traces])

    @staticmethod
    def _value(trace: Trace, rounds: float, of: str) -> float:
        place = int(np.searchsorted(trace["rounds"], rounds, side="right")) - 1
        return float(trace[of][max(place, 0)])
