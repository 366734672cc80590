"""How much of the deviance a model explains: D^2, which is R^2 for the normal family."""

from typing import Any

import numpy as np

from tether.arrays import Array
from tether.estimators.table import shifted
from tether.objectives.losses import Loss


def explained(loss: Loss, z: Array, labels: Any, weights: Array | None, offset: Array | None = None) -> float:
    """Return 1 - deviance / deviance of the best constant, beside the offset; 0 where that explains all."""
    y = loss.prepare(labels)
    floors = np.broadcast_to(loss.floors(y), len(y))
    z = shifted(z, offset)
    if z.ndim == 1:
        null = shifted(np.full(len(y), loss.best_constant(y, weights, offset)), offset)
    else:
        counts = np.bincount(y, weights=weights, minlength=z.shape[1])
        with np.errstate(divide="ignore"):
            null = np.tile(np.maximum(np.log(counts / counts.sum()), -700.0), (len(y), 1))
    with np.errstate(all="ignore"):
        ours, least = (float(np.average(loss.values(at, y) - floors, weights=weights)) for at in (z, null))
    if least <= 0.0:
        return 1.0 if ours <= 0.0 else 0.0
    return 1.0 - ours / least
