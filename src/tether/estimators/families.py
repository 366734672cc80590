"""The families of `ConstrainedGLM`: the loss of each, with its settings, and what labels it takes."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array
from tether.estimators.table import numeric
from tether.inputs import shown
from tether.objectives.losses import (
    Binomial,
    Gamma,
    Huber,
    Loss,
    Multinomial,
    Poisson,
    SmoothedQuantile,
    Squared,
    Tweedie,
)

FAMILIES = (
    "normal",
    "binomial",
    "multinomial",
    "poisson",
    "gamma",
    "tweedie",
    "huber",
    "quantile-smoothed",
)
NARROWEST, WIDEST = 0.05, 0.5  # of the spread of y: the bandwidth of smoothed quantiles
NORMAL_SPREAD = 1.349  # between the quartiles of a normal distribution, in standard deviations


class Settings(NamedTuple):
    """What single families need."""

    power: float = 1.5
    delta: float = 1.35
    quantile: float = 0.5
    bandwidth: float | None = None


class Labels(NamedTuple):
    """Labels as a loss takes them, and the classes that they name, if they do."""

    y: NDArray[Any]
    classes: NDArray[Any] | None = None


def labels_of(family: str, y: NDArray[Any], weights: Array | None = None) -> Labels:
    """Return labels for a family, or refuse them in a sentence."""
    if weights is not None:
        labels_of(family, y[weights > 0.0])  # there must be enough of them among those that count
    if family == "multinomial":
        _require_classes(y)
        return _classes(y, family, least=2)
    if family == "binomial" and not _are_shares(y):
        return _classes(y, family, least=2, most=2)
    found = numeric(y, f'family="{family}"')
    if family == "binomial" and (found == found[0]).all() and found[0] in (0.0, 1.0):
        raise ValueError(
            'y must hold two classes or shares between 0 and 1 for family="binomial", with weights > 0, got '
            f"{found[0]:g} only; there is nothing to tell apart."
        )
    return Labels(found)


def places_among(classes: NDArray[Any], y: Any) -> NDArray[Any]:
    """Return the numbers of classes that were learned, or refuse strangers."""
    labels, known = np.asarray(y), set(classes.tolist())
    strange = [label for label in np.unique(labels).tolist() if label not in known]
    if strange:
        raise ValueError(f"y must hold classes that were fitted, {_few(classes)}, got {strange[0]!r}.")
    return np.searchsorted(classes, labels)


def loss_of(family: Any, settings: Settings, y: Array, weights: Array | None, n_columns: int) -> Loss:
    """Return the loss of a family for given labels."""
    require_family(family)
    if family == "multinomial":
        return Multinomial(int(y.max()) + 1)
    if family == "quantile-smoothed":
        loss, width = SmoothedQuantile(settings.quantile), settings.bandwidth
        if width is None:
            width = _bandwidth(y, weights, n_columns, loss.quantile)
        return replace(loss, bandwidth=width)
    if family == "tweedie":
        return Tweedie(settings.power)
    if family == "huber":
        return Huber(settings.delta)
    plain: dict[str, Loss] = {"normal": Squared(), "binomial": Binomial(), "poisson": Poisson()}
    return plain.get(family, Gamma())


def require_family(family: Any) -> None:
    """Refuse what is no family."""
    if not isinstance(family, str) or family not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(map(repr, FAMILIES))}, got {shown(family)}.")


def _bandwidth(y: Array, weights: Array | None, n_columns: int, quantile: float) -> float:
    """Return a bandwidth after He et al.: of the spread of y, the less the more samples there are."""
    n = float(len(y) if weights is None else weights.sum())
    low, high = (_weighted_quantile(y, weights, q) for q in (0.25, 0.75))
    spread = (high - low) / NORMAL_SPREAD or float(np.ptp(y)) or 1.0
    share = np.sqrt(quantile * (1.0 - quantile)) * ((np.log(max(n, 2.0)) + n_columns) / n) ** 0.4
    return spread * max(NARROWEST, min(float(share), WIDEST))


def _weighted_quantile(y: Array, weights: Array | None, q: float) -> float:
    order = np.argsort(y)
    mass = np.cumsum(np.ones(len(y)) if weights is None else weights[order])
    return float(y[order[np.searchsorted(mass, q * mass[-1])]])


def _are_shares(y: NDArray[Any]) -> bool:
    return y.dtype.kind in "biuf" and bool((y >= 0).all() and (y <= 1).all())


def _require_classes(y: NDArray[Any]) -> None:
    """Refuse measurements, of which each would be a class of its own."""
    broken = y[y != np.round(y)] if y.dtype.kind == "f" else y[:0]
    if len(broken):
        raise ValueError(
            f'y must hold classes for family="multinomial", got the measurement {broken[0]:g}; name the '
            "classes by whole numbers or words."
        )


def _classes(y: NDArray[Any], family: str, least: int, most: int | None = None) -> Labels:
    classes, places = np.unique(y, return_inverse=True)
    if len(classes) < least or (most is not None and len(classes) > most):
        wanted = "two classes or shares between 0 and 1" if most else "at least two classes"
        values = "1 value" if len(classes) == 1 else f"{len(classes)} different values"
        raise ValueError(f'y must hold {wanted} for family="{family}", got {values}: {_few(classes)}.')
    return Labels(places.astype(np.float64) if most else places, classes)


def _few(classes: NDArray[Any]) -> str:
    return ", ".join(map(str, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")
