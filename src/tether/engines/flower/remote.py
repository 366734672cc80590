"""A federation as the server sees it: sizes and constants, no data."""

from collections.abc import Sequence
from typing import final

from tether.arrays import Array, Indices
from tether.digest import digest_of
from tether.engines.base import WorkerError
from tether.engines.flower.introductions import names_of
from tether.engines.flower.messages import Hello
from tether.names import common_names
from tether.objectives.base import Evaluation, Objective, Smoothness
from tether.objectives.pool import Pool, shares_kernels


@final
class RemoteObjective(Objective):
    """The objective of a federation, from what its nodes said of themselves."""

    def __init__(self, hellos: Sequence[Hello], starts: Sequence[Array | None] = ()) -> None:
        self.pool = Pool([hello.card for hello in hellos])
        self._digests = [hello.digest + hello.kind + hello.names for hello in hellos]
        self.n_samples, self.dim = self.pool.n_samples, hellos[0].card.dim
        self.weights = self.pool.weights  # n n_k / N
        self.proven_convex = self.pool.proven_convex
        self.names = common_names([names_of(hello) for hello in hellos])
        self.initial = next((start for start in starts if start is not None), None)
        self.large = shares_kernels(self.n_samples, self.dim)
        if self.large:
            self.pool = Pool(
                [hello.card._replace(natural_batch=hello.compiled_batch) for hello in hellos],
            )

    @property
    def smoothness(self) -> Smoothness:
        """The constants of the worst worker."""
        return self.pool.smoothness

    @property
    def natural_batch(self) -> int:
        """The largest of the workers'."""
        return self.pool.natural_batch

    @property
    def nonconvexity(self) -> str:
        """What shows that a worker's sum is not convex; empty where nothing does."""
        bad = [k for k, card in enumerate(self.pool.cards) if not card.convex]
        return f"the sum of worker {bad[0]} is not convex" if bad else ""

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        return "a sum whose data stays with its nodes"

    def digest(self) -> str:
        """Return a hexadecimal digest of what the nodes said of their data and settings."""
        return digest_of("Flower", *self._digests)

    def evaluate(self, x: Array) -> Evaluation:
        """Refuse: the data is elsewhere."""
        raise WorkerError("the server has no data; ask the workers through the engine.")

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Refuse: the data is elsewhere."""
        raise WorkerError("the server has no data; ask the workers through the engine.")
