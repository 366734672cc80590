"""Pictures of runs."""

from tether.report.plots import plot_convergence

__all__ = ["plot_convergence"]
