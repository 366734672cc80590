"""ProxSkip with variance-reduced steps: one projection a pass, and the drift is learned.

The dual of ProxSkip together with the anchors of SVRG. A stage is

    g = grad F(x), slopes kept                                        (no projection)
    w = x;  m steps  w -= eta ( grad f_B(w) - grad f_B(x) + g - h )
    x' = Pi(w);  h' = h + (x' - w)/(eta E)                             (every E steps, at least once)

so a stage may cost a single projection. Since P h = 0, ||grad F(x) - h||^2 bounds ||P grad F(x)||^2 and
certifies x without one.

Beyond equations the projection is a prox, and -h a subgradient of psi but for a normal of the plane. With
``inside`` the slopes s of single variables act within the walk, which takes place on F + g, and the prox is
that of g and of what couples variables together, in a diagonal metric t_j = min(eta m, 1/H_jj):

    m steps  w <- prox_{eta g}( w - eta ( ... ) );   x' = prox(w + t (s - h));   h' = what holds x', without s
"""

import math
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import ClassVar, NamedTuple, Self, final

import numpy as np

from tether import theory
from tether.arrays import Array
from tether.curvature import DIAGONAL
from tether.methods.base import StageWise, StageWiseAlgorithm
from tether.methods.parameters import (
    Rule,
    batch_or_default,
    check_settings,
    check_whole_interval,
    length_or_pass,
    positive,
    smaller_step,
    walking_step,
)
from tether.needs import Need
from tether.polyhedral import Pieces
from tether.problem import Facts
from tether.requests import Arrived, Curvature, Descend, Dual, Gradient, Hold, Measured, Reply, Request

SLOW_FALL = 0.5  # of the certificate over a stage: if it falls less, h is under suspicion
WALKED_TOO_FAR = 2 / 3  # of the certificate: if less is left without h, h is learned too slowly
MOST_CROSSINGS = 0.001  # of the variables: a face that changes by less stands still
MOST_PASSES = 8  # that a stage may become long where it gains little
ROUNDED = 1e-14  # by which a mix may be beyond walls
FEWEST_DUALS = 2  # a renewal that is refused comes on top of the dual in use


class Renewal(IntEnum):
    """What became of renewing h by projecting the gradient at an anchor."""

    NONE = 0
    DUE = 1
    TAKEN = 2
    REFUSED = 3


class ProxSkipSVRGState(NamedTuple):
    """The last projected point and the anchor; h is the worker's."""

    x: Array
    anchor: Array
    step_size: float
    length: int  # of stages
    clock: int
    measured: bool = False  # the full pass at the anchor has been made
    certificate: float = math.inf  # ||grad F - h||^2 at the last anchor
    renewal: int = Renewal.NONE
    patience: int = 1  # stages to wait after a renewal that changed little
    next_renewal: int = 0  # the stage from which h may be renewed again
    weights: Array | None = None  # the mix of remembered duals that the stage starts with
    step: int = 0
    stage: int = 0
    curvature: Array | None = None  # H_jj, where it is asked for
    still: Array | None = None  # which variables the last stage left exactly where they were
    crossed: bool = False  # others than the stage before
    hold: Hold | None = None  # what the last prox found to hold x


@final
@dataclass(frozen=True, kw_only=True)
class ProxSkipSVRG(StageWise):
    """ProxSkip-LSVRG on an affine set or beyond, with anchors refreshed at projections.

    Parameters
    ----------
    interval : int, optional
        E, the steps between projections. Open: the whole stage.
    stage_length : int, optional
        m, the steps between anchors. Open: one pass.
    step_size : float, optional
        eta. Open: 1/(L_F + 5.5 L_max/b) in practice, 1/(6 L_max) with ``parameters="theory"``. In practice
        long rows come several times in a pass, in shares, where that pays; L_max is then a share's.
    batch_size : int, optional
        b. Open: the batch size at which the objective's steps are efficient.
    random : bool, default False
        Toss coins for projections and anchors, as published, instead of counting steps.
    seed : int, optional
        Of the coins. Open: the run's.
    parameters : {"practical", "theory"}
        Which rule fills the step size.
    replacement : bool, default False
        Draw samples independently instead of permuting each pass.
    renew : bool, default False
        Project the gradient at an anchor, one projection more, when the certificate falls slowly: long stages
        on well-conditioned problems learn h slowly. After a renewal that changed little, wait longer.
    inside : bool, default False
        Beyond equations, have bounds and l1 terms of single variables act inside the walks.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.methods import ProxSkipSVRG
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((100, 4)), rng.standard_normal(100)
    >>> objective = tether.GLM(X, y, loss="squared", l2=0.1)
    >>> tether.solve(objective, tether.Affine(np.ones((1, 4))), ProxSkipSVRG()).success
    True
    """

    interval: int | None = None
    stage_length: int | None = None
    step_size: float | None = None
    batch_size: int | None = None
    random: bool = False
    seed: int | None = None
    parameters: Rule = "practical"
    replacement: bool = False
    renew: bool = False
    inside: bool = False

    @property
    def needs(self) -> frozenset[Need]:
        """Gradients; its projection may be a prox."""
        return frozenset({Need.GRADIENTS})

    def __post_init__(self) -> None:
        check_settings(self)
        check_whole_interval(self)

    def prepare(self, facts: Facts) -> "ProxSkipSVRGAlgorithm":
        """Fill the open settings."""
        batch = batch_or_default(self.batch_size, facts)
        length = shortest = length_or_pass(self.stage_length, batch, facts)
        default, shares = walking_step(batch, facts), self._shares(batch, facts)
        if self.parameters == "theory":
            default = theory.step_size("proxskip-svrg", smoothness=positive(facts.smoothness.maximum))
        elif shares:
            plain, default = default, walking_step(batch, facts.shared)
            length = length_or_pass(self.stage_length, batch, facts.shared)
            shortest = length if self.stage_length else min(length, math.ceil(shortest * plain / default))
        return ProxSkipSVRGAlgorithm(
            interval=min(int(self.interval or length), length),
            stage_length=length,
            shortest=shortest,
            step_size=float(self.step_size or default),
            batch_size=batch,
            random=self.random,
            seed=facts.seed if self.seed is None else self.seed,
            replacement=self.replacement,
            renew=self.renew and not facts.kinks,
            shares=shares,
            pieces=facts.pieces,
            inside=self.inside and facts.kinks,
            longest=MOST_PASSES * length if self.stage_length is None and self.interval is None else length,
            bends=self.inside and facts.kinks and math.isfinite(facts.second_order.diagonal),
            default_step=default,
        )

    def _shares(self, batch_size: int, facts: Facts) -> bool:
        """Say whether long rows are cut: not where the user, a theorem or coins say how samples are drawn."""
        fixed = self.step_size is not None or self.parameters == "theory" or self.random
        return facts.draws > 0 and batch_size < facts.local_samples and not fixed


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class ProxSkipSVRGAlgorithm(StageWiseAlgorithm[ProxSkipSVRGState]):
    """ProxSkip-LSVRG with all settings."""

    name: ClassVar[str] = "ProxSkipSVRG"

    interval: int
    stage_length: int
    shortest: int  # stages that walk as far as they would without shares
    step_size: float
    batch_size: int
    random: bool
    seed: int
    replacement: bool
    renew: bool
    shares: bool  # long rows come several times in a pass
    pieces: Pieces | None = field(
        default=None, repr=False
    )  # of single variables, where projections are proxes
    longest: int = field(repr=False)  # that stages may become
    inside: bool = field(default=False, repr=False)  # slopes of single variables act inside walks
    bends: bool = field(default=False, repr=False)  # with a metric of second derivatives
    keep: int = FEWEST_DUALS  # duals that workers remember
    default_step: float = field(repr=False)  # what an open step size would be

    def start(self, x: Array, clock: int = 0) -> ProxSkipSVRGState:
        """Begin at a feasible point with h = 0."""
        return ProxSkipSVRGState(
            x=x, anchor=x, step_size=self.step_size, length=self.stage_length, clock=clock
        )

    def warm(self, state: ProxSkipSVRGState) -> ProxSkipSVRGState:
        """Try h from the gradient at once: h = 0 would lead away from a good point."""
        return state._replace(renewal=Renewal.DUE) if self.renew else state

    def ask(self, state: ProxSkipSVRGState) -> Request:
        """Make the full pass at a new anchor, else walk to the next projection."""
        if state.renewal == Renewal.DUE:
            return Gradient(state.anchor, dual=self._dual(state)._replace(seed=True))
        if not state.measured:
            bends = self.bends and state.curvature is None
            metric = Curvature(state.anchor, DIAGONAL) if bends else None
            return Gradient(state.anchor, tangent=False, dual=self._dual(state), metric=metric)
        steps = self._leg(state)
        return Descend(
            start=state.x,
            steps=steps,
            step_size=state.step_size,
            batch_size=self.batch_size,
            clock=state.clock,
            anchor=state.anchor,
            replacement=self.replacement,
            shares=self.shares,
            dual=self._dual(state, steps),
            hold=state.hold,
        )

    def _dual(self, state: ProxSkipSVRGState, steps: int = 1) -> Dual:
        expected = self.interval if self.random else steps
        rate = 1 / (state.step_size * expected)
        over = state.step > 0 or state.renewal == Renewal.REFUSED
        dual = Dual(rate, state.weights, self.keep, renew=over)
        if self.pieces is None:
            return dual
        return dual._replace(prox=True, inside=self.inside, metric=_metric(state.curvature, rate))

    def _leg(self, state: ProxSkipSVRGState) -> int:
        if self.random:
            return int(self._coin(state).geometric(1 / self.interval))
        left = state.length - state.step
        return left if self.interval == self.stage_length else min(self.interval, left)

    def _coin(self, state: ProxSkipSVRGState) -> np.random.Generator:
        return np.random.default_rng([self.seed, state.clock])

    def tell(self, state: ProxSkipSVRGState, reply: Reply) -> ProxSkipSVRGState:
        """Go on from the projected point, with a new anchor when the stage is over.

        The rate of h was sent with the walk. If that was cut short by a budget, h moves by less than the
        projection shows, stays in range(A^T) and goes on learning from there.
        """
        if isinstance(reply, Measured):
            due = state.renewal == Renewal.DUE
            return self._renewed(state, reply) if due else self._measured(state, reply)
        over = self._is_over(state, reply)
        steps = reply.work.steps
        state = state if self.pieces is None else self._watched(state, reply.end)
        return state._replace(
            x=reply.end,
            anchor=reply.end if over else state.anchor,
            measured=not over,
            renewal=Renewal.NONE if over else state.renewal,
            weights=None,
            hold=reply.hold,
            step=0 if over else state.step + steps,
            clock=state.clock + steps,
            stage=state.stage + over,
        )

    def _watched(self, state: ProxSkipSVRGState, end: Array) -> ProxSkipSVRGState:
        """Notice whether other variables than before are held where they are."""
        still = end == state.x
        before = state.still
        crossed = before is None or np.count_nonzero(still != before) > MOST_CROSSINGS * len(still)
        return state._replace(still=still, crossed=bool(crossed))

    def _measured(self, state: ProxSkipSVRGState, reply: Measured) -> ProxSkipSVRGState:
        """Note the certificate; if it falls slowly, h may be what is wrong with it."""
        if reply.diagonal is not None:
            state = state._replace(curvature=reply.diagonal)
        slow = reply.complete and SLOW_FALL * state.certificate < reply.certificate < math.inf
        if self.renew and slow and state.stage >= max(state.next_renewal, 1):
            return state._replace(renewal=Renewal.DUE, certificate=reply.certificate)
        certificate = reply.certificate if reply.complete else state.certificate
        state = state._replace(measured=True, certificate=certificate)
        return self._lengthened(state) if slow and self.inside and state.stage else state

    def _lengthened(self, state: ProxSkipSVRGState) -> ProxSkipSVRGState:
        """Walk farther between projections: where the walk is what is slow, a face is a long way off."""
        length = min(2 * state.length, self.longest)
        return state if length <= state.length else state._replace(length=length, still=None)

    def _renewed(self, state: ProxSkipSVRGState, reply: Measured) -> ProxSkipSVRGState:
        """Take h = grad F - P grad F; if that changes little, keep the old mix and wait longer next time.

        At the start the old dual is zero: far from the optimum the gradient there would mislead. Later, a
        dual that lags behind says that the problem is well conditioned and walks are too long for it.
        """
        first = state.certificate == math.inf
        before = _without_dual(reply) if first else state.certificate
        too_far = not first and state.length > self.shortest and reply.certificate < WALKED_TOO_FAR * before
        useful = too_far or not reply.certificate >= SLOW_FALL * before  # also where workers do not tell
        patience = 1 if useful or first else 2 * state.patience
        old = np.ones(0 if first else 1) if state.weights is None else state.weights
        return state._replace(
            measured=True,
            length=self.shortest if too_far else state.length,
            certificate=reply.certificate if useful else before,
            renewal=Renewal.TAKEN if useful else Renewal.REFUSED,
            patience=patience,
            next_renewal=state.stage + patience,
            weights=None if useful else np.append(old, 0.0),  # past the dual that was refused
        )

    def _is_over(self, state: ProxSkipSVRGState, reply: Arrived) -> bool:
        if self.random:  # rho = 1/m a step, tossed once for all steps of the leg
            stays = (1 - 1 / self.stage_length) ** reply.work.steps
            return bool(self._coin(state).spawn(1)[0].random() > stays)
        return state.step + reply.work.steps >= state.length

    def estimate(self, state: ProxSkipSVRGState) -> Array:
        """Return the last projected point."""
        return state.x

    def inspect(self, state: ProxSkipSVRGState) -> Gradient:
        """Certify with h instead of a projection."""
        return Gradient(state.x, tangent=False, dual=self._dual(state))

    def coordinates(self, state: ProxSkipSVRGState) -> tuple[Array, ...] | None:
        """Return x at the start of a stage."""
        return (state.x,) if not state.measured else None

    def starts_anew(self, state: ProxSkipSVRGState) -> bool:
        """Say whether the stage starts with a renewed dual."""
        return state.renewal == Renewal.TAKEN

    def crosses(self, state: ProxSkipSVRGState) -> bool:
        """Say whether the last stage went to another face."""
        return state.crossed

    def admitted(self, mix: Array, images: Array) -> Array | None:
        """Return a mix with what stands still where it stands, exactly; None beyond walls."""
        if self.pieces is None:
            return mix
        mix = np.where((images == images[-1]).all(axis=0), images[-1], mix)
        if float(self.pieces.violation(mix[0]).max()) > ROUNDED * (1.0 + float(np.abs(mix).max())):
            return None
        return np.clip(mix, self.pieces.lower, self.pieces.upper)

    def move(
        self, state: ProxSkipSVRGState, coordinates: tuple[Array, ...], weights: Array | None
    ) -> ProxSkipSVRGState:
        """Start the stage elsewhere, with the same mix of duals."""
        x = coordinates[0]
        return state._replace(x=x, anchor=x, measured=False, renewal=Renewal.NONE, weights=weights, step=0)

    def remembering(self, memory: int) -> Self:
        """Have the workers remember the duals of that many stages."""
        return replace(self, keep=max(memory, FEWEST_DUALS))

    def shorten(self, state: ProxSkipSVRGState, factor: float) -> ProxSkipSVRGState:
        """Scale eta; the stage that is tried again keeps its dual."""
        wait = max(state.next_renewal, state.stage + 1)
        return state._replace(step_size=state.step_size * factor, next_renewal=wait)

    def clock(self, state: ProxSkipSVRGState) -> int:
        """Return the steps so far."""
        return state.clock

    def remedy(self) -> str:
        """Advise a smaller step."""
        return smaller_step(self.step_size, self.default_step)


def _metric(curvature: Array | None, rate: float) -> Array | None:
    """Return t_j = min(eta m, 1/H_jj)."""
    return None if curvature is None else 1.0 / np.maximum(curvature, rate)


def _without_dual(reply: Measured) -> float:
    """Return the certificate for h = 0: the mean over workers of ||grad f_k||^2."""
    norms = np.array([reply.scale]) if reply.work.workers is None else reply.work.workers[:, 1]
    return float(np.mean(np.square(norms)))
