"""The matrix (1/N) sum_i w_i a_i a_i^T of the rows of a design: the curvature of every linear model.

Its extreme eigenvalues, from above and from below, are where a model's constants come from. Narrow data has
them exactly, from the matrix itself; of wide data the matrix is only seen through its products.
"""

from typing import NamedTuple

import numpy as np

from tether import threads
from tether.arrays import Array, Indices
from tether.kernels.codes import NO_PARAMETERS
from tether.lazy import lazy
from tether.objectives.design import Design, Rows
from tether.objectives.gram import gram_matrix, is_sparse, square_sums, summed
from tether.objectives.spectrum import (
    Product,
    gram_is_affordable,
    largest_eigenvalue,
    largest_gram_eigenvalue,
    smallest_gram_eigenvalue,
)

_GRAM_WIDTH = 500  # columns up to which the matrix is formed if its smallest eigenvalue is of use
_NARROW_WIDTH = 64  # columns up to which forming it costs less than a few products with the data ...
_NARROW_SPARSE_WIDTH = 200  # ... and less, for few rows made dense, than products of sparse ones
_SEVERAL_ROWS = 2_000  # that show how unequal columns are, ...
_FEW_ROWS, _PROBES = 300, 16  # ... and how unequal eigenvalues; and directions to look along
_SPECTRAL_TOLERANCE = 0.03  # a larger L_F costs methods less than the passes that would make it smaller


class Lengths(NamedTuple):
    """How long rows are."""

    largest: float  # w_i ||a_i||^2
    mean: float  # of w_i ||a_i||^2
    longest: float  # ||a_i|| of a sample that counts


def _lengths_of(squares: Array, weights: Array | None) -> Lengths:
    """Return the lengths of rows, by their squares."""
    longest = float(np.sqrt(squares.max() if weights is None else squares[weights > 0.0].max()))
    if weights is not None:
        squares = squares * weights
    return Lengths(float(squares.max()), float(squares.mean()), longest)


def _products(design: Design, chosen: Indices, factors: Array) -> float:
    """Return the sum of the squares of all products of two rows times factors; along probes where long."""
    sparse_rows = is_sparse(design)
    if design.width <= (_NARROW_SPARSE_WIDTH if sparse_rows else _NARROW_WIDTH):
        block = design.block(chosen) * factors[:, None]
        return float(np.sum((block.T @ block) ** 2))
    if sparse_rows:
        return float(np.sum((design.products(chosen) * factors * factors[:, None]) ** 2))
    rows: Rows = design if len(chosen) == design.n_samples else design.take(chosen)
    probes = np.random.default_rng(1).choice([-1.0, 1.0], (design.width, _PROBES))
    ends = rows.combine((factors**2)[:, None] * rows.predict(probes))
    return float(np.sum(ends**2)) / _PROBES


class SecondMoment:
    """The mean of w_i a_i a_i^T.

    Parameters
    ----------
    design : Design
        The rows a_i.
    weights : array, optional
        The w_i, ones by default.
    smallest : bool
        Whether the smallest eigenvalue is of use, so that more may be spent on the matrix.
    compiled : bool
        Whether kernels should take the products.
    """

    def __init__(self, design: Design, weights: Array | None, *, smallest: bool, compiled: bool) -> None:
        self.design, self.weights = design, weights
        self._widest = _GRAM_WIDTH if smallest else _NARROW_WIDTH
        self._compiled = compiled

    @lazy
    def matrix(self) -> Array | None:
        """The matrix itself, where it is small and cheap."""
        if not gram_is_affordable(self.design, self._widest):
            return None
        return gram_matrix(self.design, self.weights, compiled=self._compiled)

    @lazy
    def lengths(self) -> Lengths:
        """How long rows are."""
        return _lengths_of(self.squares, self.weights)

    @lazy
    def squares(self) -> Array:
        """||a_i||^2."""
        return self.design.squared_norms()

    @lazy
    def unevenness(self) -> float:
        """About the largest mean square of a column over the median, of many dense rows from some."""
        n = self.design.n_samples
        few = n <= _SEVERAL_ROWS or is_sparse(self.design)
        rows = None if few else np.linspace(0, n - 1, _SEVERAL_ROWS).astype(np.intp)
        factors = np.full(n, 1.0 / n) if self.weights is None else self.weights / n
        some = summed(self.design, factors if rows is None else factors[rows], rows)
        squares = square_sums(some, compiled=self._compiled)
        return float(squares.max() / (np.median(squares) or 1.0))

    @lazy
    def spread(self) -> float:
        """About how much larger the mean square of the eigenvalues is than the square of their mean.

        That is of rows of length 1, of which long ones are not more than others: the mean square of the
        products of any two, times the columns. It is 1 where rows point anywhere.
        """
        n = self.design.n_samples
        many = _FEW_ROWS if is_sparse(self.design) else 4 * _FEW_ROWS  # of dense ones a small part is copied
        count = _FEW_ROWS if n > many else n
        chosen = np.arange(n) if count == n else np.random.default_rng(0).choice(n, count, replace=False)
        units = 1.0 / np.sqrt(np.where(self.squares[chosen] > 0.0, self.squares[chosen], np.inf))
        products = _products(self.design, chosen, units) - float(np.count_nonzero(units))
        return self.design.width * products / max(1, count * (count - 1))

    def largest(self) -> float:
        """Return the largest eigenvalue, or a bound on it."""
        if self.matrix is None:
            return largest_eigenvalue(self._product(), self.design.width, _SPECTRAL_TOLERANCE)
        matrix = self.matrix
        if len(matrix) <= _NARROW_WIDTH:
            return largest_gram_eigenvalue(matrix, self.design.n_samples)
        return largest_eigenvalue(lambda v: matrix @ v, len(matrix), _SPECTRAL_TOLERANCE)

    def smallest(self) -> float:
        """Return the smallest eigenvalue from below; 0 where nothing is known."""
        return 0.0 if self.matrix is None else smallest_gram_eigenvalue(self.matrix, self.design.n_samples)

    def _product(self) -> Product:
        design, weights, n = self.design, self.weights, self.design.n_samples
        if self._compiled:  # one pass on all cores: half of the gradient of sum_i w_i <a_i, x>^2
            with threads.importing:  # numba takes its time
                from tether.objectives.compiled import FACTOR, Model, compile_model

            squares = compile_model(design, Model(FACTOR, NO_PARAMETERS, np.zeros(n), weights))
            return lambda v: squares.pass_over(v)[2] / (2 * n)

        def product(v: Array) -> Array:
            z = design.predict(v)
            return design.combine(z if weights is None else z * weights) / n

        return product
