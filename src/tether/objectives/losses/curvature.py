"""How curved a loss is on given labels: what it declares, or what is seen near where models begin and end."""

import math

import numpy as np

from tether.arrays import Array
from tether.objectives.losses.base import Labels, Loss
from tether.objectives.losses.probe import inside

_LABELS = 4096  # that are looked at
_MARGIN = 4.0  # on curvatures that are estimated at a point


def largest_curvature(
    loss: Loss, y: Labels, weights: Array | None, n_outputs: int, offset: Array | None = None
) -> tuple[float, bool]:
    """Return a bound on the second derivative and True, or an estimate and False.

    The estimate is taken at the prediction 0 and at the best constant one, each with its offset.
    """
    if math.isfinite(loss.curvature):
        return loss.curvature, True
    places = [0.0] if n_outputs > 1 else [0.0, loss.best_constant(y, weights, offset)]
    some = np.linspace(0, len(y) - 1, min(len(y), _LABELS)).astype(int)
    shifts = 0.0 if offset is None else offset[some, None]
    largest = max(
        _largest(loss, place + shifts, y[some], n_outputs) for place in places if math.isfinite(place)
    )
    if not (math.isfinite(largest) and largest > 0.0):
        raise ValueError(
            f"loss must be curved near the prediction 0, but {type(loss).__name__} has curvatures up to "
            f"{largest:g}; declare a bound as its curvature."
        )
    return _MARGIN * largest, False


def _largest(loss: Loss, place: Array | float, y: Labels, n_outputs: int) -> float:
    """Return the largest curvature at one prediction; several outputs have at most the sum of theirs."""
    z = inside(loss, np.broadcast_to(place, (len(y), n_outputs)).astype(np.float64))
    with np.errstate(all="ignore"):
        found = np.asarray(loss.curvatures(z[:, 0] if n_outputs == 1 else z, y), dtype=np.float64)
    return float(np.abs(found).reshape(len(y), -1).sum(axis=1).max())
