"""The methods that the theory speaks of, and which analysis each of them shares.

A method that projects at every step (``p-svrg``, ``d-sgd``) is its delayed sibling with E = 1, and a
federated method (``local-svrg``) is the same method on the consensus set. So there is one formula a family.
"""

from typing import NamedTuple

from tether.inputs import shown
from tether.theory.conditions import count


class Family(NamedTuple):
    """Where the formulas of a method are found."""

    base: str  # the method whose analysis applies
    immediate: bool = False  # a projection after every step: E = 1
    federated: bool = False  # the stacked problem of n workers


FAMILIES = {
    "p-sgd": Family("dp-sgd", immediate=True),
    "dp-sgd": Family("dp-sgd"),
    "p-svrg": Family("dp-svrg", immediate=True),
    "dp-svrg": Family("dp-svrg"),
    "p-asvrg": Family("dp-asvrg", immediate=True),
    "dp-asvrg": Family("dp-asvrg"),
    "d-sgd": Family("dp-sgd", immediate=True, federated=True),
    "local-sgd": Family("dp-sgd", federated=True),
    "scaffold": Family("scaffold", federated=True),
    "local-svrg": Family("dp-svrg", federated=True),
    "local-asvrg": Family("dp-asvrg", federated=True),
    "projected-gradient": Family("projected-gradient", immediate=True),
    "nesterov": Family("nesterov", immediate=True),
    "proxskip": Family("proxskip"),
    "proxskip-svrg": Family("proxskip-svrg"),
}


def family(method: str) -> Family:
    """Return the family of a method, or say which methods there are."""
    if not isinstance(method, str) or method not in FAMILIES:
        raise ValueError(f"method must be one of {', '.join(FAMILIES)}; got {shown(method)}.")
    return FAMILIES[method]


def check_interval(method: str, interval: float) -> None:
    """Raise when a method that projects at every step is given a longer interval."""
    if family(method).immediate and count("interval", interval) != 1:
        raise ValueError(
            f"{method} projects at every step, so interval must be 1, got {interval:g}; "
            f"use a delayed method such as dp-svrg."
        )
