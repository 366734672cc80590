"""A Hessian that a user's function computes, looked at before it is believed."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from tether.arrays import Array, Indices
from tether.curvature import DIAGONAL, SecondOrder, packed
from tether.inputs import shown
from tether.objectives.differences import contradicting_rate
from tether.objectives.prices import LARGEST_FULL, price_of_dense_hessian

_SAMPLES = 8  # that it is tried on
_DIRECTIONS = 3
_REACH = 0.1  # how far from the first point it is tried: there much that is false vanishes
_SPARSE_PRICE = 2.0

Gradient = Callable[[Array, Indices], Array]


class OwnHessian:
    """The user's ``hessian(x, batch)``: a symmetric matrix, or the diagonal of a diagonal one.

    Parameters
    ----------
    function : callable
        The user's function.
    dim : int
        p.
    """

    def __init__(self, function: Callable[[Array, Indices], Any], dim: int) -> None:
        self._function, self.dim = function, dim

    def __call__(self, x: Array, batch: Indices) -> Any:
        """Return the matrix, or the diagonal, in double precision, or refuse its kind or shape."""
        found = self._function(x, batch)
        if not sparse.issparse(found):
            try:
                found = np.asarray(found)
            except (ValueError, TypeError, OverflowError) as error:
                raise ValueError(self._refusal(shown(found))) from error
        if found.shape not in ((self.dim,), (self.dim, self.dim)) or found.dtype.kind not in "fiu":
            raise ValueError(self._refusal(f"shape {found.shape} and dtype {found.dtype}"))
        return found.astype(np.float64)

    def times(self, x: Array, batch: Indices, v: Array) -> Array:
        """Return the Hessian times a vector."""
        found = self(x, batch)
        return np.asarray(found * v if found.ndim == 1 else found @ v)

    def vector(self, x: Array, batch: Indices, form: str) -> Array:
        """Return it in a form of `tether.curvature`."""
        found = self(x, batch)
        if form == DIAGONAL:
            return np.array(found if found.ndim == 1 else found.diagonal())
        return packed(found.toarray() if sparse.issparse(found) else found)

    def second_order(self, x: Array) -> SecondOrder:
        """Return what it costs, if its kind is that at x; a dense matrix as if of a dense linear model."""
        found = self(x, np.arange(1))
        if found.ndim == 1:
            return SecondOrder(diagonal=1.0, separable=True)
        small = self.dim <= LARGEST_FULL
        if sparse.issparse(found):
            return SecondOrder(full=_SPARSE_PRICE if small else math.inf, diagonal=_SPARSE_PRICE)
        price = price_of_dense_hessian(self.dim)
        return SecondOrder(full=price if small else math.inf, diagonal=price)

    def require_true(self, gradient: Gradient, home: Array, n_samples: int) -> None:
        """Refuse a Hessian that is not finite, not symmetric, or not the derivative of the gradient."""
        rng, batch = np.random.default_rng(0), np.arange(min(n_samples, _SAMPLES))
        x = home + _REACH * rng.standard_normal(self.dim)
        with np.errstate(all="ignore"):  # a function need not be finite everywhere
            if not np.isfinite(gradient(x, batch)).all():
                x = home
            found = self(x, batch)
            size = float(abs(found).max())
            if not math.isfinite(size):
                raise ValueError(
                    "hessian(x, batch) must be finite, got NaN or infinite entries near the start."
                )
            if found.ndim == 2 and float(abs(found - found.T).max()) > 1e-8 * size:
                raise ValueError(
                    "hessian(x, batch) must be symmetric, got entries that differ from their mirror image by "
                    f"{float(abs(found - found.T).max()):.3g}; look for a transposed product."
                )
            for _ in range(_DIRECTIONS):
                self._require_derivative(gradient, x, batch, rng.standard_normal(self.dim))

    def _require_derivative(self, gradient: Gradient, x: Array, batch: Indices, v: Array) -> None:
        said = self.times(x, batch, v)
        seen = contradicting_rate(lambda at: gradient(at, batch), x, v, said)
        if seen is not None:
            worst = int(np.argmax(np.abs(seen - said)))
            raise ValueError(
                "hessian(x, batch) must be the derivative of gradient(x, batch), but near the start "
                f"entry {worst} of the gradient changes at rate {seen[worst]:.4g} where it says "
                f"{said[worst]:.4g}; compare it with differences of gradients."
            )

    def _refusal(self, got: str) -> str:
        p = self.dim
        return (
            f"hessian(x, batch) must return a symmetric matrix of shape ({p}, {p}), dense or sparse, or "
            f"the {p} numbers of a diagonal one, got {got}."
        )
