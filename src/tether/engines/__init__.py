"""Where the work is done."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tether.engines.base import Engine
from tether.engines.in_process import Workers
from tether.engines.serial import Serial
from tether.objectives import Federation, Objective
from tether.problem import Problem

if TYPE_CHECKING:
    from tether.engines.mpi import MPI

__all__ = ["MPI", "Engine", "Problem", "Serial", "Workers", "as_engine"]


def as_engine(engine: Any, objective: Objective) -> Engine:
    """Return where the work is to be done: in this process, unless the user says otherwise."""
    if engine is None:
        return Workers() if isinstance(objective, Federation) else Serial()
    if not isinstance(engine, Engine):
        raise TypeError(f"engine must be an object from tether.engines, got {engine!r}.")
    return engine


_LATER = {"MPI": "tether.engines.mpi"}  # what needs an extra is imported when it is first asked for


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'tether.engines' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
