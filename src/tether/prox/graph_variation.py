"""Scalar functions of variables and of differences along the edges of a graph: chains that take turns.

The edges are shared out among a few sets of paths. For each of them alone the prox is that of chains, in
O(p); what they pull with, v_f = D_f^T u_f, add up. The dual of the prox of all is quadratic in the v_f,
minimised by accelerated steps that treat all sets at once, each by its own prox:

    x = z - t sum_f v_f;    c = n t v_f + x,    v_f <- (c - prox_f(c)) / (n t)    for each of the n sets.

Differences that are nearly zero are then made zero: what they connect gets one value, the best one.

References
----------
Barbero & Sra, "Modular proximal optimization for multidimensional total-variation regularization" (2018);
Chambolle & Pock, "A remark on accelerated block coordinate descent" (2015).
"""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tether.arrays import Array
from tether.kernels.chain import chain_duals, chain_prox
from tether.kernels.forests import components, line_up, share_out
from tether.polyhedral import Duals, Pieces, Polyhedral
from tether.prox.base import Algorithm, NotConverged, Proximal
from tether.threads import share

PAIR = 2
MOST_FORESTS = 8
LONGEST = 4_000  # steps before giving up
LOOK_EVERY = 20
TOLERANCE = 1e-11  # of the value at the prox, by which the point may miss it
TIES = 10.0 ** np.arange(-2.0, -10.0, -1.0)  # of the range of x: differences that may be none
SHARED_SIZE = 20_000  # variables from which on forests are worked on side by side


class Edges(NamedTuple):
    """Rows w_e (x_k - x_i) of K."""

    ends: NDArray[np.int64]  # i and k of each row
    weight: Array  # w
    left: Array  # slopes of x_k - x_i, times |w|
    right: Array


class Forest(NamedTuple):
    """Paths, one behind the other."""

    order: NDArray[np.int64]  # of the nodes
    edges: NDArray[np.int64]  # between each node and the next, or -1
    down: Array  # slopes of the differences, zero between paths
    up: Array
    sign: Array  # of each edge: whether it points along the path
    pieces: Pieces  # of the nodes, in this order


class GraphVariation(Algorithm):
    """The prox of differences on a graph; see `forests_of`."""

    def __init__(self, polyhedral: Polyhedral, edges: Edges, forests: list[Forest]) -> None:
        self._polyhedral, self._edges, self._forests = polyhedral, edges, forests

    def at(self, z: Array, t: Array, start: Proximal | None) -> Proximal:
        """Return the prox of z, from the duals of an earlier one."""
        pulls = self._first(start, len(z))
        ahead, before, momentum = pulls, pulls, 1.0
        for k in range(1, LONGEST + 1):
            pulls, duals = self._stepped(z, t, ahead, whole=k % LOOK_EVERY == 0 or k == 1)
            faster = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
            if float(np.vdot(ahead - pulls, t * (pulls - before))) > 0.0:  # it overshot
                momentum = faster = 1.0
            ahead = pulls + (momentum - 1.0) / faster * (pulls - before)
            before, momentum = pulls, faster
            if duals is not None and (found := self._closed(z, t, duals, k)) is not None:
                return found
        raise NotConverged(f"chains did not agree within {LONGEST} steps.")

    def _first(self, start: Proximal | None, dim: int) -> Array:
        pulls = np.zeros((len(self._forests), dim))
        if start is None:
            return pulls
        for number, (forest, pull) in enumerate(zip(self._forests, pulls, strict=True)):
            inner = forest.edges >= 0
            u = np.zeros(dim - 1)
            rows = forest.edges[inner]
            u[inner] = forest.sign[inner] * self._edges.weight[rows] * start.duals.rows[rows]
            pull[forest.order] = np.append(0.0, u) - np.append(u, 0.0)
            if number == 0:
                pull += start.duals.coordinates
        return pulls

    def _stepped(self, z: Array, t: Array, ahead: Array, whole: bool) -> tuple[Array, Duals | None]:
        """Return the next pulls, and on request the duals that belong to them."""
        count, x = len(self._forests), z - t * ahead.sum(axis=0)
        pulls, s, y = np.empty_like(ahead), np.zeros(len(z)), np.zeros(len(self._edges.weight))

        def work(_: int, begin: int, end: int) -> None:
            for f in range(begin, end):
                self._solve_forest(
                    f, count * t * ahead[f] + x, count * t, pulls[f], (s, y) if whole else None
                )

        share(work, count, count if len(z) >= SHARED_SIZE else 1)
        return pulls, Duals(s, y) if whole else None

    def _solve_forest(
        self, f: int, c: Array, stretch: Array, pull: Array, duals: tuple[Array, Array] | None
    ) -> None:
        """Write what one forest pulls with, and its duals."""
        forest, order = self._forests[f], self._forests[f].order
        x, terms = np.empty(len(c)), (forest.down, forest.up, tuple(forest.pieces))
        place, metric = c[order], stretch[order]
        chain_prox(place, metric, *terms, x)
        pull[order] = (place - x) / metric
        if duals is None:
            return
        own, u = np.empty(len(c)), np.zeros(len(c) - 1)
        chain_duals(place, metric, *terms, x, own, u)
        inner = forest.edges >= 0
        rows = forest.edges[inner]
        duals[1][rows] = u[inner] * forest.sign[inner] / self._edges.weight[rows]
        if f == 0:
            duals[0][order] = own

    def _closed(self, z: Array, t: Array, duals: Duals, steps: int) -> Proximal | None:
        """Return the answer, if duals are near enough to those of the prox."""
        psi = self._polyhedral
        x = z - t * psi.subgradient(duals)
        size = float(np.sum(np.square(x - z) / (2.0 * t))) + psi.value(x)
        if psi.misfit(x, duals) > TOLERANCE * size:
            return None
        spread = float(np.ptp(x))
        for share_of_range in TIES:
            tied = self._tied(x, z, t, share_of_range * spread)
            missed = float(np.sum(np.square(tied - x) / (2.0 * t))) + psi.misfit(tied, duals)
            if missed <= TOLERANCE * size:
                return Proximal(tied, np.zeros(len(z)), duals, None, steps)
        inside = np.clip(x, psi.coordinates.lower, psi.coordinates.upper)
        return Proximal(inside, np.zeros(len(z)), duals, None, steps)

    def _tied(self, x: Array, z: Array, t: Array, reach: float) -> Array:
        """Return x with differences below a reach made zero: each part gets its best value."""
        ends, pieces = self._edges.ends, self._polyhedral.coordinates
        fall = x[ends[:, 1]] - x[ends[:, 0]]
        number, count = components(ends, np.abs(fall) <= reach, len(x))
        slope = np.where(fall > 0.0, self._edges.right, -self._edges.left)
        slope[number[ends[:, 0]] == number[ends[:, 1]]] = 0.0
        force = z / t
        np.add.at(force, ends[:, 0], slope)
        np.subtract.at(force, ends[:, 1], slope)
        force -= np.where(x > 0.0, pieces.right, -pieces.left)
        weight = np.bincount(number, 1.0 / t, count)
        value = np.bincount(number, force, count) / weight
        value = np.where(
            np.bincount(number, np.abs(x) <= reach, count) > 0, self._at_kinks(value, number), value
        )
        tied = value[number]
        for wall in (pieces.lower, pieces.upper):
            tied = np.where(np.abs(tied - wall) <= reach, wall, tied)
        return np.clip(tied, pieces.lower, pieces.upper)

    def _at_kinks(self, value: Array, number: NDArray[np.int64]) -> Array:
        """Return zero for parts with a kink there."""
        pieces = self._polyhedral.coordinates
        kinked = np.bincount(number, pieces.left + pieces.right > 0.0, len(value)) > 0
        return np.where(kinked, 0.0, value)


def edges_of(polyhedral: Polyhedral) -> Edges | None:
    """Return the edges that the rows of K are; None if they are none or have walls."""
    rows = polyhedral.rows
    if np.isfinite(rows.lower).any() or np.isfinite(rows.upper).any():
        return None
    matrix = sp.csr_array(polyhedral.matrix, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if not np.all(np.diff(matrix.indptr) == PAIR):
        return None
    ends, entries = matrix.indices.reshape(-1, PAIR).astype(np.int64), matrix.data.reshape(-1, PAIR)
    if np.any(entries.sum(axis=1) != 0.0):
        return None
    weight = entries[:, 1].copy()
    size = np.abs(weight)
    left = size * np.where(weight > 0.0, rows.left, rows.right)
    right = size * np.where(weight > 0.0, rows.right, rows.left)
    return Edges(ends, weight, left, right)


def forests_of(polyhedral: Polyhedral) -> tuple[Edges, list[Forest]] | None:
    """Return the rows of K as edges, and the forests they make; None where there are other rows."""
    edges = edges_of(polyhedral)
    if edges is None:
        return None
    number, count = share_out(edges.ends, polyhedral.dim, MOST_FORESTS)
    if np.any(number < 0):
        return None
    forests = [_forest(polyhedral, edges, np.flatnonzero(number == f), f == 0) for f in range(count)]
    return edges, forests


def _forest(polyhedral: Polyhedral, edges: Edges, chosen: Any, first: bool) -> Forest:
    order, before = line_up(edges.ends, chosen, polyhedral.dim)
    between = before[1:]
    inner = between >= 0
    rows = between[inner]
    along = edges.ends[rows, 1] == order[1:][inner]
    down, up, sign = np.zeros(len(between)), np.zeros(len(between)), np.zeros(len(between))
    down[inner] = np.where(along, edges.left[rows], edges.right[rows])
    up[inner] = np.where(along, edges.right[rows], edges.left[rows])
    sign[inner] = np.where(along, 1.0, -1.0)
    pieces = polyhedral.coordinates.some(order) if first else Pieces.of(polyhedral.dim)
    return Forest(order, between, down, up, sign, pieces)
