"""What "auto" does beyond equations with many variables: the flagship, and Newton's method on working sets.

Where most variables end up on a kink or at a bound, few are left, and Newton's method among those is quick:
it goes first where an l1 term makes that likely and projections cost nothing, and takes over from the
flagship where that gains little on a face with few free variables. Where too many become free, the flagship
goes on.
"""

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, final

import numpy as np

from tether.arrays import Array
from tether.lazy import lazy
from tether.methods.anderson import Anderson, AndersonAlgorithm, AndersonState
from tether.methods.base import Algorithm, Choice
from tether.methods.proxskip_svrg import ProxSkipSVRG
from tether.methods.sequential import CROWDED, LARGEST_SET, SequentialAlgorithm, SequentialState
from tether.methods.switching import SwitchingAlgorithm
from tether.polyhedral import Pieces
from tether.problem import NO_FACTS, NUMBER, Facts
from tether.requests import Arrived, Measured, Reply

FLAGSHIP = Anderson(ProxSkipSVRG(renew=True, inside=True))
WAITING = FLAGSHIP.prepare(NO_FACTS)  # stands for it until its turn, so that no constants are computed before
FEW_FREE = 0.65  # of the largest working set: so few free variables are a case for Newton's method
SLOW_FALL = 0.3  # of the certificate over a stage
SLOW_STAGES = 2  # in succession, which are enough
MOSTLY = 0.5  # of the variables have an l1 term
CHEAP_PROJECTION = 0.1  # of a pass: one that costs no more costs nothing


class Running(IntEnum):
    """The method that runs."""

    SKIP = 0
    NEWTON = 1


CHOICES = {
    Running.SKIP: Choice("ProxSkip-SVRG with Anderson acceleration", "many variables are free"),
    Running.NEWTON: Choice("Newton's method on working sets", "few variables are free"),
}


class BeyondState(NamedTuple):
    """The states of both methods, and which one runs."""

    skip: AndersonState
    newton: SequentialState
    running: int  # a `Running`
    best: Array  # the point with the smallest certificate so far, F being no higher than at the one before
    certificate: float = math.inf  # there
    value: float = math.inf  # of F + psi there
    last: float = math.inf  # the certificate of the stage before
    slow: int = 0  # stages in succession that gained little
    crowded: bool = False  # Newton's method met too many free variables
    stages: int = 0  # of methods that ran before
    stage: int = 0


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class BeyondAlgorithm(SwitchingAlgorithm[BeyondState]):
    """The flagship and Newton's method on working sets, and which one is first."""

    facts: Facts = field(repr=False)
    newton: SequentialAlgorithm = field(repr=False)
    pieces: Pieces = field(repr=False)
    first: Running = field(repr=False)

    @lazy
    def skip(self) -> AndersonAlgorithm:
        """The flagship, once it is its turn."""
        return FLAGSHIP.prepare(self.facts)

    @classmethod
    def of(cls, facts: Facts, newton: SequentialAlgorithm) -> "BeyondAlgorithm":
        """Choose the method to begin with."""
        assert facts.pieces is not None
        sparse = np.mean((facts.pieces.left > 0.0) & (facts.pieces.right > 0.0)) >= MOSTLY
        a_pass, projection = facts.step_work * facts.n_samples, 2.0 * NUMBER * facts.equations * facts.dim
        cheap = projection <= CHEAP_PROJECTION * a_pass
        first = Running.NEWTON if sparse and cheap else Running.SKIP
        return cls(facts=facts, newton=newton, pieces=facts.pieces, first=first)

    def start(self, x: Array, clock: int = 0) -> BeyondState:
        """Begin with the method that is likely to be quick; a flagship that waits needs no constants yet."""
        skip = self.skip if self.first == Running.SKIP else WAITING
        return BeyondState(skip.start(x, clock), self.newton.start(x), self.first, x)

    def warm(self, state: BeyondState) -> BeyondState:
        """Start as the method that is first does."""
        if self.first == Running.NEWTON:
            return state._replace(newton=self.newton.warm(state.newton))
        return state._replace(skip=self.skip.warm(state.skip))

    def tell(self, state: BeyondState, reply: Reply) -> BeyondState:
        """Tell the running method, then look whether the other would do better."""
        algorithm, inner = self.running(state)
        inner = algorithm.tell(inner, reply)
        state = state._replace(stage=state.stages + inner.stage)
        if isinstance(reply, Measured) and reply.complete:
            state = _seen(state, reply)
        if state.running == Running.NEWTON:
            return self._after_newton(state._replace(newton=inner))
        return self._after_stage(state._replace(skip=inner), reply)

    def _after_newton(self, state: BeyondState) -> BeyondState:
        """Let the flagship go on where too many variables are free, or models lead nowhere."""
        crowded = state.newton.free > CROWDED * LARGEST_SET
        if not crowded and not self.newton.exhausted(state.newton):
            return state
        skip = self.skip.warm(self.skip.start(state.newton.x, state.skip.inner.clock))
        return state._replace(
            running=Running.SKIP, skip=skip, crowded=crowded, slow=0, last=math.inf, stages=state.stage
        )

    def _after_stage(self, state: BeyondState, reply: Reply) -> BeyondState:
        """Let Newton's method go on where stages gain little on a face with few free variables."""
        if isinstance(reply, Arrived) or not reply.complete:
            return state
        slow = state.slow + 1 if reply.certificate > SLOW_FALL * state.last else 0
        state = state._replace(last=reply.certificate, slow=slow)
        free = len(state.best) - int(np.count_nonzero(self.pieces.settled(state.best)))
        over = self.skip.exhausted(state.skip)
        if state.crowded or free > FEW_FREE * LARGEST_SET or not (slow >= SLOW_STAGES or over):
            return state
        return state._replace(
            running=Running.NEWTON, newton=self.newton.start(state.best), stages=state.stage
        )

    def running(self, state: BeyondState) -> tuple[Algorithm[Any], Any]:
        """Return the algorithm that runs, and its state."""
        if state.running == Running.NEWTON:
            return self.newton, state.newton
        return self.skip, state.skip

    def clock(self, state: BeyondState) -> int:
        """Return the flagship's clock: the other draws no samples."""
        return state.skip.inner.clock

    def choice(self, state: BeyondState) -> Choice:
        """Return which method runs and why."""
        return CHOICES[Running(state.running)]


def _seen(state: BeyondState, reply: Measured) -> BeyondState:
    """Remember the best point: a trial that a line search refuses may be far off, where F is flat."""
    if not (reply.certificate < state.certificate and reply.value <= state.value + reply.rounding):
        return state
    return state._replace(best=reply.point, certificate=reply.certificate, value=reply.value)
