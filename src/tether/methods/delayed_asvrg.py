"""DP-ASVRG: momentum on top of variance reduction (Algorithm 4 of Li & Zhang)."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

from tether import theory
from tether.arrays import Array
from tether.methods.anchored import AnchoredAlgorithm, AnchorStage
from tether.methods.base import StageWise
from tether.methods.parameters import (
    Rule,
    batch_or_default,
    check_choice,
    check_growth,
    check_settings,
    length_or_pass,
    positive,
    reach,
    walking_step,
)
from tether.methods.schedule import Interval, as_interval, largest_gap
from tether.needs import Need
from tether.problem import Facts
from tether.requests import Arrived, Average, Gradient, Reply, Request

MOMENTUM = 0.3  # theta where nothing else is known


class DelayedASVRGState(NamedTuple):
    """u_t, theta_s and the stage around them; the mean is that of the anchors since the last restart."""

    u: Array
    momentum: float
    anchored: AnchorStage

    @property
    def stage(self) -> int:
        """Stages finished so far."""
        return self.anchored.stage


@final
@dataclass(frozen=True, kw_only=True)
class DelayedASVRG(StageWise):
    """Delayed projected accelerated SVRG.

    With the variance-reduced gradient g of DP-SVRG each step sets u -= (eta/theta) g and
    x = anchor + theta (u - anchor). Only u has to be projected, by linearity. The next anchor is the
    projected mean of x_1..x_m. With E = 1 this is P-ASVRG; with m = E = 1 an accelerated gradient method.

    Parameters
    ----------
    interval : int or increasing sequence of int, optional
        E, the steps between projections, or the projection times within a stage. Open: 2/(eta L_F) in
        practice; where a round costs more than twice these steps (among workers, with a large A, where nobody
        knows) the whole stage as long as F falls; with ``parameters="theory"`` the stage.
    growth : int, optional
        The factor by which E grows after a stage in which F fell; a stage in which it rose is undone and E
        shrinks. 1 keeps E as it is. Open: 4 where the interval is open and a round costs more than twice
        the steps between rounds, else 1.
    stage_length : int, optional
        m. Open: one pass.
    step_size : float, optional
        eta. Open: 1/(L_F + 5.5 L_max/b) in practice, or Theorems 5.1 and 5.2 with ``parameters="theory"``.
    momentum : float, optional
        theta in (0, 1], kept fixed. Open: 0.3 in practice; the paper's constant (mu > 0) or decreasing
        (mu = 0) theta with ``parameters="theory"``.
    restart : int, optional
        Stages between restarts from the mean of the anchors. Open: never in practice, Theorem 5.1 in theory.
    stages : int, default 100
        S, the horizon that the step size of Theorem 5.2 (mu = 0) is tuned to.
    batch_size : int, optional
        b. Open: the batch size at which the objective's steps are efficient.
    convexity : float, optional
        mu. Open: the objective's.
    first_step : {"anchor", "coupled"}
        Where the first gradient of a stage is taken: at x_0 = anchor as Algorithm 4 is printed, or at
        anchor + theta (u - anchor) like all later ones. For m = E = 1 the first is the heavy-ball method, the
        second is Nesterov's.
    average : {"after", "before"}
        What the next anchor averages: x_1..x_m as Algorithm 4 is printed, or x_0..x_{m-1} as Local ASVRG is.
    parameters : {"practical", "theory"}
        Which rule fills the open settings.
    replacement : bool, default False
        Draw samples independently, as the theorems assume, instead of permuting each pass.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.methods import DelayedASVRG
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((100, 4)), rng.standard_normal(100)
    >>> objective = tether.GLM(X, y, loss="squared", l2=0.1)
    >>> method = DelayedASVRG(interval=10, momentum=0.5)
    >>> tether.solve(objective, tether.Affine(np.ones((1, 4))), method).success
    True
    """

    interval: Interval | None = None
    growth: int | None = None
    stage_length: int | None = None
    step_size: float | None = None
    momentum: float | None = None
    restart: int | None = None
    stages: int = 100
    batch_size: int | None = None
    convexity: float | None = None
    first_step: str = "anchor"
    average: str = "after"
    parameters: Rule = "practical"
    replacement: bool = False

    def __post_init__(self) -> None:
        check_settings(self)
        check_growth(self)
        check_choice("first_step", self.first_step, "anchor", "coupled")
        check_choice("average", self.average, "after", "before")

    @property
    def needs(self) -> frozenset[Need]:
        """Anchors are averages."""
        return super().needs | {Need.AVERAGES}

    def prepare(self, facts: Facts) -> "DelayedASVRGAlgorithm":
        """Fill the open settings."""
        batch = batch_or_default(self.batch_size, facts)
        length = length_or_pass(self.stage_length, batch, facts)
        proven = self._theory(length, facts) if self.parameters == "theory" else None
        default = walking_step(batch, facts) if proven is None else proven.step_size()
        step = float(self.step_size or default)
        interval, growth, shortest = reach(self, step, batch, length, facts)
        if self.momentum is not None or proven is None:
            momentum = Momentum(self.momentum or MOMENTUM)
        else:
            momentum = proven.momentum(step)
        return DelayedASVRGAlgorithm(
            interval=interval,
            growth=growth,
            stage_length=length,
            step_size=step,
            batch_size=batch,
            replacement=self.replacement,
            shortest=shortest,
            default_step=default,
            momentum=momentum.first,
            decrease=momentum.decrease,
            restart=self.restart or momentum.restart,
            first_step=self.first_step,
            average=self.average,
        )

    def _theory(self, length: int, facts: Facts) -> "Proven":
        return Proven(
            smoothness=positive(facts.smoothness.maximum),
            convexity=facts.smoothness.convexity if self.convexity is None else self.convexity,
            interval=length if self.interval is None else largest_gap(as_interval(self.interval), length),
            stage_length=length,
            stages=self.stages,
        )


class Momentum(NamedTuple):
    """theta of the first stage, delta of its recursion (None: it stays), and the stages between restarts."""

    first: float
    decrease: float | None = None
    restart: int | None = None


class Proven(NamedTuple):
    """What Theorems 5.1 (mu > 0) and 5.2 (mu = 0) need to know."""

    smoothness: float
    convexity: float
    interval: int
    stage_length: int
    stages: int

    def step_size(self) -> float:
        """Return the step size of the theorems."""
        return theory.step_size("dp-asvrg", **self._asdict())

    def momentum(self, eta: float) -> Momentum:
        """Return theta and the restarts that go with a step size."""
        L, mu, gap, m = self.smoothness, self.convexity, self.interval, self.stage_length
        if mu == 0:
            first = theory.first_momentum(eta, smoothness=L, interval=gap)
            return Momentum(first, decrease=theory.drift(eta, smoothness=L, interval=gap))
        theta = theory.momentum(eta, smoothness=L, convexity=mu, stage_length=m, interval=gap)
        restart = theory.restart_length(theta, step_size=eta, convexity=mu, stage_length=m)
        return Momentum(min(theta, 1.0), restart=restart)


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class DelayedASVRGAlgorithm(AnchoredAlgorithm[DelayedASVRGState]):
    """DP-ASVRG with all settings."""

    name: ClassVar[str] = "DelayedASVRG"

    momentum: float
    decrease: float | None  # delta of the theta recursion; None: theta stays
    restart: int | None  # None: never
    first_step: str
    average: str

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return f"{'' if self.interval == 1 else 'delayed '}projected accelerated SVRG"

    def start(self, x: Array, clock: int = 0) -> DelayedASVRGState:
        """Begin with x as the first anchor."""
        return DelayedASVRGState(u=x, momentum=self.momentum, anchored=AnchorStage.begin(self, x, clock))

    def ask(self, state: DelayedASVRGState) -> Request:
        """Ask for the projected gradient at a new anchor, else walk to the next projection time."""
        request = state.anchored.ask(self, state.u, Average(0.0, after=self.average == "after"))
        if isinstance(request, Gradient):
            return request
        first = state.anchored.step == 0
        from_anchor = first and self.first_step == "anchor"
        return request._replace(momentum=state.momentum, from_anchor=from_anchor)

    def tell(self, state: DelayedASVRGState, reply: Reply) -> DelayedASVRGState:
        """Keep the shift, or go on from the end of the walk, with a new anchor when the stage is over."""
        if state.anchored.rejects(reply):
            undone = state.anchored.undone()  # and u with it, so that no momentum is left
            return state._replace(u=undone.anchor, anchored=undone)
        u = reply.end if isinstance(reply, Arrived) else state.u
        anchored = state.anchored.tell(reply, self.stage_length)
        over = anchored.stage > state.stage
        state = state._replace(u=u, anchored=anchored)
        return self._next_stage(state) if over else state

    def _next_stage(self, state: DelayedASVRGState) -> DelayedASVRGState:
        """Lower theta where it falls, and restart where it is time."""
        if self.decrease is not None:
            state = state._replace(momentum=theory.next_momentum(state.momentum, self.decrease))
        if state.anchored.averaged == self.restart:
            state = state._replace(u=state.anchored.mean, anchored=state.anchored.restarted())
        return state

    def clock(self, state: DelayedASVRGState) -> int:
        """Return the steps so far."""
        return state.anchored.clock

    def recovers(self, state: DelayedASVRGState) -> bool:
        """Say whether the last stage was undone."""
        return state.anchored.pace.turned_back

    def estimate(self, state: DelayedASVRGState) -> Array:
        """Return the mean of the anchors where restarts rest on it, else the last anchor."""
        return state.anchored.anchor if self.restart is None else state.anchored.mean

    def coordinates(self, state: DelayedASVRGState) -> tuple[Array, ...] | None:
        """Return anchor and u at the start of a stage."""
        return (state.anchored.anchor, state.u) if state.anchored.begins else None

    def move(
        self, state: DelayedASVRGState, coordinates: tuple[Array, ...], weights: Array | None
    ) -> DelayedASVRGState:
        """Start the stage elsewhere."""
        anchor, u = coordinates
        return state._replace(u=u, anchored=state.anchored.moved(anchor))

    def shorten(self, state: DelayedASVRGState, factor: float) -> DelayedASVRGState:
        """Walk less far, or scale eta."""
        return state._replace(anchored=state.anchored.shortened(factor))
