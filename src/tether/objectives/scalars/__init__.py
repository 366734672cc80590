"""Convex functions of one variable, which `Separable` adds up: their names and where they live."""

from tether.objectives.scalars.base import PerVariable, ScalarFunction
from tether.objectives.scalars.half_line import Entropy, TravelTime
from tether.objectives.scalars.line import LogCosh, Power, Square
from tether.objectives.scalars.own import Own

FUNCTIONS: dict[str, type[ScalarFunction]] = {
    function.name: function for function in (Square, Power, LogCosh, Entropy, TravelTime)
}

__all__ = [
    "FUNCTIONS",
    "Entropy",
    "LogCosh",
    "Own",
    "PerVariable",
    "Power",
    "ScalarFunction",
    "Square",
    "TravelTime",
]
