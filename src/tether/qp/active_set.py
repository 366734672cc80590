"""From a guess of the face to the face of the solution: everything that is in the wrong seat moves at once.

A primal-dual active set method, which is Newton's method on the optimality conditions (Hintermueller, Ito &
Kunisch 2003). Near a solution one or two systems are enough. It may go in circles; then the best point that
was seen is the answer, and it says how good it is.
"""

from typing import NamedTuple

import numpy as np

from tether.qp.face import Faces
from tether.qp.program import Point
from tether.qp.seats import Face
from tether.qp.yardstick import Residual, Yardstick

EXACT = 1e-12  # a residual that is rounding
PATIENCE = 3  # faces without progress


class Settled(NamedTuple):
    """Where the active set ended."""

    point: Point
    face: Face
    residual: Residual
    systems: int


class ActiveSet:
    """The search for the face of a program."""

    def __init__(self, faces: Faces, yardstick: Yardstick) -> None:
        self._faces, self._yardstick = faces, yardstick

    def as_it_is(self, face: Face, point: Point) -> Settled:
        """Return a point moved onto its face, no further."""
        inside = self._faces.inside(face, point)
        return Settled(inside, face, self._yardstick.residual(inside), 0)

    def search(self, face: Face, near: Point, most: int) -> Settled | None:
        """Return the best of the points that were seen; None if no system could be solved."""
        best, fewest, stale = None, np.inf, 0
        for count in range(1, most + 1):
            solved = self._solved(face, near)
            if solved is None:
                break
            settled = self.as_it_is(face, solved)._replace(systems=count)
            if best is None or settled.residual.worst < best.residual.worst:
                best = settled
            moves = self._faces.moves(face, solved)
            stale = 0 if moves.many < fewest else stale + 1
            fewest = min(fewest, moves.many)
            if moves.many == 0 or best.residual.worst <= EXACT or stale == PATIENCE:
                break
            face = self._faces.moved(face, moves)
        return best if best is None else best._replace(systems=count)

    def _solved(self, face: Face, near: Point) -> Point | None:
        try:
            with np.errstate(all="ignore"):
                point = self._faces.solution(face, near)
        except (RuntimeError, np.linalg.LinAlgError):  # a singular matrix, to SuperLU and to LAPACK
            return None
        return point if all(np.isfinite(part).all() for part in point) else None
