"""Where variables and rows sit: at a wall, on a kink, or free between them.

Seats are numbered from left to right: 0 at the lower wall, 1 below the kink, 2 on the kink, 3 above it, 4 at
the upper wall. A piece without a kink between its walls knows 0, 2 and 4 only, and is free at 2. The seats of
all variables and rows make a face of the program, on which it is a system of linear equations.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array
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

    @classmethod
    def of(cls, pieces: Pieces) -> "Seating":
        """Look at pieces."""
        kinked = (pieces.left + pieces.right > 0.0) & (pieces.lower < 0.0) & (pieces.upper > 0.0)
        below = (pieces.upper <= 0.0) & (pieces.lower < 0.0)
        return cls(pieces, kinked, np.where(below, -pieces.left, pieces.right))

    @property
    def fixed(self) -> NDArray[np.bool_]:
        """Which walls touch."""
        return self.pieces.lower == self.pieces.upper

    @property
    def walled(self) -> NDArray[np.bool_]:
        """Which have a wall on one side at least, and room between two."""
        return (np.isfinite(self.pieces.lower) | np.isfinite(self.pieces.upper)) & ~self.fixed

    def held(self, seats: Seats) -> NDArray[np.bool_]:
        """Say which are at a wall or on a kink."""
        return (seats == LOWER) | (seats == UPPER) | (self.kinked & (seats == KINK))

    def targets(self, seats: Seats) -> Array:
        """Return where those that are held are; zero for others."""
        walls = np.where(seats == UPPER, self.pieces.upper, 0.0)
        return np.where(seats == LOWER, self.pieces.lower, walls)

    def slopes(self, seats: Seats) -> Array:
        """Return the slopes of those that are free."""
        return np.where(self.kinked & (seats == BELOW), -self.pieces.left, self.slope)

    def room(self, seats: Seats) -> tuple[Array, Array]:
        """Return between which values they may be: both ends alike for those that are held."""
        held, targets = self.held(seats), self.targets(seats)
        low = np.where(self.kinked & (seats == ABOVE), 0.0, self.pieces.lower)
        high = np.where(self.kinked & (seats == BELOW), 0.0, self.pieces.upper)
        return np.where(held, targets, low), np.where(held, targets, high)

    def interval(self, seats: Seats) -> tuple[Array, Array]:
        """Return between which slopes they may be: both ends alike for those that are free."""
        held, slopes = self.held(seats), self.slopes(seats)
        after = np.where(self.kinked & (seats == LOWER), -self.pieces.left, self.slope)
        low = np.where(self.kinked & (seats == KINK), -self.pieces.left, self.slope)
        low, high = np.where(seats == LOWER, -np.inf, low), np.where(seats == UPPER, np.inf, after)
        low, high = np.where(self.fixed, -np.inf, low), np.where(self.fixed, np.inf, high)
        return np.where(held, low, slopes), np.where(held, high, slopes)

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
