"""Newton's method beyond equations: a quadratic program in place of every linear system.

In each iteration F is replaced by its quadratic model, whose minimum on the region, psi included, is the next
point, or where a line search on F + psi says so a point on the way there. Near the optimum the active bounds
and kinks stand still, and the iteration is Newton's. Multipliers of the model certify the point it leads to.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, final

from tether.arrays import Array
from tether.methods.base import Algorithm
from tether.requests import Curvature, Gradient, Hold, Measured, Reply

SUFFICIENT_FALL = 1e-4  # of what the model promises, which a step has to bring
SHORTER, SHORTEST = 0.5, 1e-12  # by which a step that does not is cut, and how far
FAILURES = 3  # models in succession without a minimum
STANDSTILL = 3  # iterations in succession that move F by no more than rounding


class SequentialState(NamedTuple):
    """The last accepted point, where its model leads, and how far to go there."""

    x: Array
    trial: Array
    value: float = math.inf
    certificate: float = math.inf
    target: Array | None = None
    hold: Hold | None = None  # of the target
    fall: float = 0.0  # of F + psi at the target, to first order
    step: float = 1.0
    metric: Array | None = None  # where the metric in use was taken
    fresh: bool = True  # take second derivatives at the trial point
    renewals: int = 0
    spent: int = 0  # gradients since the last renewal
    first: float = math.inf  # the fall then
    pace: float = 0.0  # the best average gain by cost since then
    failures: int = 0
    idle: int = 0  # iterations that brought nothing
    stage: int = 0


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class SequentialAlgorithm(Algorithm[SequentialState]):
    """Sequential quadratic programs with all settings."""

    name: ClassVar[str] = "Newton"
    unit: ClassVar[str] = "iteration"

    form: str
    refresh: int | None
    share: float
    concordance: float = field(repr=False)
    outputs: int = field(repr=False)
    price: float = field(repr=False)  # of a renewal, in passes
    always: bool = field(repr=False)  # take second derivatives with every gradient
    spectrum: bool = field(repr=False)

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return "Newton's method with quadratic programs"

    def start(self, x: Array, clock: int = 0) -> SequentialState:
        """Begin with a model at the starting point."""
        return SequentialState(x=x, trial=x)

    def ask(self, state: SequentialState) -> Gradient:
        """Ask for the gradient at the trial point, and for the minimum of the model there."""
        at = state.trial if state.fresh or state.metric is None else state.metric
        return Gradient(state.trial, metric=self._curvature(at), hold=state.hold, model=True)

    def _curvature(self, point: Array) -> Curvature:
        return Curvature(point, self.form, self.outputs, self.share, self.concordance, self.spectrum)

    def tell(self, state: SequentialState, reply: Reply) -> SequentialState:
        """Go to the trial point if F + psi is low enough there, else try one nearer."""
        assert isinstance(reply, Measured)
        if not reply.complete:
            return state
        state = state._replace(spent=state.spent + 1)
        return self._accepted(state, reply) if self._is_lower(state, reply) else self._nearer(state)

    def _is_lower(self, state: SequentialState, reply: Measured) -> bool:
        if not math.isfinite(reply.value):
            return False
        promised = SUFFICIENT_FALL * state.step * state.fall
        if reply.value <= state.value - promised:
            return True
        return reply.value <= state.value + reply.rounding and reply.certificate < state.certificate

    def _nearer(self, state: SequentialState) -> SequentialState:
        """Try a point between, or give up; a metric of another point may be at fault."""
        step = SHORTER * state.step
        if state.target is None or step < SHORTEST:
            return state._replace(idle=STANDSTILL)
        trial = state.x + step * (state.target - state.x)
        return state._replace(step=step, trial=trial, fresh=state.fresh and self.always)

    def _accepted(self, state: SequentialState, reply: Measured) -> SequentialState:
        curved = reply.curved
        target = None if curved is None else curved.target
        gain = state.value - reply.value
        idle = state.idle + 1 if gain <= reply.rounding else 0
        moved = math.isfinite(state.value)
        state = state._replace(
            x=state.trial,
            value=reply.value,
            certificate=reply.certificate,
            step=1.0,
            idle=idle,
            stage=state.stage + moved,
        )
        if target is None:
            return self._without_model(state)
        renewed = state.fresh
        state = state._replace(
            target=target.point, trial=target.point, hold=target.hold, fall=target.fall, failures=0
        )
        return self._renewed(state) if renewed else self._judged(state)

    def _without_model(self, state: SequentialState) -> SequentialState:
        """Ask again, with second derivatives taken here; after a few times give up."""
        done = state.failures + 1 >= FAILURES
        return state._replace(
            fresh=True, trial=state.x, failures=state.failures + 1, idle=STANDSTILL if done else 0
        )

    def _renewed(self, state: SequentialState) -> SequentialState:
        return state._replace(
            metric=state.x,
            fresh=self.always,
            renewals=state.renewals + 1,
            spent=0,
            first=state.fall,
            pace=0.0,
        )

    def _judged(self, state: SequentialState) -> SequentialState:
        """Renew the metric where going on with it would lower the average gain by cost."""
        total = math.log(state.first / state.fall) if 0.0 < state.fall < state.first else 0.0
        average = total / (self.price + state.spent)
        slow = average < state.pace or total == 0.0
        due = slow if self.refresh is None else state.spent >= self.refresh
        return state._replace(fresh=due, pace=max(state.pace, average))

    def estimate(self, state: SequentialState) -> Array:
        """Return the last accepted point."""
        return state.x

    def inspect(self, state: SequentialState) -> Gradient:
        """Certify in the metric in use."""
        metric = None if state.metric is None else self._curvature(state.metric)
        return Gradient(state.x, metric=metric, hold=state.hold)

    def recovers(self, state: SequentialState) -> bool:
        """Say that the line search does."""
        return True

    def exhausted(self, state: SequentialState) -> bool:
        """Say whether nothing was gained for some iterations."""
        return state.idle >= STANDSTILL

    def describe(self, state: SequentialState) -> str:
        """Say how many programs were solved."""
        return f"{state.renewals} quadratic models in {state.stage} iterations"
