"""A finite sum times a number, so that workers of unequal size can be averaged plainly."""

from collections.abc import Sequence
from typing import Any, final

from tether.arrays import Array, Indices
from tether.curvature import SecondOrder
from tether.digest import digest_of
from tether.names import Labels
from tether.objectives.base import Evaluation, Kind, Objective, Smoothness
from tether.objectives.shares import Shares
from tether.objectives.smoothness import Constants
from tether.objectives.walk import Walk, Walked


@final
class Weighted(Objective):
    """weight f: a step of eta on it is a step of eta weight on f, with everything else divided by the weight.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.objectives.weighted import Weighted
    >>> plain = tether.Quadratic(matrix=np.eye(2), linear=np.zeros(2))
    >>> Weighted(plain, 0.5).value(np.ones(2)), plain.value(np.ones(2))
    (1.0, 2.0)
    """

    def __init__(self, objective: Objective, weight: float) -> None:
        self.objective, self.weight = objective, float(weight)
        self.n_samples, self.dim = objective.n_samples, objective.dim
        self.uses_blas, self.anchored_price = objective.uses_blas, objective.anchored_price
        self.names, self.initial = objective.names, objective.initial
        self.proven_convex, self.domain = objective.proven_convex, objective.domain
        self.floor = self.weight * objective.floor

    def evaluate(self, x: Array) -> Evaluation:
        """Return weight f(x) and its gradient; slopes stay those of f."""
        value, gradient, slopes = self.objective.evaluate(x)
        return Evaluation(self.weight * value, self.weight * gradient, slopes)

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Return the weighted gradient of a batch."""
        return self.weight * self.objective.batch_gradient(x, batch, anchor, slopes)

    @property
    def smoothness(self) -> Smoothness:
        """The constants of f, times the weight."""
        return self.objective.smoothness.times(self.weight)

    def constants(self) -> Constants:
        """Return the constants of f times the weight, open where those of f are."""
        return self.objective.constants().times(self.weight)

    def edge(self, x: Array) -> str:
        """That of f."""
        return self.objective.edge(x)

    @property
    def second_order(self) -> SecondOrder:
        """That of f: a weight changes neither prices nor how fast second derivatives fall."""
        return self.objective.second_order

    def curvature(self, x: Array, form: str, batch: Indices | None = None) -> Array:
        """Return the weighted second derivatives; of a product G (x) S / trace(S) + s, all three parts."""
        return self.weight * self.objective.curvature(x, form, batch)

    def curvature_of_some(
        self, x: Array, form: str, share: float, seed: Sequence[int]
    ) -> tuple[Array, float]:
        """Return the weighted second derivatives from a share of the samples, and what they cost."""
        found, cost = self.objective.curvature_of_some(x, form, share, seed)
        return self.weight * found, cost

    def curvature_among(self, x: Array, chosen: Indices, batch: Indices | None = None) -> Array:
        """Return the weighted second derivatives of some variables."""
        return self.weight * self.objective.curvature_among(x, chosen, batch)

    @property
    def majorised(self) -> Objective | None:
        """That of f, times the weight."""
        above = self.objective.majorised
        return None if above is None else Weighted(above, self.weight)

    @property
    def shares(self) -> Shares | None:
        """Those of f."""
        own = self.objective.shares
        if own is None:
            return None
        return Shares(own.order, Weighted(own.walker, self.weight), self.weight * own.largest)

    @property
    def nonconvexity(self) -> str:
        """What shows that f is not convex."""
        return self.objective.nonconvexity

    def digest(self) -> str:
        """Return a hexadecimal digest of f and the weight."""
        return digest_of("Weighted", self.weight, self.objective.digest())

    @property
    def words(self) -> str:
        """Those of f."""
        return self.objective.words

    @property
    def labels(self) -> Labels:
        """Those of f."""
        return self.objective.labels

    def kind(self) -> Kind:
        """That of f."""
        return self.objective.kind()

    @property
    def unweighted(self) -> Objective:
        """f."""
        return self.objective

    @property
    def mass(self) -> float:
        """That of f."""
        return self.objective.mass

    @property
    def natural_batch(self) -> int:
        """That of f."""
        return self.objective.natural_batch

    def cost_of_step(self, walk: Walk) -> int:
        """That of f."""
        return self.objective.cost_of_step(walk)

    def descend(self, walk: Walk) -> Walked:
        """Have f take the steps, rescaled."""
        w, averaging = self.weight, walk.averaging
        if averaging is not None:
            averaging = averaging._replace(convexity=averaging.convexity / w)
        walked = self.objective.descend(
            walk._replace(
                step_size=walk.step_size * w,
                shift=None if walk.shift is None else walk.shift / w,
                ridge=walk.ridge / w,
                averaging=averaging,
                pieces=None if walk.pieces is None else walk.pieces.times(1.0 / w),
            )
        )
        if walked.averaging is None or walk.averaging is None:
            return walked
        summed = walked.averaging._replace(convexity=walk.averaging.convexity)
        return walked._replace(averaging=summed)

    def unpack(self, x: Array) -> Any:
        """Return x in the shape natural to the model."""
        return self.objective.unpack(x)
