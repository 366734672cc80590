"""A loss seen at some predictions: what its functions say there, in the shapes that they must have."""

from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.objectives.losses.base import Labels, Loss

LABELS = 256  # that are tried


class Probe(NamedTuple):
    """Some predictions with labels, and what a loss says of them."""

    z: Array
    y: Labels
    values: Array
    slopes: Array
    curvatures: Array

    def kept(self, which: Any) -> "Probe":
        """Return the samples that are chosen."""
        return Probe(*(part[which] for part in self))


def inside(loss: Loss, z: Array) -> Array:
    """Return the predictions, moved into the loss's domain where they are outside."""
    low, high = loss.domain
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * (0.5 + np.arctan(z) / np.pi)
    if np.isfinite(low):
        return np.where(z > low, z, low + 1.0 / (1.0 + low - z))
    return np.where(z < high, z, high - 1.0 / (1.0 + z - high)) if np.isfinite(high) else z


def tried(y: Labels) -> Labels:
    """Return some of the labels."""
    return y[np.linspace(0, len(y) - 1, min(len(y), LABELS)).astype(int)]


def probed(loss: Loss, z: Array, y: Labels) -> Probe:
    """Return what a loss says at the predictions z, (n, K)."""
    z = one_or_several(z)
    return Probe(z, y, *(called(loss, name, z, y) for name in ("values", "slopes", "curvatures")))


def called(loss: Loss, name: str, z: Array, y: Labels) -> Array:
    """Return what a function of the loss says, or refuse its kind or shape."""
    found = np.asarray(getattr(loss, name)(z.copy(), y))
    shape = {"values": z.shape[:1], "hessians": z.shape + z.shape[1:]}.get(name, z.shape)
    if found.shape != shape or found.dtype.kind not in "fiu":
        raise ValueError(
            f"loss must give {name} of shape {shape} for predictions of shape {z.shape}, but those of "
            f"{name_of(loss)} have shape {found.shape} and dtype {found.dtype}."
        )
    return np.array(found, dtype=np.float64)


def has_hessians(loss: Loss, z: Array, y: Labels) -> bool:
    """Say whether all second derivatives of a loss are known: with one output its curvatures are all."""
    return z.ndim == 1 or loss.hessians(z[:1].copy(), y[:1]) is not None


def one_or_several(z: Array) -> Array:
    """Drop the axis of outputs where there is only one."""
    return z[:, 0] if z.ndim > 1 and z.shape[1] == 1 else z


def rows_of(numbers: Array) -> Array:
    """Return the numbers of a sample as a row, also if it is one number."""
    return numbers.reshape(len(numbers), -1)


def name_of(loss: Loss) -> str:
    """Return what to call a loss in an error."""
    return type(loss).__name__
