"""Scalar functions of variables and of the differences of neighbours, no equations: O(p).

Total variation, the fused lasso with bounds, and monotone sequences are such functions.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tether.arrays import Array
from tether.kernels.chain import chain_duals, chain_prox, chain_refine
from tether.polyhedral import Duals, Polyhedral
from tether.prox.base import Algorithm, Proximal


class Chain(NamedTuple):
    """Rows w_i (x_{k+1} - x_k), each with a k of its own."""

    place: NDArray[np.intp]  # k of each row
    weight: Array  # w of each row
    down: Array  # of each difference: the slope at falling x, 0 where there is no row
    up: Array  # of each difference: the slope at rising x


class TotalVariation(Algorithm):
    """The prox of functions on a chain; see `chain_of`."""

    def __init__(self, polyhedral: Polyhedral, chain: Chain) -> None:
        self._pieces, self._rows, self._chain = polyhedral.coordinates, polyhedral.rows, chain

    def at(self, z: Array, t: Array, start: Proximal | None) -> Proximal:
        """Return the prox of z; there is nothing to start from."""
        z, t = np.ascontiguousarray(z), np.ascontiguousarray(t)
        terms = (z, t, self._chain.down, self._chain.up, tuple(self._pieces))
        x, s, u = np.empty(len(z)), np.empty(len(z)), np.zeros(len(z) - 1)
        chain_prox(*terms, x)
        chain_refine(*terms, x)
        chain_duals(*terms, x, s, u)
        place, weight = self._chain.place, self._chain.weight
        y = self._rows.nearest(u[place] / weight, weight * np.diff(x)[place])
        return Proximal(x, np.zeros(len(z)), Duals(s, y), None, 1)


def chain_of(polyhedral: Polyhedral) -> Chain | None:
    """Return the chain that the rows of K are; None if they are none or have walls other than zero."""
    rows, places = polyhedral.rows, _differences(polyhedral.matrix)
    if places is None or not _is_at_zero(rows.lower, rows.upper):
        return None
    place, weight = places
    left = np.where(rows.lower == 0.0, np.inf, rows.left)
    right = np.where(rows.upper == 0.0, np.inf, rows.right)
    down, up = np.zeros(polyhedral.dim - 1), np.zeros(polyhedral.dim - 1)
    down[place] = np.abs(weight) * np.where(weight > 0.0, left, right)
    up[place] = np.abs(weight) * np.where(weight > 0.0, right, left)
    walls = polyhedral.coordinates.lower, polyhedral.coordinates.upper
    if np.isinf(down + up).any() and np.isfinite(walls).any():
        return None
    return Chain(place, weight, down, up)


def _differences(matrix: Any) -> tuple[NDArray[np.intp], Array] | None:
    """Return k and w of rows w (x_{k+1} - x_k), or None if there are others, or two with the same k."""
    rows = sp.csr_array(matrix, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if not np.all(np.diff(rows.indptr) == 2):
        return None
    columns, entries = rows.indices.reshape(-1, 2), rows.data.reshape(-1, 2)
    neighbours = np.all(columns[:, 1] == columns[:, 0] + 1) and np.all(entries.sum(axis=1) == 0.0)
    if not neighbours or len(np.unique(columns[:, 0])) < len(columns):
        return None
    return columns[:, 0].astype(np.intp), entries[:, 1].copy()


def _is_at_zero(lower: Array, upper: Array) -> bool:
    """Say whether there are no walls but at zero."""
    return bool(np.all((lower == 0.0) | np.isneginf(lower)) and np.all((upper == 0.0) | np.isposinf(upper)))
