"""SCAFFOLD: control variates against the drift of workers that differ (Karimireddy et al. 2019).

The server holds x and c, worker k holds c_k; all controls start at zero. A round is

    y_k = x;  K steps  y_k -= eta ( g_k(y_k) - c_k + c );   c_k+ = c_k - c + (x - y_k)/(K eta)
    x += eta_g mean_S (y_k - x);   c += |S|/n mean_S (c_k+ - c_k)

with S the workers that take part. The mean change of the c_k follows from the mean of the y_k, so only y_k
has to travel.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self, final

import numpy as np

from tether.arrays import Array
from tether.methods.base import Method
from tether.methods.parameters import batch_or_default, check_settings, steps_per_pass
from tether.problem import Facts
from tether.requests import Arrived, Descend, Dual, Reply


class ScaffoldState(NamedTuple):
    """The server's x and c."""

    x: Array
    control: Array
    clock: int
    stage: int


@final
@dataclass(frozen=True, kw_only=True)
class Scaffold(Method[ScaffoldState]):
    """SCAFFOLD with control variates of the second kind, for federations.

    With a constraint on the common model the mean of the walks is projected onto it. Stochastic steps of
    constant size stall at their own noise; with full local gradients the method converges linearly.

    Parameters
    ----------
    interval : int, optional
        K, the local steps of a round. Open: 10, with stochastic steps at most one pass.
    step_size : float, optional
        eta, the local step. Open: 1/(2 L(b)); with full gradients 1/(2 L_F).
    server_step : float, default 1
        eta_g, the step of the server towards the mean.
    batch_size : int, optional
        b. Open: the batch size at which steps are efficient.
    full_gradients : bool, default False
        Use all of a worker's samples in every step.
    participation : float, default 1
        The share of workers asked in each round, drawn at random.
    replacement : bool, default False
        Draw samples independently instead of permuting each pass.

    Examples
    --------
    >>> from tether.methods import Scaffold
    >>> Scaffold(interval=20, participation=0.5).interval
    20
    """

    interval: int | None = None
    step_size: float | None = None
    server_step: float = 1.0
    batch_size: int | None = None
    full_gradients: bool = False
    participation: float = 1.0
    replacement: bool = False

    def __post_init__(self) -> None:
        check_settings(self)
        if isinstance(self.interval, tuple):
            raise ValueError(f"interval of Scaffold must be a whole number, got {self.interval!r}.")

    def prepare(self, facts: Facts) -> Self:
        """Fill the open settings."""
        batch = facts.local_samples if self.full_gradients else batch_or_default(self.batch_size, facts)
        length = 10 if self.full_gradients else min(10, steps_per_pass(batch, facts))
        curvature = facts.smoothness.of_batch(batch, facts.local_samples) or 1.0
        return replace(
            self,
            interval=self.interval or length,
            step_size=self.step_size or 0.5 / curvature,
            batch_size=batch,
        )

    def start(self, x: Array, clock: int = 0) -> ScaffoldState:
        """Begin at a feasible point with c = 0."""
        return ScaffoldState(x, np.zeros_like(x), 0, 0)

    def ask(self, state: ScaffoldState) -> Descend:
        """Walk K steps everywhere."""
        assert self.step_size and self.interval
        return Descend(
            start=state.x,
            steps=self.interval,
            step_size=self.step_size,
            batch_size=None if self.full_gradients else self.batch_size,
            clock=state.clock,
            shift=state.control,
            replacement=self.replacement,
            dual=Dual(1 / (self.interval * self.step_size), own=True, renew=True),
            participation=self.participation,
        )

    def tell(self, state: ScaffoldState, reply: Reply) -> ScaffoldState:
        """Move x towards the mean, and c by the share of workers that moved theirs."""
        assert isinstance(reply, Arrived) and self.step_size and self.interval
        moved = (state.x - reply.end) / (self.interval * self.step_size)
        return ScaffoldState(
            state.x + self.server_step * (reply.end - state.x),
            state.control + reply.share * (moved - state.control),
            state.clock + reply.work.steps,
            state.stage + 1,
        )

    def estimate(self, state: ScaffoldState) -> Array:
        """Return x."""
        return state.x
