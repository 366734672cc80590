"""Tether: linearly constrained finite sums with delayed projections.

minimise F(x) = (1/N) sum_i f_i(x)  subject to  A x = b
"""

from tether import datasets, engines, methods, splits, theory
from tether.constraints import (
    Affine,
    Consensus,
    Constraint,
    Flow,
    NonNegative,
    Range,
    Simplex,
    Unconstrained,
)
from tether.engines import Engine, Serial
from tether.objectives import (
    GLM,
    Federation,
    FiniteSum,
    Loss,
    Objective,
    Quadratic,
    Separable,
    Smoothness,
    from_jax,
    from_torch,
)
from tether.penalties import L1, differences, graph_differences, grid_differences
from tether.run.callback import CallbackError
from tether.run.solution import Counts, History, Solution, Status
from tether.solve import Moment, iterate, solve

__version__ = "0.1.0"

__all__ = [
    "GLM",
    "L1",
    "Affine",
    "CallbackError",
    "Consensus",
    "Constraint",
    "Counts",
    "Engine",
    "Federation",
    "FiniteSum",
    "Flow",
    "History",
    "Loss",
    "Moment",
    "NonNegative",
    "Objective",
    "Quadratic",
    "Range",
    "Separable",
    "Serial",
    "Simplex",
    "Smoothness",
    "Solution",
    "Status",
    "Unconstrained",
    "__version__",
    "datasets",
    "differences",
    "engines",
    "from_jax",
    "from_torch",
    "graph_differences",
    "grid_differences",
    "iterate",
    "methods",
    "solve",
    "splits",
    "theory",
]


def __dir__() -> list[str]:
    """List what is public; the other modules are rooms of the house."""
    return sorted(__all__)
