"""One algorithm a file: frozen settings, a state of arrays, and start / ask / tell / estimate."""

from collections.abc import Callable
from typing import Any

from tether.methods.anderson import Anderson
from tether.methods.auto import Auto
from tether.methods.base import Method, StageWise
from tether.methods.delayed_asvrg import DelayedASVRG
from tether.methods.delayed_sgd import DelayedSGD
from tether.methods.delayed_svrg import DelayedSVRG
from tether.methods.lbfgs import LBFGS
from tether.methods.nesterov import Nesterov
from tether.methods.proxskip import ProxSkip
from tether.methods.proxskip_svrg import ProxSkipSVRG
from tether.methods.regularised import Regularised
from tether.methods.scaffold import Scaffold
from tether.problem import Facts

__all__ = [
    "LBFGS",
    "NAMES",
    "Anderson",
    "Auto",
    "DelayedASVRG",
    "DelayedSGD",
    "DelayedSVRG",
    "Method",
    "Nesterov",
    "ProxSkip",
    "ProxSkipSVRG",
    "Regularised",
    "Scaffold",
    "StageWise",
    "as_method",
    "check_method",
]

#: Short names, as `tether.solve` takes them.
NAMES: dict[str, Callable[[], Method[Any]]] = {
    "auto": Auto,
    "skip": lambda: Anderson(ProxSkipSVRG(renew=True)),
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
}


Algorithm = Method


def as_method(method):
    check_method(method)
    return method if isinstance(method, Method) else NAMES[method]()


def check_method(method: str | Method[Any]) -> None:
    """Refuse what is neither a method nor a short name."""
    if not (isinstance(method, Method) or (isinstance(method, str) and method in NAMES)):
        names = ", ".join(NAMES)
        raise ValueError(f"method must be one of {names}, or an object from tether.methods; got {method!r}.")
