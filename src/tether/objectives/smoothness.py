"""The constants of a finite sum, checked when they are put together."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from tether.inputs import nonnegative, switch

if TYPE_CHECKING:
    from tether.objectives.second_moment import SecondMoment

#: Constants beyond this overflow when methods square and invert them.
LARGEST_CONSTANT = 1e100


class _Constants(NamedTuple):
    maximum: float
    full: float
    convexity: float
    exact: bool = True


class Smoothness(_Constants):
    """Curvature of a finite sum: how large a step it bears and how well it is conditioned.

    Attributes
    ----------
    maximum : float
        L_max, the largest smoothness constant of any f_i.
    full : float
        L_F <= L_max, the smoothness constant of F.
    convexity : float
        mu >= 0, a lower bound on the strong convexity of F. Gap certificates rest on it.
    exact : bool
        False when the two upper constants are estimates rather than bounds.

    Examples
    --------
    >>> from tether.objectives import Smoothness
    >>> constants = Smoothness(maximum=4.0, full=1.0, convexity=0.1)
    >>> constants.of_batch(1, n_samples=100), constants.of_batch(100, n_samples=100)
    (4.0, 1.0)
    """

    __slots__ = ()

    known: ClassVar[bool] = True

    @property
    def ready_convexity(self) -> float:
        """mu, which takes nothing to know."""
        return self.convexity

    @property
    def most(self) -> float:
        """A bound on L_F that costs next to nothing; here, L_F itself."""
        return self.full

    def __new__(cls, maximum: float, full: float, convexity: float, exact: bool = True) -> Self:
        """Refuse what cannot be the constants of a function."""
        largest, whole = nonnegative("maximum", maximum), nonnegative("full", full)
        mu = nonnegative("convexity", convexity)
        if mu > min(largest, whole):
            raise ValueError(
                f"convexity must be at most maximum and full, which bound the curvature from above, "
                f"got {mu:g} and {min(largest, whole):g}."
            )
        return super().__new__(cls, largest, whole, mu, switch("exact", exact))

    def _replace(self, **changes: Any) -> "Smoothness":
        return Smoothness(**{**self._asdict(), **changes})

    def with_convexity(self, mu: float) -> "OpenSmoothness":
        """Return another mu, and leave L open."""
        return OpenSmoothness(mu, lambda: self, self.exact)

    def times(self, weight: float) -> "Smoothness":
        """Return the constants of the sum times a weight."""
        return Smoothness(weight * self.maximum, weight * self.full, weight * self.convexity, self.exact)

    def of_batch(self, batch_size: int, n_samples: int) -> float:
        """Return L(b), the expected smoothness of a batch of b of n samples drawn without replacement."""
        b, n = min(batch_size, n_samples), n_samples
        if n == 1:
            return self.maximum
        return n * (b - 1) / (b * (n - 1)) * self.full + (n - b) / (b * (n - 1)) * self.maximum


@dataclass(frozen=True)
class OpenSmoothness:
    """Constants that are computed or estimated if somebody asks for them; mu may be known before.

    Examples
    --------
    >>> from tether.objectives.smoothness import OpenSmoothness
    >>> constants = OpenSmoothness(0.1, lambda: print("estimating") or Smoothness(4.0, 1.0, 0.1, exact=False))
    >>> constants.convexity, constants.known
    (0.1, False)
    >>> constants.full
    estimating
    1.0
    """

    mu: float | None  # None: it is found when it is asked for
    find: Callable[[], Smoothness]
    exact: bool = False  # L is a bound
    known: bool = False  # L takes a few passes at most, and is not felt for step by step
    find_mu: Callable[[], float] | None = None  # without L; None: it is found with L
    find_most: Callable[[], float] | None = None  # a bound on L_F without a pass; None: there is none
    find_maximum: Callable[[], float] | None = None  # L_max without L_F; None: it is found with it

    @property
    def convexity(self) -> float:
        """A bound on mu from below."""
        if self.mu is not None:
            return self.mu
        return self.find().convexity if self.find_mu is None else self.find_mu()

    @property
    def ready_convexity(self) -> float:
        """mu where it takes nothing to know it, else 0."""
        return self.mu or 0.0

    @property
    def maximum(self) -> float:
        """L_max."""
        return self.find().maximum if self.find_maximum is None else self.find_maximum()

    @property
    def most(self) -> float:
        """A bound on L_F that costs next to nothing, if there is one."""
        return self.full if self.find_most is None else self.find_most()

    @property
    def full(self) -> float:
        """L_F."""
        return self.find().full

    def with_convexity(self, mu: float) -> "OpenSmoothness":
        """Return another mu, and leave L open."""
        return replace(self, mu=mu, known=False)

    def times(self, weight: float) -> "OpenSmoothness":
        """Return the constants of the sum times a weight, open as these are."""
        return replace(
            self,
            mu=None if self.mu is None else weight * self.mu,
            find=lambda: self.find().times(weight),
            find_mu=lambda: weight * self.convexity,
            find_most=None if self.find_most is None else lambda: weight * self.most,
            find_maximum=lambda: weight * self.maximum,
        )

    def _replace(self, **changes: Any) -> Smoothness:
        return self.find()._replace(**changes)

    def of_batch(self, batch_size: int, n_samples: int) -> float:
        """Return L(b), the expected smoothness of a batch of b of n samples drawn without replacement."""
        return self.find().of_batch(batch_size, n_samples)


Constants = Smoothness | OpenSmoothness


class Contrast(NamedTuple):
    """What makes a sum difficult for small steps, and its columns for steps of one length."""

    passes: float = 0.0  # L_max / (mu N), in which small steps come about as far as strong convexity pulls
    data: "SecondMoment | None" = None  # which is looked at only when the rest is asked for

    @property
    def columns(self) -> float:
        """How much more F is curved along one variable than along most."""
        return math.inf if self.data is None else self.data.unevenness

    @property
    def spread(self) -> float:
        """The mean square of the data's curvatures over the square of their mean."""
        return math.inf if self.data is None else self.data.spread


def known_smoothness(constants: Constants) -> float:
    """Return L_F, or 0 where it would have to be felt for."""
    return constants.full if constants.known else 0.0


def require_moderate(name: str, constant: float) -> None:
    """Refuse data or a penalty that makes a function too curved for floating point."""
    if not (math.isfinite(constant) and constant <= LARGEST_CONSTANT):
        raise ValueError(
            f"{name} must keep the curvature of F below {LARGEST_CONSTANT:g}, got {constant:.3g}; "
            f"divide {name} by a large number."
        )
