"""Tether: linearly constrained finite sums with delayed projections.

minimise F(x) = (1/N) sum_i f_i(x)  subject to  A x = b
"""

from importlib import import_module
from typing import Any

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
from tether.expressions import constraints_of
from tether.extras import extra
from tether.inputs import InfeasibleError
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
from tether.run.history import Counts, History
from tether.run.saved import load
from tether.run.solution import Solution, Status
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
    "InfeasibleError",
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
    "constraints_of",
    "datasets",
    "differences",
    "engines",
    "from_jax",
    "from_torch",
    "graph_differences",
    "grid_differences",
    "iterate",
    "load",
    "methods",
    "solve",
    "splits",
    "theory",
]


_ESTIMATORS = (
    "ConstrainedGLM",
    "ConstrainedLasso",
    "ConstrainedLogisticRegression",
    "ConstrainedPoisson",
    "ConstrainedRidge",
    "FairLogisticRegression",
    "FusedLasso",
    "GeneralizedLasso",
    "LogContrastRegressor",
    "NonNegativeRegressor",
    "TrendFilter",
)
__all__ += [*_ESTIMATORS, "estimators", "inference"]


def __getattr__(name: str) -> Any:
    """Load what takes long to import, or needs scikit-learn, when it is asked for."""
    if name == "report":
        return extra("report", "tether.report")
    if name == "inference":
        return import_module("tether.inference")
    if name == "estimators" or name in _ESTIMATORS:
        rooms = extra("estimators", "tether.estimators")
        return rooms if name == "estimators" else getattr(rooms, name)
    raise AttributeError(f"module 'tether' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what is public; the other modules are rooms of the house."""
    return sorted(__all__)
