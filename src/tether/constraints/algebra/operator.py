"""Rows of a matrix that is only known by what it does to vectors: conjugate gradients all the way."""

import logging
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from tether.arrays import Array
from tether.constraints.algebra.refined import RefinedRows, UnitRows
from tether.constraints.algebra.sparse import INEXACT, iterative_rows

# Up to this many rows, looking at each of them once costs no more than a projection.
FEW_ROWS = 128
SAMPLES = 16

log = logging.getLogger("tether")


def operator_rows(operator: LinearOperator) -> RefinedRows:
    """Return the rows of a LinearOperator, scaled to about unit length."""
    shape = (int(operator.shape[0]), int(operator.shape[1]))
    _require_adjoint(operator, shape)
    lengths = _lengths if shape[0] <= FEW_ROWS else _estimated_lengths
    scale = 1.0 / lengths(operator, shape)
    unit = UnitRows(shape, _real(operator.matvec), _real(operator.rmatvec), scale, gain=1.0)
    rows = iterative_rows(unit._replace(gain=_estimated_gain(unit)), "operator")
    if rows.roughness() > 1.0:
        log.warning(INEXACT)
    return rows


def _real(product: Any) -> Any:
    return lambda vector: np.asarray(product(vector), dtype=float)


def _require_adjoint(operator: LinearOperator, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    try:
        ax, aty = operator.matvec(x), operator.rmatvec(y)
    except (NotImplementedError, TypeError) as error:
        raise ValueError("A is a LinearOperator that needs both matvec and rmatvec.") from error
    if not (np.all(np.isfinite(ax)) and np.all(np.isfinite(aty))):
        raise ValueError("A returns NaN or infinite values; all products must be finite.")
    forward, backward = float(y @ ax), float(aty @ x)
    size = np.linalg.norm(y) * np.linalg.norm(ax) + np.linalg.norm(aty) * np.linalg.norm(x)
    if abs(forward - backward) > 1e-8 * size:
        raise ValueError("A has an rmatvec that is not the transpose of its matvec.")


def _lengths(operator: LinearOperator, shape: tuple[int, int]) -> Array:
    lengths = np.array([np.linalg.norm(operator.rmatvec(unit)) for unit in np.eye(shape[0])])
    lengths[lengths == 0.0] = 1.0
    return lengths


def _estimated_lengths(operator: LinearOperator, shape: tuple[int, int]) -> Array:
    """Return estimates of the row lengths: the mean square of (A z)_i over Gaussian z is ||a_i||^2."""
    rng = np.random.default_rng(0)
    squares = np.zeros(shape[0])
    for z in rng.standard_normal((SAMPLES, shape[1])):
        squares += operator.matvec(z) ** 2 / SAMPLES
    lengths = np.sqrt(squares)
    lengths[lengths == 0.0] = 1.0
    return lengths


def _estimated_gain(unit: UnitRows) -> float:
    """Return the norm of the matrix by a few power iterations."""
    products = unit.products()
    v = np.random.default_rng(0).standard_normal(unit.shape[1])
    gain = 1.0
    for _ in range(SAMPLES):
        w = products.backward(products.forward(v / np.linalg.norm(v)))
        gain = float(np.sqrt(np.linalg.norm(w)))
        if gain == 0.0:
            return 1.0
        v = w
    return max(gain, 1.0)
