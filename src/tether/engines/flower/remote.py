"""A federation as the server sees it: sizes and constants, no data."""

from collections.abc import Sequence
from hashlib import sha256
from typing import final

from tether.arrays import Array, Indices
from tether.engines.base import WorkerError
from tether.engines.flower.messages import Hello
from tether.objectives.base import Evaluation, Objective, Smoothness
from tether.objectives.pool import Pool, shares_kernels


@final
class RemoteObjective(Objective):
    """The objective of a federation, from what its nodes said of themselves."""

    def __init__(self, hellos: Sequence[Hello]) -> None:
        self.pool = Pool([hello.card for hello in hellos])
        self._digests = [(hello.digest, hello.kind) for hello in hellos]
        self.n_samples, self.dim = self.pool.n_samples, hellos[0].card.dim
        self.weights = self.pool.weights  # n n_k / N
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

    def digest(self) -> str:
        """Return a digest of what the nodes said of their data and settings."""
        return sha256(repr(self._digests).encode()).hexdigest()

    def evaluate(self, x: Array) -> Evaluation:
        """Refuse: the data is elsewhere."""
        raise WorkerError("the server has no data; ask the workers through the engine.")

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Refuse: the data is elsewhere."""
        raise WorkerError("the server has no data; ask the workers through the engine.")
