"""What must hold between the numbers of the theory: 0 <= mu <= L and 1 <= E <= m."""

from tether.inputs import number

LARGEST_COUNT = 1e18  # fourth powers of an interval stay far from overflow


def count(name: str, value: float) -> float:
    """Return a number of steps, stages or samples, which may be an average; at least 1."""
    return number(name, value, least=1.0, most=LARGEST_COUNT)


def curvature(smoothness: float, convexity: float) -> tuple[float, float]:
    """Return L and mu with 0 <= mu <= L and L > 0."""
    L, mu = number("smoothness", smoothness, above=0.0), number("convexity", convexity, least=0.0)
    if mu > L * (1 + 1e-9):  # measured constants of an isotropic problem differ by rounding
        raise ValueError(
            f"convexity must not exceed smoothness (the condition number is at least 1), "
            f"got convexity {mu:g} and smoothness {L:g}."
        )
    return L, mu


def stage(interval: float, stage_length: float) -> tuple[float, float]:
    """Return E and m with 1 <= E <= m."""
    E, m = count("interval", interval), count("stage_length", stage_length)
    if m < E:
        raise ValueError(
            f"stage_length must be at least interval (a stage ends with a projection), "
            f"got stage_length {m:g} and interval {E:g}."
        )
    return E, m
