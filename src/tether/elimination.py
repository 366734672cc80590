"""Sparse symmetric matrices, eliminated with pivots on their diagonal, in an order that keeps factors sparse.

That is safe for positive matrices, and for optimality systems that are shifted by a little.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

# Multiplications of nested dissection over the cube of its first cut: 10 on a square grid, thrice that in the
# order of minimal degrees.
DISSECTION_WORK = 30.0
PEELINGS = 40  # times that the ends of branches are dropped
# Multiplications a second, about.
SPEED = 1e9
# Entries a row up to which even a random matrix is eliminated as soon as a dense one.
FEW_ENTRIES = 8
# Columns that are eliminated together: more pay where factors are nearly dense, fewer where they are sparse.
PANEL = 8


def eliminated(matrix: sp.csc_array) -> Any:
    """Return SciPy's factors of a matrix; None where a pivot is exactly 0."""
    try:
        return splu(
            matrix,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            panel_size=PANEL,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        return None


def is_thin(matrix: Any) -> bool:
    """Say whether a matrix is so sparse that a dense factorisation is no quicker, whatever its pattern."""
    return matrix.nnz <= FEW_ENTRIES * matrix.shape[0]


def work_of_eliminating(pattern: sp.csr_array) -> float:
    """Return about the multiplications that a symmetric matrix takes, with pivots on its diagonal.

    A band of width w_i takes sum w_i^2. But the widest part of the band, w rows, also cuts the matrix in two,
    and elimination from the outside in, as nested dissection has it, takes a multiple of w^3. Branches of
    trees cost nothing.
    """
    product = _without_branches(pattern)
    order = reverse_cuthill_mckee(product, symmetric_mode=True)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    row_of = np.repeat(np.arange(len(order)), np.diff(product.indptr))
    leftmost = place.copy()
    np.minimum.at(leftmost, row_of, place[product.indices])
    width = (place - leftmost).astype(float)
    return min(float(width @ width), DISSECTION_WORK * float(width.max(initial=0.0)) ** 3)


def _without_branches(product: sp.csr_array) -> sp.csr_array:
    """Drop rows that are coupled with at most one other row, and those that then are, while it pays."""
    for _ in range(PEELINGS):
        kept = np.flatnonzero(np.diff(product.indptr) > 2)  # the row itself is one of them
        if len(kept) > 0.99 * product.shape[0] or len(kept) == 0:
            break
        product = sp.csr_array(product[kept][:, kept])
    return product
