"""Rows of a matrix that is only known by what it does to vectors: conjugate gradients all the way."""

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from tether.arrays import Array
from tether.constraints.algebra.refined import RefinedRows, UnitRows
from tether.constraints.algebra.sparse import INEXACTNESS_WARNING, iterative_rows
from tether.inputs import LARGEST_NUMBER, numbers

# Up to this many rows, looking at each of them once costs no more than a projection.
MEASURED_ROWS = 128
PROBE_COUNT = 16

Product = Callable[[Array], Array]

log = logging.getLogger("tether")


def operator_rows(operator: LinearOperator) -> RefinedRows:
    """Return the rows of a LinearOperator, scaled to about unit length."""
    shape = (int(operator.shape[0]), int(operator.shape[1]))
    if shape[1] == 0:
        raise ValueError(f"A must have at least one column, got shape {shape}.")
    forward = _checked("matvec", operator.matvec, shape[0])
    backward = _checked("rmatvec", operator.rmatvec, shape[1])
    _require_adjoint(forward, backward, shape)
    few = shape[0] <= MEASURED_ROWS
    lengths = _lengths(backward, shape[0]) if few else _estimated_lengths(forward, shape)
    unit = UnitRows(shape, forward, backward, 1.0 / lengths, gain=1.0)
    rows = iterative_rows(unit._replace(gain=_estimated_gain(unit)), "operator")
    if rows.roughness() > 1.0:
        log.warning(INEXACTNESS_WARNING)
    return rows


def _checked(name: str, product: Callable[[Array], Any], length: int) -> Product:
    """Return a product of the user's that answers with finite real numbers, or raises."""

    def checked(given: Array) -> Array:
        try:
            answer = product(given)
        except (NotImplementedError, TypeError, ValueError) as error:
            raise ValueError(
                f"A.{name} must return a vector of length {length} for one of length {len(given)}, "
                f"got {type(error).__name__} instead."
            ) from error
        found = numbers(f"A.{name}(...)", answer)
        if found.shape != (length,):
            raise ValueError(f"A.{name}(...) must have shape ({length},), got shape {found.shape}.")
        if not np.isfinite(found).all() and np.max(np.abs(given), initial=0.0) <= LARGEST_NUMBER:
            raise ValueError(f"A.{name}(...) must be finite, got NaN or infinite numbers.")
        return np.asarray(found, dtype=float)

    return checked


def _require_adjoint(forward: Product, backward: Product, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    ax, aty = forward(x), backward(y)
    size = np.linalg.norm(y) * np.linalg.norm(ax) + np.linalg.norm(aty) * np.linalg.norm(x)
    if abs(float(y @ ax) - float(aty @ x)) > 1e-8 * size:
        raise ValueError("A.rmatvec must be the transpose of A.matvec, got another map.")


def _lengths(backward: Product, rows: int) -> Array:
    lengths = np.array([np.linalg.norm(backward(unit)) for unit in np.eye(rows)])
    lengths[lengths == 0.0] = 1.0
    return lengths


def _estimated_lengths(forward: Product, shape: tuple[int, int]) -> Array:
    """Return estimates of the row lengths: the mean square of (A z)_i over Gaussian z is ||a_i||^2."""
    rng = np.random.default_rng(0)
    squares = np.zeros(shape[0])
    for z in rng.standard_normal((PROBE_COUNT, shape[1])):
        squares += forward(z) ** 2 / PROBE_COUNT
    lengths = np.sqrt(squares)
    lengths[lengths == 0.0] = 1.0
    return lengths


def _estimated_gain(unit: UnitRows) -> float:
    """Return the norm of the matrix by a few power iterations."""
    products = unit.products()
    v = np.random.default_rng(0).standard_normal(unit.shape[1])
    gain = 1.0
    for _ in range(PROBE_COUNT):
        w = products.backward(products.forward(v / np.linalg.norm(v)))
        gain = float(np.sqrt(np.linalg.norm(w)))
        if gain == 0.0:
            return 1.0
        v = w
    return max(gain, 1.0)
