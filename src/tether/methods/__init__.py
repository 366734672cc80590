"""One algorithm a file: open settings, what they become for a problem, a state of arrays, ask and tell."""

from collections.abc import Callable

from tether.methods.anderson import Anderson
from tether.methods.auto import Auto
from tether.methods.base import Algorithm, Method, StageWise
from tether.methods.delayed_asvrg import DelayedASVRG
from tether.methods.delayed_sgd import DelayedSGD
from tether.methods.delayed_svrg import DelayedSVRG
from tether.methods.lbfgs import LBFGS
from tether.methods.nesterov import Nesterov
from tether.methods.newton import Newton
from tether.methods.proxskip import ProxSkip
from tether.methods.proxskip_svrg import ProxSkipSVRG
from tether.methods.regularised import Regularised
from tether.methods.scaffold import Scaffold

__all__ = [
    "LBFGS",
    "NAMES",
    "Algorithm",
    "Anderson",
    "Auto",
    "DelayedASVRG",
    "DelayedSGD",
    "DelayedSVRG",
    "Method",
    "Nesterov",
    "Newton",
    "ProxSkip",
    "ProxSkipSVRG",
    "Regularised",
    "Scaffold",
    "StageWise",
    "as_method",
]

#: Short names, as `tether.solve` takes them.
NAMES: dict[str, Callable[[], Method]] = {
    "auto": Auto,
    "skip": lambda: Anderson(ProxSkipSVRG(renew=True, inside=True)),
    "p-sgd": lambda: DelayedSGD(interval=1),
    "dp-sgd": DelayedSGD,
    "p-svrg": lambda: DelayedSVRG(interval=1),
    "dp-svrg": DelayedSVRG,
    "p-asvrg": lambda: DelayedASVRG(interval=1),
    "dp-asvrg": DelayedASVRG,
    "proxskip": ProxSkip,
    "proxskip-svrg": ProxSkipSVRG,
    "scaffold": Scaffold,
    "nesterov": Nesterov,
    "lbfgs": LBFGS,
    "newton": Newton,
}


def as_method(method: str | Method) -> Method:
    """Return a method, or what a short name stands for; refuse what is neither."""
    if isinstance(method, Method):
        return method
    if not (isinstance(method, str) and method in NAMES):
        names = ", ".join(NAMES)
        raise ValueError(f"method must be one of {names}, or an object from tether.methods; got {method!r}.")
    return NAMES[method]()
