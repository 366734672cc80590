"""Workers with data of their own and one common model.

    minimise F(x) = (1/N) sum_k sum_{i in worker k} f_i(x) = (1/n) sum_k (n n_k / N) f_k(x)

Each worker's f_k carries its share of the samples (or of their weights) as a weight, so that what workers
agree on stays the plain mean: the projection onto "all workers hold the same x".
"""

from collections.abc import Iterator, Sequence
from typing import Any, final

import numpy as np

from tether.arrays import Array, Indices
from tether.curvature import SecondOrder
from tether.digest import digest_of
from tether.lazy import lazy
from tether.names import Labels, common_names
from tether.objectives.base import Evaluation, Kind, Objective, Smoothness, require_form
from tether.objectives.pool import Pool, check_kinds, shares_kernels, weighted, weights_of
from tether.objectives.smoothness import Constants
from tether.threads import one_blas_thread


@final
class Federation(Objective):
    """A finite sum that is spread over workers.

    `tether.solve` gives every worker its own walk and one message a round: with the methods of the paper
    this is Local SGD ("dp-sgd"), Local SVRG ("dp-svrg") and Local ASVRG ("dp-asvrg"); "proxskip" is
    Scaffnew. A constraint binds the common model.

    Parameters
    ----------
    objectives : sequence of Objective
        The workers' own finite sums, all of the same dimension. Sizes may differ.

    Attributes
    ----------
    workers : tuple of Objective
        The local objectives with their weights.

    Examples
    --------
    >>> import numpy as np, tether
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((90, 3)), rng.standard_normal(90)
    >>> parts = tether.splits.iid(90, n_workers=3)
    >>> federation = tether.Federation([tether.GLM(X[i], y[i], "squared", l2=0.1) for i in parts])
    >>> tether.solve(federation, method="dp-svrg", tol=1e-8).success
    True

    References
    ----------
    Li & Zhang, "Delayed Projection Techniques for Linearly Constrained Problems", section 6.
    """

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self.objectives = _checked(objectives)
        self.n_samples = sum(local.n_samples for local in self.objectives)
        self.dim = self.objectives[0].dim
        if shares_kernels(self.n_samples, self.dim):
            for local in self.objectives:
                local.compile()
        self.names = common_names([local.names for local in self.objectives])
        self.initial = next((one.initial for one in self.objectives if one.initial is not None), None)
        self.proven_convex = all(local.proven_convex for local in self.objectives)
        self._weights = weights_of([local.mass for local in self.objectives])
        self.workers: tuple[Objective, ...] = tuple(map(weighted, self.objectives, self._weights))
        self.floor = float(np.mean([worker.floor for worker in self.workers]))

    @property
    def mass(self) -> float:
        """The samples of all workers, or the sum of their weights."""
        return sum(local.mass for local in self.objectives)

    def evaluate(self, x: Array) -> Evaluation:
        """Return F(x) and its gradient: the means over workers."""
        parts = [worker.evaluate(x) for worker in self.workers]
        value = float(np.mean([part.value for part in parts]))
        return Evaluation(value, np.mean([part.gradient for part in parts], axis=0))

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Return the gradient of samples numbered through all workers."""
        if batch is None:
            total = self.evaluate(x).gradient
            return total if anchor is None else total - self.evaluate(anchor).gradient
        total = np.zeros(self.dim)
        for objective, own, share in self._owners(batch):
            total += share * objective.batch_gradient(x, own, anchor)
        return total

    @property
    def second_order(self) -> SecondOrder:
        """The mean prices of a sample, and the largest R."""
        return self.pool.second_order

    def curvature(self, x: Array, form: str, batch: Indices | None = None) -> Array:
        """Return the means over workers, or over samples numbered through all of them."""
        require_form(self, form)
        if batch is None:
            return np.mean([worker.curvature(x, form) for worker in self.workers], axis=0)
        parts = [share * objective.curvature(x, form, own) for objective, own, share in self._owners(batch)]
        return np.sum(parts, axis=0)

    def curvature_among(self, x: Array, chosen: Indices, batch: Indices | None = None) -> Array:
        """Return the mean over workers of second derivatives of some variables."""
        return np.mean([worker.curvature_among(x, chosen) for worker in self.workers], axis=0)

    def _owners(self, batch: Indices) -> Iterator[tuple[Objective, Indices, float]]:
        """Yield the workers that samples belong to, the numbers they have there, and their shares."""
        edges = np.cumsum([0, *(local.n_samples for local in self.objectives)])
        owners = np.searchsorted(edges, batch, side="right") - 1
        for k in np.unique(owners):
            own = batch[owners == k] - edges[k]
            share = self._weights[k] / len(self.objectives)
            each = share * self.n_samples / self.objectives[k].n_samples
            yield self.objectives[k], own, each * len(own) / len(batch)

    @lazy
    def smoothness(self) -> Smoothness:
        """The constants of the worst worker, because every worker walks alone; mu is their mean."""
        with one_blas_thread():  # once for all: many small products, and setting it takes longer than one
            return self.pool.smoothness

    def constants(self) -> Constants:
        """Return those of the workers together, open where theirs are."""
        return self.pool.constants()

    @lazy
    def pool(self) -> Pool:
        """What is known of the workers together."""
        return Pool(self.objectives)

    def starting_at(self, x: Array) -> Objective:
        """Return the workers as a run from x sees them."""
        seen = [local.starting_at(x) for local in self.objectives]
        same = all(one is other for one, other in zip(seen, self.objectives, strict=True))
        return self if same else Federation(seen)

    @property
    def words(self) -> str:
        """Those of each worker."""
        return self.objectives[0].words

    @property
    def labels(self) -> Labels:
        """Those of the first worker that has names: they are common."""
        each = [local.labels for local in self.objectives]
        return next((labels for labels in each if labels.names is not None), each[0])

    def kind(self) -> Kind:
        """That of each worker."""
        return self.objectives[0].kind()

    @property
    def nonconvexity(self) -> str:
        """What shows that a worker's sum is not convex; empty where nothing does."""
        seen = ((k, local.nonconvexity) for k, local in enumerate(self.objectives))
        return next((f"worker {k}: {words}" for k, words in seen if words), "")

    def digest(self) -> str:
        """Return a hexadecimal digest of all workers' data and settings."""
        return digest_of("Federation", *(worker.digest() for worker in self.workers))

    @property
    def natural_batch(self) -> int:
        """The largest of the workers'."""
        return self.pool.natural_batch

    def unpack(self, x: Array) -> Any:
        """Return x in the shape natural to the model."""
        return self.objectives[0].unpack(x)


def _checked(objectives: Sequence[Objective]) -> tuple[Objective, ...]:
    if isinstance(objectives, Objective) or not isinstance(objectives, Sequence):
        raise TypeError(
            "objectives must be a list with one objective a worker, for example [GLM(...), GLM(...)]; "
            f"got {type(objectives).__name__}."
        )
    if not objectives:
        raise ValueError("objectives must hold at least one worker's objective, got none.")
    for k, local in enumerate(objectives):
        if not isinstance(local, Objective) or isinstance(local, Federation):
            raise TypeError(
                f"objectives must hold objectives such as GLM(...); worker {k} is a {type(local).__name__}."
            )
    check_kinds([local.kind() for local in objectives])
    for k, local in enumerate(objectives):
        if local.dim != objectives[0].dim:
            raise ValueError(
                f"objectives must have one dimension: worker 0 has {objectives[0].dim} and worker {k} has "
                f"{local.dim}; give all the same columns, and GLM(..., n_classes=K) if classes are missing."
            )
    return tuple(objectives)
