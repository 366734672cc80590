"""Newton's method with free corrections: L-BFGS whose first guess is the inverse of a Hessian taken lately.

Directions are those of L-BFGS in the metric M of the last second derivatives: P_M grad F where nothing was
learned since. With a renewal in every iteration that is Newton's method with a line search; in between, each
iteration costs one gradient, and its change corrects M for the next. Second derivatives travel with a
gradient, so that they cost no round of their own.

A metric that is the Hessian is renewed when the last iteration brought less, by cost, than the iterations
since the last renewal have brought on average, the renewal included: going on longer would lower that average
(the marginal value theorem). One that merely resembles the Hessian gains less and less from being fresh, so
it is renewed after times that double.

Where a loss is all but straight its Hessian leads too far: a step that has to be cut often is taken anew in
the metric of a model that lies above F, where the loss knows one, and so are the next few.
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np

from tether.arrays import Array, same
from tether.curvature import DIAGONAL, FORMS, FULL, KRONECKER
from tether.methods.base import Algorithm, Method
from tether.methods.lbfgs import LBFGSAlgorithm, LBFGSState
from tether.methods.pairs import Pairs
from tether.methods.parameters import check_choice, check_settings
from tether.methods.prices import enough_samples, form_or_best, price_of_program, price_of_renewal
from tether.methods.sequential import FEW_CUTS, FIRST_PATIENCE, SMALLEST_SET, SequentialAlgorithm
from tether.needs import Need
from tether.problem import Facts
from tether.requests import Curvature, Curved, Gradient, Measured, Reply

FIRST_RENEWAL = 6  # iterations after which a metric that is not the Hessian is first renewed
ALWAYS = 0.3  # requests: second derivatives that cost less are taken with every gradient
SPECTRUM_LIMIT = 300  # variables up to which the smallest eigenvalue of every metric is looked at
ALWAYS_APART = 10.0  # the same for workers, who save a round by it
MANY_CUTS = 3  # of a step, after which a model above F is better, ...
CHEAP_RENEWAL = 20.0  # ... or new second derivatives, if they cost no more requests
FAILURES = 3  # after which no second derivatives are asked for
NAMES_OF_FORMS = {
    FULL: "the Hessian was",
    KRONECKER: "a Kronecker metric was",
    DIAGONAL: "the Hessian's diagonal was",
}
LARGEST_MODEL = 500  # variables up to which models are of all of them
CHEAP_MODEL = 2.0  # iterations of sequential programs: a Hessian that costs less is always taken


class NewtonState(NamedTuple):
    """L-BFGS in a metric, and what the metric has brought since it was renewed."""

    inner: LBFGSState
    metric: Array | None = None  # where the metric in use was taken; None: there is none
    fresh: bool = True  # the next gradient brings second derivatives
    renewals: int = 0
    began: int = 0  # the iteration of the last renewal
    first: float = math.inf  # the decrement then
    last: float = math.inf  # the decrement after the last iteration
    spent: int = 0  # gradients since the last renewal
    paid: int = 0  # of these, until the last iteration ended
    pace: float = 0.0  # the best average gain by cost since the last renewal
    failures: int = 0  # second derivatives in succession that made no metric
    again: bool = False  # the metric was renewed because a line search had found nothing
    above: bool = False  # the metric is that of a model that lies above F
    left: int = 0  # iterations in such metrics before second derivatives are tried again
    patience: int = FIRST_PATIENCE  # as many as that the next time

    @property
    def stage(self) -> int:
        """Iterations finished."""
        return self.inner.stage


@final
@dataclass(frozen=True, kw_only=True)
class Newton(Method):
    """Newton's method, with second derivatives made anew when that pays.

    Parameters
    ----------
    curvature : {"auto", "full", "kronecker", "diagonal"}, default "auto"
        The form of the second derivatives: the Hessian; its approximation by a Kronecker product for models
        with several outputs; its diagonal. "auto" takes the best that is cheap enough.
    refresh : int, optional
        Iterations between two renewals; 1 is Newton's method. Open: decided by what they cost and bring.
    sample : float, optional
        The share of the samples from which second derivatives are taken. Open: all for the Hessian itself, as
        many as it takes for the others.
    memory : int, optional
        Curvature pairs kept. Open: 10 between two Hessians, 20 where the metric merely resembles one.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.methods import Newton
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3)) * [1.0, 1e3, 1e-3]  # columns in unlike units
    >>> objective = tether.GLM(X, rng.integers(0, 2, 200), l2=1e-6)
    >>> sol = tether.solve(objective, tether.Affine([[1.0, 1.0, 1.0]]), Newton(refresh=1), tol=1e-10)
    >>> sol.success, sol.counts.rounds < 10
    (True, True)
    """

    curvature: Literal["auto", "full", "kronecker", "diagonal"] = "auto"
    refresh: int | None = None
    sample: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        check_settings(self)
        check_choice("curvature", self.curvature, "auto", *FORMS)

    @property
    def needs(self) -> frozenset[Need]:
        """Gradients; beyond equations it solves quadratic programs."""
        return frozenset({Need.GRADIENTS})

    def prepare(self, facts: Facts) -> "NewtonAlgorithm | SequentialAlgorithm":
        """Choose the form of the second derivatives."""
        form, known = form_or_best(self.curvature, facts), facts.second_order
        exact = form == FULL or (form == DIAGONAL and known.separable)
        share = self.sample or (enough_samples(facts) if form == KRONECKER else 1.0)
        price = price_of_renewal(form, facts, min(1.0, share))
        cheap = ALWAYS if facts.n_workers == 1 else ALWAYS_APART
        settings: dict[str, Any] = {
            "form": form,
            "refresh": self.refresh,
            "share": min(1.0, share),
            "outputs": known.outputs,
            "price": price,
            "always": self.refresh == 1 or (exact and self.refresh is None and price <= cheap),
            "concordance": known.concordance if exact and share >= 1.0 else math.inf,
            "spectrum": facts.dim <= SPECTRUM_LIMIT or facts.smoothness.convexity == 0.0,
            "majorised": known.majorised,
        }
        if facts.kinks:
            settings["price"] = price / (1.0 + price_of_program(form, facts))
            settings["always"] = self.refresh == 1 or (
                self.refresh is None and settings["price"] <= CHEAP_MODEL
            )
            return SequentialAlgorithm(**_on_working_sets(settings, self.curvature, facts))
        inner = LBFGSAlgorithm(
            memory=self.memory or (10 if exact else 20),
            smoothness=None,
            facts=facts,
            concordance=known.concordance,
        )
        mu = facts.smoothness.ready_convexity
        return NewtonAlgorithm(**settings, inner=inner, exact=exact and share >= 1.0, convexity=mu)


def _on_working_sets(settings: dict[str, Any], curvature: str, facts: Facts) -> dict[str, Any]:
    """Return settings with models of working sets, where variables are many and nothing else ties them."""
    known = facts.second_order
    apart = not facts.couples and not known.separable and math.isfinite(known.among)
    if facts.dim <= LARGEST_MODEL or not apart or curvature not in ("auto", FULL):
        return settings
    smallest = SMALLEST_SET + 2 * facts.equations  # so that equations leave some freedom
    return settings | {"form": FULL, "share": 1.0, "pieces": facts.pieces, "smallest": smallest}


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class NewtonAlgorithm(Algorithm[NewtonState]):
    """Newton's method with all settings."""

    name: ClassVar[str] = "Newton"
    unit: ClassVar[str] = "iteration"

    form: str
    refresh: int | None
    share: float
    inner: LBFGSAlgorithm
    exact: bool = field(repr=False)  # the metric is the Hessian
    concordance: float = field(repr=False)
    outputs: int = field(repr=False)
    price: float = field(repr=False)  # of a renewal, in requests
    always: bool = field(repr=False)  # take second derivatives with every gradient
    spectrum: bool = field(repr=False)
    majorised: bool = field(repr=False)  # there are models that lie above F
    convexity: float = field(repr=False)  # mu, as far as it is known

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return "Newton's method"

    def start(self, x: Array, clock: int = 0) -> NewtonState:
        """Begin with second derivatives at the starting point."""
        return NewtonState(inner=self.inner.start(x))

    def warm(self, state: NewtonState) -> NewtonState:
        """Look at the gradient first: it may show that there is nothing to do."""
        return state._replace(fresh=False)

    def after(self, state: NewtonState, steps: int, metric: Array | None) -> NewtonState:
        """Return the state of a run before which steps were taken, the last of them with a Hessian there."""
        inner = state.inner._replace(stage=steps)
        return state._replace(inner=inner, metric=metric, fresh=metric is None, renewals=steps, began=steps)

    def ask(self, state: NewtonState) -> Gradient:
        """Ask for the gradient at the trial point, in the metric in use or in one taken there."""
        request = self.inner.ask(state.inner)
        gradient, ahead = state.inner.gradient, self._renews_ahead(state)
        at = request.point if state.fresh or ahead else state.metric
        if at is None:
            return request
        beside = state.inner.pairs.changes if (state.fresh or ahead) and not self.exact else None
        if ahead and beside is not None and gradient is not None:
            beside = np.vstack([beside, gradient])
        return request._replace(metric=self._curvature(at, state.above), beside=beside)

    def _curvature(self, point: Array, above: bool) -> Curvature:
        rate = math.inf if above else self.concordance
        mu = 0.0 if above else self.convexity
        return Curvature(point, self.form, self.outputs, self.share, rate, self.spectrum, above, mu)

    def tell(self, state: NewtonState, reply: Reply) -> NewtonState:
        """Let L-BFGS go on in the metric; take another, or one of a model above F, where steps are cut."""
        assert isinstance(reply, Measured)
        if not reply.complete:
            return state
        told = self._told(state, reply)
        if told.stage > state.stage:
            left = max(0, told.left - 1)
            return told._replace(left=left, above=left > 0, again=False)
        if not _is_cut_often(told.inner):
            return told
        # Second derivatives of old are renewed before those of the function are blamed.
        if told.began < told.stage and (self.majorised or self.price <= CHEAP_RENEWAL):
            return self._renew_here(told)
        if self.majorised and not told.above:
            above = self._renew_here(told)
            return above._replace(above=True, left=told.patience, patience=2 * told.patience)
        return told

    def _told(self, state: NewtonState, reply: Measured) -> NewtonState:
        """Let L-BFGS go on in the metric; decide whether it is time for another."""
        if not (state.fresh or state.renewals or state.failures):
            return state._replace(fresh=True)
        ahead = self._renews_ahead(state)
        if reply.curved is None:
            return self._renew_here(state) if ahead else self._without_metric(state, reply)
        if state.fresh:
            return self._renewed(state, reply, reply.curved)
        if ahead:
            return self._renewed_ahead(state, reply, reply.curved)
        inner = self.inner.tell(state.inner, reply)
        gone = inner.stage > state.inner.stage
        state = state._replace(inner=inner, spent=state.spent + 1)
        elsewhere = state.metric is not None and not same(state.metric, inner.x)
        if inner.stuck and elsewhere and not state.again:
            return self._renew_here(state)._replace(again=True)
        return self._judged(state, reply.curved.decrement) if gone else state

    def _renewed_ahead(self, state: NewtonState, reply: Measured, curved: Curved) -> NewtonState:
        """Go on in a metric that came with a trial; take one where the run is if the trial leads too far."""
        images = curved.images
        assert images is not None
        if not reply.value <= state.inner.value + reply.rounding:
            return self._renew_here(state)
        pairs = state.inner.pairs._replace(images=images[:-1])
        before = state.inner._replace(pairs=pairs, image=images[-1])
        return self._in_new_metric(state, before, reply, curved)

    def _renewed(self, state: NewtonState, reply: Measured, curved: Curved) -> NewtonState:
        """Go on in a new metric, which knows better than the pairs before it."""
        before = forgetful(state.inner)
        if curved.images is not None:  # what was learned in the metric before is as good in this one
            before = state.inner._replace(pairs=state.inner.pairs._replace(images=curved.images), image=None)
        return self._in_new_metric(state, before, reply, curved)

    def _in_new_metric(
        self, state: NewtonState, before: LBFGSState, reply: Measured, curved: Curved
    ) -> NewtonState:
        """Let L-BFGS go on with vectors in the metric of a reply."""
        inner = self.inner.tell(before, reply)
        settled = inner.image is not None  # no trial is under way in another metric
        return state._replace(
            inner=inner,
            metric=reply.point,
            fresh=settled and (self.always or state.above),
            renewals=state.renewals + 1,
            began=inner.stage,
            first=curved.decrement,
            last=curved.decrement,
            spent=0,
            paid=0,
            pace=0.0,
            failures=0,
        )

    def _without_metric(self, state: NewtonState, reply: Measured) -> NewtonState:
        """Go on where second derivatives made no metric: the trial was too far off, or F has none there."""
        inner = self.inner.tell(forgetful(state.inner), reply)
        if inner.image is None:  # the trial was refused, the next one is nearer
            return state._replace(inner=inner, fresh=state.metric is None, failures=state.failures + 1)
        again = state.failures < FAILURES
        return state._replace(inner=inner, metric=None, fresh=again, failures=state.failures + 1)

    def _judged(self, state: NewtonState, decrement: float) -> NewtonState:
        """Renew the metric if that pays, after an iteration."""
        gain = math.log(state.last / decrement) if decrement > 0.0 < state.last else math.inf
        total = math.log(state.first / decrement) if decrement > 0.0 < state.first else math.inf
        pace = max(state.pace, total / (self.price + state.spent))
        slow = gain / (state.spent - state.paid) < pace or gain <= 0.0
        state = state._replace(last=decrement, paid=state.spent, pace=pace)
        return self._renew_here(state) if self._is_due(state, slow) else state

    def _renews_ahead(self, state: NewtonState) -> bool:
        """Say whether the metric is due once the next trial is taken, so that it can come with it."""
        inner = state.inner
        fits = not (self.exact or state.fresh or state.above) and state.metric is not None
        return fits and inner.gradient is not None and inner.trials == 0 and self._is_next(state, 1)

    def _is_due(self, state: NewtonState, slow: bool) -> bool:
        """Say whether the metric is to be renewed now."""
        if self.exact and self.refresh is None:
            return self.always or slow
        return self._is_next(state, 0)

    def _is_next(self, state: NewtonState, iterations: int) -> bool:
        """Say whether it is time for another metric after some iterations, whatever the one in use brings."""
        stage = state.stage + iterations
        if self.refresh is not None:
            return stage - state.began >= self.refresh
        first = max(FIRST_RENEWAL, round(self.price))
        return stage >= (first + 2) * 2 ** (state.renewals - 1) - 2

    def _renew_here(self, state: NewtonState) -> NewtonState:
        """Ask for second derivatives where the run is; the gradient there is known already."""
        old, new = state.inner, self.inner.start(state.inner.x)._replace(stage=state.stage)
        if not self.exact:
            new = new._replace(pairs=old.pairs)
        return state._replace(inner=new, fresh=True)

    def estimate(self, state: NewtonState) -> Array:
        """Return the last accepted point."""
        return self.inner.estimate(state.inner)

    def inspect(self, state: NewtonState) -> Gradient:
        """Certify in the metric in use."""
        request = Gradient(self.estimate(state))
        if state.metric is None:
            return request
        return request._replace(metric=self._curvature(state.metric, state.above))

    def recovers(self, state: NewtonState) -> bool:
        """Say that the line search does."""
        return self.inner.recovers(state.inner)

    def exhausted(self, state: NewtonState) -> bool:
        """Say whether the gradient is down to rounding, or line searches find no lower point."""
        return self.inner.exhausted(state.inner)

    def describe(self, state: NewtonState) -> str:
        """Say how often second derivatives were taken."""
        if state.renewals == 0:
            return ""
        times = "once" if state.renewals == 1 else f"{state.renewals} times"
        return f"{NAMES_OF_FORMS[self.form]} taken {times} in {state.stage} iterations"


def _is_cut_often(state: LBFGSState) -> bool:
    """Say whether a line search has come far back from where the metric led."""
    return state.low == 0.0 and state.length <= FEW_CUTS and state.trials >= MANY_CUTS


def forgetful(state: LBFGSState) -> LBFGSState:
    """Return the state with no pairs, and none to be made of the gradient in another metric."""
    return state._replace(pairs=Pairs.none(len(state.x)), image=None)
