"""Vectors of the form D t: the range of a matrix, as in the generalised lasso with beta = D t."""

from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from tether.arrays import Array
from tether.constraints.algebra.dense import DenseRows
from tether.constraints.algebra.placed import PlacedRows, placed_columns
from tether.constraints.algebra.rows import Rows
from tether.constraints.algebra.sparse import sparse_rows
from tether.constraints.algebra.subspace import Image, Subspace
from tether.constraints.base import Constraint
from tether.digest import digest_of
from tether.inputs import fresh_matrix
from tether.names import Labels, Names, counted, decide, places, require_all, row_names


class Range(Constraint):
    """The subspace of vectors that a matrix can reach, {x : x = D t for some t}.

    Pi = P = D (D^T D)^+ D^T, for D of any rank. The equations that define the subspace are never formed:
    as multipliers of a vector serves its part outside the subspace, g - P g, itself.

    Parameters
    ----------
    D : array_like or sparse matrix, shape (p, r)
        Its columns span the subspace; a vector is one column. The index of a data frame names the variables:
        where the objective names its own, each row goes to the variable of its name.

    Attributes
    ----------
    dim : int
        p, the length of the vectors it acts on.
    shape : tuple of int
        (p, r).
    names : tuple of str or None
        The names of the variables, where D has them.
    rank : int or None
        The dimension of the subspace where it is known, which is for dense D.

    Examples
    --------
    >>> from tether.constraints import Range
    >>> line = Range([[1.0], [1.0]])
    >>> line.project([0.0, 4.0]).round(12).tolist()
    [2.0, 2.0]

    References
    ----------
    Li & Zhang, "Delayed Projection Techniques for Linearly Constrained Problems", the generalised lasso.
    """

    dim: int

    def __init__(self, D: Any) -> None:
        if isinstance(D, LinearOperator):
            raise TypeError("D must be a dense or a sparse matrix, got a LinearOperator.")
        self._columns = matrix = _columns(D)
        self.shape = (int(matrix.shape[1]), int(matrix.shape[0]))
        self.dim = self.shape[0]
        self.names = row_names(D)
        self._rows: Rows = DenseRows(matrix) if isinstance(matrix, np.ndarray) else sparse_rows(matrix)
        self.rank = self._rows.rank
        self.work = self._rows.work

    def project(self, x: Array) -> Array:
        """Return the nearest vector of the subspace."""
        return self.tangent(x)

    def tangent(self, v: Array) -> Array:
        """Return the part of a direction in the subspace."""
        return self._rows.component(np.asarray(v, dtype=float))

    def residual(self, x: Array) -> float:
        """Return the distance from the subspace."""
        return float(np.linalg.norm(self.multipliers(x)))

    def multipliers(self, gradient: Array) -> Array:
        """Return the part of the gradient orthogonal to the subspace."""
        return self._rows.tangent(np.asarray(gradient, dtype=float))

    def tangent_space(self, dim: int) -> Subspace:
        """Return the subspace itself."""
        return Image(self._columns)

    def aligned(self, names: Names) -> "Range":
        """Return the same subspace of vectors with these names; D must have a row for each of them."""
        if self.names is None or not decide(self.names, names):
            return self
        place = places("D", "row", self.names, names)
        require_all("D", "row", self.names, names)
        twin = copy(self)
        twin.names = names
        twin._rows = PlacedRows(self._rows, place, self.dim)
        twin._columns = placed_columns(self._columns, place, self.dim)
        return twin

    @property
    def words(self) -> str:
        """Where x is."""
        return f"x in the range of a matrix of {self.shape[1]:,} columns"

    def labels(self, dim: int) -> Labels:
        """Return what the variables are called: there is one multiplier for each of them."""
        named = self.names is not None and not counted(self.names)
        return Labels("x", self.dim, self.names if named else None)

    def digest(self) -> str:
        """Return a digest of D."""
        return digest_of("Range", self._columns)

    def __repr__(self) -> str:
        rank = "" if self.rank is None else f", rank {self.rank}"
        return f"Range({self.shape[0]} x {self.shape[1]}, {self._rows.kind}{rank})"


def _columns(D: Any) -> Any:
    """Return the transpose of D, validated; its rows span the subspace."""
    matrix = fresh_matrix("D", D)
    if matrix.shape[0] == 0:
        raise ValueError(f"D must have a row for each variable, got shape {matrix.shape}.")
    if len(np.shape(D)) == 1:  # read as one row, which is a column transposed
        return matrix
    return np.ascontiguousarray(matrix.T) if isinstance(matrix, np.ndarray) else sp.csr_array(matrix.T)
