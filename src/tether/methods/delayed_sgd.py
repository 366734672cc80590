"""DP-SGD: stochastic gradient steps, pulled back every E-th (Algorithm 2 of Li & Zhang)."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self, final

from tether import theory
from tether.arrays import Array
from tether.methods.base import Method
from tether.methods.parameters import Rule, batch_or_default, check_settings, steps_per_pass
from tether.methods.schedule import Interval, largest_gap, next_projection
from tether.problem import Facts
from tether.requests import Arrived, Average, Descend, Reply


class DelayedSGDState(NamedTuple):
    """x_t at a projection time, and the weighted average last reported."""

    x: Array
    average: Array | None
    step: int  # within the stage
    clock: int  # T
    stage: int


@final
@dataclass(frozen=True, kw_only=True)
class DelayedSGD(Method[DelayedSGDState]):
    """Delayed projected stochastic gradient descent.

    x_t = x_{t-1} - eta_t grad f_B(x_{t-1}), projected at the projection times; the answer is the projection
    of the average of all iterates with weights (1 - mu eta)^age. With E = 1 this is projected SGD. With E > 1
    and a constant step it stalls at the residual error
    O((E-1) L eta^2 (sigma^2 + (E-1) ||grad F(x*)||^2)).

    Parameters
    ----------
    interval : int or increasing sequence of int, default 10
        E, the steps between projections, or the projection times within a stage.
    step_size : float, optional
        eta. Open: 1/(2 L(b)) in practice, or Theorem 3.2 with ``parameters="theory"``.
    batch_size : int, optional
        b. Open: the batch size at which the objective's steps are efficient.
    decay : float, default 0
        eta_t = eta / (1 + decay t); 0 keeps the step constant.
    stage_length : int, optional
        Steps between two reports of the average. Open: one pass.
    convexity : float, optional
        mu in the weights of the average. Open: the objective's.
    output : {"average", "last"}
        What to answer with: the projected weighted average, or the last projected iterate.
    parameters : {"practical", "theory"}
        Which rule fills the step size.
    replacement : bool, default False
        Draw samples independently, as the theorems assume, instead of permuting each pass.
    participation : float, default 1
        The share of a federation's workers asked in each round, drawn at random. Below 1 this is FedAvg with
        sampled clients: the mean of a few is no projection onto agreement, no theorem of the paper covers
        it, and it stalls the higher the more workers differ. The answer is then the last iterate.

    Examples
    --------
    >>> from tether.methods import DelayedSGD
    >>> DelayedSGD(interval=10, step_size=0.1, batch_size=128).interval
    10
    """

    interval: Interval = 10
    step_size: float | None = None
    batch_size: int | None = None
    decay: float = 0.0
    stage_length: int | None = None
    convexity: float | None = None
    output: str = "average"
    parameters: Rule = "practical"
    replacement: bool = False
    participation: float = 1.0

    def __post_init__(self) -> None:
        check_settings(self)
        if self.output not in ("average", "last"):
            raise ValueError(f'output must be "average" or "last", got {self.output!r}.')

    def prepare(self, facts: Facts) -> Self:
        """Fill the open settings."""
        batch = batch_or_default(self.batch_size, facts)
        length = self.stage_length or steps_per_pass(batch, facts)
        gap = largest_gap(self.interval, length)
        mu = facts.smoothness.convexity if self.convexity is None else self.convexity
        step = self.step_size
        if step is None and self.parameters == "theory":
            step = theory.step_size("dp-sgd", smoothness=facts.smoothness.maximum, convexity=mu, interval=gap)
        elif step is None:
            step = 0.5 / facts.smoothness.of_batch(batch, facts.local_samples)
        output = self.output if self.participation == 1.0 else "last"
        return replace(
            self, step_size=step, batch_size=batch, stage_length=length, convexity=mu, output=output
        )

    def start(self, x: Array, clock: int = 0) -> DelayedSGDState:
        """Begin at a feasible point."""
        return DelayedSGDState(x, None, 0, 0, 0)

    def ask(self, state: DelayedSGDState) -> Descend:
        """Walk to the next projection time."""
        assert self.step_size and self.stage_length and self.convexity is not None
        until = next_projection(self.interval, state.step, self.stage_length)
        average = None
        if self.output == "average":
            average = Average(self.convexity, collect=until == self.stage_length)
        return Descend(
            start=state.x,
            steps=until - state.step,
            step_size=self.step_size,
            batch_size=self.batch_size,
            clock=state.clock,
            decay=self.decay,
            replacement=self.replacement,
            average=average,
            participation=self.participation,
        )

    def tell(self, state: DelayedSGDState, reply: Reply) -> DelayedSGDState:
        """Go on from the projected end of the walk."""
        assert isinstance(reply, Arrived)
        steps = reply.work.steps
        average = state.average if reply.average is None else reply.average
        full = state.step + steps == self.stage_length
        step = 0 if full else state.step + steps
        return DelayedSGDState(reply.end, average, step, state.clock + steps, state.stage + full)

    def estimate(self, state: DelayedSGDState) -> Array:
        """Return the projected average, or the last iterate while there is none."""
        return state.x if state.average is None else state.average
