"""The l1 norm of D x, with a factor for each row and each side of zero."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator

from tether.arrays import Array
from tether.inputs import LARGEST_NUMBER, fresh_matrix, nonnegative, vector
from tether.names import OBJECTIVE, Names, column_names, decide, places, require_all, row_names
from tether.penalties.operator import matrix_of

PAIR = 2


class Terms(NamedTuple):
    """sum_i left_i max(-(D x)_i, 0) + right_i max((D x)_i, 0)."""

    matrix: Any  # D: ndarray or csr_array; None: the identity
    left: Array
    right: Array


class L1:
    """The penalty lam ||D x||_1, with factors for rows and for the two sides of zero.

    sum_i lam_i (below_i max(-(D x)_i, 0) + above_i max((D x)_i, 0)); below = above = 1 unless weights are
    given. D = None makes variables zero (the lasso), `differences` makes them piecewise constant or
    polynomial (the fused lasso, trend filtering), `graph_differences` and `grid_differences` make neighbours
    equal.

    Parameters
    ----------
    lam : float or array_like, shape (k,)
        At least 0, for all rows of D or for each of them.
    D : array_like, sparse matrix or LinearOperator, shape (k, p), optional
        The identity by default. The columns of a data frame name the variables, as those of `Affine`:
        variables without a column are left out. An operator is turned into a matrix, so it has to be of
        moderate size.
    weights : array_like, shape (k,), or a tuple of two, optional
        Factors of the rows, at least 0; 0 frees a row, as that of an intercept, which counts as every other
        variable does. A tuple (below, above) holds the factors below zero and above it, numbers or arrays.

    Attributes
    ----------
    shape : tuple of int or None
        The shape of D, where there is one.
    names : tuple of str or None
        The names of the variables, where D has them.

    Examples
    --------
    >>> import tether
    >>> tether.L1(0.5).value([1.0, -2.0, 0.0])
    1.5
    >>> tether.L1(0.5, tether.differences(3)).value([1.0, 1.0, 4.0])
    1.5
    >>> tether.L1(1.0, weights=(0.1, 0.9)).value([1.0, -1.0])
    1.0
    """

    def __init__(self, lam: Any, D: Any = None, weights: Any = None) -> None:
        self._matrix = None if D is None else _matrix(D)
        self.names = None if D is None else column_names(D)
        self._row_names = row_names(D) if getattr(D, "ndim", 0) > 1 else None
        self._lam = Factors.read("lam", lam)
        below, above = weights if _is_pair(weights) else (weights, weights)
        self._below = Factors.read("weights", 1.0 if below is None else below)
        self._above = Factors.read("weights", 1.0 if above is None else above)
        self.shape: tuple[int, int] | None = None
        if self._matrix is not None:
            self.shape = self._matrix.shape
            self._slopes(self.shape[0], None)

    def terms(self, dim: int, names: Names | None = None) -> Terms:
        """Return the terms for variables with these names; where nobody has names, positions count."""
        if self._matrix is None:
            return Terms(None, *self._slopes(dim, names))
        return Terms(self._placed(dim, names), *self._slopes(self._matrix.shape[0], None))

    def value(self, x: Any) -> float:
        """Return the penalty of a point."""
        point = vector("x", x)
        matrix, left, right = self.terms(len(point))
        z = point if matrix is None else matrix @ point
        return float(left @ np.maximum(-z, 0.0) + right @ np.maximum(z, 0.0))

    def _slopes(self, count: int, names: Names | None) -> tuple[Array, Array]:
        whole = "row of D"
        if self._matrix is None:
            whole = OBJECTIVE
        else:
            names = self._row_names
        lam, below, above = (part.at(count, names, whole) for part in (self._lam, self._below, self._above))
        return lam * below, lam * above

    def _placed(self, dim: int, names: Names | None) -> Any:
        matrix = self._matrix
        assert matrix is not None
        if names is not None and self.names is not None and decide(self.names, names):
            placed = np.zeros((matrix.shape[0], dim))
            placed[:, places("D", "column", self.names, names)] = matrix
            return placed
        if matrix.shape[1] != dim:
            raise ValueError(
                f"D of the penalty must have one column for each of the {dim} variables, got shape "
                f"{matrix.shape}; a model with an intercept has one variable more than its data has columns."
            )
        return matrix

    def __repr__(self) -> str:
        size = "" if self.shape is None else f", D {self.shape[0]} x {self.shape[1]}"
        lam = f"{float(self._lam.values):g}" if self._lam.values.ndim == 0 else "[...]"
        return f"L1({lam}{size})"


class Factors(NamedTuple):
    """Numbers at least 0, one for all rows or one for each, which may have names."""

    argument: str
    values: Array
    names: Names | None

    @classmethod
    def read(cls, argument: str, value: Any) -> "Factors":
        """Return them checked, in a copy."""
        if not _is_array(value):
            return cls(argument, np.array(nonnegative(argument, value)), None)
        values = vector(argument, value, largest=LARGEST_NUMBER).copy()
        below = np.flatnonzero(values < 0.0)
        if len(below):
            k = below[0]
            raise ValueError(
                f"{argument} must be at least 0, got {values[k]:g} at [{k}]; use 0 to free a row."
            )
        return cls(argument, values, row_names(value))

    def at(self, count: int, names: Names | None, whole: str) -> Array:
        """Return one number for each of ``count`` rows, which may have names."""
        values = self.values
        if values.ndim == 0:
            return np.full(count, float(values))
        if self.names is not None and names is not None and decide(self.names, names):
            place = places(self.argument, "entry", self.names, names, whole)
            require_all(self.argument, "entry", self.names, names, whole)
            values = values[np.argsort(place)]
        if len(values) != count:
            raise ValueError(
                f"{self.argument} must be a number or have one entry for each {whole}, {count} of them, got "
                f"{len(values)}."
            )
        return values


def _is_array(value: Any) -> bool:
    """Say whether a value holds several numbers, or means to."""
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def _is_pair(weights: Any) -> bool:
    return isinstance(weights, tuple) and len(weights) == PAIR


def _matrix(D: Any) -> Any:
    return matrix_of("D", D) if isinstance(D, LinearOperator) else fresh_matrix("D", D)
