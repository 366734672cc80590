"""The method for those who do not want to choose one.

What goes first is decided in `first.py`: Newton's method, with the Hessian or what resembles it; one
projection a pass, with a learned dual and Anderson acceleration; or L-BFGS on the constraint. All are
watched by what they gain for what they cost: one that is slow has to stand comparison with others, and
when what is left to do is likely to cost more than Newton's method, that takes over.

All costs are counted, in passes and rounds; the clock never decides, so that the same seed gives the same
iterates.
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, final

from tether.arrays import Array
from tether.lazy import lazy
from tether.methods.anderson import AndersonAlgorithm, AndersonState
from tether.methods.base import Algorithm, Choice, Method
from tether.methods.beyond_planes import FLAGSHIP, WAITING, BeyondAlgorithm
from tether.methods.costs import Costs
from tether.methods.first import (
    CHEAP_NEWTON,
    are_even,
    first_of,
    has_cheap_diagonal,
    has_few_rows,
    unfit_for_walks,
)
from tether.methods.lbfgs import LBFGS, LBFGSAlgorithm, LBFGSState
from tether.methods.newton import Newton, NewtonAlgorithm, NewtonState
from tether.methods.reasons import FIELDS, PACES, TITLES, WORDS, Reason, Running
from tether.methods.sequential import SequentialAlgorithm
from tether.methods.switching import SwitchingAlgorithm
from tether.needs import Need
from tether.problem import Facts
from tether.requests import Measured, Reply

GOOD_PACE = math.log(10.0) / 6.0  # gain of the certificate by cost that needs no comparison
LARGEST_PROGRAM = 1_500  # variables up to which quadratic programs with a dense Hessian are quick
EVEN_REST = 1.5  # times what Newton's method costs, that must be left for it where data are even
PATIENCE = 0.2  # of what Newton's method costs, which the others have in any case ...
NEAR = 120.0  # ... unless data are uneven and it costs no more than this
SHORT_TRIAL = 8.0  # iterations of L-BFGS where Newton's method is cheap
LONG_TRIAL = 4.0  # times what Newton's method may cost, before others are tried again ...
SHORT_DIAGONAL = 1.5  # ... or this with the diagonal alone, which may be no better than nothing
TRIALS = 3.0  # of another method, that what is left must be worth for one
ACCURACY = 1e-6  # of F, for guesses at how much is left to do


class AutoState(NamedTuple):
    """The states of the methods, which one runs and why, and how it does."""

    newton: NewtonState | None
    skip: AndersonState
    lbfgs: LBFGSState
    running: int  # a `Running`
    reason: int  # a `Reason`
    best: Array  # the point with the lowest F so far, where rounding tells
    value: float = math.inf  # of F there
    certificate: float = math.inf  # the smallest where F was no higher than at the best point before
    spent: float = 0.0  # by all methods, in passes
    mark: float = 0.0  # of this, when the running method began
    due: float = 0.0  # when it is judged
    start: float = math.inf  # the certificate when it began
    first: float = math.inf  # the certificate where the run began
    judged: float = 0.0  # spent when the running method was last judged, or began
    then: float = math.inf  # the certificate at that time
    pace_of_newton: float = math.inf  # gain by cost when it was last judged; infinite: it was not
    pace_of_skip: float = math.inf
    pace_of_lbfgs: float = math.inf
    stages: int = 0  # of methods that ran before
    stage: int = 0


@final
@dataclass(frozen=True)
class Auto(Method):
    """Choose among Newton's method, the flagship and L-BFGS, and keep watching.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.methods import Auto
    >>> rng = np.random.default_rng(0)
    >>> objective = tether.GLM(rng.standard_normal((100, 4)), rng.poisson(1.0, 100), loss="poisson", l2=0.1)
    >>> tether.solve(objective, tether.Affine(np.ones((1, 4))), Auto()).message
    "the certificate is within tolerance; auto chose Newton's method (second derivatives are cheap)"
    """

    takes_shortcuts: ClassVar[bool] = True

    @property
    def needs(self) -> frozenset[Need]:
        """Those of the methods."""
        return frozenset({Need.GRADIENTS})

    def choice(self, facts: Facts) -> Choice | None:
        """Return what runs beyond equations; elsewhere, and where methods take turns, the algorithm tells."""
        algorithm = _beyond_planes(facts) if facts.kinks else None
        if algorithm is None or isinstance(algorithm, BeyondAlgorithm):
            return None
        if _programs_fit(facts):
            return Choice(algorithm.words, "quadratic programs with the Hessian are quick")
        unfit = unfit_for_walks(facts)
        return Choice(algorithm.words, WORDS[Reason.MANY_SAMPLES if unfit is None else unfit])

    def prepare(self, facts: Facts) -> "AutoAlgorithm | Algorithm[Any]":
        """Prepare the methods and choose the one to begin with."""
        if facts.kinks:
            return _beyond_planes(facts)
        newton = _newton(facts)
        costs, unfit = Costs.of(facts, newton), unfit_for_walks(facts)
        first = first_of(facts, newton, costs, unfit)
        return AutoAlgorithm(facts=facts, newton=newton, first=first, walks=unfit is None, costs=costs)


def _beyond_planes(facts: Facts) -> Algorithm[Any]:
    """Return sequential quadratic programs where the Hessian is not too large for them, else the flagship.

    Where nothing but equations ties variables together, both are at hand and take turns.
    """
    if _programs_fit(facts) or unfit_for_walks(facts) is not None:
        return Newton().prepare(facts)
    if facts.couples or not math.isfinite(facts.second_order.among):
        return FLAGSHIP.prepare(facts)
    newton = Newton().prepare(facts)
    assert isinstance(newton, SequentialAlgorithm)
    return BeyondAlgorithm.of(facts, newton)


def _programs_fit(facts: Facts) -> bool:
    """Say whether the Hessian is not too large for quadratic programs."""
    known = facts.second_order
    return known.separable or (math.isfinite(known.full) and facts.dim <= LARGEST_PROGRAM)


def _newton(facts: Facts) -> NewtonAlgorithm | None:
    """Return Newton's method where there are second derivatives."""
    known = facts.second_order
    offered = math.isfinite(min(known.full, known.kronecker, known.diagonal))
    found = Newton().prepare(facts) if offered else None
    assert not isinstance(found, SequentialAlgorithm)
    return found


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class AutoAlgorithm(SwitchingAlgorithm[AutoState]):
    """The algorithms, which one is first and why, and what they cost."""

    facts: Facts = field(repr=False)
    newton: NewtonAlgorithm | None = field(repr=False)
    first: tuple[Running, Reason] = field(repr=False)
    walks: bool = field(repr=False)  # whether the flagship is worth a try
    costs: Costs = field(repr=False)

    @lazy
    def skip(self) -> AndersonAlgorithm:
        """The flagship, once it is its turn."""
        return FLAGSHIP.prepare(self.facts)

    @lazy
    def lbfgs(self) -> LBFGSAlgorithm:
        """L-BFGS, once it is its turn."""
        return LBFGS().prepare(self.facts)

    def start(self, x: Array, clock: int = 0) -> AutoState:
        """Begin with the method that the constants speak for; those that wait need no constants yet."""
        skip = self.skip if self.first[0] == Running.SKIP else WAITING
        return AutoState(
            newton=None if self.newton is None else self.newton.start(x),
            skip=skip.start(x, clock),
            lbfgs=self.lbfgs.start(x),
            running=self.first[0],
            reason=self.first[1],
            best=x,
            due=self._trial(self.first[0]),
        )

    @property
    def begins_with_newton(self) -> bool:
        """Whether Newton's method is first."""
        return self.first[0] == Running.NEWTON

    def after(self, state: AutoState, steps: int, metric: Array | None) -> AutoState:
        """Return the state of a run after steps of Newton's method, the last with a Hessian there."""
        assert self.newton is not None and state.newton is not None
        return state._replace(newton=self.newton.after(state.newton, steps, metric), stage=steps)

    def warm(self, state: AutoState) -> AutoState:
        """Start as the method that is first does."""
        algorithm, inner = self.running(state)
        return self._with(state, algorithm.warm(inner))

    def tell(self, state: AutoState, reply: Reply) -> AutoState:
        """Tell the running method, then look whether another would do better."""
        algorithm, inner = self.running(state)
        inner = algorithm.tell(inner, reply)
        spent = state.spent + self.costs.of_reply(reply)
        seen = _seen(state, reply) if isinstance(reply, Measured) and reply.complete else {}
        state = self._with(state, inner, spent=spent, stage=state.stages + inner.stage, **seen)
        if state.running == Running.SKIP and self.skip.exhausted(state.skip):
            return self._judged(state, reply, over=True)
        due = isinstance(reply, Measured) and state.spent >= state.due
        return self._judged(state, reply) if due else state

    def _judged(self, state: AutoState, reply: Reply, over: bool = False) -> AutoState:
        """Compare what the running method has gained by cost with what others have, or are likely to."""
        pace, running = 0.0 if over else _pace(state), Running(state.running)
        seen: dict[str, Any] = {PACES[running]: pace}
        state = state._replace(**seen, due=state.spent + self._trial(running))
        lately = min(pace, _pace_lately(state))
        state = state._replace(judged=state.spent, then=state.certificate)
        if self._is_overdue(state, self._left(state, reply, lately), pace):
            return self._begin(state, Running.NEWTON, Reason.OVERDUE)
        if pace >= GOOD_PACE:
            return state
        if running == Running.SKIP and self._has_diagonal and pace < state.pace_of_newton:
            return self._begin(state, Running.NEWTON, Reason.QUICKER)
        left = self._left(state, reply, pace)
        if running != Running.LBFGS and self._is_worth(Running.LBFGS, state.pace_of_lbfgs, pace, left):
            return self._begin(state, Running.LBFGS, Reason.QUICKER)
        walks = running != Running.SKIP and self.walks
        if not (walks and self._is_worth(Running.SKIP, state.pace_of_skip, pace, left)):
            return state
        if self._is_overdue(state, left + self._trial(Running.SKIP), pace):
            return self._begin(state, Running.NEWTON, Reason.OVERDUE)
        return self._begin(state, Running.SKIP, Reason.QUICKER)

    def _is_overdue(self, state: AutoState, left: float, pace: float) -> bool:
        """Say whether Newton's method would have been the better choice, as far as one can tell by now."""
        if state.running == Running.NEWTON or pace >= state.pace_of_newton:
            return False
        if self.costs.longest >= left:
            return False
        late = state.spent >= PATIENCE * self.costs.newton
        near = self.costs.longest <= NEAR and self._has_hessian
        if not (late or near):
            return False
        if not self._has_hessian:  # what merely resembles the Hessian may be no better than nothing
            return not (are_even(self.facts) or has_few_rows(self.facts))
        return not are_even(self.facts) or (late and EVEN_REST * self.costs.longest < left)

    def _is_worth(self, other: Running, before: float, pace: float, left: float) -> bool:
        """Say whether another method was quicker, or is worth a trial where it has not run yet."""
        return pace < before and (math.isfinite(before) or left > TRIALS * self._trial(other))

    def _trial(self, running: Running) -> float:
        """Return the cost after which a method is judged: stages have to learn, a Hessian has to be paid."""
        if running == Running.SKIP:
            return 10.0 if self._has_diagonal else 30.0
        if running == Running.LBFGS:
            return SHORT_TRIAL if self.costs.newton <= CHEAP_NEWTON else 10.0
        return (SHORT_DIAGONAL if self._has_diagonal else LONG_TRIAL) * self.costs.longest

    @property
    def _has_hessian(self) -> bool:
        """Whether Newton's method has the Hessian itself."""
        return self.newton is not None and self.newton.exact

    @property
    def _has_diagonal(self) -> bool:
        """Whether Newton's method has the diagonal of the Hessian, which costs as little as L-BFGS does."""
        return has_cheap_diagonal(self.newton)

    def _left(self, state: AutoState, reply: Reply, pace: float) -> float:
        """Guess what is left to pay for a gap of a millionth of F, at a pace."""
        size = abs(reply.value) if isinstance(reply, Measured) else 0.0
        target = 2.0 * self.facts.smoothness.convexity * ACCURACY * size or ACCURACY**2 * state.first
        if state.certificate <= target:
            return 0.0
        return math.log(state.certificate / target) / pace if pace > 0.0 else math.inf

    def _begin(self, state: AutoState, running: Running, reason: Reason) -> AutoState:
        """Let another method go on from the best point."""
        stages = state.stage
        state = state._replace(
            running=running,
            reason=reason,
            stages=stages,
            mark=state.spent,
            start=state.certificate,
            judged=state.spent,
            then=state.certificate,
            due=state.spent + self._trial(running),
        )
        if running == Running.SKIP:
            skip = self.skip.warm(self.skip.start(state.best, state.skip.inner.clock))
            return state._replace(skip=skip)
        if running == Running.LBFGS:
            return state._replace(lbfgs=self._with_pairs(self.lbfgs.start(state.best), state))
        assert self.newton is not None
        newton = self.newton.start(state.best)
        return state._replace(newton=newton._replace(inner=self._with_pairs(newton.inner, state)))

    @staticmethod
    def _with_pairs(new: LBFGSState, state: AutoState) -> LBFGSState:
        """Return a state with what L-BFGS has learned of curvature before, which is true of F anywhere."""
        pairs = state.lbfgs.pairs
        return new._replace(pairs=pairs._replace(images=pairs.changes))

    def running(self, state: AutoState) -> tuple[Algorithm[Any], Any]:
        """Return the algorithm that runs, and its state."""
        name = FIELDS[state.running]
        return getattr(self, name), getattr(state, name)

    def _with(self, state: AutoState, inner: Any, **changes: Any) -> AutoState:
        """Return the state with another one of the algorithm that runs, and with more changes."""
        return state._replace(**{FIELDS[state.running]: inner}, **changes)

    def exhausted(self, state: AutoState) -> bool:
        """Say whether the running method can do no more; after the flagship another goes on."""
        algorithm, inner = self.running(state)
        return state.running != Running.SKIP and algorithm.exhausted(inner)

    def clock(self, state: AutoState) -> int:
        """Return the flagship's clock: the others draw no samples."""
        return state.skip.inner.clock

    def choice(self, state: AutoState) -> Choice:
        """Return which method runs and why."""
        return Choice(TITLES[state.running], WORDS[state.reason])


def _pace(state: AutoState) -> float:
    """Return what the running method has gained by cost."""
    if not 0.0 < state.certificate < math.inf:
        return math.inf if state.certificate == 0.0 else 0.0
    return math.log(state.start / state.certificate) / (state.spent - state.mark)


def _pace_lately(state: AutoState) -> float:
    """Return the same since the running method was last judged: that of L-BFGS falls as it goes on."""
    if not 0.0 < state.certificate < state.then < math.inf:
        return 0.0 if state.then == state.certificate else math.inf
    return math.log(state.then / state.certificate) / (state.spent - state.judged)


def _seen(state: AutoState, reply: Measured) -> dict[str, Any]:
    """Return what a look at F changes: the best point, and where the first was.

    Slopes alone do not tell: those of a robust loss are small far off, where line searches may look.
    """
    if not (math.isfinite(reply.value) and math.isfinite(reply.certificate)):
        return {}
    lower = reply.value < state.value - reply.rounding
    closer = reply.certificate < state.certificate and reply.value <= state.value + reply.rounding
    if not (lower or closer):
        return {}
    certificate = min(state.certificate, reply.certificate)
    found = {"best": reply.point, "value": reply.value, "certificate": certificate}
    return found if math.isfinite(state.certificate) else found | {"start": certificate, "first": certificate}
