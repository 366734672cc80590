"""One run of an experiment: what is solved, by which method, how far, and where F is looked at."""

import csv
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from tether.arrays import Array
from tether.constraints import Constraint
from tether.digest import digest_of
from tether.methods import Method
from tether.objectives import Objective

FORMAT = 1  # of what a run leaves behind; another number forgets all older runs


class Setup(NamedTuple):
    """A problem that is ready to be solved."""

    objective: Objective
    constraint: Constraint | None


class Problem(ABC):
    """A problem by its settings: small, compared by value, built where it is needed."""

    @abstractmethod
    def build(self) -> Setup:
        """Return the objective and the constraint."""


class Budget(NamedTuple):
    """When a run is over, whatever it has reached."""

    rounds: float = math.inf
    passes: float = math.inf
    steps: float = math.inf


class Looks(NamedTuple):
    """After how many rounds F is looked at again: a number of them, or a share of those so far."""

    every: float = 1.0
    share: float = 0.0
    answers: bool = True  # also at the point that the method would answer with, not only at its iterate

    def after(self, rounds: int) -> float:
        """Return the rounds at which the next look is due."""
        return rounds + max(self.every, self.share * rounds)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One run, named by all its settings."""

    problem: Problem
    method: Method
    budget: Budget
    looks: Looks
    seed: int = 0
    target: float | None = None  # the gap F - F* at which it ends
    timed: bool = False  # nothing runs beside it

    def digest(self) -> str:
        """Return a name that no other run has."""
        return digest_of(FORMAT, repr(self))


class Trace:
    """What a run leaves behind: a row a look, in columns.

    ``value`` is F at the point that the method would answer with (nan where nobody asked), ``iterate`` F at
    its last projected iterate. Looks at F are counted in ``audits`` and nowhere else, and take none of the
    ``seconds``.
    """

    columns = (
        *("steps", "stages", "rounds", "projections", "gradients", "sent", "received", "audits"),
        *("passes", "seconds", "value", "iterate"),
    )

    def __init__(self, table: Mapping[str, Array]) -> None:
        self._table = {name: np.asarray(table[name], dtype=float) for name in self.columns}

    def __getitem__(self, column: str) -> Array:
        return self._table[column]

    def __len__(self) -> int:
        return len(self._table["rounds"])

    def row(self, place: int) -> dict[str, float]:
        """Return one look."""
        return {name: float(column[place]) for name, column in self._table.items()}

    def write(self, path: Path) -> None:
        """Write the table as CSV; numbers keep all their digits."""
        with path.open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(self.columns)
            lines.writerows(zip(*(map(repr, self[name].tolist()) for name in self.columns), strict=True))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what `write` wrote."""
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        return cls({name: np.array([float(row[name]) for row in rows]) for name in cls.columns})
