"""The stage that DP-SVRG and DP-ASVRG share: an anchor, the projected gradient there, and walks around it.

A stage asks for h = P grad F(anchor) and then walks m steps, from projection time to projection time. Its
end brings the next anchor, or F rises there and the stage is undone and taken again with shorter walks.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

from tether.arrays import Array
from tether.methods.base import S, StageWiseAlgorithm
from tether.methods.pace import Pace
from tether.methods.parameters import smaller_step
from tether.methods.schedule import Times, next_projection
from tether.requests import Arrived, Average, Descend, Gradient, Measured, Reply, Request


@dataclass(frozen=True, kw_only=True, repr=False)
class AnchoredAlgorithm(StageWiseAlgorithm[S]):
    """The settings of anchor stages."""

    interval: Times
    growth: int
    stage_length: int
    step_size: float
    batch_size: int
    replacement: bool
    shortest: int  # the smallest E of a growing interval
    default_step: float = field(repr=False)  # what an open step size would be

    def remedy(self) -> str:
        """Advise a smaller step."""
        return smaller_step(self.step_size, self.default_step)


class AnchorStage(NamedTuple):
    """The stage under way, and the mean of the anchors that came before."""

    anchor: Array
    mean: Array
    step_size: float
    pace: Pace
    clock: int
    shift: Array | None = None  # h = P grad F(anchor); None: still to be asked for
    averaged: int = 0  # anchors in the mean
    step: int = 0  # within the stage
    stage: int = 0

    @classmethod
    def begin(cls, settings: AnchoredAlgorithm[S], x: Array, clock: int) -> Self:
        """Return the first stage, anchored at x."""
        length = settings.stage_length
        pace = Pace(
            interval=settings.interval if isinstance(settings.interval, int) else length,
            growth=settings.growth,
            shortest=settings.shortest,
            longest=length,
            good=np.stack([x, x]),
        )
        return cls(anchor=x, mean=x, step_size=settings.step_size, pace=pace, clock=clock)

    @property
    def begins(self) -> bool:
        """Whether nothing of the stage has been done yet."""
        return self.shift is None and self.step == 0

    def ask(self, settings: AnchoredAlgorithm[S], start: Array, average: Average | None) -> Request:
        """Ask for the projected gradient at a new anchor, else walk from ``start`` to the next projection."""
        if self.shift is None:
            return Gradient(self.anchor)
        interval = settings.interval if settings.growth == 1 else self.pace.interval
        until = next_projection(interval, self.step, settings.stage_length)
        if average is not None:
            over = until == settings.stage_length
            average = average._replace(since=self.clock - self.step, collect=over)
        return Descend(
            start=start,
            steps=until - self.step,
            step_size=self.step_size,
            batch_size=settings.batch_size,
            clock=self.clock,
            anchor=self.anchor,
            shift=self.shift,
            replacement=settings.replacement,
            average=average,
        )

    def rejects(self, reply: Reply) -> bool:
        """Say whether the stage is better undone."""
        return self.pace.rejects(reply)

    def undone(self) -> Self:
        """Return to the start of the last good stage, to walk less far."""
        anchor, mean = self.pace.good
        return self._replace(
            anchor=anchor,
            mean=mean,
            averaged=self.pace.averaged,
            shift=None,
            step=0,
            pace=self.pace.back(),
        )

    def tell(self, reply: Reply, length: int) -> Self:
        """Keep the shift, or note the steps of a walk; with the last step of the stage it is over.

        A walk that was cut short leaves the rest of the way to the next one.
        """
        if isinstance(reply, Measured):
            pace = self.pace.onward(reply, (self.anchor, self.mean), self.averaged)
            return self._replace(shift=reply.gradient, pace=pace)
        steps = reply.work.steps
        walked = self._replace(step=self.step + steps, clock=self.clock + steps)
        return walked._over(reply) if walked.step == length else walked

    def _over(self, reply: Arrived) -> Self:
        """Return the next stage, anchored at the average of this one where there is one."""
        anchor, count = reply.end if reply.average is None else reply.average, self.averaged + 1
        mean = anchor if count == 1 else self.mean + (anchor - self.mean) / count
        return self._replace(
            anchor=anchor, shift=None, mean=mean, averaged=count, step=0, stage=self.stage + 1
        )

    def restarted(self) -> Self:
        """Return the stage anchored at the mean of the anchors, which begins anew; F may rise there."""
        pace = self.pace._replace(ceiling=math.inf)
        return self._replace(anchor=self.mean, averaged=0, pace=pace)

    def moved(self, anchor: Array) -> Self:
        """Return the stage with another anchor."""
        return self._replace(anchor=anchor, shift=None, step=0)

    def shortened(self, factor: float) -> Self:
        """Walk less far, or scale eta."""
        if self.pace.shrinks:
            return self._replace(pace=self.pace.back())
        return self._replace(step_size=self.step_size * factor)
