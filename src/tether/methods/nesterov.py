"""Nesterov's accelerated gradient method on the constraint: one full gradient and one projection a step."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

import numpy as np

from tether.arrays import Array
from tether.methods.base import Algorithm, Method
from tether.methods.parameters import check_settings, positive
from tether.problem import Facts
from tether.requests import Gradient, Measured, Reply


class NesterovState(NamedTuple):
    """The iterate x, the extrapolated point y where the next gradient is taken, and the momentum's age."""

    x: Array
    y: Array
    last_y: Array
    smoothness: float
    last_gradient: Array | None = None  # P grad F(last_y)
    age: float = 1.0  # t_k of the mu = 0 sequence
    still: bool = False  # neither x nor y moved, so they never will again
    stage: int = 0


@final
@dataclass(frozen=True, kw_only=True)
class Nesterov(Method):
    """Projected accelerated gradient: O(sqrt(kappa) log 1/eps) projections and full gradients.

    x_{k+1} = y_k - P grad F(y_k) / L and y_{k+1} = x_{k+1} + beta_k (x_{k+1} - x_k). The momentum restarts
    when it points uphill (O'Donoghue & Candes 2015), which adapts to unknown strong convexity, and L grows
    when two gradients show that it was too small.

    Parameters
    ----------
    smoothness : float, optional
        L. Open: the objective's L_F.

    Examples
    --------
    >>> import numpy as np, tether
    >>> from tether.methods import Nesterov
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((100, 4)), rng.standard_normal(100)
    >>> objective = tether.GLM(X, y, loss="squared", l2=0.1)
    >>> tether.solve(objective, tether.Affine(np.ones((1, 4))), Nesterov()).success
    True
    """

    smoothness: float | None = None

    def __post_init__(self) -> None:
        check_settings(self)

    def prepare(self, facts: Facts) -> "NesterovAlgorithm":
        """Take L_F from the problem."""
        return NesterovAlgorithm(smoothness=self.smoothness or positive(facts.smoothness.full))


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class NesterovAlgorithm(Algorithm[NesterovState]):
    """Nesterov's method with all settings."""

    name: ClassVar[str] = "Nesterov"
    unit: ClassVar[str] = "iteration"

    smoothness: float

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return "Nesterov's method"

    def start(self, x: Array, clock: int = 0) -> NesterovState:
        """Begin without momentum."""
        return NesterovState(x=x, y=x, last_y=x, smoothness=self.smoothness)

    def ask(self, state: NesterovState) -> Gradient:
        """Ask for the projected gradient at the extrapolated point."""
        return Gradient(state.y)

    def tell(self, state: NesterovState, reply: Reply) -> NesterovState:
        """Step, then extrapolate."""
        assert isinstance(reply, Measured) and reply.gradient is not None
        g = reply.gradient
        seen = _seen_curvature(state, g) if reply.complete else 0.0
        smoothness = max(state.smoothness, seen)
        x = state.y - g / smoothness
        uphill = float(g @ (x - state.x)) > 0
        age = 1.0 if uphill or smoothness > state.smoothness else state.age
        older = (1.0 + math.sqrt(1.0 + 4.0 * age * age)) / 2.0
        y = x + ((age - 1.0) / older) * (x - state.x)
        return NesterovState(
            x=x,
            y=y,
            last_y=state.y,
            smoothness=smoothness,
            last_gradient=g if reply.complete else None,
            age=older,
            still=reply.complete and np.array_equal(x, state.x) and np.array_equal(y, state.y),
            stage=state.stage + 1,
        )

    def estimate(self, state: NesterovState) -> Array:
        """Return the last iterate."""
        return state.x

    def exhausted(self, state: NesterovState) -> bool:
        """Say whether a step is too short to move x."""
        return state.still


def _seen_curvature(state: NesterovState, gradient: Array) -> float:
    """Return ||g - g'|| / ||y - y'||, a lower bound on L, with a little room."""
    if state.last_gradient is None:
        return 0.0
    distance = float(np.linalg.norm(state.y - state.last_y))
    change = float(np.linalg.norm(gradient - state.last_gradient))
    # Differences at rounding level say nothing about curvature.
    if distance <= 1e-8 * (1.0 + float(np.linalg.norm(state.y))):
        return 0.0
    return 1.05 * change / distance
