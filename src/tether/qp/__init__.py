"""Convex quadratic programs with bounds, inequalities and l1 terms: an interior point and its active set."""

from tether.qp.program import Answer, Program, Status
from tether.qp.solve import solve_program

__all__ = ["Answer", "Program", "Status", "solve_program"]
