"""Nesterov's accelerated gradient method on the constraint: one full gradient and one projection a step."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Self, final

import numpy as np

from tether.arrays import Array
from tether.methods.base import Method
from tether.methods.parameters import check_settings
from tether.problem import Facts
from tether.requests import Gradient, Measured, Reply


class NesterovState(NamedTuple):
    """The iterate x, the extrapolated point y where the next gradient is taken, and the momentum's age."""

    x: Array
    y: Array
    last_y: Array
    last_gradient: Array | None  # P grad F(last_y)
    smoothness: float
    age: float  # t_k of the mu = 0 sequence
    stage: int


@final
@dataclass(frozen=True, kw_only=True)
class Nesterov(Method[NesterovState]):
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
    >>> from tether.methods import Nesterov
    >>> Nesterov(smoothness=2.0).smoothness
    2.0
    """

    smoothness: float | None = None

    def __post_init__(self) -> None:
        check_settings(self)

    def prepare(self, facts: Facts) -> Self:
        """Take L_F from the problem."""
        return replace(self, smoothness=self.smoothness or facts.smoothness.full or 1.0)

    def start(self, x: Array, clock: int = 0) -> NesterovState:
        """Begin without momentum."""
        assert self.smoothness
        return NesterovState(x, x, x, None, self.smoothness, 1.0, 0)

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
        known = g if reply.complete else None
        return NesterovState(x, y, state.y, known, smoothness, older, state.stage + 1)

    def estimate(self, state: NesterovState) -> Array:
        """Return the last iterate."""
        return state.x


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
