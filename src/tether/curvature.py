"""Second derivatives of a finite sum as one flat vector, which travels and is averaged like a gradient.

Three forms, for p variables of which each sample has K outputs (p = d K):

- "full": the Hessian, its lower triangle row by row;
- "kronecker": the triangles of G (d x d) and S (K x K) and a shift s, for G (x) S / trace(S) + s I;
- "diagonal": the diagonal of the Hessian.

All are sums over samples, so means over workers are those of all data (of G and S each by itself).
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Array, Indices

FULL, KRONECKER, DIAGONAL = "full", "kronecker", "diagonal"
FORMS = (FULL, KRONECKER, DIAGONAL)
KEPT_SIZE = 500  # variables up to which the shape of a triangle is kept

_PAIR, _PRODUCT, _COPY = 0.4, 0.022, 0.8  # nanoseconds, see `tether.objectives.prices`


class SecondOrder(NamedTuple):
    """What second derivatives of a sum cost, and what they promise.

    Prices are those of a sample, in component gradients of a full pass; infinite where there is no such form.
    """

    full: float = math.inf
    kronecker: float = math.inf
    diagonal: float = math.inf
    outputs: int = 1  # K
    concordance: float = math.inf  # R with H(x + v) >= exp(-R ||v||) H(x); 0: quadratic, infinite: unknown
    separable: bool = False  # whether the Hessian is diagonal everywhere, so that "diagonal" is all of it
    majorised: bool = False  # whether there are models that lie above F as well, see `Objective.majorised`
    among: float = math.inf  # entries of a row, as a share, where the Hessian of some variables can be had
    work: float = 0.0  # of a component gradient of a pass, in nanoseconds, about; 0: not known

    def price(self, form: str) -> float:
        """Return the price of a form."""
        return {FULL: self.full, KRONECKER: self.kronecker, DIAGONAL: self.diagonal}[form]

    def price_among(self, count: int) -> float:
        """Return the price of the Hessian of so many variables, by pairs of entries or by dense products."""
        if not math.isfinite(self.among):
            return math.inf
        pairs, products = _PAIR * (self.among * count) ** 2, _PRODUCT * count**2 + _COPY * count
        return 1.0 + min(pairs, products) / (self.work or float(count))


def length_of(form: str, dim: int, outputs: int = 1) -> int:
    """Return how many numbers a form has.

    Examples
    --------
    >>> length_of("full", 4), length_of("kronecker", 4, outputs=2), length_of("diagonal", 4)
    (10, 7, 4)
    """
    if form == DIAGONAL:
        return dim
    if form == FULL:
        return _triangle(dim)
    return _triangle(dim // outputs) + _triangle(outputs) + 1


def packed(matrix: Array) -> Array:
    """Return the lower triangle of a symmetric matrix, row by row."""
    return matrix[_below(len(matrix))]


def unpacked(triangle: Array) -> Array:
    """Return the symmetric matrix with this lower triangle.

    Examples
    --------
    >>> unpacked(np.array([1.0, 2.0, 3.0])).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    size = (math.isqrt(8 * len(triangle) + 1) - 1) // 2
    matrix, below = np.empty((size, size)), _below(size)
    matrix[below] = triangle
    matrix.T[below] = triangle
    return matrix


def diagonal_places(size: int) -> Indices:
    """Return where the diagonal is in a triangle.

    Examples
    --------
    >>> diagonal_places(3).tolist()
    [0, 2, 5]
    """
    return _kept_places(size)


def kronecker(features: Array, outputs: Array, shift: float) -> Array:
    """Return G, S and s as one vector."""
    return np.concatenate([packed(features), packed(outputs), [shift]])


def kronecker_parts(vector: Array, outputs: int) -> tuple[Array, Array, float]:
    """Return G, S and s."""
    edge = len(vector) - 1 - _triangle(outputs)
    return unpacked(vector[:edge]), unpacked(vector[edge:-1]), float(vector[-1])


def _below(size: int) -> NDArray[np.bool_]:
    """Return which places of a square matrix are in its lower triangle; small ones are asked for often."""
    return _kept_below(size) if size <= KEPT_SIZE else np.tri(size, dtype=bool)


@lru_cache(maxsize=16)
def _kept_below(size: int) -> NDArray[np.bool_]:
    below = np.tri(size, dtype=bool)
    below.flags.writeable = False
    return below


@lru_cache(maxsize=16)
def _kept_places(size: int) -> Indices:
    places = np.cumsum(np.arange(1, size + 1)) - 1
    places.flags.writeable = False
    return places


def _triangle(size: int) -> int:
    return size * (size + 1) // 2
