"""Where the work is done."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tether.engines.base import Engine
from tether.engines.in_process import Workers
from tether.engines.serial import Serial
from tether.problem import Problem

if TYPE_CHECKING:
    from tether.engines.mpi import MPI

__all__ = ["MPI", "Engine", "Problem", "Serial", "Workers"]

_LATER = {"MPI": "tether.engines.mpi"}  # what needs an extra is imported when it is first asked for


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'tether.engines' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
