"""Bounds of coefficients as people give them: one number, one for each, or by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tether.arrays import Array
from tether.estimators.variables import place_of
from tether.inputs import numbers
from tether.names import Names, aligned_vector


def bounds_of(columns: Names, lower: Any, upper: Any) -> tuple[Array, Array]:
    """Return a lower and an upper bound for each column, infinite where there is none."""
    return _side("lower_bounds", lower, columns, -np.inf), _side("upper_bounds", upper, columns, np.inf)


def _side(argument: str, value: Any, columns: Names, none: float) -> Array:
    if value is None:
        return np.full(len(columns), none)
    if isinstance(value, Mapping):
        return _by_name(argument, value, columns, none)
    found = numbers(argument, aligned_vector(value, columns, argument, "column of X")).astype(float)
    if found.ndim > 1 or found.size not in (1, len(columns)):
        raise ValueError(
            f"{argument} must be a number, a dictionary, or have one entry for each of the {len(columns)} "
            f"columns of X, got shape {found.shape}."
        )
    if np.isnan(found).any():
        raise ValueError(f"{argument} must not be NaN; use infinity where there is no bound.")
    return np.broadcast_to(found, len(columns)).copy()


def _by_name(argument: str, value: Mapping[Any, Any], columns: Names, none: float) -> Array:
    found = np.full(len(columns), none)
    for name, bound in value.items():
        place, number = place_of(argument, str(name), columns), numbers(argument, bound)
        if number.ndim or np.isnan(number):
            raise ValueError(f"{argument} of {name!r} must be a number, got {bound!r}.")
        found[place] = float(number)
    return found
