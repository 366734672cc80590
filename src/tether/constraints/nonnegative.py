"""Vectors without negative entries."""


class NonNegative:
    """The set {x : x >= 0}, of all variables; `scipy.optimize.Bounds` bounds some of them, and elsewhere.

    It may stand alone or in a list with other constraints.

    Examples
    --------
    >>> import tether
    >>> tether.NonNegative()
    NonNegative()
    """

    def __repr__(self) -> str:
        return "NonNegative()"
