"""What a run was made with: the versions of what takes part in it, and the machine."""

import platform
from functools import cache
from types import ModuleType

import numba
import numpy
import scipy

from tether.threads import CORES

PACKAGES: tuple[ModuleType, ...] = (numpy, scipy, numba)


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Return names and versions, of Tether first.

    Examples
    --------
    >>> dict(versions())["numpy"] == numpy.__version__
    True
    """
    from tether import __version__  # which is known once everything is imported

    packages = [(package.__name__, str(package.__version__)) for package in PACKAGES]
    system = f"{platform.system()} {platform.machine()}, {CORES} core{'' if CORES == 1 else 's'}"
    return (("tether", __version__), ("python", platform.python_version()), *packages, ("machine", system))
