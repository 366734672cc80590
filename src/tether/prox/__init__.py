"""Projections that know kinks and walls: the prox of psi among the solutions of A x = b."""

from tether.prox.base import Infeasible, Proximal
from tether.prox.choose import Prox

__all__ = ["Infeasible", "Prox", "Proximal"]
