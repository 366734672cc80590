"""How much of the deviance a model explains: D^2, which is R^2 for the normal family."""

from typing import Any

import numpy as np

from tether.arrays import Array
from tether.estimators.table import shifted
from tether.objectives.losses import Loss

NEWTON_STEPS = 10  # from the best constant of some labels to that of all: one or two, unless it is far


def explained(loss: Loss, z: Array, labels: Any, weights: Array | None, offset: Array | None = None) -> float:
    """Return 1 - deviance / deviance of the best constant, beside the offset; 0 where that explains all."""
    y = loss.prepare(labels)
    floors, z = np.broadcast_to(loss.floors(y), len(y)), shifted(z, offset)
    null = _constant(loss, y, weights, offset) if z.ndim == 1 else _shares(y, weights, z.shape)
    with np.errstate(all="ignore"):
        ours, least = (float(np.average(loss.values(at, y) - floors, weights=weights)) for at in (z, null))
    if least <= 0.0:
        return 1.0 if ours <= 0.0 else 0.0
    return 1.0 - ours / least


def _constant(loss: Loss, y: Any, weights: Array | None, offset: Array | None) -> Array:
    """Return the predictions of an intercept alone, the best for all labels."""
    best = loss.best_constant(y, weights, offset)  # of some of the labels, where there are many
    for _ in range(NEWTON_STEPS if np.isfinite(best) else 0):
        at = shifted(np.full(len(y), best), offset)
        slope, curvature = (
            float(np.average(of(at, y), weights=weights)) for of in (loss.slopes, loss.curvatures)
        )
        if slope == 0.0 or not curvature > 0.0:
            break
        best -= slope / curvature
    return shifted(np.full(len(y), best), offset)


def _shares(y: Any, weights: Array | None, shape: tuple[int, ...]) -> Array:
    """Return the logarithms of the shares of classes, for every row."""
    counts = np.bincount(y, weights=weights, minlength=shape[1])
    with np.errstate(divide="ignore"):
        return np.tile(np.maximum(np.log(counts / counts.sum()), -700.0), (shape[0], 1))
