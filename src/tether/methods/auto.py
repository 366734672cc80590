"""The method for those who do not want to choose one.

Few samples, or smoothness that is only estimated: L-BFGS on the constraint. Otherwise one projection a pass
with a learned dual and Anderson acceleration; if its stages stop to help, L-BFGS goes on from where it got.
The choice rests on numbers that do not change from run to run, never on the clock, so that the same seed
gives the same iterates.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple, Self, final

from tether.arrays import Array
from tether.methods.anderson import Anderson, AndersonState
from tether.methods.base import Method
from tether.methods.lbfgs import LBFGS, LBFGSState
from tether.methods.proxskip_svrg import ProxSkipSVRG
from tether.problem import Facts
from tether.requests import Gradient, Measured, Reply, Request

SMALL = 1_000  # samples below which L-BFGS is quick enough for anybody
PATIENCE = 40  # stages in which the certificate must fall to a tenth


class AutoState(NamedTuple):
    """The states of both methods, which one runs, and what the choice rests on."""

    skip: AndersonState
    lbfgs: LBFGSState
    skipping: bool
    reason: int  # of the last change, an index into REASONS
    target: float  # what the certificate has to get below
    deadline: int  # by this stage
    stage: int


REASONS = (
    "few samples",
    "smoothness known only by estimate",
    "many samples: one projection a pass",
    "stages stopped helping",
    "the optimality system was solved directly",
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

    takes_shortcuts = True
    solved: bool = False  # the starting point comes from a linear system and only has to be confirmed
    facts: Facts | None = field(default=None, repr=False)  # filled by `prepare`

    def prepare(self, facts: Facts) -> Self:
        """Remember the problem's constants."""
        return replace(self, facts=facts)

    def start(self, x: Array, clock: int = 0) -> AutoState:
        """Begin with the method that the constants speak for."""
        assert self.facts is not None
        few, exact = self.facts.n_samples < SMALL, self.facts.smoothness.exact
        reason = 4 if self.solved else 0 if few else 2 if exact else 1
        skip, lbfgs = _skip(self.facts).start(x), _lbfgs(self.facts).start(x)
        return AutoState(skip, lbfgs, reason == 2, reason, float("inf"), PATIENCE, 0)

    def warm(self, state: AutoState) -> AutoState:
        """Start as the flagship does."""
        assert self.facts is not None
        return state._replace(skip=_skip(self.facts).warm(state.skip))

    def ask(self, state: AutoState) -> Request:
        """Ask what the running method asks."""
        assert self.facts is not None
        if state.skipping:
            return _skip(self.facts).ask(state.skip)
        return _lbfgs(self.facts).ask(state.lbfgs)

    def tell(self, state: AutoState, reply: Reply) -> AutoState:
        """Tell the running method, then look whether another would do better."""
        assert self.facts is not None
        if not state.skipping:
            lbfgs = _lbfgs(self.facts).tell(state.lbfgs, reply)
            return state._replace(lbfgs=lbfgs, stage=state.skip.stage + lbfgs.stage)
        skip = _skip(self.facts).tell(state.skip, reply)
        state = state._replace(skip=skip, stage=skip.stage)
        return self._judge(state, reply) if isinstance(reply, Measured) and reply.complete else state

    def _judge(self, state: AutoState, reply: Measured) -> AutoState:
        """Give up stages that stopped to bring the certificate down."""
        if reply.certificate <= state.target:
            return state._replace(target=reply.certificate / 10, deadline=state.stage + PATIENCE)
        return self._finish(state) if state.stage >= state.deadline else state

    def _finish(self, state: AutoState) -> AutoState:
        """Hand the best point over to L-BFGS."""
        assert self.facts is not None
        x = state.skip.good[0]
        return state._replace(lbfgs=_lbfgs(self.facts).start(x), skipping=False, reason=3)

    def estimate(self, state: AutoState) -> Array:
        """Return the running method's estimate."""
        assert self.facts is not None
        if state.skipping:
            return _skip(self.facts).estimate(state.skip)
        return _lbfgs(self.facts).estimate(state.lbfgs)

    def inspect(self, state: AutoState) -> Gradient:
        """Certify as the running method does."""
        assert self.facts is not None
        if state.skipping:
            return _skip(self.facts).inspect(state.skip)
        return _lbfgs(self.facts).inspect(state.lbfgs)

    def recovers(self, state: AutoState) -> bool:
        """Say whether the running method does."""
        assert self.facts is not None
        return state.skipping or _lbfgs(self.facts).recovers(state.lbfgs)

    def exhausted(self, state: AutoState) -> bool:
        """Say whether L-BFGS can do no more."""
        return not state.skipping and state.lbfgs.stuck

    def describe(self, state: AutoState) -> str:
        """Say which method runs and why."""
        name = "ProxSkip-SVRG with Anderson acceleration" if state.skipping else "L-BFGS"
        return f"auto chose {name} ({REASONS[state.reason]})"


@lru_cache(maxsize=32)
def _skip(facts: Facts) -> Anderson:
    return Anderson(ProxSkipSVRG(renew=True)).prepare(facts)


@lru_cache(maxsize=32)
def _lbfgs(facts: Facts) -> LBFGS:
    return LBFGS().prepare(facts)
