"""Which losses compiled code knows: exactly the built-in ones, each by its integer code.

This table is the only way to a kernel. A class that derives from a built-in loss is another loss and is not
in it; what is not in it runs in NumPy, whatever the size of the data.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.kernels import codes
from tether.objectives.losses.amounts import Gamma, Poisson, Tweedie
from tether.objectives.losses.base import Labels, Loss
from tether.objectives.losses.classes import Logistic, Multinomial
from tether.objectives.losses.proportions import Binomial
from tether.objectives.losses.quantiles import SmoothedQuantile
from tether.objectives.losses.responses import Huber, Squared


class Coded(NamedTuple):
    """What a kernel knows of a loss: its code and its numbers, at most two."""

    code: int
    parameters: tuple[float, float] = (0.0, 0.0)


_CODES: dict[type[Loss], Callable[[Any], Coded]] = {
    Logistic: lambda loss: Coded(codes.LOGISTIC),
    Squared: lambda loss: Coded(codes.SQUARED),
    Multinomial: lambda loss: Coded(codes.MULTINOMIAL),
    Huber: lambda loss: Coded(codes.HUBER, (float(loss.delta), 0.0)),
    Poisson: lambda loss: Coded(codes.POISSON),
    Binomial: lambda loss: Coded(codes.BINOMIAL),
    Gamma: lambda loss: Coded(codes.GAMMA),
    Tweedie: lambda loss: Coded(codes.TWEEDIE, (float(loss.power), 0.0)),
    SmoothedQuantile: lambda loss: Coded(codes.QUANTILE, (float(loss.quantile), float(loss.bandwidth))),
}


def coded(loss: Loss) -> Coded | None:
    """Return how kernels know a loss; None for those that they do not know."""
    known = _CODES.get(type(loss))
    return None if known is None else known(loss)


def is_built_in(loss: Loss) -> bool:
    """Say whether the functions and constants of a loss are the library's own."""
    return type(loss) in _CODES


def values_and_slopes(loss: Loss, z: Array, y: Labels) -> tuple[Array, Array]:
    """Return both, at once where the library knows how.

    Of a user's loss slopes come first: its functions may change z, or hand out the same buffer.
    """
    if is_built_in(loss):
        return loss.values_and_slopes(z, y)
    slopes = np.array(loss.slopes(z, y), dtype=np.float64)
    return np.asarray(loss.values(z, y), dtype=np.float64), slopes
