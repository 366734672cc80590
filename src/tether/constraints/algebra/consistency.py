"""Refuse A x = b without a solution, naming the rows that contradict each other.

The least-squares misfit r of the system with unit rows is the proof: r^T A = 0, yet r^T b = ||r||^2 > 0.
The rows on which r is large are the ones to look at.
"""

import numpy as np

from tether.arrays import Array
from tether.constraints.algebra.rows import Fit, Rows
from tether.inputs import InfeasibleError

NAMED_ROWS = 5


def require_consistent(rows: Rows, b: Array, fit: Fit) -> None:
    """Raise a ValueError unless the least-squares fit meets A x = b up to rounding."""
    size = float(np.linalg.norm(fit.misfit))
    if size <= 1e-10 * float(np.linalg.norm(rows.scale * b)) + 1e-12:
        return
    leak = float(np.linalg.norm(rows.adjoint(rows.scale * fit.misfit)))
    if leak > 1e-6 * size:
        raise ValueError(
            f"A x = b could not be solved to better than {size:.3g}: the rows of A are nearly dependent. "
            "Drop rows that the others almost imply."
        )
    row = int(np.argmax(np.abs(fit.misfit)))
    if not rows.adjoint(np.eye(1, len(b), row)[0]).any():
        value = _number(b[row])
        raise InfeasibleError(
            f"A x = b has no solution: row {row} of A is zero but b[{row}] = {value}. Drop it."
        )
    raise InfeasibleError(_contradiction(fit.misfit, b, size))


def _contradiction(misfit: Array, b: Array, size: float) -> str:
    weight = np.abs(misfit)
    culprits = np.flatnonzero(weight > 0.05 * weight.max())
    if len(culprits) == 1:  # one row against many, each of which has little weight
        culprits = np.flatnonzero(weight > 1e-6 * weight.max())
    named = np.sort(culprits[np.argsort(-weight[culprits], kind="stable")[:NAMED_ROWS]])
    values = listed([f"b[{i}] = {_number(b[i])}" for i in named], 0)
    return (
        f"A x = b has no solution: rows {listed(named, len(culprits) - len(named))} contradict each other, "
        f"{values} (contradiction {size:.3g}). Relax or drop one of them."
    )


def listed(items: object, more: int) -> str:
    """Return '1, 2 and 3', or '1, 2, 3 and 4 more'."""
    words = [str(item) for item in items]  # type: ignore[attr-defined]
    if more:
        words.append(f"{more} more")
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _number(value: float) -> str:
    return str(float(f"{value:.6g}"))
