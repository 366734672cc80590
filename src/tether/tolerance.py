"""How accurate an answer has to be: in the units of F, or relative to its size."""

import math
from typing import Any, NamedTuple

from tether.inputs import nonnegative

DEFAULT = 1e-6  # the relative accuracy where nothing is said
LARGEST_FALL = 100.0  # times the size of F: a longer fall is no measure of it


class Tolerance(NamedTuple):
    """What was asked for; an answer has to meet one of the two."""

    tol: float | None = None  # absolute
    rtol: float | None = None  # relative

    @classmethod
    def checked(cls, tol: Any, rtol: Any) -> "Tolerance":
        """Return accuracies that make sense, or refuse them."""
        if tol is None and rtol is None:
            return cls(rtol=DEFAULT)
        return cls(
            None if tol is None else nonnegative("tol", tol),
            None if rtol is None else nonnegative("rtol", rtol),
        )

    def allows(self, error: float, size: float) -> bool:
        """Say whether an error is small enough, in its own units or next to a size; an infinite one is not.

        Examples
        --------
        >>> Tolerance(tol=1e-3).allows(1e-2, size=1e5), Tolerance(rtol=1e-3).allows(1e-2, size=1e5)
        (False, True)
        """
        return error <= self.limit(size) and math.isfinite(error)

    def limit(self, size: float) -> float:
        """Return the largest error that is small enough next to a size."""
        absolute = -math.inf if self.tol is None else self.tol
        return absolute if self.rtol is None else max(absolute, self.rtol * size)

    def limit_after(self, first: float, value: float) -> float:
        """Return the largest gap that is small enough where F has fallen from one value to another."""
        return self.limit(max(abs(value), min(first - value, LARGEST_FALL * abs(value))))

    def times(self, share: float) -> "Tolerance":
        """Return a part of it."""
        return Tolerance(
            None if self.tol is None else share * self.tol, None if self.rtol is None else share * self.rtol
        )

    def __str__(self) -> str:
        named = (f"{name} = {value:g}" for name, value in self._asdict().items() if value is not None)
        return " or ".join(named)
