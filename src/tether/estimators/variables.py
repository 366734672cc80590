"""The coefficients of a model, by name."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tether.inputs import fresh_matrix, shown
from tether.names import INTERCEPT, Names, column_names, nearest


class Variables(NamedTuple):
    """The coefficients of a model: those of columns, one or several each, and the intercepts."""

    columns: Names
    intercept: bool
    classes: Names = ()  # of several outputs

    @property
    def names(self) -> Names:
        """The columns and, where there is one, the intercept."""
        return (*self.columns, INTERCEPT) if self.intercept else self.columns

    @property
    def width(self) -> int:
        """How many names there are."""
        return len(self.columns) + self.intercept

    @property
    def outputs(self) -> int:
        """How many coefficients share a name."""
        return max(1, len(self.classes))

    @property
    def full_names(self) -> Names:
        """A name for each coefficient, as they lie in W.ravel()."""
        if not self.classes:
            return self.names
        return tuple(f"{name}[{label}]" for name in self.names for label in self.classes)

    def rows(self, argument: str, matrix: Any) -> sparse.csr_array:
        """Return a matrix over columns as one over all names; those of data frames and series go by name."""
        wide = matrix if sparse.issparse(matrix) or np.ndim(matrix) != 1 else np.atleast_2d(matrix)
        checked = sparse.csr_array(fresh_matrix(argument, wide))
        own = column_names(matrix)
        if own is not None and not is_counted(own):
            places = [place_of(argument, name, self.names) for name in own]
        elif checked.shape[1] == len(self.columns):
            places = list(range(len(self.columns)))
        else:
            raise ValueError(
                f"{argument} must have one column for each of the {len(self.columns)} columns of X, got "
                f"shape {checked.shape}; name its columns in a data frame to leave some out."
            )
        columns = sparse.csr_array(
            (np.ones(len(places)), (np.arange(len(places)), places)), shape=(len(places), self.width)
        )
        return sparse.csr_array(checked @ columns)


def is_counted(names: Names) -> bool:
    """Say whether names are numbers that nobody gave."""
    return names == tuple(map(str, range(len(names))))


def place_of(argument: str, name: str, names: Names) -> int:
    """Return where a name is, or refuse it and say which is nearest."""
    if name not in names:
        raise ValueError(
            f"{argument} has the name {name!r}, which is no column of X; {nearest(name, names)}."
        )
    return names.index(name)


def column_place(argument: str, column: Any, columns: Names) -> int:
    """Return where a column is that a user gives by name or by number, or refuse it."""
    if isinstance(column, str):
        return place_of(argument, column, columns)
    if isinstance(column, bool) or not isinstance(column, int | np.integer) or not 0 <= column < len(columns):
        raise ValueError(
            f"{argument} must hold names or numbers of columns below {len(columns)}, got {shown(column)}."
        )
    return int(column)
