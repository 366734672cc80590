"""The matrix C of a quadratic: by its factors, N rows c_i, or itself, as one component."""

import math
from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether.arrays import Array, Indices
from tether.curvature import SecondOrder, packed
from tether.inputs import matrix as checked_matrix
from tether.lazy import lazy
from tether.objectives.base import Smoothness
from tether.objectives.design import Design, as_design
from tether.objectives.gram import Summed, gram_matrix, gram_triangle, is_separable, square_sums, summed
from tether.objectives.prices import (
    LARGEST_FULL,
    price_of_diagonal,
    price_of_hessian,
    work_of_gradient,
    work_of_product,
)
from tether.objectives.smoothness import require_moderate
from tether.objectives.spectrum import (
    gram_is_affordable,
    largest_eigenvalue,
    smallest_gram_eigenvalue,
    smallest_sparse_eigenvalue,
)
from tether.objectives.symmetric import (
    DENSE_LIMIT,
    ROUNDING,
    diagonal_of,
    is_surely_positive,
    largest_entry,
    spectrum_of,
    symmetric,
)


def form_of(factors: Any, matrix: Any) -> "Form":
    """Return the form in which C is given."""
    return _MatrixForm(matrix) if factors is None else _FactorForm(factors)


class Form(ABC):
    """The matrix C of a quadratic, seen through its products."""

    name: str  # as Quadratic's argument
    n_samples: int
    dim: int
    design: Design | None = None  # the rows c_i, if there are any
    weights: Array | None = None  # of the rows in a walk

    @property
    @abstractmethod
    def matrix(self) -> NDArray[Any] | sparse.csr_array | None:
        """C; None where forming it would cost too much."""

    @property
    @abstractmethod
    def arrays(self) -> tuple[Any, ...]:
        """What is stored, for a digest."""

    @abstractmethod
    def evaluate(self, x: Array) -> tuple[float, Array, Array | None]:
        """Return x^T C x, 2 C x and the slopes."""

    @abstractmethod
    def product(self, v: Array, batch: Indices | None) -> Array:
        """Return 2 C_B v, a fresh array."""

    @abstractmethod
    def smoothness(self) -> Smoothness:
        """Return the constants of x^T C x."""

    @abstractmethod
    def second_order(self) -> SecondOrder:
        """Return what C costs to form or to copy."""

    @abstractmethod
    def triangle(self, batch: Indices | None) -> Array:
        """Return the lower triangle of C_B."""

    @abstractmethod
    def diagonal(self, batch: Indices | None) -> Array:
        """Return the diagonal of C_B."""


@final
class _FactorForm(Form):
    """C = (1/N) sum_i c_i c_i^T."""

    name = "factors"

    design: Design

    def __init__(self, factors: Any) -> None:
        self.design = as_design(checked_matrix("factors", factors))
        self.n_samples, self.dim = self.design.n_samples, self.design.width

    @property
    def arrays(self) -> tuple[Any, ...]:
        return ("factors", *self.design.arrays)

    @lazy
    def matrix(self) -> NDArray[Any] | None:
        return gram_matrix(self.design) if gram_is_affordable(self.design, DENSE_LIMIT) else None

    def evaluate(self, x: Array) -> tuple[float, Array, Array | None]:
        z = self.design.predict(x)
        slopes = 2.0 * z
        return float(z @ z) / self.n_samples, self.design.combine(slopes) / self.n_samples, slopes

    def product(self, v: Array, batch: Indices | None) -> Array:
        rows = self.design if batch is None else self.design.take(batch)
        z = rows.predict(v)
        z *= 2.0 / len(z)
        if self.weights is not None:
            z *= self.weights if batch is None else self.weights[batch]
        return rows.combine(z)

    def smoothness(self) -> Smoothness:
        norms, matrix = self.design.squared_norms(), self.matrix
        require_moderate("factors", 2.0 * float(norms.max()))
        if matrix is None:
            curvature, convexity = largest_eigenvalue(lambda v: 0.5 * self.product(v, None), self.dim), 0.0
        else:
            curvature = largest_eigenvalue(lambda v: matrix @ v, self.dim)
            convexity = 2.0 * smallest_gram_eigenvalue(matrix, self.n_samples)
        return Smoothness(2.0 * float(norms.max()), 2.0 * min(curvature, float(norms.mean())), convexity)

    def second_order(self) -> SecondOrder:
        return SecondOrder(
            full=price_of_hessian(self.design),
            diagonal=price_of_diagonal(self.design),
            separable=is_separable(self.design),
            work=work_of_gradient(self.design, 1),
        )

    def triangle(self, batch: Indices | None) -> Array:
        return gram_triangle(self._mean_of(batch))

    def diagonal(self, batch: Indices | None) -> Array:
        return square_sums(self._mean_of(batch)).ravel()

    def _mean_of(self, batch: Indices | None) -> Summed:
        n = self.n_samples if batch is None else len(batch)
        return summed(self.design, np.full(n, 1.0 / n), batch)


@final
class _MatrixForm(Form):
    """C itself: one component."""

    name = "matrix"

    n_samples = 1

    def __init__(self, matrix: Any) -> None:
        self._matrix = symmetric(checked_matrix("matrix", matrix))
        self.dim = self._matrix.shape[0]
        require_moderate("matrix", 2.0 * self.dim * largest_entry(self._matrix))
        self._diagonal = diagonal_of(self._matrix)
        if not is_surely_positive(self._matrix):
            self._require_positive()

    def _require_positive(self) -> None:
        smallest, largest = self._spectrum
        if smallest < -ROUNDING * max(largest, -smallest):
            raise ValueError(
                f"matrix must be positive semidefinite, got an eigenvalue of {smallest:.3g} or less; "
                "an indefinite quadratic is not convex."
            )

    @lazy
    def _spectrum(self) -> tuple[float, float]:
        """Its extreme eigenvalues, or bounds on them."""
        return spectrum_of(self._matrix)

    @property
    def matrix(self) -> NDArray[Any] | sparse.csr_array:
        return self._matrix

    @property
    def arrays(self) -> tuple[Any, ...]:
        return ("matrix", self._matrix)

    def evaluate(self, x: Array) -> tuple[float, Array, Array | None]:
        half = self._times(x)
        return float(x @ half), 2.0 * half, None

    def product(self, v: Array, batch: Indices | None) -> Array:
        return 2.0 * self._times(v)

    def _times(self, v: Array) -> Array:
        return self._matrix @ v if self._diagonal is None else self._diagonal * v

    def smoothness(self) -> Smoothness:
        smallest, largest = self._spectrum
        if self._diagonal is not None:
            below = smallest
        elif self.dim <= DENSE_LIMIT:
            below = smallest - self.dim * float(np.finfo(np.float64).eps) * largest
        elif sparse.issparse(self.matrix):
            below = smallest_sparse_eigenvalue(self.matrix, largest)
        else:
            below = 0.0
        return Smoothness(2.0 * largest, 2.0 * largest, 2.0 * max(0.0, below))

    def second_order(self) -> SecondOrder:
        """A product reads what is stored; the triangle has as many numbers as it has."""
        matrix = self._matrix
        stored = matrix.size if isinstance(matrix, np.ndarray) else max(1, matrix.nnz)
        copied = max(1.0, self.dim * (self.dim + 1) / 2 / stored)
        return SecondOrder(
            full=copied if self.dim <= LARGEST_FULL else math.inf,
            diagonal=1.0,
            separable=self._diagonal is not None,
            work=work_of_product(stored, dense=isinstance(matrix, np.ndarray)),
        )

    def triangle(self, batch: Indices | None) -> Array:
        matrix = self._matrix
        return packed(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())

    def diagonal(self, batch: Indices | None) -> Array:
        return np.asarray(self._matrix.diagonal(), dtype=np.float64)
