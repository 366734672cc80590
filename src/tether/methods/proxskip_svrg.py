"""ProxSkip with variance-reduced steps: one projection a pass, and the drift is learned.

The dual of ProxSkip together with the anchors of SVRG. A stage is

    g = grad F(x), slopes kept                                        (no projection)
    w = x;  m steps  w -= eta ( grad f_B(w) - grad f_B(x) + g - h )
    x' = Pi(w);  h' = h + (x' - w)/(eta E)                             (every E steps, at least once)

so a stage may cost a single projection. Since P h = 0, ||grad F(x) - h||^2 bounds ||P grad F(x)||^2 and
certifies x without one.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self, final

import numpy as np

from tether import theory
from tether.conversation import Array, Arrived, Descend, Dual, Facts, Gradient, Measured, Reply, Request
from tether.methods.base import StageWise
from tether.methods.parameters import Rule, batch_or_default, check_settings, steps_per_pass, walking_step


class ProxSkipSVRGState(NamedTuple):
    """The last projected point and the anchor; h is the worker's."""

    x: Array
    anchor: Array
    measured: bool  # the full pass at the anchor has been made
    weights: Array | None  # the mix of remembered duals that the stage starts with
    step_size: float
    step: int
    clock: int
    rounds: int
    stage: int


@final
@dataclass(frozen=True, kw_only=True)
class ProxSkipSVRG(StageWise[ProxSkipSVRGState]):
    """ProxSkip-LSVRG on an affine set, with anchors refreshed at projections.

    Parameters
    ----------
    interval : int, optional
        E, the steps between projections. Open: the whole stage.
    stage_length : int, optional
        m, the steps between anchors. Open: one pass.
    step_size : float, optional
        eta. Open: 1/(L_F + 4 L_max/b) in practice, 1/(6 L_max) with ``parameters="theory"``.
    batch_size : int, optional
        b. Open: up to 128, so that a pass has at least a hundred steps.
    random : bool, default False
        Toss coins for projections and anchors, as published, instead of counting steps.
    seed : int, optional
        Of the coins. Open: the run's.
    parameters : {"practical", "theory"}
        Which rule fills the step size.
    replacement : bool, default False
        Draw samples independently instead of permuting each pass.
    keep : int, default 1
        Duals remembered by the workers; `Anderson` sets it.

    Examples
    --------
    >>> from tether.methods import ProxSkipSVRG
    >>> one_projection_a_pass = ProxSkipSVRG()
    """

    interval: int | None = None
    stage_length: int | None = None
    step_size: float | None = None
    batch_size: int | None = None
    random: bool = False
    seed: int | None = None
    parameters: Rule = "practical"
    replacement: bool = False
    keep: int = 1

    def __post_init__(self) -> None:
        check_settings(self)
        if isinstance(self.interval, tuple):
            raise ValueError(f"interval of ProxSkipSVRG must be a whole number, got {self.interval!r}.")

    def prepare(self, facts: Facts) -> Self:
        """Fill the open settings."""
        batch = batch_or_default(self.batch_size, facts)
        length = self.stage_length or steps_per_pass(batch, facts)
        step = self.step_size
        if step is None and self.parameters == "theory":
            step = theory.step_size("proxskip-svrg", smoothness=facts.smoothness.maximum)
        elif step is None:
            step = walking_step(batch, facts)
        return replace(
            self,
            interval=min(self.interval or length, length),
            stage_length=length,
            step_size=step,
            batch_size=batch,
            seed=facts.seed if self.seed is None else self.seed,
        )

    def start(self, x: Array) -> ProxSkipSVRGState:
        """Begin at a feasible point with h = 0."""
        assert self.step_size
        return ProxSkipSVRGState(x, x, False, None, self.step_size, 0, 0, 0, 0)

    def ask(self, state: ProxSkipSVRGState) -> Request:
        """Make the full pass at a new anchor, else walk to the next projection."""
        if not state.measured:
            return Gradient(state.anchor, tangent=False, dual=self._dual(state))
        steps = self._leg(state)
        return Descend(
            start=state.x,
            steps=steps,
            step_size=state.step_size,
            batch_size=self.batch_size,
            clock=state.clock,
            anchor=state.anchor,
            replacement=self.replacement,
            dual=self._dual(state, steps),
        )

    def _dual(self, state: ProxSkipSVRGState, steps: int = 1) -> Dual:
        assert self.interval
        expected = self.interval if self.random else steps
        rate = 1 / (state.step_size * expected)
        return Dual(rate, state.weights, self.keep, renew=state.step > 0)

    def _leg(self, state: ProxSkipSVRGState) -> int:
        assert self.interval and self.stage_length
        if self.random:
            return int(self._coin(state).geometric(1 / self.interval))
        return min(self.interval, self.stage_length - state.step)

    def _coin(self, state: ProxSkipSVRGState) -> np.random.Generator:
        return np.random.default_rng([self.seed or 0, state.rounds])

    def tell(self, state: ProxSkipSVRGState, reply: Reply) -> ProxSkipSVRGState:
        """Go on from the projected point, with a new anchor when the stage is over."""
        if isinstance(reply, Measured):
            return state._replace(measured=True)
        over = self._is_over(state, reply)
        steps = reply.work.steps
        return state._replace(
            x=reply.end,
            anchor=reply.end if over else state.anchor,
            measured=not over,
            weights=None,
            step=0 if over else state.step + steps,
            clock=state.clock + steps,
            rounds=state.rounds + 1,
            stage=state.stage + over,
        )

    def _is_over(self, state: ProxSkipSVRGState, reply: Arrived) -> bool:
        assert self.stage_length
        if self.random:  # rho = 1/m a step, tossed once for all steps of the leg
            stays = (1 - 1 / self.stage_length) ** reply.work.steps
            return bool(self._coin(state).spawn(1)[0].random() > stays)
        return state.step + reply.work.steps >= self.stage_length

    def estimate(self, state: ProxSkipSVRGState) -> Array:
        """Return the last projected point."""
        return state.x

    def inspect(self, state: ProxSkipSVRGState) -> Gradient:
        """Certify with h instead of a projection."""
        return Gradient(state.x, tangent=False, dual=self._dual(state))

    def coordinates(self, state: ProxSkipSVRGState) -> tuple[Array, ...] | None:
        """Return x at the start of a stage."""
        return (state.x,) if not state.measured else None

    def move(
        self, state: ProxSkipSVRGState, coordinates: tuple[Array, ...], weights: Array | None
    ) -> ProxSkipSVRGState:
        """Start the stage elsewhere, with the same mix of duals."""
        x = coordinates[0]
        return state._replace(x=x, anchor=x, measured=False, weights=weights, step=0)

    def remember(self, memory: int) -> Self:
        """Have the workers remember the duals of that many stages."""
        return replace(self, keep=memory)

    def soften(self, state: ProxSkipSVRGState, factor: float) -> ProxSkipSVRGState:
        """Scale eta."""
        return state._replace(step_size=state.step_size * factor)
