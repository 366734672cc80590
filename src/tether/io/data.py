"""What a file of data holds: rows of numbers, names of columns, and columns that were set aside."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether.names import Names


class Facts(NamedTuple):
    """What a share of a file says to the others."""

    rows: int
    width: int  # columns seen
    lowest: int | None  # number of a column that the file itself counts; None where it counts none
    numeric: frozenset[str]  # columns set aside that are numbers here


class Data(NamedTuple):
    """Rows of a file.

    Attributes
    ----------
    X : ndarray or csr_array
        The rows.
    y : ndarray or None
        The target, where the file itself has one: the labels of svmlight, ``y`` of .npz.
    names : tuple of str or None
        The names of the columns of X.
    columns : dict of str to ndarray
        The columns that were set aside: numbers, or texts where some are no numbers.
    lowest : int or None
        The lowest number of a column, where the file counts them, as svmlight does.
    """

    X: Any
    y: NDArray[Any] | None
    names: Names | None = None
    columns: Mapping[str, NDArray[Any]] = {}
    lowest: int | None = None

    @property
    def facts(self) -> Facts:
        """What the other shares of the file have to know."""
        numeric = frozenset(name for name, values in self.columns.items() if _are_numbers(values))
        return Facts(self.X.shape[0], self.X.shape[1], self.lowest, numeric)

    def among(self, shares: Sequence[Facts]) -> "Data":
        """Return the rows with the columns that all shares of the file have together; once."""
        numeric = frozenset.intersection(*(facts.numeric for facts in shares))
        columns = {name: as_numbers(values) for name, values in self.columns.items() if name in numeric}
        data = self._replace(columns={**self.columns, **columns})
        if all(facts.lowest is None for facts in shares):
            return data
        lowest = min(facts.lowest for facts in shares if facts.lowest is not None)
        first, width = min(1, lowest), max(facts.width for facts in shares)
        rows = self.X
        moved = (rows.data, rows.indices - first, rows.indptr)
        X = sparse.csr_array(moved, shape=(rows.shape[0], width - first))
        return data._replace(X=X, names=tuple(f"x{j}" for j in range(first, width)), lowest=None)


def require_finite(path: Path, X: Any) -> None:
    """Refuse a matrix with numbers that are not finite, and say where they are."""
    entries = X.data if sparse.issparse(X) else X
    if np.isfinite(entries).all():
        return
    rows, columns = sparse.coo_array(X).coords if sparse.issparse(X) else np.nonzero(~np.isfinite(X))
    wrong = int(np.flatnonzero(~np.isfinite(entries))[0]) if sparse.issparse(X) else 0
    place = f"row {rows[wrong] + 1}, column {columns[wrong] + 1}"
    raise ValueError(f"{path}: {place} is not finite; impute it, or leave out the row or the column.")


def as_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers, also those that are written as texts, or raise ValueError."""
    return values if values.dtype.kind in "biuf" else values.astype(float)


def _are_numbers(values: NDArray[Any]) -> bool:
    try:
        as_numbers(values)
    except ValueError:
        return False
    return True
