"""Lists of constraints and penalties, turned into a plane and a polyhedral function, and the way back."""

from tether.feasible.multipliers import Active, Multipliers
from tether.feasible.shape import Feasible, as_feasible, contradiction

__all__ = ["Active", "Feasible", "Multipliers", "as_feasible", "contradiction"]
