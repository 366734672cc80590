"""Bounds, inequalities and l1 terms: polyhedral functions, made of scalar functions with kinks."""

from tether.polyhedral.function import Duals, Polyhedral
from tether.polyhedral.pieces import Pieces

__all__ = ["Duals", "Pieces", "Polyhedral"]
