"""Weighted sums of products of rows, sum_i c_i a_i a_i^T, and of their diagonals: what Hessians are made of.

Dense rows go to BLAS in blocks, and so do sparse ones that are hardly sparse; other sparse rows cost the
squares of their lengths, compiled where there are many. Sums are taken in double precision whatever the data:
small eigenvalues are what a Hessian is asked for.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tether import threads
from tether.arrays import Array, Indices
from tether.curvature import packed, unpacked
from tether.kernels.arguments import csr
from tether.objectives.design import BLOCK, COMPILE_FROM, DenseDesign, Design, SparseDesign, WithOnes

_FEW_ROWS, _MANY_ROWS = 1024, 4096  # that BLAS gets together: adding up results then takes no time
_NUMBERS = 1 << 16  # of those rows, as far as that leaves a choice: they stay close to the processor
_MANY_WIDTH = 500  # columns from which it gets more, as results are large
BLAS_WIDTH = 1000  # columns from which BLAS shares a product among its threads better than we do blocks
_SPARSE_SHARE = 0.05  # of all pairs of columns that rows may have before dense products are faster
_MOST_NUMBERS = 1 << 26  # of the triangles that threads sum up, each its own


class Summed(NamedTuple):
    """Rows of a design, each with a factor: what is summed."""

    design: Design
    rows: slice | Indices
    factors: Array

    @property
    def numbers(self) -> Indices:
        """The numbers of the rows."""
        if isinstance(self.rows, slice):
            return np.arange(self.rows.start, self.rows.stop)
        return np.asarray(self.rows)

    def part(self, begin: int, end: int) -> "Summed":
        """Return some of the rows."""
        if isinstance(self.rows, slice):
            rows: slice | Indices = slice(self.rows.start + begin, self.rows.start + end)
        else:
            rows = self.rows[begin:end]
        return Summed(self.design, rows, self.factors[begin:end])


def summed(design: Design, factors: Array, batch: Indices | None = None) -> Summed:
    """Return all rows, or those with the numbers of a batch, with a factor each."""
    return Summed(design, slice(0, design.n_samples) if batch is None else batch, factors)


def gram_matrix(design: Design, weights: Array | None = None, *, compiled: bool = False) -> Array:
    """Return (1/N) sum_i w_i a_i a_i^T."""
    n = design.n_samples
    factors = np.full(n, 1.0 / n) if weights is None else weights / n
    return gram_of(summed(design, factors), compiled=compiled)


def gram_of(some: Summed, *, compiled: bool = False) -> Array:
    """Return sum_i c_i a_i a_i^T."""
    return unpacked(gram_triangle(some, compiled=compiled)) if is_sparse(some.design) else _dense_sum(some)


def gram_triangle(some: Summed, *, compiled: bool = False) -> Array:
    """Return the lower triangle of sum_i c_i a_i a_i^T.

    Parameters
    ----------
    some : Summed
        The rows a_i with their factors c_i.
    compiled : bool
        Use the kernel for sparse rows even if there are few.
    """
    if not is_sparse(some.design):
        return packed(_dense_sum(some))
    inner, _ = _inner(some.design)
    assert isinstance(inner, SparseDesign)
    if compiled or inner.n_entries >= COMPILE_FROM:
        return _compiled_sum(some, inner)
    return _sum_in_scipy(some)


def is_sparse(design: Design) -> bool:
    """Say whether pairs of non-zeros are so few that BLAS is slower."""
    if not isinstance(_inner(design)[0], SparseDesign):
        return False
    return pairs_of(design) < _SPARSE_SHARE * design.n_samples * design.width**2


def pairs_of(design: Design) -> float:
    """Return the sum over rows of the squares of their numbers of entries, a 1 behind them included."""
    inner, ones = _inner(design)
    if not isinstance(inner, SparseDesign):
        return float(design.n_samples * design.width**2)
    lengths = np.diff(inner.matrix.indptr).astype(np.float64) + ones
    return float(lengths @ lengths)


def is_separable(design: Design) -> bool:
    """Say whether no row has two entries, so that the sum is diagonal."""
    return isinstance(design, SparseDesign) and int(np.diff(design.matrix.indptr).max(initial=0)) <= 1


def square_sums(some: Summed, *, compiled: bool = False) -> Array:
    """Return sum_i c_i a_ij^2 for every column j; with K factors a row, for each of them, (d, K)."""
    inner, ones = _inner(some.design)
    several = some.factors.reshape(len(some.factors), -1)
    some = Summed(inner, some.rows, several)
    sums = np.zeros((some.design.width, several.shape[1]))
    if isinstance(inner, SparseDesign) and (compiled or inner.n_entries >= COMPILE_FROM):
        _compiled_squares(some, inner, sums)
    else:
        rows = len(several) if isinstance(inner, SparseDesign) else max(1, BLOCK // max(1, inner.width))
        for begin in range(0, len(several), rows):
            part = some.part(begin, min(begin + rows, len(several)))
            sums += _squares(part).T @ part.factors
    if ones:
        sums = np.vstack([sums, several.sum(axis=0)])
    return sums


def _inner(design: Design) -> tuple[Design, bool]:
    """Return the stored columns, and whether a 1 stands behind them."""
    return (design.design, True) if isinstance(design, WithOnes) else (design, False)


def _dense_sum(some: Summed) -> Array:
    """Return the sum as a matrix, by blocks of rows."""
    n, width = len(some.factors), some.design.width
    rows = _rows_together(width)
    if n <= rows and width < BLAS_WIDTH:
        with threads.one_blas_thread():
            return _sum_of_blocks(some, rows)
    if width >= BLAS_WIDTH and not threads.all_taken():
        with threads.all_blas_threads():
            return _sum_of_blocks(some, rows)
    parts = max(1, min(threads.CORES, n // rows))
    with threads.one_blas_thread():
        sums = threads.share(lambda _, begin, end: _sum_of_blocks(some.part(begin, end), rows), n, parts)
    total = sums[0]
    for one in sums[1:]:
        total += one
    return total


def _rows_together(width: int) -> int:
    """Return how many rows of so many columns BLAS gets together."""
    if width >= _MANY_WIDTH:
        return 2 * _FEW_ROWS
    return max(_FEW_ROWS, min(_MANY_ROWS, _NUMBERS // max(1, width)))


def _sum_of_blocks(some: Summed, rows: int) -> Array:
    n, width = len(some.factors), some.design.width
    block = np.empty((min(rows, n), width))
    with np.errstate(all="ignore"):  # curvatures far off may be infinite: the sum says so
        if n <= rows:
            return _product(some, block)
        total = np.zeros((width, width))
        for begin in range(0, n, rows):
            total += _product(some.part(begin, min(begin + rows, n)), block)
    return total


def _product(some: Summed, block: Array) -> Array:
    """Return the sum over one block of rows: half the work where all factors have one sign."""
    design, rows, factors = some
    if _lie_ready(some):  # there is nothing to write
        ready = design.block(rows)
        return factors[0] * (ready.T @ ready)
    block = block[: len(factors)]
    smallest = factors.min(initial=0.0)
    if not smallest < 0.0:
        design.write(rows, np.sqrt(factors), block)
        return block.T @ block
    if (factors <= 0.0).all():
        design.write(rows, np.sqrt(-factors), block)
        return -(block.T @ block)
    design.write(rows, np.ones(len(factors)), block)
    return block.T @ (block * factors[:, None])


def _lie_ready(some: Summed) -> bool:
    """Say whether rows can be used where they lie: dense ones in double precision, with equal factors."""
    design, rows, factors = some
    if not isinstance(design, DenseDesign) or not isinstance(rows, slice):
        return False
    alike = len(factors) > 0 and factors[0] == factors[-1] and bool((factors == factors[0]).all())
    return design.matrix.dtype == np.float64 and alike


def _sum_in_scipy(some: Summed) -> Array:
    """Return the triangle of a sum over few sparse rows."""
    rows = _stored(some)
    scaled = sparse.csr_array(rows.multiply(some.factors[:, None]))
    return packed((rows.T @ scaled).toarray())


def _stored(some: Summed) -> Any:
    """Return sparse rows in double precision, and a 1 behind each if there is one."""
    inner, ones = _inner(some.design)
    assert isinstance(inner, SparseDesign)
    rows = inner.matrix[some.numbers].astype(np.float64)
    return sparse.hstack([rows, np.ones((rows.shape[0], 1))], format="csr") if ones else rows


def _compiled_sum(some: Summed, inner: SparseDesign) -> Array:
    """Return the triangle of a sum over sparse rows, each thread with one of its own."""
    with threads.importing:  # numba takes its time
        from tether.kernels.gram import add_products

    n, width = len(some.factors), some.design.width
    size = width * (width + 1) // 2
    share = n / some.design.n_samples
    work = int(share * pairs_of(some.design)) // (8 * size)  # triangles that cost what the pairs do
    parts = max(1, min(threads.CORES, work, _MOST_NUMBERS // size))
    rows, numbers, ones = csr(inner.matrix), some.numbers.astype(np.uint64), width > inner.width

    def work_on(_: int, begin: int, end: int) -> Array:
        triangle = np.zeros(size)
        add_products(*rows, ones, numbers[begin:end], some.factors[begin:end], triangle)
        return triangle

    triangles = threads.share(work_on, n, parts)
    for other in triangles[1:]:
        triangles[0] += other
    return triangles[0]


def _compiled_squares(some: Summed, inner: SparseDesign, sums: Array) -> None:
    with threads.importing:  # numba takes its time
        from tether.kernels.gram import add_squares

    factors = np.ascontiguousarray(some.factors)
    add_squares(*csr(inner.matrix), some.numbers.astype(np.uint64), factors, sums)


def _squares(some: Summed) -> Any:
    """Return the squares of the entries of rows."""
    if not isinstance(some.design, SparseDesign):
        return np.square(some.design.block(some.rows))
    rows = some.design.matrix[some.rows].astype(np.float64)
    rows.data **= 2
    return rows
