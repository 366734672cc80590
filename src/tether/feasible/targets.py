"""What bounds, rows and terms act on: variables, and rows of which none is a multiple of another.

A row with one entry is a bound, or a term, of its variable. Rows that are multiples of each other have one
target: the narrowest walls hold, slopes add up. Each wall remembers who gave it, so that its multiplier finds
the way back.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import sparse

from tether.arrays import Array, Indices
from tether.feasible.given import Box, Given
from tether.feasible.parallel import parallels
from tether.feasible.stacking import beneath, chosen_rows
from tether.polyhedral import Pieces

NO_TARGET = -1


class Walls(NamedTuple):
    """One side of all targets: where the wall is, who gave it, and the scale of that one's row.

    Who: variable j for its bounds, ``dim`` + i for row i of the LinearConstraints.
    """

    value: Array
    owner: Indices
    scale: Array


class Roles(NamedTuple):
    """Row i is scale[i] times the row of target[i]; NO_TARGET where it has none."""

    target: Indices
    scale: Array


class Targets(NamedTuple):
    """Scalar functions of variables, then of rows; and which rows of the user they are made of."""

    matrix: sparse.csr_array  # of the rows
    lower: Walls
    upper: Walls
    left: Array
    right: Array
    rows: Roles  # of the rows of LinearConstraints
    terms: Roles  # of the terms of penalties

    @property
    def pieces(self) -> Pieces:
        """The scalar functions."""
        return Pieces(self.lower.value, self.upper.value, self.left, self.right)


@lru_cache(maxsize=16)
def free_targets(dim: int) -> Targets:
    """Return what there is where nothing acts: variables without walls or slopes, and no rows."""
    zero, one, infinite = (np.broadcast_to(number, dim) for number in (0.0, 1.0, np.inf))
    lower, upper = (Walls(side, np.arange(dim), one) for side in (-infinite, infinite))
    nobody = Roles(np.zeros(0, dtype=np.int64), np.zeros(0))
    return Targets(sparse.csr_array((0, dim)), lower, upper, zero, zero, nobody, nobody)


def targets_of(given: Given, merged: bool = True) -> Targets:
    """Return what the user's bounds, rows and terms act on."""
    matrix, busy, n_rows = _all_rows(given)
    roles, kept = _roles(matrix, busy, given.dim, merged)
    rows = Roles(roles.target[:n_rows], roles.scale[:n_rows])
    terms = Roles(roles.target[n_rows:], roles.scale[n_rows:])
    count = given.dim + kept.shape[0]
    lower, upper = _walls(given, rows, count)
    left, right = _slopes(given, terms, count)
    return Targets(kept, lower, upper, left, right, rows, terms)


def _all_rows(given: Given) -> tuple[sparse.csr_array, Array, int]:
    """Return the rows of all constraints and below them those of penalties, and which of them do anything."""
    blocks, busy, n_rows = list[sparse.csr_array](), [np.zeros(0, dtype=bool)], 0
    if given.rows is not None:
        blocks.append(given.rows.matrix)
        busy.append(np.isfinite(given.rows.lower) | np.isfinite(given.rows.upper))
        n_rows = given.rows.matrix.shape[0]
    if given.terms is not None:
        blocks.append(given.terms.matrix)
        busy.append((given.terms.left > 0.0) | (given.terms.right > 0.0))
    matrix = beneath(blocks, given.dim)
    lengths = np.diff(matrix.indptr)
    return matrix, np.concatenate(busy) & (lengths > 0), n_rows


def _roles(matrix: sparse.csr_array, busy: Array, dim: int, merged: bool) -> tuple[Roles, sparse.csr_array]:
    """Return the target of each row, and the matrix of the targets that are rows."""
    target, scale = np.full(len(busy), NO_TARGET), np.ones(len(busy))
    single = busy & (np.diff(matrix.indptr) == 1) & merged
    place = matrix.indptr[:-1][single]
    target[single], scale[single] = matrix.indices[place], matrix.data[place]
    several = np.flatnonzero(busy & ~single)
    rows = chosen_rows(matrix, several)
    if not merged or not len(several):
        target[several] = dim + np.arange(len(several))
        return Roles(target, scale), rows
    leader, scale[several] = parallels(rows)
    first, number = np.unique(leader, return_inverse=True)
    target[several] = dim + number
    return Roles(target, scale), sparse.csr_array(rows[first])


def _walls(given: Given, roles: Roles, count: int) -> tuple[Walls, Walls]:
    """Return the narrowest walls of each target and who gave them; bounds come before rows."""
    box = Box.whole_space(given.dim) if given.box is None else given.box
    owner = np.where(np.arange(count) < given.dim, np.arange(count), NO_TARGET)
    plain = np.ones(count)
    beyond = np.full(count - given.dim, np.inf)
    low = Walls(np.concatenate([box.lower, -beyond]), owner.copy(), plain.copy())
    high = Walls(np.concatenate([box.upper, beyond]), owner.copy(), plain.copy())
    if given.rows is None:
        return low, high
    chosen = np.flatnonzero(roles.target != NO_TARGET)
    target, scale = roles.target[chosen], roles.scale[chosen]
    ends = given.rows.lower[chosen] / scale + 0.0, given.rows.upper[chosen] / scale + 0.0
    lower, upper = np.where(scale > 0.0, ends[0], ends[1]), np.where(scale > 0.0, ends[1], ends[0])
    low = _narrowed(low, target, lower, Roles(given.dim + chosen, scale))
    mirrored = _narrowed(high._replace(value=-high.value), target, -upper, Roles(given.dim + chosen, scale))
    return low, mirrored._replace(value=-mirrored.value)


def _narrowed(walls: Walls, target: Indices, value: Array, owners: Roles) -> Walls:
    """Return lower walls after others were added; of equal ones, that which came first is believed."""
    best = walls.value.copy()
    np.maximum.at(best, target, value)
    higher = np.flatnonzero((value == best[target]) & (value > walls.value[target]))[::-1]
    owner, scale = walls.owner.copy(), walls.scale.copy()
    owner[target[higher]], scale[target[higher]] = owners.target[higher], owners.scale[higher]
    return Walls(best, owner, scale)


def _slopes(given: Given, roles: Roles, count: int) -> tuple[Array, Array]:
    left, right = np.zeros(count), np.zeros(count)
    if given.terms is not None:
        chosen = np.flatnonzero(roles.target != NO_TARGET)
        below, above = scaled_slopes(given.terms.left[chosen], given.terms.right[chosen], roles.scale[chosen])
        np.add.at(left, roles.target[chosen], below)
        np.add.at(right, roles.target[chosen], above)
    return left, right


def scaled_slopes(left: Array, right: Array, scale: Array) -> tuple[Array, Array]:
    """Return the slopes of z -> g(scale z)."""
    size = np.abs(scale)
    return size * np.where(scale > 0.0, left, right), size * np.where(scale > 0.0, right, left)
