"""The proof that A x = b has no solution between walls: a weight nu of the equations.

With q = A^T nu every x between the walls has q^T x <= sum_j max(q_j lower_j, q_j upper_j). If that is less
than nu^T b, then A x = b is out of reach.
"""

import numpy as np

from tether.arrays import Array
from tether.polyhedral import Pieces
from tether.prox.base import Infeasible

BEYOND = 1e8  # times the size of the numbers at hand: variables without walls are not looked for farther away
MARGIN = 1e-12  # of the sizes of the terms, which a proof has to exceed
NAMED = 5  # rows that an error names


def refutes(nu: Array, q: Array, b: Array, walls: Pieces, x: Array) -> bool:
    """Say whether nu, with q = A^T nu, proves that A x = b has no solution between the walls.

    Rounding leaves q_j = 0 inexact, so a variable without a wall counts as bounded by a large number, a
    multiple of the largest wall and of the largest entry of x.
    """
    size = float(np.abs(x).max(initial=0.0))
    finite = [float(np.abs(wall[np.isfinite(wall)]).max(initial=0.0)) for wall in (walls.lower, walls.upper)]
    far = BEYOND * max(1.0, size, *finite)
    reach = np.maximum(q * np.maximum(walls.lower, -far), q * np.minimum(walls.upper, far))
    terms = nu * b
    margin = MARGIN * (float(np.abs(reach).sum()) + float(np.abs(terms).sum()))
    return float(terms.sum()) - float(reach.sum()) > margin


def contradiction(nu: Array) -> Infeasible:
    """Return the error that names the rows which weigh most."""
    weight = np.abs(nu)
    rows = np.flatnonzero(weight > 1e-6 * weight.max(initial=0.0))
    most = np.sort(rows[np.argsort(-weight[rows], kind="stable")[:NAMED]])
    named = ", ".join(str(row) for row in most) + (" and others" if len(rows) > NAMED else "")
    equations, remedy = ("row", "it") if len(rows) == 1 else ("rows", "one of them")
    return Infeasible(
        f"A x = b has no solution between the bounds: {equations} {named} of A cannot be met there; relax "
        f"{remedy} or a bound.",
        nu,
    )
