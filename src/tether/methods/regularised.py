"""Adaptive regularisation: a general convex problem as a chain of strongly convex ones.

Minimise F(x) + (s/2)||x - x_0||^2 with any method and halve s whenever the certificate has fallen to a
quarter (or after each stage, where a method asks for no projected gradient), until s is of the order of the
accuracy wanted (Allen-Zhu & Hazan 2016; Corollary 5.3 of Li & Zhang).
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, final

from tether.arrays import Array
from tether.curvature import SecondOrder
from tether.methods.base import Algorithm, Choice, Method
from tether.methods.newton import Newton
from tether.methods.parameters import check_settings, positive
from tether.needs import Need
from tether.problem import Cut, Facts
from tether.requests import Arrived, Gradient, Measured, Pull, Reply, Request


class RegularisedState(NamedTuple):
    """The inner state, the centre and strength of the pull, and the certificate to get below."""

    inner: Any
    center: Array
    strength: float
    target: float = math.inf
    stage: int = 0


@final
@dataclass(frozen=True)
class Regularised(Method):
    """Run a method on F + (s/2)||x - x_0||^2 and halve s as it converges.

    Parameters
    ----------
    method : Method
        Any method of the library; its open settings are filled anew for every s.
    strength : float, optional
        The first s. Open: L_F.
    floor : float, default 1e-10
        s is not halved below ``floor`` times its first value.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.methods import Nesterov, Regularised
    >>> rng = np.random.default_rng(0)
    >>> objective = tether.GLM(rng.standard_normal((100, 4)), rng.integers(0, 2, 100))
    >>> tether.solve(objective, tether.Affine(np.ones((1, 4))), Regularised(Nesterov())).success
    True
    """

    method: Method
    strength: float | None = None
    floor: float = 1e-10

    def __post_init__(self) -> None:
        check_settings(self)
        if not isinstance(self.method, Method) or isinstance(self.method, Regularised):
            raise TypeError(f"method must be another method of tether.methods, got {self.method!r}.")
        if isinstance(self.method, Newton):
            raise TypeError(
                "method must not be Newton, which needs the second derivatives of what it minimises; "
                'use it alone, or "lbfgs".'
            )

    @property
    def needs(self) -> frozenset[Need]:
        """Those of the method, on a plane."""
        return self.method.needs | {Need.PLANE}

    def prepare(self, facts: Facts) -> "RegularisedAlgorithm":
        """Take the first strength from the problem; the method is prepared for each strength."""
        strength = self.strength or positive(facts.smoothness.full)
        facts = facts._replace(bends=SecondOrder)  # those of F alone would mislead
        return RegularisedAlgorithm(method=self.method, strength=strength, floor=self.floor, facts=facts)


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class RegularisedAlgorithm(Algorithm[RegularisedState]):
    """Adaptive regularisation with all settings but those of the method, which depend on the strength."""

    name: ClassVar[str] = "Regularised"

    method: Method
    strength: float
    floor: float
    facts: Facts = field(repr=False)

    @property
    def title(self) -> str:
        """The name, and what is inside."""
        return f"{self.name}({type(self.method).__name__})"

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return f"{self._at(self.strength).words} with a pull that fades"

    def start(self, x: Array, clock: int = 0) -> RegularisedState:
        """Begin with the strongest pull, towards the starting point."""
        inner = self._at(self.strength).start(x, clock)
        return RegularisedState(inner=inner, center=x, strength=self.strength)

    def warm(self, state: RegularisedState) -> RegularisedState:
        """Start as the inner method does."""
        return state._replace(inner=self._at(state.strength).warm(state.inner))

    def ask(self, state: RegularisedState) -> Request:
        """Ask what the inner method asks, with the pull added to its walks."""
        request = self._at(state.strength).ask(state.inner)
        if isinstance(request, Gradient):
            return request
        # A shift that was sent already holds the pull at the anchor; what remains is the pull towards it.
        sent = request.anchor is not None and request.shift is not None
        center = request.anchor if sent and request.anchor is not None else state.center
        return request._replace(pull=Pull(center, state.strength))

    def tell(self, state: RegularisedState, reply: Reply) -> RegularisedState:
        """Pass the regularised reply on; weaken the pull once the certificate has fallen enough."""
        if isinstance(reply, Measured):
            reply = _regularise(reply, state)
        method = self._at(state.strength)
        inner = method.tell(state.inner, reply)
        staged = inner.stage > state.inner.stage
        state = state._replace(inner=inner, stage=state.stage + staged)
        if method.exhausted(inner):
            return self._weaken(state)
        if isinstance(reply, Arrived):
            return self._weaken(state) if staged and _is_unmeasured(method.ask(inner)) else state
        if reply.gradient is None:
            return state
        if math.isinf(state.target):
            return state._replace(target=reply.certificate / 4)
        return self._weaken(state) if reply.certificate <= state.target else state

    def _weaken(self, state: RegularisedState) -> RegularisedState:
        """Halve the pull and start the method anew where it got, with samples that nobody has seen yet."""
        strength = max(state.strength / 2, self.floor * self.strength)
        if strength == state.strength:
            return state
        clock = self.clock(state)
        inner = self._at(strength).start(self.estimate(state), clock)
        return state._replace(inner=inner, strength=strength, target=math.inf)

    def estimate(self, state: RegularisedState) -> Array:
        """Return the inner method's estimate."""
        return self._at(state.strength).estimate(state.inner)

    def inspect(self, state: RegularisedState) -> Gradient:
        """Certify as the inner method does."""
        return self._at(state.strength).inspect(state.inner)

    def recovers(self, state: RegularisedState) -> bool:
        """Say whether the inner method does."""
        return self._at(state.strength).recovers(state.inner)

    def settled(self, state: RegularisedState) -> bool:
        """Say whether the pull is at its weakest: before, a stage may stand still and the next one move."""
        return state.strength <= self.floor * self.strength

    def exhausted(self, state: RegularisedState) -> bool:
        """Say whether the inner method is exhausted at the weakest pull."""
        return self.settled(state) and self._at(state.strength).exhausted(state.inner)

    def describe(self, state: RegularisedState) -> str:
        """Say what the inner method says."""
        return self._at(state.strength).describe(state.inner)

    def choice(self, state: RegularisedState) -> Choice | None:
        """Return what the inner method chose."""
        return self._at(state.strength).choice(state.inner)

    def clock(self, state: RegularisedState) -> int:
        """Return the inner method's clock."""
        return self._at(state.strength).clock(state.inner)

    def remedy(self) -> str:
        """Advise what the inner method would."""
        return self._at(self.strength).remedy()

    def _at(self, strength: float) -> Algorithm[Any]:
        """Return the method prepared for F + (s/2)||x - x_0||^2."""
        constants = self.facts.smoothness
        stronger = constants._replace(
            maximum=constants.maximum + strength,
            full=constants.full + strength,
            convexity=constants.convexity + strength,
        )
        cut = Cut(self.facts.draws, self.facts.share + strength)
        return self.method.prepare(self.facts._replace(smoothness=stronger, cut=lambda: cut))


def _is_unmeasured(request: Request) -> bool:
    """Say whether no projected gradient is about to tell how far the stage has come."""
    return not isinstance(request, Gradient) or not request.tangent


def _regularise(reply: Measured, state: RegularisedState) -> Measured:
    """Return what the reply would have been for F + (s/2)||x - x_0||^2."""
    away = reply.point - state.center
    value = reply.value + 0.5 * state.strength * float(away @ away)
    if reply.gradient is None:
        distance = state.strength * math.sqrt(float(away @ away))
        return reply._replace(value=value, certificate=(math.sqrt(reply.certificate) + distance) ** 2)
    gradient = reply.gradient + state.strength * away
    return reply._replace(value=value, gradient=gradient, certificate=float(gradient @ gradient))
