"""Long rows in shares: a sample that is much more curved than the others comes several times in a pass.

A walk of single samples bears steps of about 1/L_max, and one long row makes that absurd for all others. So a
sample with L_i above the mean is cut into k_i = ceil(L_i / mean) shares of the same f_i / k_i. A pass over
all shares takes N' <= 2 N steps and sees every sample; its steps may be L_max / (2 mean) times as long.
That is sampling in proportion to L_i, without replacement. With the weights N' / (N k_i) the gradient of a
share has the mean of all f_i, so that nothing else changes.

References
----------
Xiao & Zhang, "A proximal stochastic gradient method with progressive variance reduction", 2014.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tether.arrays import Array, Indices

if TYPE_CHECKING:
    from tether.objectives.base import Objective


FEW_SAMPLES = 1_000  # below which a pass is so short that longer steps gain nothing


class Shares(NamedTuple):
    """The shares of a finite sum, and who walks over them."""

    order: Indices  # sample numbers, each as often as it has shares
    walker: "Objective"  # the same sum with samples weighted as shares
    largest: float  # the largest smoothness constant of a share


def shares_of(
    constants: Array, weighted: Callable[[Array], "Objective"], ridge: float = 0.0
) -> Shares | None:
    """Return the shares of samples with these smoothness constants (without the ridge), or None.

    ``weighted`` returns the sum with its samples multiplied by weights.
    """
    counts = share_counts(constants) if len(constants) >= FEW_SAMPLES else None
    if counts is None:
        return None
    weights = counts.mean() / counts  # N' / (N k_i)
    largest = float((weights * constants).max()) + ridge
    return Shares(np.repeat(np.arange(len(counts)), counts), weighted(weights), largest)


def share_counts(constants: Array) -> Indices | None:
    """Return k_i for samples with these smoothness constants; None where one share each is as good.

    Stages fall in number like 1 / sqrt(length of the walk), and one costs a full pass and a walk.

    Examples
    --------
    >>> import numpy as np
    >>> share_counts(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0]))
    array([1, 1, 1, 1, 1, 1, 5])
    >>> share_counts(np.array([1.0, 1.2, 1.0])) is None
    True
    """
    mean, largest = float(constants.mean()), float(constants.max())
    if not 0.0 < mean < np.inf:
        return None
    counts = np.maximum(np.ceil(constants / mean), 1.0)
    shared = float((constants / counts).max())
    pays = (1.0 + counts.mean()) * np.sqrt(shared) < 2.0 * np.sqrt(largest)
    return counts.astype(np.int64) if pays else None
