"""Plain checks of the numbers that users hand to the theory."""

import math


def check_positive(name: str, value: float) -> None:
    """Raise unless a number is finite and above zero."""
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive finite number, got {value}.")


def check_nonnegative(name: str, value: float) -> None:
    """Raise unless a number is finite and at least zero."""
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be a finite number that is not negative, got {value}.")


def check_count(name: str, value: float) -> None:
    """Raise unless a number can be a count: finite and at least one."""
    if not (math.isfinite(value) and value >= 1):
        raise ValueError(f"{name} must be at least 1, got {value}.")


def check_curvature(smoothness: float, convexity: float) -> None:
    """Raise unless 0 <= mu <= L with L > 0."""
    check_positive("smoothness", smoothness)
    check_nonnegative("convexity", convexity)
    if convexity > smoothness * (1 + 1e-9):  # measured constants of an isotropic problem differ by rounding
        raise ValueError(
            f"convexity must not exceed smoothness (the condition number is at least 1), "
            f"got convexity {convexity} and smoothness {smoothness}."
        )


def check_stage(interval: float, stage_length: float) -> None:
    """Raise unless 1 <= E <= m."""
    check_count("interval", interval)
    check_count("stage_length", stage_length)
    if stage_length < interval:
        raise ValueError(
            f"stage_length must be at least interval (a stage ends with a projection), "
            f"got stage_length {stage_length} and interval {interval}."
        )
