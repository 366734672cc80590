"""ProxSkip: full-gradient steps, a projection every 1/p-th, and a dual variable that removes the drift.

Mishchenko, Malinovsky, Stich & Richtarik (2022); on an affine set the prox is Pi and h stays in range(A^T),
where it converges to grad F(x*) = A^T lambda*.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, final

import numpy as np

from tether import theory
from tether.arrays import Array
from tether.methods.base import Algorithm, Method
from tether.methods.parameters import check_settings, check_whole_interval, positive, smaller_step
from tether.needs import Need
from tether.problem import Facts
from tether.requests import Arrived, Descend, Dual, Gradient, Reply

LONGEST = 1_000  # steps that an open interval may have


class ProxSkipState(NamedTuple):
    """The last projected point; h is the worker's."""

    x: Array
    clock: int
    stage: int = 0


@final
@dataclass(frozen=True, kw_only=True)
class ProxSkip(Method):
    """ProxSkip on an affine set: O(sqrt(kappa) log 1/eps) projections with E > 1.

    xh = x - gamma (grad F(x) - h); every E-th step (or with probability 1/E) x = Pi(xh) and
    h += (x - xh)/(gamma E).
    With the consensus set this is Scaffnew; with E = 1 it is projected gradient descent.

    Parameters
    ----------
    interval : int, optional
        E = 1/p. Open: sqrt(kappa), at most 1000.
    step_size : float, optional
        gamma. Open: 1/L_F.
    random : bool, default False
        Toss a coin for every projection, as published, instead of counting steps.
    seed : int, optional
        Of the coin. Open: the run's.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.methods import ProxSkip
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((100, 4)), rng.standard_normal(100)
    >>> objective = tether.GLM(X, y, loss="squared", l2=0.1)
    >>> tether.solve(objective, tether.Affine(np.ones((1, 4))), ProxSkip(interval=5)).success
    True
    """

    interval: int | None = None
    step_size: float | None = None
    random: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        check_settings(self)
        check_whole_interval(self)

    @property
    def needs(self) -> frozenset[Need]:
        """It only walks, and its projection may be a prox."""
        return frozenset()

    def prepare(self, facts: Facts) -> "ProxSkipAlgorithm":
        """Fill the open settings."""
        L, mu = positive(facts.smoothness.full), facts.smoothness.convexity
        default = theory.step_size("proxskip", smoothness=L, convexity=mu)
        kappa = L / mu if mu > 0 else math.inf
        return ProxSkipAlgorithm(
            interval=int(self.interval or max(1, round(math.sqrt(min(kappa, LONGEST**2))))),
            step_size=float(self.step_size or default),
            random=self.random,
            seed=facts.seed if self.seed is None else self.seed,
            default_step=default,
            kinks=facts.kinks,
        )


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class ProxSkipAlgorithm(Algorithm[ProxSkipState]):
    """ProxSkip with all settings."""

    name: ClassVar[str] = "ProxSkip"
    unit: ClassVar[str] = "round"

    interval: int
    step_size: float
    random: bool
    seed: int
    default_step: float = field(repr=False)  # what an open step size would be
    kinks: bool = field(default=False, repr=False)  # projections are proxes

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return "ProxSkip"

    def start(self, x: Array, clock: int = 0) -> ProxSkipState:
        """Begin at a feasible point with h = 0."""
        return ProxSkipState(x=x, clock=clock)

    def ask(self, state: ProxSkipState) -> Descend:
        """Walk to the next projection."""
        steps = self.interval
        if self.random:
            coin = np.random.default_rng([self.seed, state.clock])
            steps = int(coin.geometric(1 / self.interval))
        return Descend(
            start=state.x,
            steps=steps,
            step_size=self.step_size,
            batch_size=None,
            clock=state.clock,
            dual=Dual(1 / (self.step_size * self.interval), prox=self.kinks),
        )

    def tell(self, state: ProxSkipState, reply: Reply) -> ProxSkipState:
        """Go on from the projected point.

        The rate of h belongs to E and not to the steps of a walk. So a walk that a budget cut short is one
        whose coin came up early, as it may.
        """
        assert isinstance(reply, Arrived)
        return state._replace(x=reply.end, clock=state.clock + reply.work.steps, stage=state.stage + 1)

    def estimate(self, state: ProxSkipState) -> Array:
        """Return the last projected point."""
        return state.x

    def inspect(self, state: ProxSkipState) -> Gradient:
        """Certify with h instead of a projection."""
        return Gradient(state.x, tangent=False, dual=Dual())

    def clock(self, state: ProxSkipState) -> int:
        """Return the steps so far, from which the coins follow."""
        return state.clock

    def remedy(self) -> str:
        """Advise a smaller step."""
        return smaller_step(self.step_size, self.default_step)
