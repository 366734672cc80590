"""Two sparse factorisations that solve (A A^T + delta I) y = r without pivoting for size.

Both matrices are symmetric and, thanks to delta, can be eliminated in any order, so the order is free to
keep the factors sparse.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from tether.arrays import Array

# A A^T with this many times the entries of A is worth avoiding.
FILL_LIMIT = 30

# Multiplications of nested dissection over the cube of its first cut: 10 on a square grid, thrice that in the
# order of minimal degrees.
DISSECTION_WORK = 30.0
PEELINGS = 40  # times that the ends of branches are dropped
# Multiplications a second, about.
SPEED = 1e9

#: One forward and one backward substitution: r to y.
Sweep = Callable[[Array], Array]


def product_fills_in(matrix: sp.csr_array) -> bool:
    """Tell whether A A^T would have many more entries than A, because some columns of A are nearly full."""
    in_column = np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(float)
    entries = min(float(in_column @ in_column), float(matrix.shape[0]) ** 2)
    return entries > FILL_LIMIT * (matrix.nnz + matrix.shape[0])


def work_of_factorising(matrix: sp.csr_array) -> float:
    """Return about the multiplications that a factorisation of A A^T takes.

    Columns of A that are nearly full are left out.
    """
    in_column = np.bincount(matrix.indices, minlength=matrix.shape[1])
    thin = sp.csr_array(matrix[:, in_column <= np.sqrt(matrix.shape[0])])
    return work_of_eliminating(sp.csr_array(abs(thin) @ abs(thin).T))


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


def factorise_product(matrix: sp.csr_array, delta: float) -> Sweep | None:
    """Factorise A A^T + delta I."""
    product = sp.csc_array(matrix @ matrix.T + delta * sp.eye_array(matrix.shape[0]))
    factor = _factorise(product)
    return None if factor is None else factor.solve


def factorise_augmented(matrix: sp.csr_array, delta: float) -> Sweep | None:
    """Factorise [[I, A^T], [A, -delta I]], which keeps a full column of A as sparse as it is."""
    rows, columns = matrix.shape
    corner = -delta * sp.eye_array(rows)
    factor = _factorise(sp.block_array([[sp.eye_array(columns), matrix.T], [matrix, corner]], format="csc"))
    if factor is None:
        return None
    return lambda r: factor.solve(np.concatenate([np.zeros(columns), -r]))[columns:]


def _factorise(matrix: sp.csc_array) -> Any:
    try:
        return splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:  # an exact zero as pivot
        return None
