"""Multipliers and active constraints, by what they say."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array
from tether.estimators.fitting import Fitted
from tether.feasible import Multipliers


def named_multipliers(fitted: Fitted) -> dict[str, float]:
    """Return the multipliers of rows and bounds."""
    rows, found = fitted.restrictions.rows, fitted.solution.multipliers
    named = dict[str, float]()
    if rows is not None and isinstance(found, Multipliers):
        of_rows = _put_together(rows.equations, found.equalities, found.inequalities)
        named |= dict(zip(rows.labels, of_rows.tolist(), strict=True))
    elif rows is not None and isinstance(found, np.ndarray):
        named |= dict(zip(rows.labels, found[: len(rows.labels)].tolist(), strict=True))
    if isinstance(found, Multipliers) and found.bounds is not None:
        bounds = found.bounds.tolist()
        named |= {label: bounds[j] for j, label in fitted.restrictions.bound_labels().items()}
    return named


def _put_together(equations: NDArray[np.bool_], equal: Any, other: Any) -> Array:
    """Return numbers of equations and of inequalities in the order of the rows, which come first in both."""
    found = np.zeros(len(equations))
    for places, numbers in ((np.flatnonzero(equations), equal), (np.flatnonzero(~equations), other)):
        if len(places) and numbers is not None:
            found[places] = numbers[: len(places)]
    return found


def active_labels(fitted: Fitted) -> list[str]:
    """Return the inequalities and bounds that hold as equations."""
    rows, active = fitted.restrictions.rows, fitted.solution.active
    if active is None:
        return []
    found = list[str]()
    if rows is not None and active.inequalities is not None:
        held = _put_together(rows.equations, None, active.inequalities) != 0.0
        found += [label for label, holds in zip(rows.labels, held, strict=True) if holds]
    if active.bounds is not None:
        places = fitted.restrictions.bound_labels()
        found += [label for j, label in places.items() if active.bounds[j] != 0]
    return found
