"""Sensitive attributes beside a table: numbers, or groups as numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.inputs import has_missing, plain_array
from tether.names import Names, column_names

if TYPE_CHECKING:
    from tether.estimators.table import Table


class Sensitive(NamedTuple):
    """Attributes of the rows."""

    values: Array  # (n, k)
    names: Names
    places: Sequence[int] = ()  # of those that are columns of X

    def centred(self, table: "Table") -> Array:
        """Return the rows a_k with a_k' b = cov(s_k, x' b), one for each attribute."""
        means = np.average(self.values, axis=0, weights=table.weights)
        centred = self.values - means
        if table.weights is not None:
            centred = centred * table.weights[:, None]
        return np.asarray((table.X.T @ centred).T, dtype=float) / table.mass


def attributes(features: Any, n_samples: int) -> Sensitive:
    """Return attributes as a user gives them: columns of numbers as they are, others one for each value."""
    given = plain_array("sensitive_features", features)
    if given.ndim not in (1, 2) or len(given) != n_samples:
        raise ValueError(
            f"sensitive_features must have one row for each of the {n_samples} rows of X, got shape "
            f"{given.shape}."
        )
    names = _names(features, 1 if given.ndim == 1 else given.shape[1])
    columns = given.reshape(n_samples, -1)
    found = [part for name, column in zip(names, columns.T, strict=True) for part in _parts(name, column)]
    return Sensitive(np.column_stack([values for _, values in found]), tuple(name for name, _ in found))


def _names(features: Any, count: int) -> Names:
    own = column_names(features) if getattr(features, "ndim", 1) == 2 else None
    if own is not None:
        return own
    name = getattr(features, "name", None) or "sensitive"
    return (str(name),) if count == 1 else tuple(f"sensitive[{k}]" for k in range(count))


def _parts(name: str, column: Any) -> list[tuple[str, Array]]:
    """Return a column of numbers, or of each of its values whether a row has it."""
    if has_missing(column):
        raise ValueError(f"sensitive_features must be known of every row, got None or NaN in {name!r}.")
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError):
        texts = column.astype(str)
        return [(f"{name}={value}", (texts == value).astype(float)) for value in np.unique(texts)]
    if not np.isfinite(numbers).all():
        raise ValueError(f"sensitive_features must be finite, got NaN or infinity in {name!r}.")
    return [(name, numbers)]
