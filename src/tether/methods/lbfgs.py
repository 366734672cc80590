"""Projected L-BFGS: the baseline to beat on small dense problems.

All directions are combinations of projected gradients, so iterates stay feasible by themselves. A trial point
of the line search is one request; the first is nearly always taken, which makes one projection an iteration.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, final

import numpy as np

from tether.arrays import Array, norm
from tether.methods.base import Algorithm, Method
from tether.methods.pairs import Pairs
from tether.methods.parameters import check_settings, positive
from tether.problem import Facts
from tether.requests import Gradient, Measured, Reply

DECREASE = 1e-4  # sufficient decrease (Armijo)
CURVATURE = 0.9  # weak Wolfe
# Of ||P grad F||: a smaller change of it is no curvature but rounding, which L-BFGS would amplify.
SMALLEST_CHANGE = 1e-8
GRADIENT_ROUNDING = 1e-14  # of ||grad F||: a shorter P grad F would lead off the constraint
FLOAT32_NOISE = 100.0  # times the rounding of float64: an error as large as this is that of float32
FIRST_SHARE = 1e-3  # of ||x||: the first step where L is not known
SEEN_CURVATURE = 1e-6  # of the slope: a larger change of it shows the curvature of a first step
TRIALS = 20  # after which a line search asks no more for curvature


class LBFGSState(NamedTuple):
    """The current point with its gradient, the curvature pairs, and the line search under way."""

    x: Array
    direction: Array
    pairs: Pairs
    value: float = math.inf
    gradient: Array | None = None  # P grad F(x); None before the first reply
    image: Array | None = None  # P_M grad F(x), without a metric the same; None: in another metric
    length: float = 0.0  # of the trial: x + length direction
    low: float = 0.0  # the bracket of acceptable lengths
    high: float = math.inf
    trials: int = 0
    noise: float = 0.0  # by how much F has contradicted its slopes on the line
    idle: int = 0  # line searches in succession that led nowhere
    stuck: bool = False
    stage: int = 0


@final
@dataclass(frozen=True, kw_only=True)
class LBFGS(Method):
    """Limited-memory BFGS with projected gradients and a Wolfe line search.

    Parameters
    ----------
    memory : int, default 10
        Curvature pairs kept.
    smoothness : float, optional
        L, which scales the first step. Open: a bound on it that costs next to nothing where there is one,
        else what is short against x; a short step finds the scale.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.methods import LBFGS
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((100, 4)), rng.standard_normal(100)
    >>> objective = tether.GLM(X, y, loss="squared", l2=0.1)
    >>> tether.solve(objective, tether.Affine(np.ones((1, 4))), LBFGS(memory=20)).success
    True
    """

    memory: int = 10
    smoothness: float | None = None

    def __post_init__(self) -> None:
        check_settings(self)

    def prepare(self, facts: Facts) -> "LBFGSAlgorithm":
        """Take L_F from the problem, once it is needed."""
        return LBFGSAlgorithm(memory=self.memory, smoothness=self.smoothness, facts=facts)


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class LBFGSAlgorithm(Algorithm[LBFGSState]):
    """L-BFGS with all settings."""

    name: ClassVar[str] = "LBFGS"
    unit: ClassVar[str] = "iteration"

    memory: int
    smoothness: float | None  # None: that of the facts, where they tell
    facts: Facts = field(repr=False)
    concordance: float = field(default=math.inf, repr=False)  # R of `tether.curvature`

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return "L-BFGS"

    def start(self, x: Array, clock: int = 0) -> LBFGSState:
        """Begin with no curvature known."""
        return LBFGSState(x=x, direction=np.zeros_like(x), pairs=Pairs.none(len(x)))

    def ask(self, state: LBFGSState) -> Gradient:
        """Ask for the projected gradient at the trial point."""
        return Gradient(state.x + state.length * state.direction)

    def tell(self, state: LBFGSState, reply: Reply) -> LBFGSState:
        """Accept the trial and turn, or try another length."""
        assert isinstance(reply, Measured) and reply.gradient is not None
        if state.stuck or not reply.complete:  # a mix of gradients from several points is none: ask again
            return state
        if state.gradient is None:
            return self._turn(reply, state.pairs, state.idle, state.stage)
        before = float(state.gradient.dot(state.direction))
        after = float(reply.gradient.dot(state.direction))
        if not _decreases(state, reply, before, after):
            return self._shorten(state, reply.value, before, after)
        steep = after < CURVATURE * before and state.trials < TRIALS
        if steep and not self._shows_scale(state, before, after):
            return _lengthen(state)
        idle = state.idle + 1 if _leads_nowhere(state, reply) else 0
        pairs = Pairs.none(len(state.x)) if idle else self._learned(state, reply)
        return self._turn(reply, pairs, idle, state.stage + 1)

    def _shorten(self, state: LBFGSState, value: float, before: float, after: float) -> LBFGSState:
        """Try a shorter step: the first time one that the growth of curvature allows, where that is known."""
        shorter = _shorter(state, value, before, after)
        reach = self.concordance * state.length * norm(state.direction)
        if state.trials or math.isfinite(value) or not 0.0 < reach < math.inf:
            return shorter
        return shorter._replace(length=state.length * math.log1p(reach) / reach)

    def _learned(self, state: LBFGSState, reply: Measured) -> Pairs:
        """Return the curvature pairs with that of an accepted step, if it has curvature."""
        assert reply.gradient is not None and state.gradient is not None
        s, y = state.length * state.direction, reply.gradient - state.gradient
        change = norm(y)
        flat = float(s.dot(y)) <= 1e-14 * norm(s) * change or change <= SMALLEST_CHANGE * norm(state.gradient)
        if flat or state.image is None:
            return state.pairs
        plain = state.image is state.gradient and reply.curved is None
        return state.pairs.followed_by(s, y, y if plain else image_of(reply) - state.image, self.memory)

    def _turn(self, reply: Measured, pairs: Pairs, idle: int, stage: int) -> LBFGSState:
        """Choose the next direction at an accepted point."""
        assert reply.gradient is not None
        image = image_of(reply)
        direction = -pairs.inverse(reply.gradient, image) if len(pairs.steps) else None
        if direction is None or not float(direction.dot(reply.gradient)) < 0:  # rounding has spoilt pairs
            pairs = Pairs.none(len(image))
            direction = -self._first_scale(reply) * image
        still = norm(reply.gradient) <= GRADIENT_ROUNDING * reply.scale or idle >= 2
        return LBFGSState(
            x=reply.point,
            direction=np.zeros_like(direction) if still else direction,
            pairs=pairs,
            value=reply.value,
            gradient=reply.gradient,
            image=image,
            length=1.0,
            idle=idle,
            stuck=still,
            stage=stage,
        )

    def _first_scale(self, reply: Measured) -> float:
        """Return 1 in a metric; else 1/L, or 1 over a bound on it, or what makes a step short against x."""
        assert reply.gradient is not None
        if reply.curved is not None:
            return 1.0
        if self.smoothness is not None:
            return 1.0 / self.smoothness
        if self.facts.smoothness.known:
            return 1.0 / positive(self.facts.smoothness.most)
        length = norm(reply.point) or 1.0
        return FIRST_SHARE * length / (norm(reply.gradient) or 1.0)

    def _shows_scale(self, state: LBFGSState, before: float, after: float) -> bool:
        """Say whether a short first step was long enough to see the curvature, which scales the next one."""
        first = self.smoothness is None and not len(state.pairs.steps)
        return first and after - before > -SEEN_CURVATURE * before

    def estimate(self, state: LBFGSState) -> Array:
        """Return the last accepted point."""
        return state.x

    def recovers(self, state: LBFGSState) -> bool:
        """Say that the line search does, if there is a direction to search in."""
        return state.gradient is None or bool(np.isfinite(state.gradient).all())

    def exhausted(self, state: LBFGSState) -> bool:
        """Say whether the gradient is down to rounding, or line searches find no lower point."""
        return state.stuck


def _decreases(state: LBFGSState, reply: Measured, before: float, after: float) -> bool:
    """Armijo, or its form by slopes where F only changes by rounding (Hager & Zhang 2005)."""
    if not math.isfinite(reply.value):
        return False
    if reply.value <= state.value + DECREASE * state.length * before:
        return True
    return reply.value <= state.value + reply.rounding and (2 * DECREASE - 1) * before >= after


def _leads_nowhere(state: LBFGSState, reply: Measured) -> bool:
    """Say whether a long line search among noise ended with neither a lower F nor a shorter gradient.

    So it ends with data in float32: at last only steps are left that are too short for that precision.
    """
    assert reply.gradient is not None and state.gradient is not None
    if state.trials < TRIALS or state.noise <= FLOAT32_NOISE * reply.rounding:
        return False
    falls = state.value - reply.value > reply.rounding
    return not falls and norm(reply.gradient) > 0.99 * norm(state.gradient)


def image_of(reply: Measured) -> Array:
    """Return P_M grad F, or P grad F where there is no metric."""
    assert reply.gradient is not None
    return reply.gradient if reply.curved is None else reply.curved.image


def _lengthen(state: LBFGSState) -> LBFGSState:
    """Double the trial for as long as F falls; inside a bracket go half the way to its end."""
    if math.isinf(state.high):
        length, trials = 2.0 * state.length, min(state.trials + 1, TRIALS - 1)
    else:
        length, trials = 0.5 * (state.length + state.high), state.trials + 1
    return state._replace(low=state.length, length=length, trials=trials)


def _shorter(state: LBFGSState, value: float, before: float, after: float) -> LBFGSState:
    """Bring the trial down to the minimiser of the parabola through what is known, inside the bracket."""
    high, low = state.length, state.low
    guess = 0.5 * (low + high)
    if low == 0.0 and math.isfinite(value):
        curvature = value - state.value - before * high
        if curvature > 0:
            guess = min(max(-before * high * high / (2 * curvature), 0.1 * high), 0.5 * high)
    noise = state.noise
    if math.isfinite(value) and math.isfinite(after):  # a convex F would not rise by more than length * after
        noise = max(noise, value - state.value - high * after)
    stuck = state.trials >= 2 * TRIALS
    return state._replace(length=guess, high=high, trials=state.trials + 1, noise=noise, stuck=stuck)
