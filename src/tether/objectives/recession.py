"""Directions along which a generalised linear model falls for ever: with one, it has no minimum.

Each term says by its prediction whether it goes on falling along d. A logistic loss does if y <a, d> > 0,
that of K classes if <a, d_y> > <a, d_k> for some k and never the reverse, that of a count or an amount of 0
if <a, d> < 0.
So every term has *products* with d, which must not be negative; they are zero where the term stays as it is.
All other losses, counts above 0 among them, have a minimum of their own and allow <a, d> = 0 only.

Far out on a run, products of terms that fall for ever have grown large. The others have to stay: d is what
that leaves of x. Nothing is concluded before all products were looked at, so that d is a proof.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether.arrays import Array, Indices
from tether.lazy import lazy
from tether.objectives.design import Design
from tether.objectives.losses import Loss
from tether.objectives.losses.amounts import Poisson, Tweedie
from tether.objectives.losses.classes import Logistic, Multinomial
from tether.objectives.losses.kernel_codes import is_built_in
from tether.objectives.losses.proportions import Binomial

LARGEST_DIM = 500  # variables up to which d is quickly found
SETTLED = (3.0, 6.0, 9.0)  # products at which losses are down to exp(-3), ...
ROWS = 2  # a variable, looked at together
TRIALS = 50
FULL_RANK = 1e-11  # of the largest eigenvalue: what rounding cannot make of zero
CLEAR = 1e-6  # of the largest product with x: one that is surely above zero
ROUNDING = 1e-9  # of the largest product: one that may be zero
SINGLE = 1e-5  # the same where data is in single precision


class Products(ABC):
    """What terms say of directions, several products a term where there are several outputs."""

    fixed: NDArray[np.bool_]  # which must be zero
    rounding: float  # a share of the largest product that may be zero

    @abstractmethod
    def along(self, d: Array) -> Array:
        """Return all products with a direction."""

    @abstractmethod
    def rows(self, chosen: Indices) -> Array:
        """Return the vectors of some products."""


@final
class OneOutput(Products):
    """Products sign_i <a_i, d>; those with sign 0 are <a_i, d> and must be zero."""

    def __init__(self, design: Design, signs: Array, counted: Array | float) -> None:
        self._design, self._signs = design, np.where(signs == 0, 1.0, signs) * counted
        self.fixed, self.rounding = signs == 0, _rounding(design)

    def along(self, d: Array) -> Array:
        """Return all products."""
        return self._signs * self._design.predict(d)

    def rows(self, chosen: Indices) -> Array:
        """Return sign_i a_i."""
        return self._signs[chosen, None] * _dense(self._design, chosen)


@final
class Classes(Products):
    """Products <a_i, d_y - d_k> for all classes k; those with k = y are always zero."""

    def __init__(self, design: Design, labels: Any, n_classes: int, counted: Array | float) -> None:
        self._design, self._labels, self._shape = design, labels, (design.width, n_classes)
        self.fixed = np.zeros(len(labels) * n_classes, dtype=np.bool_)
        self._counted, self.rounding = np.broadcast_to(counted, len(labels)), _rounding(design)

    def along(self, d: Array) -> Array:
        """Return all products."""
        z = self._design.predict(d.reshape(self._shape))
        return (self._counted[:, None] * (z[np.arange(len(z)), self._labels, None] - z)).ravel()

    def rows(self, chosen: Indices) -> Array:
        """Return the outer products of a_i and e_y - e_k."""
        samples, classes = np.divmod(chosen, self._shape[1])
        sides = np.zeros((len(chosen), self._shape[1]))
        sides[np.arange(len(chosen)), self._labels[samples]] += 1.0
        sides[np.arange(len(chosen)), classes] -= 1.0
        sides *= self._counted[samples, None]
        return np.einsum("ij,ik->ijk", _dense(self._design, samples), sides).reshape(len(chosen), -1)


def products_of(design: Design, loss: Loss, y: Any, n_outputs: int, weights: Array | None) -> Products | None:
    """Return the products of a built-in loss; None for one of the user's, of which nobody knows."""
    counted = 1.0 if weights is None else (weights > 0).astype(np.float64)
    if type(loss) is Multinomial:
        return Classes(design, y, n_outputs, counted)
    if not is_built_in(loss):
        return None
    return OneOutput(design, _falling(loss, y), counted)


def _falling(loss: Loss, y: Any) -> Array:
    """Return the sign of the predictions towards which each term falls for ever; 0 where it has a minimum."""
    if type(loss) is Logistic:
        return np.asarray(y, dtype=np.float64)
    ends = np.where(y == 0.0, -1.0, 0.0) if type(loss) in (Poisson, Tweedie, Binomial) else np.zeros(len(y))
    return np.where(y == 1.0, 1.0, ends) if type(loss) is Binomial else ends


def separation(
    products: Products | None,
    equations: Any,
    x: Array,
    way: Array,
    settled: Callable[[], Array] | None = None,
) -> Array | None:
    """Return d with A d = 0 along which no term rises and some fall for ever; None where none is found.

    It is looked for near the direction of x, and near the ``way`` that the run took last, unless nobody knows
    the terms or looking would take long. ``settled`` returns rows that it must be orthogonal to, beside the
    equations.
    """
    if products is None or len(x) > LARGEST_DIM:
        return None
    dense, far = _rows(equations, len(x)), products.along(x)
    if settled is not None:
        dense = np.vstack([dense, settled()])
    for least in SETTLED if far.max() >= min(SETTLED) else ():
        stays = products.fixed | (far < least)
        held = _some(np.flatnonzero(stays), ROWS * len(x))
        left = Rest(np.vstack([dense, products.rows(held)]))
        if not left.any:  # nor if more terms have to stay
            return None
        for start in (way, x):
            d = _direction(products, left, start, stays)
            if d is not None:
                return d
    return None


def _rows(equations: Any, dim: int) -> Array:
    dense = equations.toarray() if sparse.issparse(equations) else np.asarray(equations)
    return np.asarray(dense.reshape(-1, dim))


def _direction(products: Products, left: "Rest", start: Array, stays: NDArray[np.bool_]) -> Array | None:
    """Return what is left of a vector when some products have to be zero and the others not negative."""
    for _ in range(TRIALS):
        d = left.of(start)
        along = products.along(d)
        top = np.where(stays, 0.0, along).max(initial=0.0)
        if not top > CLEAR * float(np.abs(products.along(start)).max()):
            return None
        zero = products.rounding * top
        stays = stays | (along < -zero)
        wrong = np.flatnonzero(stays & (np.abs(along) > zero))
        if not len(wrong):
            return d
        left = Rest(np.vstack([left.rows, products.rows(_some(wrong, ROWS * len(start)))]))
    return None


class Rest:
    """The directions that are orthogonal to rows, in units in which columns have the same length."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        self._units = np.sqrt(np.sum(np.square(rows), axis=0))
        self._units[self._units == 0] = 1.0
        scaled = rows / self._units
        lengths = np.sqrt(np.sum(np.square(scaled), axis=1))
        self._scaled = scaled[lengths > 0] / lengths[lengths > 0, None]

    @lazy
    def any(self) -> bool:
        """Whether there are any, by eigenvalues: they are quicker than what `of` needs."""
        if len(self._scaled) < self._scaled.shape[1]:
            return True
        spread = np.linalg.eigvalsh(self._scaled.T @ self._scaled)
        return bool(spread[0] <= FULL_RANK * spread[-1])

    @lazy
    def _basis(self) -> Array:
        if not len(self._scaled):
            return self._scaled
        _, sizes, basis = np.linalg.svd(self._scaled, full_matrices=False)
        return np.asarray(basis[sizes > ROUNDING * sizes[0]])

    def of(self, vector: Array) -> Array:
        """Return the part of a vector among them."""
        if not self.any:
            return np.zeros_like(vector)
        scaled = vector * self._units
        return np.asarray((scaled - self._basis.T @ (self._basis @ scaled)) / self._units)


def _rounding(design: Design) -> float:
    return SINGLE if design.single else ROUNDING


def _some(places: Indices, count: int) -> Indices:
    """Return that many places, spread evenly over all."""
    return places if len(places) <= count else places[np.linspace(0, len(places) - 1, count).astype(int)]


def _dense(design: Design, chosen: Indices) -> Array:
    """Return some rows of the data."""
    if not len(chosen):
        return np.zeros((0, design.width))
    return np.concatenate([design.block(slice(i, i + 1)) for i in chosen.tolist()]).astype(np.float64)
