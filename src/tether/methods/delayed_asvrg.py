"""DP-ASVRG: momentum on top of variance reduction (Algorithm 4 of Li & Zhang)."""

import math
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


class DelayedASVRGState(NamedTuple):
    """u_t, the anchor with its shift, and the mean of the anchors since the last restart."""

    u: Array
    anchor: Array
    shift: Array | None
    mean: Array
    since_restart: int  # stages
    momentum: float  # theta_s
    step_size: float
    pace: Pace
    step: int
    clock: int
    stage: int


@final
@dataclass(frozen=True, kw_only=True)
class DelayedASVRG(StageWise[DelayedASVRGState]):
    """Delayed projected accelerated SVRG.

    With the variance-reduced gradient g of DP-SVRG each step sets u -= (eta/theta) g and
    x = anchor + theta (u - anchor). Only u has to be projected, by linearity. The next anchor is the
    projected mean of x_1..x_m. With E = 1 this is P-ASVRG; with m = E = 1 an accelerated gradient method.

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
        eta. Open: 1/(L_F + 5.5 L_max/b) in practice, or Theorems 5.1 and 5.2 with ``parameters="theory"``.
    momentum : float, optional
        theta in (0, 1], kept fixed. Open: 0.3 in practice; the paper's constant (mu > 0) or decreasing
        (mu = 0) theta with ``parameters="theory"``.
    restart : int, optional
        Stages between restarts from the mean of the anchors. Open: never in practice, Theorem 5.1 in theory.
    stages : int, default 100
        S, the horizon that the step size of Theorem 5.2 (mu = 0) is tuned to.
    batch_size : int, optional
        b. Open: the batch size at which the objective's steps are efficient.
    convexity : float, optional
        mu. Open: the objective's.
    first_step : {"anchor", "coupled"}
        Where the first gradient of a stage is taken: at x_0 = anchor as Algorithm 4 is printed, or at
        anchor + theta (u - anchor) like all later ones. For m = E = 1 the first is the heavy-ball method, the
        second is Nesterov's.
    parameters : {"practical", "theory"}
        Which rule fills the open settings.
    replacement : bool, default False
        Draw samples independently, as the theorems assume, instead of permuting each pass.

    Examples
    --------
    >>> from tether.methods import DelayedASVRG
    >>> DelayedASVRG(interval=10, momentum=0.9).momentum
    0.9
    """

    interval: Interval | None = None
    growth: int | None = None
    stage_length: int | None = None
    step_size: float | None = None
    momentum: float | None = None
    restart: int | None = None
    stages: int = 100
    batch_size: int | None = None
    convexity: float | None = None
    first_step: str = "anchor"
    parameters: Rule = "practical"
    replacement: bool = False
    shortest: int | None = None  # the smallest E of a growing interval; filled by `prepare`
    decrease: float | None = None  # delta of the theta recursion; filled by `prepare` for mu = 0

    def __post_init__(self) -> None:
        check_settings(self)
        check_growth(self)
        if self.first_step not in ("anchor", "coupled"):
            raise ValueError(f'first_step must be "anchor" or "coupled", got {self.first_step!r}.')

    def prepare(self, facts: Facts) -> Self:
        """Fill the open settings."""
        batch = batch_or_default(self.batch_size, facts)
        length = self.stage_length or steps_per_pass(batch, facts)
        mu = facts.smoothness.convexity if self.convexity is None else self.convexity
        filled = replace(self, stage_length=length, batch_size=batch, convexity=mu)
        if self.parameters == "theory":
            fixed = replace(filled, **reach(self, 1.0, batch, length, facts)._asdict())
            return fixed._with_theory(facts.smoothness.maximum)
        step = self.step_size or walking_step(batch, facts)
        return replace(
            filled,
            **reach(self, step, batch, length, facts)._asdict(),
            step_size=step,
            momentum=0.3 if self.momentum is None else self.momentum,
        )

    def _with_theory(self, smoothness: float) -> Self:
        """Fill step size, theta and restarts from Theorems 5.1 (mu > 0) and 5.2 (mu = 0)."""
        assert self.interval and self.stage_length and self.convexity is not None
        gap = largest_gap(self.interval, self.stage_length)
        eta = self.step_size or theory.step_size(
            "dp-asvrg",
            smoothness=smoothness,
            convexity=self.convexity,
            interval=gap,
            stage_length=self.stage_length,
            stages=self.stages,
        )
        filled = replace(self, step_size=eta)
        if self.momentum is not None:
            return filled
        if self.convexity == 0:
            theta = theory.first_momentum(eta, smoothness=smoothness, interval=gap)
            delta = theory.drift(eta, smoothness=smoothness, interval=gap)
            return replace(filled, momentum=theta, decrease=delta)
        mu, m = self.convexity, self.stage_length
        theta = theory.momentum(eta, smoothness=smoothness, convexity=mu, stage_length=m, interval=gap)
        length = theory.restart_length(theta, step_size=eta, convexity=mu, stage_length=m)
        return replace(filled, momentum=min(theta, 1.0), restart=self.restart or length)

    def start(self, x: Array, clock: int = 0) -> DelayedASVRGState:
        """Begin with x as the first anchor."""
        assert self.step_size and self.momentum
        pace = first_pace(self, (x, x))
        return DelayedASVRGState(x, x, None, x, 0, self.momentum, self.step_size, pace, 0, 0, 0)

    def ask(self, state: DelayedASVRGState) -> Request:
        """Ask for the projected gradient at a new anchor, else walk to the next projection time."""
        assert self.interval and self.stage_length
        if state.shift is None:
            return Gradient(state.anchor)
        interval = self.interval if self.growth == 1 else state.pace.interval
        until = next_projection(interval, state.step, self.stage_length)
        first = state.step == 0
        return Descend(
            start=state.u,
            steps=until - state.step,
            step_size=state.step_size,
            batch_size=self.batch_size,
            clock=state.clock,
            anchor=state.anchor,
            shift=state.shift,
            momentum=state.momentum,
            from_anchor=first and self.first_step == "anchor",
            replacement=self.replacement,
            average=Average(
                0.0, after=True, since=state.clock - state.step, collect=until == self.stage_length
            ),
        )

    def tell(self, state: DelayedASVRGState, reply: Reply) -> DelayedASVRGState:
        """Keep the shift, or go on from the end of the walk, with a new anchor when the stage is over."""
        if state.pace.rejects(reply):
            return self._undo(state)
        if isinstance(reply, Measured):
            pace = state.pace.onward(reply, (state.anchor, state.mean), state.since_restart)
            return state._replace(shift=reply.gradient, pace=pace)
        step = state.step + reply.work.steps
        state = state._replace(u=reply.end, step=step, clock=state.clock + reply.work.steps)
        return self._end_stage(state, reply) if step == self.stage_length else state

    def _end_stage(self, state: DelayedASVRGState, reply: Arrived) -> DelayedASVRGState:
        assert reply.average is not None
        anchor, count = reply.average, state.since_restart + 1
        mean = anchor if count == 1 else state.mean + (anchor - state.mean) / count
        theta = state.momentum
        if self.decrease is not None:
            theta = theory.next_momentum(theta, self.decrease)
        state = state._replace(
            anchor=anchor, shift=None, mean=mean, since_restart=count, momentum=theta, step=0
        )
        state = state._replace(stage=state.stage + 1)
        if count == self.restart:
            pace = state.pace._replace(bar=math.inf)  # a restart is not a rise
            state = state._replace(u=mean, anchor=mean, since_restart=0, pace=pace)
        return state

    def _undo(self, state: DelayedASVRGState) -> DelayedASVRGState:
        """Return to the start of the last good stage, without its momentum."""
        (anchor, mean), count, pace = state.pace.good, state.pace.averaged, state.pace.back()
        return state._replace(
            u=anchor, anchor=anchor, mean=mean, since_restart=count, shift=None, step=0, pace=pace
        )

    def recovers(self, state: DelayedASVRGState) -> bool:
        """Say whether the last stage was undone."""
        return state.pace.turned_back

    def estimate(self, state: DelayedASVRGState) -> Array:
        """Return the mean of the anchors where restarts rest on it, else the last anchor."""
        return state.anchor if self.restart is None else state.mean

    def coordinates(self, state: DelayedASVRGState) -> tuple[Array, ...] | None:
        """Return anchor and u at the start of a stage."""
        return (state.anchor, state.u) if state.shift is None and state.step == 0 else None

    def move(
        self, state: DelayedASVRGState, coordinates: tuple[Array, ...], weights: Array | None
    ) -> DelayedASVRGState:
        """Start the stage elsewhere."""
        return state._replace(anchor=coordinates[0], u=coordinates[1], shift=None, step=0)

    def shorten(self, state: DelayedASVRGState, factor: float) -> DelayedASVRGState:
        """Walk less far, or scale eta."""
        if state.pace.shrinks:
            return state._replace(pace=state.pace.back())
        return state._replace(step_size=state.step_size * factor)
