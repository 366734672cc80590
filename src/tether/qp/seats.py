"""Where variables and rows sit: at a wall, on a kink, or free between them.

Seats are numbered from left to right: 0 at the lower wall, 1 below the kink, 2 on the kink, 3 above it, 4 at
the upper wall. A piece without a kink between its walls knows 0, 2 and 4 only, and is free at 2. The seats of
all variables and rows make a face of the program, on which it is a system of linear equations.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array
from tether.lazy import lazy
from tether.polyhedral import Pieces

Seats = NDArray[np.int8]
LOWER, BELOW, KINK, ABOVE, UPPER = range(5)


class Face(NamedTuple):
    """The seats of variables and of rows."""

    coordinates: Seats
    rows: Seats


class Seating(NamedTuple):
    """Pieces with what their seats mean."""

    pieces: Pieces
    kinked: NDArray[np.bool_]  # a kink strictly between the walls
    slope: Array  # of pieces without one; of others the slope above it
    fixed: NDArray[np.bool_]  # walls that touch

    @classmethod
    def of(cls, pieces: Pieces) -> "Seating":
        """Look at pieces."""
        kinked = (pieces.left + pieces.right > 0.0) & (pieces.lower < 0.0) & (pieces.upper > 0.0)
        below = (pieces.upper <= 0.0) & (pieces.lower < 0.0)
        slope = np.where(below, -pieces.left, pieces.right)
        return cls(pieces, kinked, slope, pieces.lower == pieces.upper)

    @property
    def walled(self) -> NDArray[np.bool_]:
        """Which have a wall on one side at least, and room between two."""
        return (np.isfinite(self.pieces.lower) | np.isfinite(self.pieces.upper)) & ~self.fixed

    def nearest(self, z: Array, s: Array, t: Array) -> Seats:
        """Return the seats of a point with a subgradient, both inexact: those of prox_{t g}(z + t s)."""
        u = self.pieces.prox(z + t * s, t)
        seats = np.where(self.kinked & (u < 0.0), BELOW, KINK)
        seats = np.where(self.kinked & (u > 0.0), ABOVE, seats)
        seats = np.where(u >= self.pieces.upper, UPPER, seats)
        return np.where(u <= self.pieces.lower, LOWER, seats).astype(np.int8)

    def possible(self, seats: Seats) -> Seats:
        """Return the nearest seats that these pieces have: a wall may be gone, or a kink."""
        free = np.where(self.kinked, np.clip(seats, BELOW, ABOVE), KINK)
        gone = ((seats == LOWER) & ~np.isfinite(self.pieces.lower)) | (
            (seats == UPPER) & ~np.isfinite(self.pieces.upper)
        )
        seats = np.where(gone | (~self.kinked & (seats % 2 == 1)), free, seats)
        return np.where(self.fixed, LOWER, seats).astype(np.int8)

    def moved(self, seats: Seats, direction: NDArray[np.int8]) -> Seats:
        """Return seats one further in the directions -1, 0, 1."""
        steps = np.where(self.kinked, 1, 2) * direction
        return np.clip(seats + steps, LOWER, UPPER).astype(np.int8)


class Seated:
    """Pieces in their seats, and what that means.

    Parameters
    ----------
    seating : Seating
        The pieces.
    seats : Seats
        Where they sit.
    """

    def __init__(self, seating: Seating, seats: Seats) -> None:
        self._seating, self._pieces, self.seats = seating, seating.pieces, seats
        kinked = seating.kinked
        self._lower, self._upper = seats == LOWER, seats == UPPER
        self._below, self._above = kinked & (seats == BELOW), kinked & (seats == ABOVE)
        self._on_kink = kinked & (seats == KINK)

    @lazy
    def held(self) -> NDArray[np.bool_]:
        """Which are at a wall or on a kink."""
        return self._lower | self._upper | self._on_kink

    @lazy
    def targets(self) -> Array:
        """Where those that are held are; zero for others."""
        walls = np.where(self._upper, self._pieces.upper, 0.0)
        return np.where(self._lower, self._pieces.lower, walls)

    @lazy
    def slopes(self) -> Array:
        """The slopes of those that are free."""
        return np.where(self._below, -self._pieces.left, self._seating.slope)

    @lazy
    def room(self) -> tuple[Array, Array]:
        """Between which values they may be: both ends alike for those that are held."""
        low = np.where(self._above, 0.0, self._pieces.lower)
        high = np.where(self._below, 0.0, self._pieces.upper)
        return np.where(self.held, self.targets, low), np.where(self.held, self.targets, high)

    @lazy
    def interval(self) -> tuple[Array, Array]:
        """Between which slopes they may be: both ends alike for those that are free."""
        seating, left = self._seating, -self._pieces.left
        low = np.where(self._lower | seating.fixed, -np.inf, np.where(self._on_kink, left, seating.slope))
        after = np.where(seating.kinked & self._lower, left, seating.slope)
        high = np.where(self._upper | seating.fixed, np.inf, after)
        return np.where(self.held, low, self.slopes), np.where(self.held, high, self.slopes)

    def directions(self, z: Array, s: Array, large: Array, steep: Array) -> NDArray[np.int8]:
        """Return who has to move up or down, given values, slopes and what is rounding of them."""
        low, high = self.room
        least, most = self.interval
        left = np.where(self.held, s < least - steep, z < low - large)
        right = np.where(self.held, s > most + steep, z > high + large)
        return right.astype(np.int8) - left.astype(np.int8)
