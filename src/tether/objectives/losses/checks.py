"""A user's loss, looked at before it is believed.

Its three functions must fit together at a few predictions, and its constants must hold there. A loss whose
slopes fall somewhere is not convex: that is no mistake, but then nothing may be concluded from convexity.
"""

import numpy as np

from tether.objectives.losses.base import Labels, Loss
from tether.objectives.losses.curvature_checks import (
    require_concordance,
    require_majorants,
    require_second_derivatives,
)
from tether.objectives.losses.probe import Probe, called, inside, name_of, probed, rows_of, tried

_SCALES = (0.1, 1.0, 10.0, 100.0)  # of the predictions that are tried
_STEPS = (1e-4, 1e-6)  # of finite differences: one of them agrees if no kink is near
_ROUNDING = 1e-9


def check_loss(loss: Loss, y: Labels, n_outputs: int) -> str:
    """Refuse a loss whose functions or constants contradict each other.

    Returns
    -------
    nonconvexity : str
        What shows that the loss is not convex; empty if nothing does.
    """
    _require_constants(loss)
    y = tried(y)
    rng = np.random.default_rng(0)
    home = inside(loss, np.zeros((len(y), n_outputs)))
    first = probed(loss, home, y)
    if not all(np.isfinite(part).all() for part in (first.values, first.slopes, first.curvatures)):
        raise ValueError(
            f"loss must be finite at the prediction {float(home.flat[0]):g}, but {name_of(loss)} is not; "
            "declare the predictions that it is defined for as its domain."
        )
    _require_samples_apart(loss, first)
    seen = ""
    with np.errstate(all="ignore"):  # far off, losses may overflow
        for scale in _SCALES:
            near, far = (inside(loss, home + scale * rng.standard_normal(home.shape)) for _ in range(2))
            probe, other = probed(loss, near, y), probed(loss, far, y)
            if scale <= 1.0:
                _require_derivatives(loss, probe)
            seen = seen or _negative_curvature(loss, probe)
            seen = seen or _falling_slopes(loss, probe, other)
            if scale <= 1.0:
                require_second_derivatives(loss, probe)
            require_concordance(loss, probe, other)
            require_majorants(loss, probe, other)
    return seen


def _require_constants(loss: Loss) -> None:
    try:
        low, high = map(float, loss.domain)
        fits = 0.0 <= float(loss.convexity) <= float(loss.curvature) and low < high
        fits = fits and float(loss.concordance) >= 0.0
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(
            f"loss must declare numbers 0 <= convexity <= curvature, concordance >= 0 and a domain "
            f"(low, high), but {name_of(loss)} has convexity={loss.convexity!r}, "
            f"curvature={loss.curvature!r}, concordance={loss.concordance!r} and domain={loss.domain!r}."
        )


def _require_samples_apart(loss: Loss, probe: Probe) -> None:
    """Compare what the last sample gives among others with what it gives alone."""
    alone = probed(loss, probe.z[-1:], probe.y[-1:])
    for name in ("values", "slopes", "curvatures"):
        among, single = getattr(probe, name)[-1:], getattr(alone, name)
        if not np.allclose(among, single, rtol=1e-6, atol=1e-12):
            raise ValueError(
                f"loss must treat every sample by itself, but the {name} of {name_of(loss)} for one sample "
                f"are {single[0]} alone and {among[0]} among {len(probe.y)}; sum or average nothing in them."
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
            up, down = (called(loss, "values", probe.z + sign * move, probe.y) for sign in (1, -1))
            found = (up - down) / (2.0 * h)
            slack = 1e-3 * np.abs(slopes) + 1e-5 * np.abs(slopes).max() + 1e-14 * np.abs(probe.values) / h
            errors.append(np.abs(found - slopes) - slack)
        wrong = np.minimum(*errors) > 1e-9  # NaN is outside the domain, and not compared
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ValueError(
                f"loss must have slopes that are the derivatives of its values, but at the prediction "
                f"{probe.z[i]} for the label {probe.y[i]} {name_of(loss)} has the slope {slopes[i]:g} and "
                f"its values change at rate {found[i]:g}."
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
        called(loss, "slopes", probe.z[i : i + 1] + sign * move, probe.y[i : i + 1]).reshape(-1)[k]
        for sign in (1, -1)
    ]
    if ends[0] >= ends[1]:
        raise ValueError(
            f"loss must have curvatures that are the derivatives of its slopes, but at the prediction "
            f"{probe.z[i]} for the label {probe.y[i]} {name_of(loss)} has the curvature "
            f"{probe.curvatures[i]} where its slopes rise."
        )
    return f"the second derivative of {name_of(loss)} is {probe.curvatures[i]} at the prediction {probe.z[i]}"


def _falling_slopes(loss: Loss, near: Probe, far: Probe) -> str:
    """Compare the change of slopes between pairs of predictions with the constants of the loss."""
    fine = np.isfinite(near.values) & np.isfinite(far.values)
    near, far = near.kept(fine), far.kept(fine)
    step, change = rows_of(far.z - near.z), rows_of(far.slopes - near.slopes)
    length = np.maximum(np.einsum("ij,ij->i", step, step), np.finfo(np.float64).tiny)
    rate = np.einsum("ij,ij->i", step, change) / length
    size = np.abs(rows_of(near.slopes)).max(axis=1, initial=0.0) + np.abs(rows_of(far.slopes)).max(
        axis=1, initial=0.0
    )
    slack = _ROUNDING * (size / np.sqrt(length) + np.abs(rate) + 1e-300)
    low, high = rate < loss.convexity - slack, rate > loss.curvature + slack
    if high.any() or (loss.convexity > 0.0 and low.any()):
        i = int(np.argmax(high | low))
        raise ValueError(
            f"loss must have slopes that change at rates between convexity = {loss.convexity:g} and "
            f"curvature = {loss.curvature:g}, but those of {name_of(loss)} change at rate {rate[i]:g} "
            f"between the predictions {near.z[i]} and {far.z[i]}; declare bounds that hold."
        )
    if not low.any():
        return ""
    i = int(np.argmax(low))
    return f"the slopes of {name_of(loss)} fall between the predictions {near.z[i]} and {far.z[i]}"


def fingerprint(loss: Loss, y: Labels, n_outputs: int) -> tuple[str, ...]:
    """Return a loss's name and settings, and what it says at a few predictions, rounded to 10 digits."""
    y = tried(y)
    shifts = np.random.default_rng(1).standard_normal((len(y), n_outputs))
    with np.errstate(all="ignore"):
        probe = probed(loss, inside(loss, shifts), y)
    parts = (probe.values, probe.slopes, probe.curvatures)
    said = (f"{number:.9e}" for part in parts for number in part.ravel())
    return (name_of(loss), repr(sorted(loss.kind().items())), *said)
