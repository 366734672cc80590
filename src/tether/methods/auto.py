"""The method for those who do not want to choose one.

Few samples, or smoothness that is only estimated: L-BFGS on the constraint. Otherwise one projection a pass
with a learned dual and Anderson acceleration, and the first stage is timed: if a pass of steps costs far more
than a full gradient, or if stages stop to help, L-BFGS goes on from where it got; if a projection costs more
than the rest of a stage, stages get twice as long.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self, final

from tether.conversation import Array, Arrived, Facts, Gradient, Measured, Reply, Request
from tether.methods.anderson import Anderson, AndersonState
from tether.methods.base import Method
from tether.methods.lbfgs import LBFGS, LBFGSState
from tether.methods.proxskip_svrg import ProxSkipSVRG

SMALL = 1_000  # samples below which L-BFGS is quick enough for anybody
SLOW_STEPS = 8.0  # full gradients that a pass of steps may cost
PATIENCE = 12  # stages in which the certificate must fall to a tenth


class AutoState(NamedTuple):
    """The states of both methods, which one runs, and what the choice rests on."""

    skip: AndersonState
    lbfgs: LBFGSState
    skipping: bool
    reason: int  # of the last change, an index into REASONS
    passes: int  # a stage
    full_seconds: float  # the last full gradient
    target: float  # what the certificate has to get below
    deadline: int  # by this stage
    stage: int


REASONS = (
    "few samples",
    "smoothness known only by estimate",
    "many samples: one projection a pass",
    "projections cost more than passes: one projection in two passes",
    "steps cost more than full gradients here",
    "stages stopped helping",
)


@final
@dataclass(frozen=True)
class Auto(Method[AutoState]):
    """Choose between the flagship and L-BFGS, and keep watching.

    Examples
    --------
    >>> from tether.methods import Auto
    >>> auto = Auto()
    """

    recovers: ClassVar[bool] = True

    facts: Facts | None = None  # filled by `prepare`

    def prepare(self, facts: Facts) -> Self:
        """Remember the problem's constants."""
        return replace(self, facts=facts)

    def start(self, x: Array) -> AutoState:
        """Begin with the method that the constants speak for."""
        assert self.facts is not None
        few, exact = self.facts.n_samples < SMALL, self.facts.smoothness.exact
        reason = 0 if few else 2 if exact else 1
        skip, lbfgs = _skip(self.facts, 1).start(x), _lbfgs(self.facts).start(x)
        return AutoState(skip, lbfgs, reason == 2, reason, 1, 0.0, float("inf"), PATIENCE, 0)

    def warm(self, state: AutoState) -> AutoState:
        """Start as the flagship does."""
        assert self.facts is not None
        return state._replace(skip=_skip(self.facts, 1).warm(state.skip))

    def ask(self, state: AutoState) -> Request:
        """Ask what the running method asks."""
        assert self.facts is not None
        if state.skipping:
            return _skip(self.facts, state.passes).ask(state.skip)
        return _lbfgs(self.facts).ask(state.lbfgs)

    def tell(self, state: AutoState, reply: Reply) -> AutoState:
        """Tell the running method, then look whether another would do better."""
        assert self.facts is not None
        if not state.skipping:
            lbfgs = _lbfgs(self.facts).tell(state.lbfgs, reply)
            return state._replace(lbfgs=lbfgs, stage=state.skip.stage + lbfgs.stage)
        skip = _skip(self.facts, state.passes).tell(state.skip, reply)
        state = state._replace(skip=skip, stage=skip.stage)
        if isinstance(reply, Arrived):
            return self._judge_costs(state, reply) if skip.stage == 1 else state
        state = state._replace(full_seconds=reply.work.seconds)
        return self._judge_progress(state, reply)

    def _judge_costs(self, state: AutoState, reply: Arrived) -> AutoState:
        """Compare what the first stage spent on steps, on its full gradient and on its projection."""
        steps, projection = reply.work.seconds, reply.work.projection_seconds
        if steps > SLOW_STEPS * (state.full_seconds + projection):
            return self._finish(state, 4)
        if projection > steps + state.full_seconds:
            return state._replace(passes=2, reason=3)
        return state

    def _judge_progress(self, state: AutoState, reply: Measured) -> AutoState:
        """Give up stages that stopped to bring the certificate down."""
        if reply.certificate <= state.target:
            return state._replace(target=reply.certificate / 10, deadline=state.stage + PATIENCE)
        return self._finish(state, 5) if state.stage >= state.deadline else state

    def _finish(self, state: AutoState, reason: int) -> AutoState:
        """Hand the best point over to L-BFGS."""
        assert self.facts is not None
        x = state.skip.good[0]
        return state._replace(lbfgs=_lbfgs(self.facts).start(x), skipping=False, reason=reason)

    def estimate(self, state: AutoState) -> Array:
        """Return the running method's estimate."""
        assert self.facts is not None
        if state.skipping:
            return _skip(self.facts, state.passes).estimate(state.skip)
        return _lbfgs(self.facts).estimate(state.lbfgs)

    def inspect(self, state: AutoState) -> Gradient:
        """Certify as the running method does."""
        assert self.facts is not None
        if state.skipping:
            return _skip(self.facts, state.passes).inspect(state.skip)
        return _lbfgs(self.facts).inspect(state.lbfgs)

    def exhausted(self, state: AutoState) -> bool:
        """Say whether L-BFGS can do no more."""
        return not state.skipping and state.lbfgs.stuck

    def describe(self, state: AutoState) -> str:
        """Say which method runs and why."""
        name = "ProxSkip-SVRG with Anderson acceleration" if state.skipping else "L-BFGS"
        return f"auto chose {name} ({REASONS[state.reason]})"


@lru_cache(maxsize=32)
def _skip(facts: Facts, passes: int) -> Anderson:
    steps = -(-facts.n_samples // min(facts.natural_batch, facts.n_samples))
    return Anderson(ProxSkipSVRG(stage_length=passes * steps, renew=True)).prepare(facts)


@lru_cache(maxsize=32)
def _lbfgs(facts: Facts) -> LBFGS:
    return LBFGS().prepare(facts)
