"""DP-SVRG: variance reduction removes the residual error (Algorithm 3 of Li & Zhang)."""

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
from tether.requests import Arrived, Average, Reply, Request


class DelayedSVRGState(NamedTuple):
    """x_t and the stage around it."""

    x: Array
    anchored: AnchorStage

    @property
    def stage(self) -> int:
        """Stages finished so far."""
        return self.anchored.stage


@final
@dataclass(frozen=True, kw_only=True)
class DelayedSVRG(StageWise):
    """Delayed projected stochastic variance reduced gradient.

    Each stage computes h = P grad F(anchor) and takes m steps x -= eta (grad f_B(x) - grad f_B(anchor) + h),
    projected at the projection times. The next anchor is the projected average of the stage with weights
    (1 - mu eta)^age. With E = 1 this is projected (proximal) SVRG. It converges linearly for mu > 0.

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
        eta. Open: 1/(L_F + 5.5 L_max/b) in practice, or Theorem 4.1 with ``parameters="theory"``.
    batch_size : int, optional
        b. Open: the batch size at which the objective's steps are efficient.
    convexity : float, optional
        mu in the weights of the average. Open: the objective's.
    anchor : {"average", "last"}
        The next anchor: the projected weighted average (the paper), or the projected last iterate, which
        saves a vector in the projection that ends a stage.
    output : {"auto", "mean", "last"}
        What to answer with: the last anchor, or the mean of the anchors; "auto" is the paper's rule, the
        mean for mu = 0.
    parameters : {"practical", "theory"}
        Which rule fills the step size.
    replacement : bool, default False
        Draw samples independently, as the theorems assume, instead of permuting each pass.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.methods import DelayedSVRG
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((100, 4)), rng.standard_normal(100)
    >>> objective = tether.GLM(X, y, loss="squared", l2=0.1)
    >>> tether.solve(objective, tether.Affine(np.ones((1, 4))), DelayedSVRG(interval=10)).success
    True
    """

    interval: Interval | None = None
    growth: int | None = None
    stage_length: int | None = None
    step_size: float | None = None
    batch_size: int | None = None
    convexity: float | None = None
    anchor: str = "average"
    output: str = "auto"
    parameters: Rule = "practical"
    replacement: bool = False

    def __post_init__(self) -> None:
        check_settings(self)
        check_growth(self)
        check_choice("anchor", self.anchor, "average", "last")
        check_choice("output", self.output, "auto", "mean", "last")

    @property
    def needs(self) -> frozenset[Need]:
        """Anchors that are averages have to be averaged."""
        return super().needs | ({Need.AVERAGES} if self.anchor == "average" else set())

    def prepare(self, facts: Facts) -> "DelayedSVRGAlgorithm":
        """Fill the open settings."""
        batch = batch_or_default(self.batch_size, facts)
        length = length_or_pass(self.stage_length, batch, facts)
        mu = facts.smoothness.convexity if self.convexity is None else self.convexity
        default = self._default_step(batch, length, mu, facts)
        step = float(self.step_size or default)
        interval, growth, shortest = reach(self, step, batch, length, facts)
        return DelayedSVRGAlgorithm(
            interval=interval,
            growth=growth,
            stage_length=length,
            step_size=step,
            batch_size=batch,
            replacement=self.replacement,
            shortest=shortest,
            default_step=default,
            convexity=mu,
            anchor=self.anchor,
            output=self.output if self.output != "auto" else "last" if mu > 0 else "mean",
        )

    def _default_step(self, batch: int, length: int, mu: float, facts: Facts) -> float:
        if self.parameters == "practical":
            return walking_step(batch, facts)
        gap = length if self.interval is None else largest_gap(as_interval(self.interval), length)
        smoothness = positive(facts.smoothness.maximum)
        return theory.step_size("dp-svrg", smoothness=smoothness, convexity=mu, interval=gap)


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class DelayedSVRGAlgorithm(AnchoredAlgorithm[DelayedSVRGState]):
    """DP-SVRG with all settings."""

    name: ClassVar[str] = "DelayedSVRG"

    convexity: float
    anchor: str
    output: str

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return "projected SVRG" if self.interval == 1 else "delayed projected SVRG"

    def start(self, x: Array, clock: int = 0) -> DelayedSVRGState:
        """Begin with x as the first anchor."""
        return DelayedSVRGState(x=x, anchored=AnchorStage.begin(self, x, clock))

    def ask(self, state: DelayedSVRGState) -> Request:
        """Ask for the projected gradient at a new anchor, else walk to the next projection time."""
        average = Average(self.convexity) if self.anchor == "average" else None
        return state.anchored.ask(self, state.x, average)

    def tell(self, state: DelayedSVRGState, reply: Reply) -> DelayedSVRGState:
        """Keep the shift, or go on from the end of the walk, with a new anchor when the stage is over."""
        if state.anchored.rejects(reply):
            undone = state.anchored.undone()
            return state._replace(x=undone.anchor, anchored=undone)
        x = reply.end if isinstance(reply, Arrived) else state.x
        return state._replace(x=x, anchored=state.anchored.tell(reply, self.stage_length))

    def clock(self, state: DelayedSVRGState) -> int:
        """Return the steps so far."""
        return state.anchored.clock

    def recovers(self, state: DelayedSVRGState) -> bool:
        """Say whether the last stage was undone."""
        return state.anchored.pace.turned_back

    def estimate(self, state: DelayedSVRGState) -> Array:
        """Return the last anchor, or the mean of the anchors."""
        return state.anchored.mean if self.output == "mean" else state.anchored.anchor

    def coordinates(self, state: DelayedSVRGState) -> tuple[Array, ...] | None:
        """Return anchor and x at the start of a stage."""
        return (state.anchored.anchor, state.x) if state.anchored.begins else None

    def move(
        self, state: DelayedSVRGState, coordinates: tuple[Array, ...], weights: Array | None
    ) -> DelayedSVRGState:
        """Start the stage elsewhere."""
        anchor, x = coordinates
        return state._replace(x=x, anchored=state.anchored.moved(anchor))

    def shorten(self, state: DelayedSVRGState, factor: float) -> DelayedSVRGState:
        """Walk less far, or scale eta."""
        return state._replace(anchored=state.anchored.shortened(factor))
