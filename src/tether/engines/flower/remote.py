"""A federation as the server sees it: sizes and constants, no data."""

from typing import final

from tether.arrays import Array, Indices
from tether.engines.base import WorkerError
from tether.engines.flower.orders import Hello
from tether.objectives.base import Evaluation, Objective, Smoothness
from tether.objectives.design import COMPILE_FROM
from tether.objectives.federation import pooled_smoothness


@final
class RemoteObjective(Objective):
    """The objective of a federation, from what its nodes said of themselves."""

    def __init__(self, cards: list[Hello]) -> None:
        self.cards = cards
        self.n_samples = sum(card.n_samples for card in cards)
        self.dim = cards[0].dim if cards else 0

    @property
    def weights(self) -> list[float]:
        """The workers' shares n n_k / N."""
        total = sum(card.mass for card in self.cards)
        return [len(self.cards) * card.mass / total for card in self.cards]

    @property
    def smoothness(self) -> Smoothness:
        """The constants of the worst worker."""
        cards = zip(self.weights, self.cards, strict=True)
        return pooled_smoothness([card.smoothness.times(w) for w, card in cards])

    @property
    def large(self) -> bool:
        """Whether small workers share the kernels of a large sum, as those of a `Federation` do."""
        return self.n_samples * self.dim >= COMPILE_FROM

    @property
    def natural_batch(self) -> int:
        """The largest of the workers'."""
        return max(card.compiled_batch if self.large else card.natural_batch for card in self.cards)

    def evaluate(self, x: Array) -> Evaluation:
        """Refuse: the data is elsewhere."""
        raise WorkerError("the server has no data; ask the workers through the engine.")

    def batch_gradient(
        self, x: Array, batch: Indices | None, anchor: Array | None = None, slopes: Array | None = None
    ) -> Array:
        """Refuse: the data is elsewhere."""
        raise WorkerError("the server has no data; ask the workers through the engine.")
