"""What is to be solved, and what is known of it before a run."""

import math
from collections.abc import Callable
from typing import NamedTuple

from tether.arrays import Array
from tether.constraints.base import Constraint
from tether.curvature import SecondOrder
from tether.feasible import Feasible
from tether.objectives.base import Objective
from tether.objectives.pool import Pool
from tether.objectives.smoothness import Constants, Contrast, Smoothness
from tether.polyhedral import Pieces
from tether.region import Region

NUMBER = 0.45  # nanoseconds in which compiled code reads a number, about


class Problem(NamedTuple):
    """Minimise F subject to a constraint; the seed fixes which samples the steps see."""

    objective: Objective
    constraint: Constraint  # the equations
    seed: int = 0
    region: Region | None = None  # what there is beyond equations: bounds, inequalities, penalties
    feasible: Feasible | None = None  # how all this came of what users gave

    def residual(self, x: Array) -> float:
        """Return how far x is from satisfying all equations and walls."""
        return self.constraint.residual(x) if self.region is None else self.region.residual(x)

    def digest(self) -> str:
        """Return a digest of what x must satisfy and pays for."""
        return self.constraint.digest() if self.region is None else self.region.digest()


class Cut(NamedTuple):
    """Long rows in shares: N', the samples of a pass then, and the largest smoothness constant of a share."""

    draws: int = 0
    largest: float = 0.0


class Facts(NamedTuple):
    """What a method may know of a problem before it starts."""

    n_samples: int
    dim: int
    smoothness: Constants  # of which those that cost passes are computed when a method asks for them
    natural_batch: int = 1  # the batch size at which steps are efficient
    seed: int = 0
    n_workers: int = 1
    round_work: float = math.inf  # of a projection and what comes with it, in samples of a step
    anchored_price: int = 1  # component gradients that a sample of an anchored step costs
    proven_convex: bool = True  # by construction, so that nobody needs to watch
    bends: Callable[[], SecondOrder] = SecondOrder  # which autodiff has to compile for
    contrast: Callable[[], Contrast] = Contrast  # what makes it difficult, if somebody wants to know
    step_work: float = 0.0  # of a sample of a step, in nanoseconds, about; 0: workers are apart
    equations: int = 0  # about, where it is known
    cut: Callable[[], Cut] = Cut  # what there is where long rows are taken in shares
    pieces: Pieces | None = None  # what single variables pay and must keep to; None: there are equations only
    couples: bool = False  # rows beyond equations tie variables together
    floor: float = -math.inf  # F is nowhere lower

    @property
    def kinks(self) -> bool:
        """Whether there is more than equations."""
        return self.pieces is not None

    @property
    def local_samples(self) -> int:
        """The samples of a worker, on average."""
        return -(-self.n_samples // self.n_workers)

    @property
    def second_order(self) -> SecondOrder:
        """What second derivatives cost and promise."""
        return self.bends()

    @property
    def draws(self) -> int:
        """N', the samples of a pass that takes long rows in shares; 0: no row has shares."""
        return self.cut().draws

    @property
    def share(self) -> float:
        """The largest smoothness constant of a share."""
        return self.cut().largest

    @property
    def shared(self) -> "Facts":
        """What is known of the shares as if each were a sample; L_F and mu are the same."""
        constants = self.smoothness
        largest = min(max(self.share, constants.full), constants.maximum)
        return self._replace(n_samples=self.draws, smoothness=constants._replace(maximum=largest))

    @classmethod
    def of(cls, pool: Pool, seed: int, round_work: float = math.inf) -> "Facts":
        """Return what is known of workers together."""
        return cls(
            n_samples=pool.n_samples,
            dim=pool.cards[0].dim,
            smoothness=pool.constants(),
            natural_batch=pool.natural_batch,
            seed=seed,
            n_workers=len(pool.cards),
            round_work=round_work,
            anchored_price=pool.anchored_price,
            proven_convex=pool.proven_convex,
            bends=lambda: pool.second_order,
            cut=lambda: Cut(pool.draws, pool.share),
            floor=pool.floor,
        )


#: What stands for facts while a method waits for its turn: it begins anew when that comes.
NO_FACTS = Facts(n_samples=1, dim=1, smoothness=Smoothness(1.0, 1.0, 0.0, exact=False))
