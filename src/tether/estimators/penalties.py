"""The elastic net as glum and scikit-learn have it: a ridge and an l1 term, with a factor for each column."""

from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.inputs import nonnegative, number, vector
from tether.names import Names, aligned_vector


class Penalties(NamedTuple):
    """The weights of all columns: of squares, halved, and of absolute values."""

    l2: Array
    l1: Array


def elastic_net(columns: Names, alpha: Any, l1_ratio: Any, P1: Any = 1.0, P2: Any = 1.0) -> Penalties:
    """Return the weights of the elastic net for each column."""
    weight = nonnegative("alpha", alpha)
    share = number("l1_ratio", l1_ratio, least=0.0)
    if share > 1.0:
        raise ValueError(f"l1_ratio must be between 0 (ridge) and 1 (lasso), got {share:g}.")
    absolute, squared = (factors(name, value, columns) for name, value in (("P1", P1), ("P2", P2)))
    return Penalties(weight * (1.0 - share) * squared, weight * share * absolute)


def factors(name: str, value: Any, columns: Names) -> Array:
    """Return a number >= 0 for each column: one for all, one each, or by name where a series has names."""
    if not (isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0):
        return np.full(len(columns), nonnegative(name, value))
    found = vector(name, aligned_vector(value, columns, name, "column of X"))
    if len(found) != len(columns):
        raise ValueError(
            f"{name} must be a number or have one entry for each of the {len(columns)} columns of X, got "
            f"{len(found)}."
        )
    if found.min() < 0.0:
        raise ValueError(f"{name} must be at least 0, got {found.min():g}; use 0 for no penalty.")
    return found
