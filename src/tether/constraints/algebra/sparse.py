"""Rows of a sparse matrix: a sparse factorisation of A A^T, or conjugate gradients where that would fill in.

Small matrices are worked with as dense ones. For all others nothing is ever dense: three solvers compete,
and the shape of the matrix decides:

- A A^T + delta I, factorised, for most matrices: delta stands in for the rows that are redundant;
- the augmented matrix [[I, A^T], [A, -delta I]] when a few columns are so full that A A^T would be dense;
- conjugate gradients when they converge in a few dozen iterations, as on expander graphs, whose
  factorisation would fill in completely.
"""

import logging
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from tether.arrays import Array, Indices
from tether.constraints.algebra.conjugate import conjugate_gradients, norm
from tether.constraints.algebra.dense import DenseRows
from tether.constraints.algebra.factor import (
    Sweep,
    factorise_augmented,
    factorise_product,
    product_fills_in,
    work_of_factorising,
)
from tether.constraints.algebra.refined import ROUNDING, RefinedRows, Solver, UnitRows
from tether.constraints.algebra.rows import Rows

# Multiplications of a dense factorisation that take less time than to begin a sparse one.
SMALL_WORK = 1e6
# Below this many rows a factorisation is always affordable.
FACTORISED_ROWS = 5_000
# The same below this many multiplications, a second or so ...
QUICK_WORK = 1e9
# ... else, more iterations than this cost more than the triangular solves of a typical factorisation, ...
ITERATION_LIMIT = 60
# ... but if the factorisation itself may take this many multiplications, more of them are welcome, ...
FACTORISING_WORK = 2e10
EXTENDED_ITERATION_LIMIT = 300
# ... and with this many, minutes, there is no choice.
HOPELESS_WORK = 1e11
# Tried in turn, until random directions are projected to rounding accuracy.
REGULARISATIONS = (1e-13, 1e-11, 1e-9)

INEXACTNESS_WARNING = (
    "The rows of A are nearly dependent: projections onto A x = b will not reach full accuracy."
)
log = logging.getLogger("tether")


def sparse_rows(matrix: sp.csr_array) -> Rows:
    """Return the rows of a sparse matrix with the solver that suits it."""
    if float(matrix.shape[0]) ** 2 * matrix.shape[1] <= SMALL_WORK:
        return DenseRows(matrix.toarray())
    unit = _unit_rows(matrix)
    if matrix.shape[0] > FACTORISED_ROWS and _is_iterative(matrix, unit):
        return iterative_rows(unit, "sparse, iterative")
    best, least = None, np.inf
    for rows in _attempts(matrix, unit):
        roughness = rows.roughness()
        if roughness <= 1.0:
            return rows
        if best is None or roughness < least:
            best, least = rows, roughness
    log.warning(INEXACTNESS_WARNING)
    assert best is not None  # the last attempt needs no factorisation and is always made
    return best


def iterative_rows(unit: UnitRows, kind: str) -> RefinedRows:
    """Return rows solved with by conjugate gradients, however many iterations that takes."""
    return RefinedRows(unit, iterative_solver(unit, 10 * min(unit.shape) + 100), kind)


def iterative_solver(unit: UnitRows, limit: int) -> Solver:
    """Return conjugate gradients as a solver; rows of unit length are preconditioning enough."""
    products = unit.products()
    return lambda r, floor: conjugate_gradients(products, r, 0.5 * floor, limit).y


def _attempts(matrix: sp.csr_array, unit: UnitRows) -> Iterator[RefinedRows]:
    """Yield rows with one solver after the other, the fastest first."""
    scaled = scaled_rows(matrix, unit.scale)
    augmented = product_fills_in(matrix)
    kind = "sparse, augmented" if augmented else "sparse, factorised"
    for delta in REGULARISATIONS:
        sweep = factorise_augmented(scaled, delta) if augmented else factorise_product(scaled, delta)
        if sweep is None:
            continue
        yield RefinedRows(unit, _plain_solver(sweep), kind)
        yield RefinedRows(unit, _polished_solver(unit, sweep), kind)
    yield iterative_rows(unit, "sparse, iterative")


def _plain_solver(sweep: Sweep) -> Solver:
    return lambda r, floor: sweep(r)


def _polished_solver(unit: UnitRows, sweep: Sweep) -> Solver:
    """Return conjugate gradients preconditioned by a factorisation that has lost too many digits alone."""
    products = unit.products()
    return lambda r, floor: conjugate_gradients(products, r, 0.5 * floor, 20, precondition=sweep).y


def _unit_rows(matrix: sp.csr_array) -> UnitRows:
    transposed = matrix.T.tocsr()
    scale = 1.0 / row_lengths(matrix)
    sizes = np.abs(scaled_rows(matrix, scale).data)
    sums = np.bincount(matrix.indices, sizes), np.bincount(_rows_of_entries(matrix), sizes)
    gain = float(np.sqrt(sums[0].max(initial=0.0) * sums[1].max(initial=0.0)))
    return UnitRows(matrix.shape, lambda x: matrix @ x, lambda y: transposed @ y, scale, max(gain, 1.0))


def row_lengths(matrix: sp.csr_array) -> Array:
    """Return the Euclidean length of each row, without overflow, and 1 for a row of zeros."""
    rows, row_of = matrix.shape[0], _rows_of_entries(matrix)
    with np.errstate(over="ignore"):
        squares = np.bincount(row_of, matrix.data**2, minlength=rows)
    if squares.min(initial=1.0) > 1e-280 and squares.max(initial=1.0) < 1e280:
        return np.sqrt(squares)
    largest = abs(matrix).max(axis=1).toarray().ravel() if matrix.nnz else np.zeros(rows)
    largest[largest == 0.0] = 1.0
    lengths = largest * np.sqrt(np.bincount(row_of, (matrix.data / largest[row_of]) ** 2, minlength=rows))
    lengths[lengths == 0.0] = 1.0
    return lengths


def scaled_rows(matrix: sp.csr_array, factors: Array) -> sp.csr_array:
    """Return a matrix with its rows multiplied."""
    scaled = matrix.copy()
    scaled.data *= factors[_rows_of_entries(matrix)]
    return scaled


def _rows_of_entries(matrix: sp.csr_array) -> Indices:
    """Return the row of every entry that is stored."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _is_iterative(matrix: sp.csr_array, unit: UnitRows) -> bool:
    work = work_of_factorising(matrix)
    if work <= QUICK_WORK or work > HOPELESS_WORK:
        return work > HOPELESS_WORK
    limit = EXTENDED_ITERATION_LIMIT if work > FACTORISING_WORK else ITERATION_LIMIT
    return _converges_within(limit, unit)


def _converges_within(limit: int, unit: UnitRows) -> bool:
    products = unit.products()
    for v in np.random.default_rng(0).standard_normal((2, unit.shape[1])):
        r = products.forward(v)
        floor = max(1e-13 * norm(r), ROUNDING * unit.gain * norm(v))
        if not conjugate_gradients(products, r, floor, limit).converged:
            return False
    return True
