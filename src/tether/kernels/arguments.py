"""The groups of arguments that kernels share."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NO_ARRAY = np.empty(0)  # an array that is not there


class Samples(NamedTuple):
    """Labels and losses: what a prediction is compared with."""

    code: int
    parameters: tuple[float, float]  # of the loss
    y: NDArray[Any]
    weights: NDArray[Any]  # empty: all ones
    offset: NDArray[Any]  # added to predictions of one output; empty: nothing
    ones: bool  # a constant 1 stands behind every row


class CSR(NamedTuple):
    """Sparse rows."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]


def csr(matrix: Any) -> CSR:
    """Return the arrays of a sparse matrix in compressed rows."""
    return CSR(matrix.data, unsigned(matrix.indices), unsigned(matrix.indptr))


def unsigned(numbers: NDArray[Any]) -> NDArray[Any]:
    """View whole numbers that are never negative as what they are."""
    return numbers.view(np.dtype(f"u{numbers.dtype.itemsize}"))


class Steps(NamedTuple):
    """A walk: x <- x - eta_t (change of the batch gradient + (ridge + excess) x + drift)."""

    order: NDArray[np.int64]  # sample numbers, batch after batch
    batch: int
    step_size: float
    decay: float
    clock: int
    ridge: float
    excess: NDArray[
        np.float64
    ]  # of single coefficients over the ridge; empty: none, sparse rows: of the ones
    drift: NDArray[np.float64]  # the constant part of every step; empty: zero
    slopes: NDArray[np.float64]  # at the anchor, one row a sample; empty: no anchor

    @property
    def even(self) -> tuple[Any, ...]:
        """A walk whose steps are all of one length."""
        return self.order, self.batch, self.step_size, self.ridge, self.excess, self.drift, self.slopes


class Mean(NamedTuple):
    """The running weighted sum of iterates."""

    convexity: float
    weight: float
    after: bool
    on: bool
