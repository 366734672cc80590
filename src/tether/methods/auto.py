"""The method for those who do not want to choose one.

Few samples, or smoothness that is only estimated: L-BFGS on the constraint. Otherwise one projection a pass
with a learned dual and Anderson acceleration; if its stages stop to help, L-BFGS goes on from where it got.
The choice rests on numbers that do not change from run to run, never on the clock, so that the same seed
gives the same iterates.
"""

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar, NamedTuple, final

from tether.arrays import Array
from tether.methods.anderson import Anderson, AndersonAlgorithm, AndersonState
from tether.methods.base import Algorithm, Method
from tether.methods.lbfgs import LBFGS, LBFGSAlgorithm, LBFGSState
from tether.methods.proxskip_svrg import ProxSkipSVRG
from tether.needs import Need
from tether.problem import Facts
from tether.requests import Gradient, Measured, Reply, Request

FEW_SAMPLES = 1_000  # below which L-BFGS is quick enough for anybody
PATIENCE = 40  # stages in which the certificate must fall to a tenth


class Reason(IntEnum):
    """What speaks for the method that runs."""

    FEW_SAMPLES = 0
    ESTIMATED_SMOOTHNESS = 1
    MANY_SAMPLES = 2
    STALLED_STAGES = 3
    WHOLE_BATCHES = 4


WORDS = {
    Reason.FEW_SAMPLES: "few samples",
    Reason.ESTIMATED_SMOOTHNESS: "smoothness known only by estimate",
    Reason.MANY_SAMPLES: "many samples: one projection a pass",
    Reason.STALLED_STAGES: "stages stopped helping",
    Reason.WHOLE_BATCHES: "steps that take all samples",
}


class AutoState(NamedTuple):
    """The states of both methods, which one runs, and what the choice rests on."""

    skip: AndersonState
    lbfgs: LBFGSState
    reason: int  # of the last choice, a `Reason`
    target: float = math.inf  # what the certificate has to get below
    deadline: int = PATIENCE  # by this stage
    stage: int = 0

    @property
    def skipping(self) -> bool:
        """Whether the flagship runs."""
        return self.reason == Reason.MANY_SAMPLES


@final
@dataclass(frozen=True)
class Auto(Method):
    """Choose between the flagship and L-BFGS, and keep watching.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.methods import Auto
    >>> rng = np.random.default_rng(0)
    >>> objective = tether.GLM(rng.standard_normal((100, 4)), rng.poisson(1.0, 100), loss="poisson", l2=0.1)
    >>> tether.solve(objective, tether.Affine(np.ones((1, 4))), Auto()).message
    'the certificate is within tol; auto chose L-BFGS (few samples)'
    """

    takes_shortcuts: ClassVar[bool] = True

    @property
    def needs(self) -> frozenset[Need]:
        """Those of both methods."""
        return _FLAGSHIP.needs | _LBFGS.needs

    def prepare(self, facts: Facts) -> "AutoAlgorithm":
        """Prepare both methods and choose the one to begin with."""
        if facts.n_samples < FEW_SAMPLES:
            reason = Reason.FEW_SAMPLES
        elif facts.natural_batch >= facts.local_samples:
            reason = Reason.WHOLE_BATCHES
        else:
            reason = Reason.MANY_SAMPLES if facts.smoothness.exact else Reason.ESTIMATED_SMOOTHNESS
        walked = facts if reason is Reason.MANY_SAMPLES else facts.unscaled()  # nobody will walk
        return AutoAlgorithm(skip=_FLAGSHIP.prepare(walked), lbfgs=_LBFGS.prepare(facts), reason=reason)


_FLAGSHIP = Anderson(ProxSkipSVRG(renew=True))
_LBFGS = LBFGS()


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class AutoAlgorithm(Algorithm[AutoState]):
    """Both algorithms, and why the first one is chosen."""

    name: ClassVar[str] = "Auto"

    skip: AndersonAlgorithm = field(repr=False)
    lbfgs: LBFGSAlgorithm = field(repr=False)
    reason: Reason = field(repr=False)

    def start(self, x: Array, clock: int = 0) -> AutoState:
        """Begin with the method that the constants speak for."""
        return AutoState(skip=self.skip.start(x, clock), lbfgs=self.lbfgs.start(x), reason=self.reason)

    def warm(self, state: AutoState) -> AutoState:
        """Start as the flagship does."""
        return state._replace(skip=self.skip.warm(state.skip))

    def ask(self, state: AutoState) -> Request:
        """Ask what the running method asks."""
        return self.skip.ask(state.skip) if state.skipping else self.lbfgs.ask(state.lbfgs)

    def tell(self, state: AutoState, reply: Reply) -> AutoState:
        """Tell the running method, then look whether another would do better."""
        if not state.skipping:
            lbfgs = self.lbfgs.tell(state.lbfgs, reply)
            return state._replace(lbfgs=lbfgs, stage=state.skip.stage + lbfgs.stage)
        skip = self.skip.tell(state.skip, reply)
        state = state._replace(skip=skip, stage=skip.stage)
        if self.skip.exhausted(skip):
            return self._hand_over(state)
        return self._judge(state, reply) if isinstance(reply, Measured) and reply.complete else state

    def _judge(self, state: AutoState, reply: Measured) -> AutoState:
        """Give up stages that stopped to bring the certificate down."""
        if reply.certificate <= state.target:
            return state._replace(target=reply.certificate / 10, deadline=state.stage + PATIENCE)
        return self._hand_over(state) if state.stage >= state.deadline else state

    def _hand_over(self, state: AutoState) -> AutoState:
        """Let L-BFGS go on from the best point."""
        return state._replace(lbfgs=self.lbfgs.start(state.skip.good[0]), reason=Reason.STALLED_STAGES)

    def estimate(self, state: AutoState) -> Array:
        """Return the running method's estimate."""
        return self.skip.estimate(state.skip) if state.skipping else self.lbfgs.estimate(state.lbfgs)

    def inspect(self, state: AutoState) -> Gradient:
        """Certify as the running method does."""
        return self.skip.inspect(state.skip) if state.skipping else self.lbfgs.inspect(state.lbfgs)

    def recovers(self, state: AutoState) -> bool:
        """Say whether the running method does."""
        return self.skip.recovers(state.skip) if state.skipping else self.lbfgs.recovers(state.lbfgs)

    def exhausted(self, state: AutoState) -> bool:
        """Say whether L-BFGS can do no more."""
        return not state.skipping and self.lbfgs.exhausted(state.lbfgs)

    def clock(self, state: AutoState) -> int:
        """Return the flagship's clock: L-BFGS draws no samples."""
        return self.skip.clock(state.skip)

    def describe(self, state: AutoState) -> str:
        """Say which method runs and why."""
        name = "ProxSkip-SVRG with Anderson acceleration" if state.skipping else "L-BFGS"
        return f"auto chose {name} ({WORDS[Reason(state.reason)]})"
