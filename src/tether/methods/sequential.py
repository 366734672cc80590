"""Newton's method beyond equations: a quadratic program in place of every linear system.

In each iteration F is replaced by its quadratic model, whose minimum on the region, psi included, is the next
point, or where a line search on F + psi says so a point on the way there. Near the optimum the active bounds
and kinks stand still, and the iteration is Newton's. Multipliers of the model certify the point it leads to.

Where F is all but straight, as it is far off the corner of a robust loss, its model leads too far. A step
that has to be cut often is taken anew with a model that lies above F, where the loss knows one, and so are
the next few; then second derivatives are tried again.

Of many variables most are held at a bound or on a kink. Then the model is one of a working set: those that
are free, and as many again that pull hardest at what holds them. The others stay where they are.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, final

import numpy as np

from tether.arrays import Array, Indices
from tether.curvature import DIAGONAL
from tether.methods.base import Algorithm
from tether.polyhedral import Pieces
from tether.requests import Curvature, Gradient, Hold, Measured, Reply, Target

SUFFICIENT_FALL = 1e-4  # of what the model promises, which a step has to bring
SHORTER, FAR_SHORTER = 0.5, 0.1  # by which a step that does not is cut, at first and later
FEW_CUTS, SHORTEST = 0.1, 1e-30  # from where on that is later, and how far it goes
FIRST_PATIENCE = 2  # steps with models above F before second derivatives are tried again; twice as many later
FAILURES = 3  # models in succession without a minimum
STANDSTILL = 3  # iterations in succession that move F by no more than rounding
SMALLEST_SET, LARGEST_SET = 100, 3_000  # variables of a working set
CROWDED = 0.8  # of the largest, beyond which free variables leave no room for others


class SequentialState(NamedTuple):
    """The last accepted point, where its model leads, and how far to go there."""

    x: Array
    trial: Array
    value: float = math.inf
    rounding: float = 0.0  # of the value
    certificate: float = math.inf
    target: Array | None = None
    hold: Hold | None = None  # of the target
    fall: float = 0.0  # of F + psi at the target, to first order
    step: float = 1.0
    metric: Array | None = None  # where the metric in use was taken
    fresh: bool = True  # take second derivatives at the trial point
    pending: bool = False  # the model at x is to come
    above: bool = False  # it lies above F
    left: int = 0  # steps with such models before second derivatives are tried again
    patience: int = FIRST_PATIENCE  # as many as that the next time
    renewals: int = 0
    spent: int = 0  # gradients since the last renewal
    first: float = math.inf  # the fall then
    pace: float = 0.0  # the best average gain by cost since then
    failures: int = 0
    idle: int = 0  # iterations that brought nothing
    chosen: Indices | None = None  # the working set
    size: int = 0  # that it was to have
    free: int = 0  # variables that are at no bound and on no kink
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
    price: float = field(repr=False)  # of a renewal, in requests
    always: bool = field(repr=False)  # take second derivatives with every gradient
    spectrum: bool = field(repr=False)
    majorised: bool = field(repr=False)  # there are models that lie above F
    pieces: Pieces | None = field(default=None, repr=False)  # for working sets; None: models of all variables
    smallest: int = field(default=SMALLEST_SET, repr=False)  # working set

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return f"Newton's method {'with quadratic programs' if self.pieces is None else 'on working sets'}"

    def start(self, x: Array, clock: int = 0) -> SequentialState:
        """Begin with a model at the starting point."""
        return SequentialState(x=x, trial=x)

    def ask(self, state: SequentialState) -> Gradient:
        """Ask for the gradient at the trial point, and for the minimum of the model there."""
        request = Gradient(state.x if state.pending else state.trial, hold=state.hold)
        if not state.pending and (self.pieces is not None or state.step < 1.0):
            return request  # the model comes once the point is accepted
        return request._replace(metric=self._asked(state, request.point), model=True)

    def _asked(self, state: SequentialState, point: Array) -> Curvature:
        """Return the second derivatives for the model at a point."""
        if self.pieces is None:
            at = point if state.fresh or state.metric is None else state.metric
            return self._curvature(at, state.above)
        assert state.chosen is not None
        if len(state.chosen) == 0:  # too many are free
            return Curvature(point, DIAGONAL, above=state.above)
        return Curvature(point, self.form, share=self.share, above=state.above, among=state.chosen)

    def _curvature(self, point: Array, above: bool) -> Curvature:
        rate = math.inf if above else self.concordance
        return Curvature(point, self.form, self.outputs, self.share, rate, self.spectrum, above)

    def tell(self, state: SequentialState, reply: Reply) -> SequentialState:
        """Go to the trial point if F + psi is low enough there, else try one nearer."""
        assert isinstance(reply, Measured)
        if not reply.complete:
            return state
        state = state._replace(spent=state.spent + 1)
        if state.pending:
            return self._modelled(state._replace(pending=False), reply.target)
        return self._accepted(state, reply) if self._is_lower(state, reply) else self._nearer(state)

    def _is_lower(self, state: SequentialState, reply: Measured) -> bool:
        if not math.isfinite(reply.value):
            return False
        promised = SUFFICIENT_FALL * state.step * state.fall
        if reply.value <= state.value - promised:
            return True
        return reply.value <= state.value + reply.rounding and reply.certificate < state.certificate

    def _nearer(self, state: SequentialState) -> SequentialState:
        """Try a point between, or give up where F can be no lower than rounding lets see.

        Where F is all but straight its model leads very far, and the way back is long: one above F is better.
        A metric of another point may be at fault too.
        """
        step = state.step * (SHORTER if state.step > FEW_CUTS else FAR_SHORTER)
        if step <= FEW_CUTS and self.majorised and not state.above:
            return _from_above(state)
        if state.target is None or step < SHORTEST or step * state.fall <= state.rounding:
            return state._replace(idle=STANDSTILL)
        trial = state.x + step * (state.target - state.x)
        return state._replace(step=step, trial=trial, fresh=state.fresh and self.always)

    def _accepted(self, state: SequentialState, reply: Measured) -> SequentialState:
        gain = state.value - reply.value
        idle = state.idle + 1 if gain <= reply.rounding else 0
        moved, cut = math.isfinite(state.value), state.step < 1.0
        state = state._replace(
            x=state.trial,
            value=reply.value,
            rounding=reply.rounding,
            certificate=reply.certificate,
            step=1.0,
            idle=idle,
            stage=state.stage + moved,
        )
        if state.above:
            state = _towards_second_derivatives(state)
        if self.pieces is not None:
            return self._with_working_set(state, reply)
        return state._replace(pending=True) if cut else self._modelled(state, reply.target)

    def _modelled(self, state: SequentialState, target: Target | None) -> SequentialState:
        """Go where a model leads; where it has no minimum, ask again, and give up after a few times."""
        if target is None and self.majorised and not state.above:
            return _from_above(state)
        if target is None:
            failures = state.failures + 1
            idle = STANDSTILL if failures >= FAILURES else 0
            return state._replace(fresh=True, pending=True, failures=failures, idle=idle)
        state = state._replace(
            target=target.point, trial=target.point, hold=target.hold, fall=target.fall, failures=0
        )
        if self.pieces is not None:
            return state._replace(renewals=state.renewals + 1)
        return self._renewed(state) if state.fresh else self._judged(state)

    def _with_working_set(self, state: SequentialState, reply: Measured) -> SequentialState:
        """Choose the variables of the next model: those that are free, and those that pull hardest."""
        assert self.pieces is not None and reply.gradient is not None
        held = self.pieces.settled(state.x)
        free = len(held) - int(np.count_nonzero(held))
        if free > CROWDED * LARGEST_SET:
            return state._replace(chosen=np.zeros(0, dtype=np.int64), free=free, pending=True)
        size = max(self.smallest, 2 * free, 2 * state.size if state.idle else 0)
        pull = np.where(held, np.abs(reply.gradient), np.inf)
        chosen = np.argsort(-pull, kind="stable")[: min(size, LARGEST_SET)]
        chosen = np.sort(chosen[pull[chosen] > 0.0])
        return state._replace(chosen=chosen, free=free, size=size, pending=True)

    def _renewed(self, state: SequentialState) -> SequentialState:
        return state._replace(
            metric=state.x,
            fresh=self.always or state.above,
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
        metric = None if state.metric is None else self._curvature(state.metric, state.above)
        return Gradient(state.x, metric=metric, hold=state.hold)

    def recovers(self, state: SequentialState) -> bool:
        """Say that the line search does."""
        return True

    def exhausted(self, state: SequentialState) -> bool:
        """Say whether nothing was gained for some iterations."""
        return state.idle >= STANDSTILL

    def describe(self, state: SequentialState) -> str:
        """Say how many programs were solved."""
        of = "" if self.pieces is None else " of working sets"
        return f"{state.renewals} quadratic models{of} in {state.stage} iterations"


def _from_above(state: SequentialState) -> SequentialState:
    """Go back to the last accepted point, and ask for a model that lies above F there."""
    patience = 2 * state.patience
    return state._replace(
        above=True, left=state.patience, patience=patience, pending=True, fresh=True, step=1.0, failures=0
    )


def _towards_second_derivatives(state: SequentialState) -> SequentialState:
    """Count a step with a model above F; after the last one second derivatives are next."""
    left = state.left - 1
    return state._replace(left=left, above=left > 0, fresh=True)
