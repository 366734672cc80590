"""What the user hears during a run, and how the user stops it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from tether.arrays import Array
from tether.run.history import Counts
from tether.run.solution import Solution, Status

Callback = Callable[[OptimizeResult], Any]


class CallbackError(RuntimeError):
    """A callback raised; ``solution`` holds the run as it was."""

    def __init__(self, message: str, solution: Solution) -> None:
        super().__init__(message)
        self.solution = solution


@dataclass
class Listener:
    """Calls back after every turn, and remembers what that raised."""

    callback: Callback | None  # None: nobody listens
    error: Exception | None = field(default=None, init=False)

    def hear(self, x: Array, value: float, gap: float, counts: Counts, seconds: float) -> Status | None:
        """Tell the user of the best point so far; return why to stop, if the user says so."""
        assert self.callback is not None
        fields: dict[str, Any] = {
            "x": np.array(x),
            "fun": value,
            "gap": gap,
            "nit": counts.rounds,
            "counts": counts,
            "seconds": seconds,
        }
        try:
            self.callback(OptimizeResult(**fields))
        except StopIteration:
            return Status.CALLBACK
        except Exception as error:
            self.error = error
            return Status.CALLBACK
        return None

    @property
    def complaint(self) -> str:
        """What the callback raised, in words."""
        return "" if self.error is None else f"{type(self.error).__name__}: {self.error}"


def as_callback(callback: Any) -> Callback | None:
    """Return a callback, or refuse what cannot be called."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of one argument, got {callback!r}.")
    return callback
