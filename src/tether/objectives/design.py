"""A data matrix seen through its products.

Everything a linear model asks of its data is here: predictions X x, combinations X^T s of its rows, and
ranges or batches of its rows. Dense, CSR and "with a column of ones" are three classes behind one
interface; none of them copies the matrix. Products are taken in the matrix's own precision (float32 stays
float32); what goes in and comes out is float64. Both products take one output (n,) or several (n, K).
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether import threads
from tether.arrays import Array, Indices
from tether.lazy import lazy

#: Stored numbers from which a model is worth compiling for.
COMPILE_FROM = 200_000
SHARED_WORK = 100_000_000  # products of numbers that are worth sharing among cores

LOOK = 1 << 12  # entries of short rows that are reduced as one row
LONG_ROW = 256  # entries from which a product with itself is one for BLAS
BLOCK = 1 << 18  # entries looked at together, so that nothing as large as the data is made


class Rows(ABC):
    """Some rows of data: the two products that a batch gradient is made of."""

    @abstractmethod
    def predict(self, x: Array) -> Array:
        """Return X x."""

    @abstractmethod
    def combine(self, slopes: Array) -> Array:
        """Return X^T s, a fresh array."""


class Design(Rows):
    """All rows of data."""

    n_samples: int
    width: int

    @property
    @abstractmethod
    def n_entries(self) -> int:
        """How many numbers are stored."""

    @property
    @abstractmethod
    def arrays(self) -> tuple[Any, ...]:
        """What is stored, for a digest."""

    @property
    def single(self) -> bool:
        """Whether products are taken in single precision."""
        return bool(self.arrays[0].dtype == np.float32)

    @abstractmethod
    def take(self, batch: Indices) -> Rows:
        """Return the rows with these numbers."""

    @abstractmethod
    def among(self, chosen: Indices) -> "Design":
        """Return a copy of some columns, in the order of their numbers."""

    @abstractmethod
    def squared_norms(self) -> Array:
        """Return ||a_i||^2 of every row."""

    @abstractmethod
    def largest(self) -> Array:
        """Return max_i |a_ij| of every column."""

    @abstractmethod
    def block(self, rows: slice | Indices) -> Array:
        """Return some rows as a dense float64 array."""

    @abstractmethod
    def write(self, rows: slice | Indices, factors: Array, out: Array) -> None:
        """Write some rows, each times its factor, into a dense array."""

    def products(self, rows: Indices) -> Array:
        """Return the products of some rows with each other."""
        block = self.block(rows)
        return block @ block.T


class DenseDesign(Design):
    """The rows of a NumPy array (or memory map)."""

    def __init__(self, matrix: NDArray[Any]) -> None:
        self.matrix = matrix
        self.n_samples, self.width = matrix.shape

    @property
    def n_entries(self) -> int:
        """How many numbers are stored."""
        return int(self.matrix.size)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The matrix."""
        return (self.matrix,)

    def predict(self, x: Array) -> Array:
        """Return X x, of several outputs and much data with a share of the rows on every core."""
        factors = x.astype(self.matrix.dtype, copy=False)
        if x.ndim == 1 or self.n_entries * x.shape[1] < SHARED_WORK:
            return _float64(self.matrix @ factors)
        with threads.one_blas_thread():
            parts = threads.share(lambda _, begin, end: self.matrix[begin:end] @ factors, self.n_samples)
        return _float64(np.concatenate(parts))

    def combine(self, slopes: Array) -> Array:
        """Return X^T s."""
        return _float64(self.matrix.T @ slopes.astype(self.matrix.dtype, copy=False))

    def take(self, batch: Indices) -> Rows:
        """Return the rows with these numbers."""
        return DenseDesign(self.matrix.take(batch, axis=0))

    def among(self, chosen: Indices) -> Design:
        """Return a copy of some columns."""
        return DenseDesign(self.matrix[:, chosen])

    def squared_norms(self) -> Array:
        """Return ||a_i||^2 of every row."""
        if self.width >= LONG_ROW and self.matrix.dtype == np.float64:  # BLAS, a row at a time
            return np.matmul(self.matrix[:, None, :], self.matrix[:, :, None])[:, 0, 0]
        return np.einsum("ij,ij->i", self.matrix, self.matrix, dtype=np.float64)

    def largest(self) -> Array:
        """Return max_i |a_ij| of every column; short rows are looked at many together."""
        few = self.n_entries < 4 * LOOK
        if few or self.width > LOOK // 2 or not self.matrix.flags.c_contiguous:
            return _float64(np.maximum(self.matrix.max(axis=0), -self.matrix.min(axis=0)))
        together = LOOK // self.width
        rest = self.n_samples % together
        stacked = self.matrix[rest:].reshape(-1, together * self.width)
        high, low = (end.reshape(together, self.width) for end in (stacked.max(axis=0), stacked.min(axis=0)))
        parts = (self.matrix[:rest], high, -low, -self.matrix[:rest])
        return _float64(np.max([part.max(axis=0, initial=0.0) for part in parts], axis=0))

    def block(self, rows: slice | Indices) -> Array:
        """Return some rows as a dense float64 array."""
        return _float64(self.matrix[rows])

    def write(self, rows: slice | Indices, factors: Array, out: Array) -> None:
        """Write some rows, each times its factor, into a dense array."""
        np.multiply(self.matrix[rows], factors[:, None], out=out)


class SparseDesign(Design):
    """The rows of a CSR matrix in canonical format.

    Parameters
    ----------
    matrix : csr_array
        The data.
    one_output : bool
        Whether predictions are one number a sample: such batches are gathered faster than SciPy does it.
    """

    def __init__(self, matrix: sparse.csr_array, one_output: bool = True) -> None:
        self.matrix = matrix
        self.one_output = one_output
        self.n_samples, self.width = matrix.shape

    @property
    def n_entries(self) -> int:
        """How many numbers are stored."""
        return int(self.matrix.nnz)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The matrix."""
        return (self.matrix,)

    @lazy
    def _transpose(self) -> sparse.csc_array:
        """X^T, a view, which SciPy takes a while to make."""
        return self.matrix.T

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the transpose, which would be a copy elsewhere."""
        return {name: value for name, value in self.__dict__.items() if name != "_transpose"}

    def predict(self, x: Array) -> Array:
        """Return X x."""
        return _float64(self.matrix @ x.astype(self.matrix.dtype, copy=False))

    def combine(self, slopes: Array) -> Array:
        """Return X^T s."""
        return _float64(self._transpose @ slopes.astype(self.matrix.dtype, copy=False))

    def take(self, batch: Indices) -> Rows:
        """Return the rows with these numbers."""
        return SparseRows(self.matrix, batch) if self.one_output else SparseDesign(self.matrix[batch], False)

    def among(self, chosen: Indices) -> Design:
        """Return a copy of some columns."""
        return SparseDesign(sparse.csr_array(self.matrix[:, chosen]), self.one_output)

    def squared_norms(self) -> Array:
        """Return ||a_i||^2 of every row."""
        norms, pointers = np.zeros(self.n_samples), self.matrix.indptr
        step = max(1, BLOCK * self.n_samples // max(1, self.matrix.nnz))
        for begin in range(0, self.n_samples, step):
            rows = pointers[begin : begin + step + 1]
            squares = np.square(self.matrix.data[rows[0] : rows[-1]], dtype=np.float64)
            filled = begin + np.flatnonzero(np.diff(rows))
            if len(filled):
                norms[filled] = np.add.reduceat(squares, pointers[filled] - rows[0])
        return norms

    def largest(self) -> Array:
        """Return max_i |a_ij| of every column."""
        found = np.zeros(self.width)
        np.maximum.at(found, self.matrix.indices, np.abs(self.matrix.data))
        return found

    def block(self, rows: slice | Indices) -> Array:
        """Return some rows as a dense float64 array."""
        return _float64(self.matrix[rows].toarray())

    def write(self, rows: slice | Indices, factors: Array, out: Array) -> None:
        """Write some rows, each times its factor, into a dense array."""
        np.multiply(self.block(rows), factors[:, None], out=out)

    def products(self, rows: Indices) -> Array:
        """Return the products of some rows with each other."""
        some = self.matrix[rows].astype(np.float64)
        return (some @ some.T).toarray()


class SparseRows(Rows):
    """A batch of CSR rows, laid end to end, for predictions of one output."""

    def __init__(self, matrix: sparse.csr_array, batch: Indices) -> None:
        starts = matrix.indptr.take(batch)
        lengths = matrix.indptr.take(batch + 1) - starts
        ends = np.cumsum(lengths)
        self.size = len(batch)
        self.width = matrix.shape[1]
        self.row = np.repeat(np.arange(self.size), lengths)  # the row of the batch that an entry is in
        place = (starts - ends + lengths).take(self.row)
        place += np.arange(len(place))
        self.column = matrix.indices.take(place)
        self.entry = matrix.data.take(place)

    def predict(self, x: Array) -> Array:
        """Return X x."""
        return _binned(self.row, self.entry * x.take(self.column), self.size)

    def combine(self, slopes: Array) -> Array:
        """Return X^T s."""
        return _binned(self.column, self.entry * slopes.take(self.row), self.width)


class _RowsWithOnes(Rows):
    """Some rows and a 1 behind each."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def predict(self, x: Array) -> Array:
        return self.rows.predict(x[:-1]) + x[-1]

    def combine(self, slopes: Array) -> Array:
        return np.concatenate([self.rows.combine(slopes), slopes.sum(axis=0, keepdims=True)])


class WithOnes(Design):
    """A design and a last column of ones that is never stored: the intercept."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.n_samples = design.n_samples
        self.width = design.width + 1
        self._rows = _RowsWithOnes(design)

    @property
    def n_entries(self) -> int:
        """How many numbers are stored."""
        return self.design.n_entries

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The matrix and a word for the ones."""
        return (*self.design.arrays, "ones")

    def predict(self, x: Array) -> Array:
        """Return X x + the intercept."""
        return self._rows.predict(x)

    def combine(self, slopes: Array) -> Array:
        """Return X^T s and, last, the sum of s."""
        return self._rows.combine(slopes)

    def take(self, batch: Indices) -> Rows:
        """Return the rows with these numbers."""
        return _RowsWithOnes(self.design.take(batch))

    def among(self, chosen: Indices) -> Design:
        """Return a copy of some columns, the ones behind the others."""
        inner = self.design.among(chosen[chosen < self.design.width])
        return WithOnes(inner) if inner.width < len(chosen) else inner

    def squared_norms(self) -> Array:
        """Return ||a_i||^2 + 1 of every row."""
        return self.design.squared_norms() + 1.0

    def largest(self) -> Array:
        """Return max_i |a_ij| of every column, and 1."""
        return np.append(self.design.largest(), 1.0)

    def block(self, rows: slice | Indices) -> Array:
        """Return some rows and a 1 behind each."""
        block = self.design.block(rows)
        return np.hstack([block, np.ones((len(block), 1))])

    def write(self, rows: slice | Indices, factors: Array, out: Array) -> None:
        """Write some rows and a 1 behind each, times their factors, into a dense array."""
        self.design.write(rows, factors, out[:, :-1])
        out[:, -1] = factors

    def products(self, rows: Indices) -> Array:
        """Return the products of some rows with each other, of which the ones are a part."""
        return self.design.products(rows) + 1.0


def as_design(
    matrix: NDArray[Any] | sparse.csr_array, *, one_output: bool = True, ones: bool = False
) -> Design:
    """Return the design of a checked matrix, with a column of ones behind it if asked."""
    design: Design = (
        DenseDesign(matrix) if isinstance(matrix, np.ndarray) else SparseDesign(matrix, one_output)
    )
    return WithOnes(design) if ones else design


def _float64(array: NDArray[Any]) -> Array:
    return array.astype(np.float64, copy=False)


def _binned(place: NDArray[Any], weights: Array, length: int) -> Array:
    """Return the sums of the weights at each place; NumPy counts in integers when there is nothing to sum."""
    return _float64(np.bincount(place, weights=weights, minlength=length))
