"""DP-SGD: stochastic gradient steps, pulled back every E-th (Algorithm 2 of Li & Zhang)."""

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, final

from tether import theory
from tether.arrays import Array
from tether.methods.base import Algorithm, Method
from tether.methods.parameters import (
    Rule,
    batch_or_default,
    check_choice,
    check_settings,
    length_or_pass,
    positive,
    smaller_step,
)
from tether.methods.schedule import Interval, Times, as_interval, largest_gap, next_projection
from tether.needs import Need
from tether.problem import Facts
from tether.requests import Arrived, Average, Descend, Reply


class DelayedSGDState(NamedTuple):
    """x_t at a projection time, and the weighted average last reported."""

    x: Array
    clock: int  # t, from the start of the run
    since: int  # the t at which this start was made: what was averaged before is forgotten
    average: Array | None = None
    stage: int = 0


@final
@dataclass(frozen=True, kw_only=True)
class DelayedSGD(Method):
    """Delayed projected stochastic gradient descent.

    x_t = x_{t-1} - eta_t grad f_B(x_{t-1}), projected at the projection times; the answer is the projection
    of the average of all iterates with weights (1 - mu eta)^age. With E = 1 this is projected SGD. With E > 1
    and a constant step it stalls at the residual error
    O((E-1) L eta^2 (sigma^2 + (E-1) ||grad F(x*)||^2)).

    Parameters
    ----------
    interval : int or increasing sequence of int, default 10
        E, the steps between projections, or the projection times. They are counted from the start of the run
        and know nothing of passes; a set repeats after its last time, so (3, 5, 20) projects after 3, 5, 20,
        23, 25, 40, ... steps.
    step_size : float, optional
        eta. Open: 1/(2 L(b)) in practice, or Theorem 3.2 with ``parameters="theory"``.
    batch_size : int, optional
        b. Open: the batch size at which the objective's steps are efficient.
    decay : float, default 0
        eta_t = eta / (1 + decay t); 0 keeps the step constant.
    stage_length : int, optional
        Steps between two reports of the average, which comes at the next projection time; the average itself
        runs on. Open: one pass.
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
    >>> import numpy as np, tether
    >>> from tether.methods import DelayedSGD
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((100, 4)), rng.standard_normal(100)
    >>> objective = tether.GLM(X, y, loss="squared", l2=0.1)
    >>> method = DelayedSGD(interval=10, step_size=0.1, batch_size=8)
    >>> sol = tether.solve(objective, tether.Affine(np.ones((1, 4))), method, max_rounds=50)
    >>> bool(sol.gap < 0.1)
    True
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
        check_choice("output", self.output, "average", "last")

    @property
    def _averages(self) -> bool:
        """Whether the answer is an average; workers that were away have none of all iterates."""
        return self.output == "average" and self.participation == 1.0

    @property
    def needs(self) -> frozenset[Need]:
        """It only walks, and the answer may be an average."""
        return frozenset({Need.AVERAGES} if self._averages else ())

    def prepare(self, facts: Facts) -> "DelayedSGDAlgorithm":
        """Fill the open settings."""
        batch, interval = batch_or_default(self.batch_size, facts), as_interval(self.interval)
        mu = facts.smoothness.convexity if self.convexity is None else self.convexity
        if self.parameters == "theory":
            L, gap = positive(facts.smoothness.maximum), largest_gap(interval)
            default = theory.step_size("dp-sgd", smoothness=L, convexity=mu, interval=gap)
        else:
            default = 0.5 / positive(facts.smoothness.of_batch(batch, facts.local_samples))
        return DelayedSGDAlgorithm(
            interval=interval,
            step_size=float(self.step_size or default),
            batch_size=batch,
            decay=self.decay,
            stage_length=length_or_pass(self.stage_length, batch, facts),
            convexity=mu,
            output="average" if self._averages else "last",
            replacement=self.replacement,
            participation=self.participation,
            default_step=default,
        )


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class DelayedSGDAlgorithm(Algorithm[DelayedSGDState]):
    """DP-SGD with all settings."""

    name: ClassVar[str] = "DelayedSGD"

    interval: Times
    step_size: float
    batch_size: int
    decay: float
    stage_length: int
    convexity: float
    output: str
    replacement: bool
    participation: float
    default_step: float = field(repr=False)  # what an open step size would be

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return "projected SGD" if self.interval == 1 else "delayed projected SGD"

    def start(self, x: Array, clock: int = 0) -> DelayedSGDState:
        """Begin at a feasible point."""
        return DelayedSGDState(x=x, clock=clock, since=clock)

    def ask(self, state: DelayedSGDState) -> Descend:
        """Walk to the next projection time, and report the average if a stage is over by then."""
        until = next_projection(self.interval, state.clock)
        average = None
        if self.output == "average":
            average = Average(self.convexity, since=state.since, collect=self._ends_stage(state, until))
        return Descend(
            start=state.x,
            steps=until - state.clock,
            step_size=self.step_size,
            batch_size=self.batch_size,
            clock=state.clock,
            decay=self.decay,
            replacement=self.replacement,
            average=average,
            participation=self.participation,
        )

    def _ends_stage(self, state: DelayedSGDState, until: int) -> bool:
        """Say whether a walk passes the end of a stage; a long one may pass several."""
        return until // self.stage_length > state.clock // self.stage_length

    def tell(self, state: DelayedSGDState, reply: Reply) -> DelayedSGDState:
        """Go on from the projected end of the walk, wherever it was cut."""
        assert isinstance(reply, Arrived)
        clock = state.clock + reply.work.steps
        return state._replace(
            x=reply.end,
            clock=clock,
            average=state.average if reply.average is None else reply.average,
            stage=state.stage + self._ends_stage(state, clock),
        )

    def estimate(self, state: DelayedSGDState) -> Array:
        """Return the projected average, or the last iterate while there is none."""
        return state.x if state.average is None else state.average

    def clock(self, state: DelayedSGDState) -> int:
        """Return t."""
        return state.clock

    def remedy(self) -> str:
        """Advise a smaller step."""
        return smaller_step(self.step_size, self.default_step)
