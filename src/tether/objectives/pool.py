"""Several workers taken together: their weights, their constants, and whether they share compiled kernels.

Each worker's f_k counts by its share of the samples (or of their weights), n n_k / N, so that what workers
agree on stays the plain mean. It does not matter where the workers are: in this process, on other ranks or on
other machines, a `Card` says all there is to know of one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tether.arrays import Array
from tether.curvature import SecondOrder
from tether.lazy import lazy
from tether.objectives.base import Kind, Objective, Smoothness
from tether.objectives.design import COMPILE_FROM
from tether.objectives.smoothness import Constants, OpenSmoothness
from tether.objectives.weighted import Weighted


class Card(NamedTuple):
    """What a worker says of its objective."""

    n_samples: int
    mass: float  # how much it counts among the workers
    dim: int
    natural_batch: int
    anchored_price: int  # component gradients that a sample of an anchored step costs
    smoothness: Smoothness
    convex: bool = True  # nothing shows that it is not
    proven_convex: bool = False
    second_order: SecondOrder = SecondOrder()
    draws: int = 0  # N', the steps of a pass that takes long rows in shares; 0: no row has shares
    share: float = 0.0  # the largest smoothness constant of a share
    floor: float = -math.inf  # its sum is nowhere lower
    known: bool = True  # L is a matter of a few passes
    most: float = 0.0  # a bound on L_F that methods may take for its size

    def constants(self) -> Constants:
        """Return the constants as the objective itself gives them."""
        mu, exact = self.smoothness.convexity, self.smoothness.exact
        return OpenSmoothness(
            mu, lambda: self.smoothness, exact, known=self.known, find_most=lambda: self.most
        )

    @classmethod
    def of(cls, objective: Objective) -> "Card":
        """Return the card of an objective."""
        constants = objective.constants()
        return cls(
            objective.n_samples,
            objective.mass,
            objective.dim,
            objective.natural_batch,
            objective.anchored_price,
            objective.smoothness,
            objective.convex,
            objective.proven_convex,
            objective.second_order,
            objective.draws,
            objective.share,
            objective.floor,
            constants.known,
            constants.most,
        )


Member = Card | Objective


@dataclass(frozen=True)
class Pool:
    """All workers together: their cards, or the objectives themselves where they are in this process."""

    cards: Sequence[Member]

    @property
    def n_samples(self) -> int:
        """N."""
        return sum(card.n_samples for card in self.cards)

    @lazy
    def weights(self) -> Array:
        """The workers' weights n n_k / N."""
        return weights_of([card.mass for card in self.cards])

    def _mean(self, numbers: Sequence[float]) -> float:
        """Return the mean of numbers of the workers, each as it counts."""
        return numbers[0] if len(numbers) == 1 else float(np.mean(self.weights * numbers))

    @property
    def smoothness(self) -> Smoothness:
        """Constants that hold for every worker, because each walks alone; mu is the mean of theirs.

        One worker whose sum is not convex may undo what the others have, so then mu is 0.
        """
        weighted = [
            card.smoothness.times(weight) for weight, card in zip(self.weights, self.cards, strict=True)
        ]
        return Smoothness(
            max(one.maximum for one in weighted),
            max(one.full for one in weighted),
            float(np.mean([one.convexity for one in weighted])) if self.convex else 0.0,
            all(one.exact for one in weighted),
        )

    def constants(self) -> Constants:
        """Return the same constants; where a worker leaves L open, it is computed when it is asked for."""
        each = [card.constants() for card in self.cards]
        if len(each) == 1 and self.convex:
            return each[0]
        if all(isinstance(one, Smoothness) for one in each):
            return self.smoothness
        return OpenSmoothness(
            mu=self._convexity_of(each),
            find=lambda: self.smoothness,
            exact=all(one.exact for one in each),
            known=all(one.known for one in each),
            find_mu=lambda: self._mean([one.convexity for one in each]),
            find_most=lambda: float(np.max(self.weights * [one.most for one in each])),
            find_maximum=lambda: float(np.max(self.weights * [one.maximum for one in each])),
        )

    def _convexity_of(self, each: list[Constants]) -> float | None:
        """Return mu; None where a worker leaves it open as well."""
        if not self.convex:
            return 0.0
        if any(isinstance(one, OpenSmoothness) and one.mu is None for one in each):
            return None
        return self._mean([one.convexity for one in each])

    @property
    def convex(self) -> bool:
        """Whether nothing shows that a worker's sum is not convex."""
        return all(card.convex for card in self.cards)

    @property
    def proven_convex(self) -> bool:
        """Whether the sums of all workers are convex by the way they are made."""
        return all(card.proven_convex for card in self.cards)

    @property
    def floor(self) -> float:
        """A bound from below on the mean of all sums."""
        return self._mean([card.floor for card in self.cards])

    @lazy
    def second_order(self) -> SecondOrder:
        """The mean prices of a sample, and the largest R."""
        each = [card.second_order for card in self.cards]
        if len(each) == 1:
            return each[0]
        shares = np.array([card.n_samples for card in self.cards]) / self.n_samples
        return SecondOrder(
            full=float(shares @ [one.full for one in each]),
            kronecker=float(shares @ [one.kronecker for one in each]),
            diagonal=float(shares @ [one.diagonal for one in each]),
            outputs=each[0].outputs,
            concordance=max(one.concordance for one in each),
            separable=all(one.separable for one in each),
            majorised=all(one.majorised for one in each),
            among=float(shares @ [one.among for one in each]),
            work=float(shares @ [one.work for one in each]),
        )

    @lazy
    def draws(self) -> int:
        """N', all workers together; 0 if nobody has shares."""
        shared = any(card.draws > 0 for card in self.cards)
        return sum(card.draws or card.n_samples for card in self.cards) if shared else 0

    @lazy
    def share(self) -> float:
        """A constant that holds for every share of every worker; 0 if nobody has shares."""
        if not self.draws:
            return 0.0
        each = [card.share if card.draws else card.smoothness.maximum for card in self.cards]
        return float(np.max(self.weights * each))

    @property
    def natural_batch(self) -> int:
        """The largest of the workers'."""
        return max(card.natural_batch for card in self.cards)

    @property
    def anchored_price(self) -> int:
        """The largest of the workers'."""
        return max(card.anchored_price for card in self.cards)


def weights_of(masses: Sequence[float]) -> Array:
    """Return n n_k / N for each worker."""
    shares = np.array(masses, dtype=np.float64)
    return len(shares) * shares / shares.sum()


def weighted(objective: Objective, weight: float) -> Objective:
    """Return a worker's objective as it counts among the others."""
    return objective if weight == 1.0 else Weighted(objective, weight)


def check_kinds(kinds: Sequence[Kind], worker: str = "worker") -> None:
    """Refuse workers whose objectives differ in more than their data; ``worker`` is what to call them."""
    first = kinds[0]
    for k, kind in enumerate(kinds):
        for name in [name for name in first if name in kind]:  # what a worker does not know is no difference
            one, other = first[name], kind[name]
            if not _same(one, other):
                raise ValueError(
                    f"objectives may differ in their data only: {name} is {one!r} on {worker} 0 and "
                    f"{other!r} on {worker} {k}; give all the same settings, and GLM(..., n_classes=K) "
                    "where classes are missing."
                )


def _same(one: object, other: object) -> bool:
    """Compare settings; processors may compute l2 with other last bits."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return one == other


def shares_kernels(n_samples: int, dim: int) -> bool:
    """Say whether a sum is so large that workers compile, however small their own parts."""
    return n_samples * dim >= COMPILE_FROM
