"""How far a walk goes before it is projected, if E follows F: further while it falls, back after it rose.

F is known where a stage starts. A stage that made it rise is undone and taken again with shorter walks; then
it takes a few good stages, and more after every failure, until longer walks are tried again.
"""

from typing import NamedTuple, Self

import numpy as np

from tether.arrays import Array
from tether.requests import Measured, Reply

GROWTH = 4  # by which an open interval grows and shrinks
NOISE = 10.0  # times the rounding of F: a smaller rise is none
FIRST_WAIT = 4  # good stages after the first failure; doubled by every other


class Pace(NamedTuple):
    """E for the stage to come, its bounds, and the start of the last good stage."""

    interval: int
    growth: int  # 1 keeps E
    shortest: int
    longest: int
    good: Array  # the vectors of that start, one a row
    ceiling: float = np.inf  # which F must not pass: its mean so far, older values counting half as much
    wait: int = 0  # good stages before E may grow
    patience: int = 0  # the wait after the last failure
    averaged: int = 0  # anchors in the mean at that start

    @property
    def turned_back(self) -> bool:
        """Whether the last stage was undone."""
        return self.wait == self.patience > 0

    @property
    def shrinks(self) -> bool:
        """Whether E can be shorter."""
        return self.growth > 1 and self.interval > self.shortest

    def rejects(self, reply: Reply) -> bool:
        """Say whether a walk or a stage is better undone: it overflowed, or F rose above its ceiling."""
        if not self.shrinks:
            return False
        if isinstance(reply, Measured) and not reply.complete:
            return False
        vector = reply.gradient if isinstance(reply, Measured) else reply.end
        if vector is not None and not np.isfinite(vector).all():
            return True
        return isinstance(reply, Measured) and reply.value > self.ceiling + NOISE * reply.rounding

    def onward(self, reply: Measured, start: tuple[Array, ...], averaged: int) -> Self:
        """Return the pace for a stage from a start that was not rejected."""
        if self.growth == 1:
            return self
        self = self._replace(good=np.stack(start), averaged=averaged)
        if np.isnan(reply.value) or not reply.complete:  # nothing is known of F
            return self._replace(ceiling=np.inf)
        known = np.isfinite(self.ceiling)
        return self._replace(
            interval=min(self.longest, self.growth * self.interval)
            if known and self.wait == 0
            else self.interval,
            ceiling=0.5 * (self.ceiling + reply.value) if known else reply.value,
            wait=max(0, self.wait - 1),
        )

    def back(self) -> Self:
        """Return the pace after a stage, or a part of one, that is undone."""
        patience = max(FIRST_WAIT, 2 * self.patience)
        return self._replace(
            interval=max(self.shortest, self.interval // self.growth),
            wait=patience,
            patience=patience,
        )
