"""SCAFFOLD: control variates against the drift of workers that differ (Karimireddy et al. 2019).

The server holds x and c, worker k holds c_k; all controls start at zero. A round is

    y_k = x;  K steps  y_k -= eta ( g_k(y_k) - c_k + c );   c_k+ = c_k - c + (x - y_k)/(K eta)
    x += eta_g mean_S (y_k - x);   c += |S|/n mean_S (c_k+ - c_k)

with S the workers that take part. The mean change of the c_k follows from the mean of the y_k, so only y_k
has to travel.
"""

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, final

import numpy as np

from tether.arrays import Array
from tether.methods.base import Algorithm, Method
from tether.methods.parameters import (
    batch_or_default,
    check_settings,
    check_whole_interval,
    length_or_pass,
    positive,
    smaller_step,
)
from tether.needs import Need
from tether.problem import Facts
from tether.requests import Arrived, Descend, Dual, Reply

STEPS = 10  # of an open interval


class ScaffoldState(NamedTuple):
    """The server's x and c."""

    x: Array
    control: Array
    clock: int
    stage: int = 0


@final
@dataclass(frozen=True, kw_only=True)
class Scaffold(Method):
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
    >>> import numpy as np, tether
    >>> from tether.methods import Scaffold
    >>> rng = np.random.default_rng(0)
    >>> data = [(rng.standard_normal((50, 3)), rng.standard_normal(50)) for _ in range(4)]
    >>> workers = tether.Federation([tether.GLM(X, y, loss="squared", l2=0.1) for X, y in data])
    >>> tether.solve(workers, method=Scaffold(interval=5, full_gradients=True), max_rounds=200).success
    True
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
        check_whole_interval(self)

    @property
    def needs(self) -> frozenset[Need]:
        """It only walks."""
        return frozenset({Need.PLANE})

    def prepare(self, facts: Facts) -> "ScaffoldAlgorithm":
        """Fill the open settings."""
        batch = facts.local_samples if self.full_gradients else batch_or_default(self.batch_size, facts)
        longest = STEPS if self.full_gradients else length_or_pass(None, batch, facts)
        default = 0.5 / positive(facts.smoothness.of_batch(batch, facts.local_samples))
        return ScaffoldAlgorithm(
            interval=int(self.interval or min(STEPS, longest)),
            step_size=float(self.step_size or default),
            server_step=self.server_step,
            batch_size=None if self.full_gradients else batch,
            participation=self.participation,
            replacement=self.replacement,
            default_step=default,
        )


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class ScaffoldAlgorithm(Algorithm[ScaffoldState]):
    """SCAFFOLD with all settings."""

    name: ClassVar[str] = "Scaffold"
    unit: ClassVar[str] = "round"

    interval: int
    step_size: float
    server_step: float
    batch_size: int | None  # None: every step uses all of a worker's samples
    participation: float
    replacement: bool
    default_step: float = field(repr=False)  # what an open step size would be

    @property
    def reach(self) -> float:
        """K eta: controls are the walks divided by it."""
        return self.interval * self.step_size

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return "SCAFFOLD"

    def start(self, x: Array, clock: int = 0) -> ScaffoldState:
        """Begin at a feasible point with c = 0."""
        return ScaffoldState(x=x, control=np.zeros_like(x), clock=clock)

    def ask(self, state: ScaffoldState) -> Descend:
        """Walk K steps everywhere; after a start in the middle of a run all workers drop their old c_k."""
        anew = state.stage == 0 and state.clock > 0
        dropped = np.zeros(1) if anew else None
        return Descend(
            start=state.x,
            steps=self.interval,
            step_size=self.step_size,
            batch_size=self.batch_size,
            clock=state.clock,
            shift=state.control,
            replacement=self.replacement,
            dual=Dual(1 / self.reach, weights=dropped, own=True, renew=True),
            participation=1.0 if anew else self.participation,
        )

    def tell(self, state: ScaffoldState, reply: Reply) -> ScaffoldState:
        """Move x towards the mean, and c by the share of workers that moved theirs.

        Workers divide by K eta also where a budget cut the walk short, so c does too: it stays the mean of
        the c_k.
        """
        assert isinstance(reply, Arrived)
        moved = (state.x - reply.end) / self.reach
        return state._replace(
            x=state.x + self.server_step * (reply.end - state.x),
            control=state.control + reply.share * (moved - state.control),
            clock=state.clock + reply.work.steps,
            stage=state.stage + 1,
        )

    def estimate(self, state: ScaffoldState) -> Array:
        """Return x."""
        return state.x

    def clock(self, state: ScaffoldState) -> int:
        """Return the steps so far."""
        return state.clock

    def remedy(self) -> str:
        """Advise a smaller step."""
        return smaller_step(self.step_size, self.default_step)
