"""A user's second derivatives, looked at before Hessians are made of them.

They must be the derivatives of the slopes, and must not fall faster than the loss declares.
"""

from typing import NamedTuple

import numpy as np

from tether.arrays import Array
from tether.objectives.losses.base import Loss
from tether.objectives.losses.majorised import is_majorised
from tether.objectives.losses.probe import Probe, called, has_hessians, name_of, rows_of

_STEPS = (1e-4, 1e-6)  # of finite differences: one of them agrees if no kink is near
_ROUNDING = 1e-9
_SINGLE = 1e-6  # the same for numbers that may be in single precision


class Rate(NamedTuple):
    """How fast the slopes of all outputs change with one prediction, and the step that shows it."""

    rates: Array
    step: float


def require_second_derivatives(loss: Loss, probe: Probe) -> None:
    """Compare curvatures, and Hessians where there are any, with finite differences of slopes."""
    outputs = rows_of(probe.z).shape[1]
    known = probe.z.ndim > 1 and has_hessians(loss, probe.z, probe.y)
    full = called(loss, "hessians", probe.z, probe.y) if known else None
    for k in range(outputs):
        rates = _rates(loss, probe, k)
        _require_close(loss, "curvatures", probe, rates, (rows_of(probe.curvatures)[:, k], k))
        for other in range(outputs if full is not None else 0):
            assert full is not None
            _require_close(loss, "hessians", probe, rates, (full[:, other, k], other))
    if full is not None and loss.mixed(probe.z[:1].copy(), probe.y[:1]) is not None:
        _require_mixed(loss, probe, full)


def _require_mixed(loss: Loss, probe: Probe, full: Array) -> None:
    """Compare the Hessians that numbers by output stand for with those that the loss has."""
    u = called(loss, "mixed", probe.z, probe.y)
    meant = -u[:, :, None] * u[:, None, :]
    outputs = np.arange(u.shape[1])
    meant[:, outputs, outputs] += u * u.sum(axis=1, keepdims=True)
    wrong = np.abs(full - meant) > _SINGLE * (np.abs(full).max() + np.abs(meant).max())  # not for NaN
    if wrong.any():
        i, k, other = map(int, np.unravel_index(np.argmax(wrong), wrong.shape))
        raise ValueError(
            "loss must have mixed derivatives -u_k u_l in rows that sum to 0, or none, but at the prediction "
            f"{probe.z[i]} for the label {probe.y[i]} those of {name_of(loss)} say {meant[i, k, other]:.9g} "
            f"where its hessians say {full[i, k, other]:.9g}."
        )


def require_majorants(loss: Loss, near: Probe, far: Probe) -> None:
    """Compare the loss with the parabolas that touch it at other predictions, where it knows such."""
    if near.z.ndim > 1 or not is_majorised(loss):
        return
    numbers, step = called(loss, "majorants", near.z, near.y), far.z - near.z
    parabola = near.values + near.slopes * step + 0.5 * numbers * step**2
    sizes = np.abs(near.values) + np.abs(near.slopes * step) + np.abs(far.values)
    wrong = parabola < far.values - 1e-9 * (1.0 + sizes)  # NaN is outside the domain, and not compared
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"loss must have majorants whose parabolas lie above it, but for the label {near.y[i]} the one "
            f"of {name_of(loss)} that touches it at the prediction {near.z[i]:g} is {parabola[i]:g} at "
            f"{far.z[i]:g}, where the loss is {far.values[i]:g}."
        )


def _rates(loss: Loss, probe: Probe, k: int) -> list[Rate]:
    """Return differences of slopes: at a kink, one of the two sides agrees."""
    rates = []
    for step in _STEPS:
        h = step * max(1.0, float(np.abs(probe.z).max()))
        move = h if probe.z.ndim == 1 else h * np.eye(probe.z.shape[1])[k]
        up, here, down = (
            rows_of(called(loss, "slopes", probe.z + sign * move, probe.y)) for sign in (1, 0, -1)
        )
        rates += [Rate((up - down) / (2.0 * h), h), Rate((up - here) / h, h), Rate((here - down) / h, h)]
    return rates


def _require_close(loss: Loss, name: str, probe: Probe, rates: list[Rate], said: tuple[Array, int]) -> None:
    """Refuse second derivatives that none of the differences agrees with."""
    numbers, output = said
    size = float(np.abs(numbers).max(initial=0.0))
    steep = np.abs(rows_of(probe.slopes)).max(axis=1)
    slack = 1e-3 * np.abs(numbers) + 1e-4 * size + 1e-9
    errors = [np.abs(one.rates[:, output] - numbers) - slack - 1e-14 * steep / one.step for one in rates]
    wrong = np.min(errors, axis=0) > 0.0  # NaN is outside the domain, and not compared
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"loss must have {name} that are the derivatives of its slopes, but at the prediction "
            f"{probe.z[i]} for the label {probe.y[i]} {name_of(loss)} has {numbers[i]:g} where its slopes "
            f"change at rate {rates[0].rates[i, output]:g}."
        )


def require_concordance(loss: Loss, near: Probe, far: Probe) -> None:
    """Compare second derivatives at pairs of predictions with what the loss says of how fast they fall."""
    rate = float(loss.concordance)
    if not np.isfinite(rate):
        return
    distance = np.linalg.norm(rows_of(far.z - near.z), axis=1)
    for one, other in ((near, far), (far, near)):
        before, after = _forms(loss, one), _forms(loss, other)
        least = np.exp(-rate * distance)[:, None] * before
        size = np.abs(before).max(initial=0.0) + np.abs(after).max(initial=0.0)
        wrong = after < (1.0 - 1e-6) * least - _ROUNDING * size  # not where one of them is NaN
        if wrong.any():
            i, k = map(int, np.unravel_index(np.argmax(wrong), wrong.shape))
            raise ValueError(
                f"loss must have second derivatives that fall by no more than exp(-concordance t) over a "
                f"distance t, but with concordance={rate:g} those of {name_of(loss)} fall from "
                f"{before[i, k]:g} to {after[i, k]:g} between the predictions {one.z[i]} and {other.z[i]}; "
                "declare a number that holds, or none."
            )


def _forms(loss: Loss, probe: Probe) -> Array:
    """Return second derivatives along the outputs and, where all are known, along some other lines."""
    along = rows_of(probe.curvatures)
    if probe.z.ndim == 1 or not has_hessians(loss, probe.z, probe.y):
        return along
    lines = np.random.default_rng(0).standard_normal((probe.z.shape[1], 4))
    full = called(loss, "hessians", probe.z, probe.y)
    return np.hstack([along, np.einsum("nkl,ks,ls->ns", full, lines, lines)])
