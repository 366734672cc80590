"""Two sparse factorisations that solve (A A^T + delta I) y = r without pivoting for size.

Both matrices are symmetric and, thanks to delta, can be eliminated in any order, so the order is free to
keep the factors sparse.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from tether.arrays import Array
from tether.elimination import eliminated, work_of_eliminating

# A A^T with this many times the entries of A is worth avoiding.
FILL_LIMIT = 30

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


def factorise_product(matrix: sp.csr_array, delta: float) -> Sweep | None:
    """Factorise A A^T + delta I."""
    product = sp.csc_array(matrix @ matrix.T + delta * sp.eye_array(matrix.shape[0]))
    factor = eliminated(product)
    return None if factor is None else factor.solve


def factorise_augmented(matrix: sp.csr_array, delta: float) -> Sweep | None:
    """Factorise [[I, A^T], [A, -delta I]], which keeps a full column of A as sparse as it is."""
    rows, columns = matrix.shape
    corner = -delta * sp.eye_array(rows)
    factor = eliminated(sp.block_array([[sp.eye_array(columns), matrix.T], [matrix, corner]], format="csc"))
    if factor is None:
        return None
    return lambda r: factor.solve(np.concatenate([np.zeros(columns), -r]))[columns:]
