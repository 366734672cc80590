"""Losses of one prediction z against one label y: small frozen objects behind one interface.

`base` says what a loss has to answer; `classes`, `proportions`, `responses`, `quantiles` and `amounts` hold
the built-in ones; `majorised` has parabolas above them; `kernel_codes` says which of them compiled code
knows; `checks` looks at those that users bring.
"""

from tether.inputs import shown
from tether.objectives.losses.amounts import Gamma, Poisson, Tweedie
from tether.objectives.losses.base import Labels, Loss
from tether.objectives.losses.classes import Logistic, Multinomial
from tether.objectives.losses.proportions import Binomial
from tether.objectives.losses.quantiles import SmoothedQuantile
from tether.objectives.losses.responses import Huber, Squared

__all__ = [
    "LOSSES",
    "Binomial",
    "Gamma",
    "Huber",
    "Labels",
    "Logistic",
    "Loss",
    "Multinomial",
    "Poisson",
    "SmoothedQuantile",
    "Squared",
    "Tweedie",
    "as_loss",
]

LOSSES: dict[str, type[Loss]] = {
    "logistic": Logistic,
    "squared": Squared,
    "multinomial": Multinomial,
    "huber": Huber,
    "poisson": Poisson,
    "binomial": Binomial,
    "gamma": Gamma,
    "tweedie": Tweedie,
    "quantile-smoothed": SmoothedQuantile,
}


def as_loss(loss: str | Loss, n_classes: int | None = None) -> Loss:
    """Return the loss of that name, or the loss itself."""
    if n_classes is not None:
        if not isinstance(loss, str) or loss != "multinomial":
            raise ValueError(f'n_classes must be left out unless loss is "multinomial", got {shown(loss)}.')
        return Multinomial(n_classes)
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        names = ", ".join(f'"{name}"' for name in LOSSES)
        raise ValueError(
            f"loss must be one of {names} or an object of a class derived from Loss, got {shown(loss)}."
        )
    return LOSSES[loss]()
