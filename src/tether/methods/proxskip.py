"""ProxSkip: full-gradient steps, a projection every 1/p-th, and a dual variable that removes the drift.

Mishchenko, Malinovsky, Stich & Richtarik (2022); on an affine set the prox is Pi and h stays in range(A^T),
where it converges to grad F(x*) = A^T lambda*.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Self, final

import numpy as np

from tether import theory
from tether.arrays import Array
from tether.methods.base import Method
from tether.methods.parameters import check_settings
from tether.problem import Facts
from tether.requests import Arrived, Descend, Dual, Gradient, Reply


class ProxSkipState(NamedTuple):
    """The last projected point; h is the worker's."""

    x: Array
    clock: int
    stage: int


@final
@dataclass(frozen=True, kw_only=True)
class ProxSkip(Method[ProxSkipState]):
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
    >>> from tether.methods import ProxSkip
    >>> projected_gradient_descent = ProxSkip(interval=1)
    """

    interval: int | None = None
    step_size: float | None = None
    random: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        check_settings(self)
        if isinstance(self.interval, tuple):
            raise ValueError(f"interval of ProxSkip must be a whole number, got {self.interval!r}.")

    def prepare(self, facts: Facts) -> Self:
        """Fill the open settings."""
        constants = facts.smoothness
        step = self.step_size or theory.step_size(
            "proxskip", smoothness=constants.full or 1.0, convexity=constants.convexity
        )
        interval = self.interval
        if interval is None:
            kappa = constants.full / constants.convexity if constants.convexity > 0 else math.inf
            interval = max(1, min(1000, round(math.sqrt(min(kappa, 1e6)))))
        seed = facts.seed if self.seed is None else self.seed
        return replace(self, interval=interval, step_size=step, seed=seed)

    def start(self, x: Array, clock: int = 0) -> ProxSkipState:
        """Begin at a feasible point with h = 0."""
        return ProxSkipState(x, 0, 0)

    def ask(self, state: ProxSkipState) -> Descend:
        """Walk to the next projection."""
        assert self.step_size and self.interval
        steps = self.interval
        if self.random:
            steps = int(np.random.default_rng([self.seed or 0, state.stage]).geometric(1 / self.interval))
        rate = 1 / (self.step_size * self.interval)
        return Descend(
            start=state.x,
            steps=steps,
            step_size=self.step_size,
            batch_size=None,
            clock=state.clock,
            dual=Dual(rate),
        )

    def tell(self, state: ProxSkipState, reply: Reply) -> ProxSkipState:
        """Go on from the projected point."""
        assert isinstance(reply, Arrived)
        return ProxSkipState(reply.end, state.clock + reply.work.steps, state.stage + 1)

    def estimate(self, state: ProxSkipState) -> Array:
        """Return the last projected point."""
        return state.x

    def inspect(self, state: ProxSkipState) -> Gradient:
        """Certify with h instead of a projection."""
        return Gradient(state.x, tangent=False, dual=Dual())
