"""What is added to F beside the data: l1 terms of D x, and matrices D that people use."""

from tether.penalties.differences import differences, graph_differences, grid_differences
from tether.penalties.l1 import L1, Terms

__all__ = ["L1", "Terms", "differences", "graph_differences", "grid_differences"]
