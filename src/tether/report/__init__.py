"""Runs to look at: pictures, and pages that answer to their reader."""

from tether.report.page import write_report
from tether.report.parts import Curves, Figure, Mark, Section, Table, Text
from tether.report.plots import plot_convergence

__all__ = ["Curves", "Figure", "Mark", "Section", "Table", "Text", "plot_convergence", "write_report"]
