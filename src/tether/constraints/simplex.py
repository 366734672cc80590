"""Shares of a whole: vectors without negative entries whose sum is given."""

from typing import Any

from tether.inputs import positive


class Simplex:
    """The set {x : x >= 0, sum_j x_j = total}: one equation and bounds.

    It may stand alone or in a list with other constraints, as upper bounds.

    Parameters
    ----------
    total : float, default 1
        The sum, positive.

    Examples
    --------
    >>> import tether
    >>> tether.Simplex(total=100.0)
    Simplex(100)
    """

    def __init__(self, total: Any = 1.0) -> None:
        self.total = positive("total", total)

    def __repr__(self) -> str:
        return f"Simplex({self.total:g})"
