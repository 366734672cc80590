"""What every solver of the comparison offers.

`run` does everything that depends on the problem and is timed: building objects, factorising A, forming a
matrix, the basis of a null space. `prepare` is not timed; it only converts arrays to the types that a library
wants.
"""

from typing import Any, NamedTuple

import numpy as np

from profiling.pieces import Pieces
from profiling.watch import Watch

LADDER = tuple(10.0**-power for power in range(1, 15))


class Answer(NamedTuple):
    """The last point of a run and what it cost."""

    x: np.ndarray
    counts: dict[str, float]


class Contestant:
    """A solver by name. Its ``tolerances`` are tried in turn, each from scratch, until one suffices."""

    name: str
    family: str = "peer"  # or "tether", "yardstick"
    tolerances: tuple[float, ...] = LADDER
    compiles: bool = False  # so that a first run says nothing about time

    def refuses(self, pieces: Pieces) -> str:
        """Return why this problem is not for this solver; empty if it is."""
        raise NotImplementedError

    def prepare(self, pieces: Pieces) -> Any:
        """Return the problem as the solver's library wants its arrays."""
        return pieces

    def run(self, problem: Any, tolerance: float, watch: Watch) -> Answer:
        """Solve; show iterates to the watch where there are any."""
        raise NotImplementedError
