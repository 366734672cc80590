"""The method for those who do not want to choose one."""

from typing import Any

from tether.conversation import Facts
from tether.methods.anderson import Anderson
from tether.methods.base import Method
from tether.methods.lbfgs import LBFGS
from tether.methods.proxskip_svrg import ProxSkipSVRG

SMALL = 1_000  # samples below which a full gradient costs no more than a handful of steps


def choose(facts: Facts) -> Method[Any]:
    """Return L-BFGS on the constraint for few samples, else one projection a pass with a learned dual."""
    if facts.n_samples < SMALL or not facts.smoothness.exact:
        return LBFGS()
    return Anderson(ProxSkipSVRG())
