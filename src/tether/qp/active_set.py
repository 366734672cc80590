"""From a guess of the face to the face of the solution: everything that is in the wrong seat moves at once.

A primal-dual active set method, which is Newton's method on the optimality conditions (Hintermueller, Ito &
Kunisch 2003). Near a solution one or two systems are enough. It may go in circles; then the best point that
was seen is the answer, and it says how good it is.
"""

from typing import NamedTuple

import numpy as np

from tether.qp.face import Faces, Taken
from tether.qp.program import Point
from tether.qp.seats import Face
from tether.qp.yardstick import Residual, Yardstick

EXACT = 1e-12  # a residual that is rounding
PATIENCE = 3  # faces without progress
NEAR, BRISK = 0.3, 0.65  # of all seats, and of those that moved last, which may move in a brisk search
FEW = 3  # seats, which always may


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
        return self._measured(Seen(self._faces.taken(face), point, 0))

    def search(self, face: Face, near: Point, most: int, *, brisk: bool = False) -> Settled | None:
        """Return the best of the points that were seen; None if no system could be solved.

        Points on the way to fewer moves are measured only if nothing better comes after them. A brisk search
        ends with nothing as soon as moves do not become fewer at once.
        """
        best, passed, fewest, stale, count = None, list[Seen](), np.inf, 0, 0
        allowed = NEAR * (len(near.x) + len(near.y))
        while count < most and stale < PATIENCE:
            count += 1
            seen = self._solved(Seen(self._faces.taken(face), near, count))
            if seen is None:
                break
            moves = seen.taken.moves(seen.point)
            stale = 0 if moves.many < fewest else stale + 1
            fewest = min(fewest, moves.many)
            if brisk and (moves.many > max(FEW, allowed) or (moves.many and count == most)):
                return None
            allowed = BRISK * moves.many
            if moves.many and not stale:
                passed.append(seen)
            else:
                best = _better(best, self._measured(seen))
            if moves.many == 0 or (best is not None and best.residual.worst <= EXACT):
                break
            face = self._faces.moved(face, moves)
        while passed and (best is None or best.residual.worst > EXACT):
            best = _better(best, self._measured(passed.pop()))
        return best if best is None else best._replace(systems=count)

    def _measured(self, seen: "Seen") -> Settled:
        inside = seen.taken.inside(seen.point)
        return Settled(inside, seen.taken.face, self._yardstick.residual(inside), seen.systems)

    def _solved(self, near: "Seen") -> "Seen | None":
        try:
            with np.errstate(all="ignore"):
                point = near.taken.solution(near.point)
        except np.linalg.LinAlgError:  # a singular matrix
            return None
        return near._replace(point=point) if all(np.isfinite(part).all() for part in point) else None


class Seen(NamedTuple):
    """A face and a point there, not measured yet."""

    taken: Taken
    point: Point
    systems: int


def _better(one: Settled | None, other: Settled) -> Settled:
    return other if one is None or other.residual.worst < one.residual.worst else one
