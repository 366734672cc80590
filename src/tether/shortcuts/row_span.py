"""Orthonormal coordinates of the space that the tangent parts of few long rows span.

With T = X P the products of rows are K = T T^T, as small as there are samples. A Cholesky factorisation with
pivots, K = L L^T, finds rows that span the others; with their T_1 and L_1 the columns of B = T_1^T L_1^-T are
orthonormal and X B = L, which takes no more products with the data. B itself, as large as the data, is
nowhere made: B v is a combination of rows, projected.

Products of rows are off by some eps ||a_i|| ||a_j||, however short tangent parts are, and so is L L^T.
Therefore rows are scaled to unit length first, and pivots that may be rounding next to that are dropped.
"""

import math
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from tether.arrays import Array, Indices
from tether.constraints import Constraint, Unconstrained
from tether.objectives.design import BLOCK, Design, WithOnes
from tether.shortcuts.narrowed import stored, tangents
from tether.threads import all_blas_threads, all_taken

EPSILON = float(np.finfo(np.float64).eps)
LOST = 1e-8  # of the square of its length: if nothing more of any row is tangent, its digits are gone
PARTS = 16  # of the data, one of which is at hand with its tangent parts
COLUMNS = 1024  # that BLAS gets together, at least
LARGE_WORK = 1e9  # multiplications from which on all threads of BLAS are worth waking


class RowSpan(NamedTuple):
    """Rows that span all tangent parts, and the factor that makes them orthonormal."""

    design: Design
    constraint: Constraint  # whose directions may be longer than rows: what rows do not reach comes last
    chosen: Indices
    lengths: Array  # ||a_i|| of those
    factor: Array  # L_1

    def coordinates(self, x: Array) -> Array:
        """Return B^T x, for each column of x."""
        z = predictions(self.design, _tangents(self.constraint, x))
        target = z[self.chosen] / self.lengths[:, None]
        return solve_triangular(self.factor, target, lower=True, check_finite=False)

    def combination(self, v: Array) -> Array:
        """Return a vector whose tangent part is B v, for each column of v."""
        solved = solve_triangular(self.factor, v, lower=True, trans=1, check_finite=False)
        weights = np.zeros((self.design.n_samples, v.shape[1]))
        weights[self.chosen] = solved / self.lengths[:, None]
        return self._sum(weights)

    def tangent_sum(self, weights: Array) -> Array:
        """Return the tangent part of sums of all rows, each with a weight, for each column of weights."""
        return _tangents(self.constraint, self._sum(weights))

    def _sum(self, weights: Array) -> Array:
        total = np.zeros((self.design.width, weights.shape[1]))
        for rows in _blocks(self.design):
            total += self.design.block(rows).T @ weights[rows]
        return total


def span_of(design: Design, constraint: Constraint) -> tuple[RowSpan, Array] | None:
    """Return what the tangent parts of rows span, and X B; None where they are nothing but rounding."""
    lengths = np.sqrt(design.squared_norms())
    lengths[lengths == 0.0] = 1.0
    products = _products(design, constraint)
    products /= lengths
    products /= lengths[:, None]
    if not products.diagonal().max() > LOST:  # NaN included
        return None
    # The lower triangle is the upper one of the transpose, which LAPACK takes where it lies.
    factor, order, rank, _ = dpstrf(products.T, tol=rounded_pivot(design), lower=0, overwrite_a=1)
    places, lower = order - 1, np.tril(factor.T)[:, :rank]
    data = np.empty(lower.shape)
    data[places] = lower
    data *= lengths[:, None]
    chosen = places[:rank]
    return RowSpan(design, constraint, chosen, lengths[chosen], lower[:rank].copy()), data


def rounded_pivot(design: Design) -> float:
    """Return what may be rounding of the square of a tangent part, next to that of its row."""
    return 4.0 * EPSILON * max(design.n_samples, math.sqrt(design.width))


def predictions(design: Design, x: Array) -> Array:
    """Return X x in double precision whatever the data, for each column of x."""
    return np.concatenate([design.block(rows) @ x for rows in _blocks(design)])


def _products(design: Design, constraint: Constraint) -> Array:
    """Return X P X^T, or at least its lower triangle."""
    large = design.n_samples**2 * design.width > LARGE_WORK and not all_taken()
    with all_blas_threads() if large else nullcontext():
        if isinstance(constraint, Unconstrained):
            return _products_of_rows(design)
        return _products_of_tangents(design, constraint)


def _products_of_rows(design: Design) -> Array:
    """Return X X^T, by ranges of columns where these have to be converted."""
    matrix = stored(design)
    n, p = matrix.shape
    products = np.full((n, n), float(isinstance(design, WithOnes)))
    step = p if matrix.dtype == np.float64 else max(COLUMNS, BLOCK // n)
    for begin in range(0, p, step):
        some = matrix[:, begin : begin + step].astype(np.float64, copy=False)
        products += some @ some.T
    return products


def _products_of_tangents(design: Design, constraint: Constraint) -> Array:
    """Return the lower triangle of X P X^T, with tangent parts of a few rows at a time."""
    products = np.zeros((design.n_samples, design.n_samples))
    for rows in _blocks(design):
        parts = _tangents(constraint, design.block(rows).T).T
        for others in _blocks(design):
            if others.start < rows.stop:
                products[rows, others] = parts @ design.block(others).T
    return products


def _tangents(constraint: Constraint, directions: Array) -> Array:
    """Return the tangent parts of directions, which may leave out last variables that have no equation."""
    missing = (constraint.dim or len(directions)) - len(directions)
    if isinstance(constraint, Unconstrained):
        return directions
    if not missing:
        return tangents(constraint, directions)
    return tangents(constraint, np.pad(directions, ((0, missing), (0, 0))))[:-missing]


def _blocks(design: Design) -> list[slice]:
    """Return the rows in blocks, in double precision each a small share of the data."""
    n, single = design.n_samples, stored(design).dtype == np.float32
    step = max(1, n // (2 * PARTS if single else PARTS), BLOCK // design.width)
    return [slice(begin, min(begin + step, n)) for begin in range(0, n, step)]
