"""The search for the solution of a program that has one: a warm start, interior points, active sets."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from tether.arrays import Array
from tether.polyhedral import Duals
from tether.qp.active_set import ActiveSet, Settled
from tether.qp.backend import Pace, interior_point
from tether.qp.bound import lower_bound
from tether.qp.face import Faces
from tether.qp.program import Answer, Point, Program, Status
from tether.qp.standard import Form
from tether.qp.units import Units
from tether.qp.yardstick import Yardstick

MOST_SYSTEMS, MOST_COLD_SYSTEMS, FEW_SYSTEMS = 10, 25, 4
BOLDNESS = 1.0, 1e3, 1e-3  # how much of a point is held, in turn, until that makes a solution
MISSED = 1e-12  # of the largest variable
GOOD = 1e-11  # a residual that needs no second attempt
FIRST, SECOND = 1e-10, 1e-13  # tolerances of interior points


class Descent(NamedTuple):
    """What one interior point led to."""

    settled: Settled
    converged: bool
    hopeless: bool


class Search:
    """One program on its way."""

    def __init__(self, program: Program, tol: float, deadline: float = np.inf) -> None:
        self._program, self._tol, self._deadline = program, tol, deadline
        self._faces = Faces(program)
        self._active = ActiveSet(self._faces, Yardstick(program, self.units, self._faces.natural))

    @property
    def units(self) -> Units:
        """The units of variables, equations and rows."""
        return self._faces.units

    @property
    def _shape(self) -> tuple[int, int, int, int]:
        p, m, k = self._program.dim, len(self._program.plane[1]), self._program.polyhedral.rows.size
        return p, m, p, k

    def other(self, program: Program) -> Answer:
        """Return the answer to another program, in the time that is left."""
        return Search(program, self._tol, self._deadline).answer(None)

    def answer(self, start: Answer | None) -> Answer:
        """Return the best point that was found, with SOLVED, INACCURATE or BUDGET."""
        warm = self._cold() if start is None else self._warm(start)
        if warm is not None and warm.residual.worst <= GOOD:
            return self._written(warm)
        form = Form.of(self._program)
        first = self._descent(form, Pace(FIRST))
        found = _better(warm, first.settled)
        if found.residual.worst > GOOD and not first.hopeless and perf_counter() < self._deadline:
            # deeper where the face could not be told, with more care where there was no convergence
            pace = Pace(SECOND) if first.converged else Pace(FIRST, careful=True)
            found = _better(found, self._descent(form, pace).settled)
        return self._written(found)

    def careful(self, answer: Answer) -> Answer:
        """Return what a careful interior point finds, if it is better than an answer."""
        found = self._written(self._descent(Form.of(self._program), Pace(FIRST, careful=True)).settled)
        better = found if found.residual < answer.residual else answer
        return better._replace(iterations=answer.iterations + found.iterations)

    def _warm(self, start: Answer) -> Settled | None:
        near = start.point
        if any(len(part) != size for part, size in zip(near, self._shape, strict=True)):
            raise ValueError(
                f"start must be the answer to a program of the same size, got {len(start.x)} variables, "
                f"{len(start.equalities)} equations and {len(start.duals.rows)} rows; leave it out."
            )
        face = self._faces.nearest(near) if start.face is None else self._faces.possible(start.face)
        return self._active.search(face, near, MOST_SYSTEMS)

    def _cold(self) -> Settled | None:
        """Return what the active set at zero leads to, where that is cheap and interior points are not.

        Of small programs interior points are cheap, too: there it has to be near.
        """
        easy = self._program.easy
        if not easy and not self._program.small:
            return None
        psi = self._program.polyhedral
        x = np.clip(np.zeros(self._program.dim), psi.coordinates.lower, psi.coordinates.upper)
        near = Point(
            x, np.zeros(len(self._program.plane[1])), -self._program.gradient(x), np.zeros(psi.rows.size)
        )
        face = self._faces.nearest(near)
        if easy:
            return self._active.search(face, near, MOST_COLD_SYSTEMS)
        found = self._active.search(face, near, FEW_SYSTEMS, brisk=True)
        return None if found is None or self._just_misses_walls(found.point.x) else found

    def _just_misses_walls(self, x: Array) -> bool:
        """Say whether variables are free by rounding only: equations hold them where they should be held."""
        pieces, reach = self._program.polyhedral.coordinates, MISSED * float(np.abs(x).max(initial=0.0))
        away = [np.abs(x - wall) for wall in (pieces.lower, pieces.upper, 0.0)]
        return any(bool(((miss > 0.0) & (miss <= reach)).any()) for miss in away)

    def _descent(self, form: Form, pace: Pace) -> Descent:
        solved = interior_point(form.standard, pace._replace(seconds=self._deadline - perf_counter()))
        found = self._polished(form.back(solved))
        count = found.systems + solved.iterations
        return Descent(found._replace(systems=count), solved.converged, solved.hopeless)

    def _polished(self, point: Point) -> Settled:
        best: Settled | None = None
        for boldness in BOLDNESS:
            face = self._faces.nearest(point, boldness)
            found = self._active.search(face, point, MOST_SYSTEMS)
            best = best if found is None else _better(best, found)
            if best is not None and best.residual.worst <= GOOD:
                return best
        return _better(best, self._active.as_it_is(self._faces.nearest(point), point))

    def _written(self, settled: Settled) -> Answer:
        point, worst = settled.point, settled.residual.worst
        failed = Status.BUDGET if perf_counter() > self._deadline else Status.INACCURATE
        return Answer(
            point.x, point.equalities, Duals(point.s, point.y),
            Status.SOLVED if worst <= self._tol else failed,
            settled.systems, lower_bound(self._program, point), worst, settled.face,
        )  # fmt: skip


def _better(first: Settled | None, second: Settled) -> Settled:
    """Return the one with the smaller residual, with the count of both."""
    if first is None:
        return second
    better = first if first.residual.worst <= second.residual.worst else second
    return better._replace(systems=first.systems + second.systems)
