"""A user's loss, looked at before it is believed.

Its three functions must fit together at a few predictions, and its constants must hold there. A loss whose
slopes fall somewhere is not convex: that is no mistake, but then nothing may be concluded from convexity.
"""

from typing import Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.objectives.losses.base import Labels, Loss

_LABELS = 256  # labels that are tried
_SCALES = (0.1, 1.0, 10.0, 100.0)  # of the predictions that are tried
_STEPS = (1e-4, 1e-6)  # of finite differences: one of them agrees if no kink is near
_ROUNDING = 1e-9


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


def check_loss(loss: Loss, y: Labels, n_outputs: int) -> str:
    """Refuse a loss whose functions or constants contradict each other.

    Returns
    -------
    nonconvexity : str
        What shows that the loss is not convex; empty if nothing does.
    """
    _require_constants(loss)
    y = y[np.linspace(0, len(y) - 1, min(len(y), _LABELS)).astype(int)]
    rng = np.random.default_rng(0)
    home = inside(loss, np.zeros((len(y), n_outputs)))
    first = _probed(loss, _shaped(home), y)
    if not all(np.isfinite(part).all() for part in (first.values, first.slopes, first.curvatures)):
        raise ValueError(
            f"loss must be finite at the prediction {float(home.flat[0]):g}, but {_name(loss)} is not; "
            "declare the predictions that it is defined for as its domain."
        )
    _require_samples_apart(loss, first)
    seen = ""
    with np.errstate(all="ignore"):  # far off, losses may overflow
        for scale in _SCALES:
            near, far = (inside(loss, home + scale * rng.standard_normal(home.shape)) for _ in range(2))
            probe = _probed(loss, _shaped(near), y)
            if scale <= 1.0:
                _require_derivatives(loss, probe)
            seen = seen or _negative_curvature(loss, probe)
            seen = seen or _falling_slopes(loss, probe, _probed(loss, _shaped(far), y))
    return seen


def fingerprint(loss: Loss, y: Labels, n_outputs: int) -> tuple[str, ...]:
    """Return a loss's name and settings, and what it says at a few predictions, rounded to 10 digits."""
    y = y[np.linspace(0, len(y) - 1, min(len(y), _LABELS)).astype(int)]
    shifts = np.random.default_rng(1).standard_normal((len(y), n_outputs))
    with np.errstate(all="ignore"):
        probe = _probed(loss, _shaped(inside(loss, shifts)), y)
    parts = (probe.values, probe.slopes, probe.curvatures)
    said = (f"{number:.9e}" for part in parts for number in part.ravel())
    return (_name(loss), repr(sorted(loss.kind().items())), *said)


def inside(loss: Loss, z: Array) -> Array:
    """Return the predictions, moved into the loss's domain where they are outside."""
    low, high = loss.domain
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * (0.5 + np.arctan(z) / np.pi)
    if np.isfinite(low):
        return np.where(z > low, z, low + 1.0 / (1.0 + low - z))
    return np.where(z < high, z, high - 1.0 / (1.0 + z - high)) if np.isfinite(high) else z


def _require_constants(loss: Loss) -> None:
    try:
        low, high = map(float, loss.domain)
        fits = 0.0 <= float(loss.convexity) <= float(loss.curvature) and low < high
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(
            f"loss must declare numbers 0 <= convexity <= curvature and a domain (low, high), but "
            f"{_name(loss)} has convexity={loss.convexity!r}, curvature={loss.curvature!r} and "
            f"domain={loss.domain!r}."
        )


def _probed(loss: Loss, z: Array, y: Labels) -> Probe:
    return Probe(z, y, *(_called(loss, name, z, y) for name in ("values", "slopes", "curvatures")))


def _called(loss: Loss, name: str, z: Array, y: Labels) -> Array:
    """Return what a function of the loss says, or refuse its kind or shape."""
    found = np.asarray(getattr(loss, name)(z.copy(), y))
    shape = z.shape[:1] if name == "values" else z.shape
    if found.shape != shape or found.dtype.kind not in "fiu":
        raise ValueError(
            f"loss must give {name} of shape {shape} for predictions of shape {z.shape}, but those of "
            f"{_name(loss)} have shape {found.shape} and dtype {found.dtype}."
        )
    return np.array(found, dtype=np.float64)


def _require_samples_apart(loss: Loss, probe: Probe) -> None:
    """Compare what the last sample gives among others with what it gives alone."""
    alone = _probed(loss, probe.z[-1:], probe.y[-1:])
    for name in ("values", "slopes", "curvatures"):
        among, single = getattr(probe, name)[-1:], getattr(alone, name)
        if not np.allclose(among, single, rtol=1e-6, atol=1e-12):
            raise ValueError(
                f"loss must treat every sample by itself, but the {name} of {_name(loss)} for one sample are "
                f"{single[0]} alone and {among[0]} among {len(probe.y)}; sum or average nothing in them."
            )


def _require_derivatives(loss: Loss, probe: Probe) -> None:
    """Compare slopes with finite differences of values, one output after the other."""
    outputs = 1 if probe.z.ndim == 1 else probe.z.shape[1]
    for k in range(outputs):
        slopes = probe.slopes if probe.z.ndim == 1 else probe.slopes[:, k]
        errors, found = [], slopes
        for step in _STEPS:
            h = step * np.maximum(1.0, np.abs(probe.z).max())
            move = h if probe.z.ndim == 1 else h * np.eye(outputs)[k]
            up, down = (_called(loss, "values", probe.z + sign * move, probe.y) for sign in (1, -1))
            found = (up - down) / (2.0 * h)
            slack = 1e-3 * np.abs(slopes) + 1e-5 * np.abs(slopes).max() + 1e-14 * np.abs(probe.values) / h
            errors.append(np.abs(found - slopes) - slack)
        wrong = np.minimum(*errors) > 1e-9  # NaN is outside the domain, and not compared
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ValueError(
                f"loss must have slopes that are the derivatives of its values, but at the prediction "
                f"{probe.z[i]} for the label {probe.y[i]} {_name(loss)} has the slope {slopes[i]:g} and its "
                f"values change at rate {found[i]:g}."
            )


def _negative_curvature(loss: Loss, probe: Probe) -> str:
    """Say where the second derivative is negative, if the slopes fall there too; refuse it if they rise."""
    below = probe.curvatures < -_ROUNDING * (1.0 + np.abs(probe.curvatures).max(initial=0.0))
    if not below.any():
        return ""
    i = int(np.argmax(below if below.ndim == 1 else below.any(axis=1)))
    k = 0 if below.ndim == 1 else int(np.argmax(below[i]))
    move = (
        1e-5
        * max(1.0, float(np.abs(probe.z[i]).max()))
        * (1.0 if below.ndim == 1 else np.eye(below.shape[1])[k])
    )
    ends = [
        _called(loss, "slopes", probe.z[i : i + 1] + sign * move, probe.y[i : i + 1]).reshape(-1)[k]
        for sign in (1, -1)
    ]
    if ends[0] >= ends[1]:
        raise ValueError(
            f"loss must have curvatures that are the derivatives of its slopes, but at the prediction "
            f"{probe.z[i]} for the label {probe.y[i]} {_name(loss)} has the curvature "
            f"{probe.curvatures[i]} where its slopes rise."
        )
    return f"the second derivative of {_name(loss)} is {probe.curvatures[i]} at the prediction {probe.z[i]}"


def _falling_slopes(loss: Loss, near: Probe, far: Probe) -> str:
    """Compare the change of slopes between pairs of predictions with the constants of the loss."""
    fine = np.isfinite(near.values) & np.isfinite(far.values)
    near, far = near.kept(fine), far.kept(fine)
    step, change = _rows(far.z - near.z), _rows(far.slopes - near.slopes)
    length = np.maximum(np.einsum("ij,ij->i", step, step), np.finfo(np.float64).tiny)
    rate = np.einsum("ij,ij->i", step, change) / length
    size = np.abs(_rows(near.slopes)).max(axis=1, initial=0.0) + np.abs(_rows(far.slopes)).max(
        axis=1, initial=0.0
    )
    slack = _ROUNDING * (size / np.sqrt(length) + np.abs(rate) + 1e-300)
    low, high = rate < loss.convexity - slack, rate > loss.curvature + slack
    if high.any() or (loss.convexity > 0.0 and low.any()):
        i = int(np.argmax(high | low))
        raise ValueError(
            f"loss must have slopes that change at rates between convexity = {loss.convexity:g} and "
            f"curvature = {loss.curvature:g}, but those of {_name(loss)} change at rate {rate[i]:g} between "
            f"the predictions {near.z[i]} and {far.z[i]}; declare bounds that hold."
        )
    if not low.any():
        return ""
    i = int(np.argmax(low))
    return f"the slopes of {_name(loss)} fall between the predictions {near.z[i]} and {far.z[i]}"


def _rows(numbers: Array) -> Array:
    return numbers.reshape(len(numbers), -1)


def _shaped(z: Array) -> Array:
    return z[:, 0] if z.shape[1] == 1 else z


def _name(loss: Loss) -> str:
    return type(loss).__name__
