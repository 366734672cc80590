"""Multipliers and active constraints, by what they say."""

from tether.estimators.fitting import Fitted
from tether.feasible import Multipliers


def named_multipliers(fitted: Fitted) -> dict[str, float]:
    """Return the multipliers of rows and bounds."""
    rows, found = fitted.restrictions.rows, fitted.solution.multipliers
    of_rows = found.inequalities if isinstance(found, Multipliers) else found
    named = dict[str, float]()
    if rows is not None and of_rows is not None:
        named |= dict(zip(rows.labels, of_rows[: len(rows.labels)].tolist(), strict=True))
    if isinstance(found, Multipliers) and found.bounds is not None:
        bounds = found.bounds.tolist()
        named |= {label: bounds[j] for j, label in fitted.restrictions.bound_labels().items()}
    return named


def active_labels(fitted: Fitted) -> list[str]:
    """Return the inequalities and bounds that hold as equations."""
    rows, active = fitted.restrictions.rows, fitted.solution.active
    if active is None:
        return []
    found = list[str]()
    if rows is not None and active.inequalities is not None:
        held = (active.inequalities[: len(rows.labels)] != 0) & ~rows.equations
        found += [label for label, holds in zip(rows.labels, held, strict=True) if holds]
    if active.bounds is not None:
        places = fitted.restrictions.bound_labels()
        found += [label for j, label in places.items() if active.bounds[j] != 0]
    return found
