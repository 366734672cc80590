"""DP-SVRG: variance reduction removes the residual error (Algorithm 3 of Li & Zhang)."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self, final

from tether import theory
from tether.arrays import Array
from tether.methods.base import StageWise
from tether.methods.pace import Pace
from tether.methods.parameters import (
    Rule,
    batch_or_default,
    check_growth,
    check_settings,
    first_pace,
    reach,
    steps_per_pass,
    walking_step,
)
from tether.methods.schedule import Interval, largest_gap, next_projection
from tether.problem import Facts
from tether.requests import Arrived, Average, Descend, Gradient, Measured, Reply, Request


class DelayedSVRGState(NamedTuple):
    """x_t, the anchor, the projected full gradient there, and the mean of all anchors so far."""

    x: Array
    anchor: Array
    shift: Array | None  # h = P grad F(anchor); None: still to be asked for
    mean: Array
    averaged: int  # anchors in the mean
    step_size: float
    pace: Pace
    step: int
    clock: int
    stage: int


@final
@dataclass(frozen=True, kw_only=True)
class DelayedSVRG(StageWise[DelayedSVRGState]):
    """Delayed projected stochastic variance reduced gradient.

    Each stage computes h = P grad F(anchor) and takes m steps x -= eta (grad f_B(x) - grad f_B(anchor) + h),
    projected at the projection times. The next anchor is the projected average of the stage with weights
    (1 - mu eta)^age. With E = 1 this is projected (proximal) SVRG. It converges linearly for mu > 0.

    Parameters
    ----------
    interval : int or increasing sequence of int, optional
        E, the steps between projections, or the projection times within a stage. Open: 2/(eta L_F) in
        practice; where rounds are dear, as among workers, where A is large and where nobody knows what a
        projection costs, the whole stage as long as F falls; with ``parameters="theory"`` the stage.
    growth : int, optional
        The factor by which E grows after a stage in which F fell; a stage in which it rose is undone and E
        shrinks. 1 keeps E as it is. Open: 4 where rounds are dear and the interval is open, else 1.
    stage_length : int, optional
        m. Open: one pass.
    step_size : float, optional
        eta. Open: 1/(L_F + 5.5 L_max/b) in practice, or Theorem 4.1 with ``parameters="theory"``.
    batch_size : int, optional
        b. Open: the batch size at which the objective's steps are efficient.
    convexity : float, optional
        mu in the weights of the average. Open: the objective's.
    anchor : {"average", "last"}
        The next anchor: the projected weighted average (the paper), or the projected last iterate, which
        saves a vector in the projection that ends a stage.
    output : {"auto", "mean", "last"}
        What to answer with: the last anchor, or the mean of the anchors; "auto" is the paper's rule, the
        mean for mu = 0.
    parameters : {"practical", "theory"}
        Which rule fills the step size.
    replacement : bool, default False
        Draw samples independently, as the theorems assume, instead of permuting each pass.

    Examples
    --------
    >>> from tether.methods import DelayedSVRG
    >>> projected_svrg = DelayedSVRG(interval=1)
    """

    interval: Interval | None = None
    growth: int | None = None
    stage_length: int | None = None
    step_size: float | None = None
    batch_size: int | None = None
    convexity: float | None = None
    anchor: str = "average"
    output: str = "auto"
    parameters: Rule = "practical"
    replacement: bool = False
    shortest: int | None = None  # the smallest E of a growing interval; filled by `prepare`

    def __post_init__(self) -> None:
        check_settings(self)
        check_growth(self)
        if self.anchor not in ("average", "last"):
            raise ValueError(f'anchor must be "average" or "last", got {self.anchor!r}.')
        if self.output not in ("auto", "mean", "last"):
            raise ValueError(f'output must be "auto", "mean" or "last", got {self.output!r}.')

    def prepare(self, facts: Facts) -> Self:
        """Fill the open settings."""
        batch = batch_or_default(self.batch_size, facts)
        length = self.stage_length or steps_per_pass(batch, facts)
        mu = facts.smoothness.convexity if self.convexity is None else self.convexity
        step = self.step_size
        if step is None and self.parameters == "theory":
            gap = largest_gap(self.interval or length, length)
            step = theory.step_size(
                "dp-svrg", smoothness=facts.smoothness.maximum, convexity=mu, interval=gap
            )
        elif step is None:
            step = walking_step(batch, facts)
        output = self.output if self.output != "auto" else "last" if mu > 0 else "mean"
        return replace(
            self,
            **reach(self, step, batch, length, facts)._asdict(),
            stage_length=length,
            step_size=step,
            batch_size=batch,
            convexity=mu,
            output=output,
        )

    def start(self, x: Array, clock: int = 0) -> DelayedSVRGState:
        """Begin with x as the first anchor."""
        assert self.step_size
        return DelayedSVRGState(x, x, None, x, 0, self.step_size, first_pace(self, (x, x)), 0, 0, 0)

    def ask(self, state: DelayedSVRGState) -> Request:
        """Ask for the projected gradient at a new anchor, else walk to the next projection time."""
        assert self.interval and self.stage_length and self.convexity is not None
        if state.shift is None:
            return Gradient(state.anchor)
        interval = self.interval if self.growth == 1 else state.pace.interval
        until = next_projection(interval, state.step, self.stage_length)
        average = None
        if self.anchor == "average":
            since, over = state.clock - state.step, until == self.stage_length
            average = Average(self.convexity, since=since, collect=over)
        return Descend(
            start=state.x,
            steps=until - state.step,
            step_size=state.step_size,
            batch_size=self.batch_size,
            clock=state.clock,
            anchor=state.anchor,
            shift=state.shift,
            replacement=self.replacement,
            average=average,
        )

    def tell(self, state: DelayedSVRGState, reply: Reply) -> DelayedSVRGState:
        """Keep the shift, or go on from the end of the walk, with a new anchor when the stage is over."""
        if state.pace.rejects(reply):
            return self._undo(state)
        if isinstance(reply, Measured):
            pace = state.pace.onward(reply, (state.anchor, state.mean), state.averaged)
            return state._replace(shift=reply.gradient, pace=pace)
        step = state.step + reply.work.steps
        state = state._replace(x=reply.end, step=step, clock=state.clock + reply.work.steps)
        return self._end_stage(state, reply) if step == self.stage_length else state

    def _end_stage(self, state: DelayedSVRGState, reply: Arrived) -> DelayedSVRGState:
        anchor = reply.end if reply.average is None else reply.average
        count, stage = state.averaged + 1, state.stage + 1
        mean = anchor if count == 1 else state.mean + (anchor - state.mean) / count
        return state._replace(anchor=anchor, shift=None, mean=mean, averaged=count, step=0, stage=stage)

    def _undo(self, state: DelayedSVRGState) -> DelayedSVRGState:
        """Return to the start of the last good stage."""
        (anchor, mean), count, pace = state.pace.good, state.pace.averaged, state.pace.back()
        return state._replace(
            x=anchor, anchor=anchor, mean=mean, averaged=count, shift=None, step=0, pace=pace
        )

    def recovers(self, state: DelayedSVRGState) -> bool:
        """Say whether the last stage was undone."""
        return state.pace.turned_back

    def estimate(self, state: DelayedSVRGState) -> Array:
        """Return the last anchor, or the mean of the anchors."""
        return state.mean if self.output == "mean" else state.anchor

    def coordinates(self, state: DelayedSVRGState) -> tuple[Array, ...] | None:
        """Return anchor and x at the start of a stage."""
        return (state.anchor, state.x) if state.shift is None and state.step == 0 else None

    def move(
        self, state: DelayedSVRGState, coordinates: tuple[Array, ...], weights: Array | None
    ) -> DelayedSVRGState:
        """Start the stage elsewhere."""
        return state._replace(anchor=coordinates[0], x=coordinates[1], shift=None, step=0)

    def shorten(self, state: DelayedSVRGState, factor: float) -> DelayedSVRGState:
        """Walk less far, or scale eta."""
        if state.pace.shrinks:
            return state._replace(pace=state.pace.back())
        return state._replace(step_size=state.step_size * factor)
