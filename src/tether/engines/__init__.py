"""Where the work is done."""

from tether.engines.base import Engine, Problem
from tether.engines.serial import Serial
from tether.engines.workers import Workers

__all__ = ["Engine", "Problem", "Serial", "Workers"]
