"""What x must satisfy: affine sets, seen through their projections.

One set a file: `affine`, `range`, `flow`, `consensus`, `unconstrained`; `base` says what a set can do and
`convert` turns what users give into one. The linear algebra behind them is in `algebra`.
"""

from tether.constraints.affine import Affine
from tether.constraints.base import Constraint
from tether.constraints.consensus import Consensus
from tether.constraints.convert import as_constraint
from tether.constraints.flow import Flow
from tether.constraints.nonnegative import NonNegative
from tether.constraints.range import Range
from tether.constraints.simplex import Simplex
from tether.constraints.unconstrained import Unconstrained
from tether.names import aligned_vector

__all__ = [
    "Affine",
    "Consensus",
    "Constraint",
    "Flow",
    "NonNegative",
    "Range",
    "Simplex",
    "Unconstrained",
    "aligned_vector",
    "as_constraint",
]
