"""Ways around the loop: a linear system instead of a run, or a run on less data; each with its way back.
And a better start: where the nearest one is outside the domain of F, or the minimum a few cheap steps away.

A shortcut is a function of a `Way`, the straight one, that returns a better one or None.
"""

from tether.shortcuts.approach import Approach, approached
from tether.shortcuts.inside import started_inside
from tether.shortcuts.optimality_system import solved_directly
from tether.shortcuts.projected_data import with_projected_data
from tether.shortcuts.quadratic_program import solved_program
from tether.shortcuts.way import Way
from tether.shortcuts.wide_data import with_wide_data

__all__ = ["SHORTCUTS", "Approach", "Way", "approached", "shortest_way", "started_inside"]

SHORTCUTS = (with_projected_data, solved_directly, with_wide_data)
BEYOND_PLANES = (solved_program,)


def shortest_way(straight: Way, warm: bool) -> Way:
    """Return the first shortcut that there is, or the straight way; a warm start is not thrown away."""
    for shortcut in SHORTCUTS if straight.problem.region is None else BEYOND_PLANES:
        way = shortcut(straight, warm)
        if way is not None:
            return way
    return straight
