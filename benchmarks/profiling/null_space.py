"""Problems with their equations solved away: x = x0 + Z v, Z orthonormal, for solvers that take no equations.

A ridge penalty keeps its form, ||x||^2 = ||x0||^2 + ||v||^2, because x0 is the feasible point nearest to 0.
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr, solve_triangular
from scipy.special import softmax

from profiling import losses
from profiling.pieces import Pieces

LARGEST = 2_000  # length of x up to which Z is formed
ENTRIES = 60_000_000  # of X Z


class NullSpace:
    """A problem in v; the data of models with one output are multiplied by Z once."""

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        A, b = pieces.equations
        self.Z, self.x0 = _basis(A.toarray() if sparse.issparse(A) else A, b)
        self.dim = pieces.dim if self.Z is None else self.Z.shape[1]
        if pieces.is_quadratic or pieces.n_outputs > 1:
            return
        self.B = pieces.X if self.Z is None else pieces.X @ self.Z
        self.offset = pieces.X @ self.x0

    @staticmethod
    def fits(pieces: Pieces) -> bool:
        """Say whether Z and X Z are of a size that one would form."""
        free = pieces.dim - (len(pieces.equations[1]) if pieces.edges is None else 0)
        return pieces.dim <= LARGEST and pieces.n_samples * free <= ENTRIES

    def lift(self, v: np.ndarray) -> np.ndarray:
        """Return x0 + Z v."""
        return self.x0 + (v if self.Z is None else self.Z @ v)

    def lower(self, g: np.ndarray) -> np.ndarray:
        """Return Z'g."""
        return g if self.Z is None else self.Z.T @ g

    def evaluate(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """Return F and its gradient in v."""
        pieces = self.pieces
        if pieces.is_quadratic:
            H, g, constant = self._program
            product = H @ v
            return float(v @ product / 2.0 + g @ v + constant), product + g
        if pieces.n_outputs > 1:
            x = self.lift(v)
            return pieces.value(x), self.lower(pieces.gradient(x))
        z, l2 = self.offset + self.B @ v, pieces.l2
        penalty = l2 / 2.0 * float(v @ v + self.x0 @ self.x0)
        value = losses.mean_loss(pieces.loss, z, pieces.y) + penalty
        return value, self.B.T @ losses.slopes(pieces.loss, z, pieces.y) / len(z) + l2 * v

    def hessian(self, v: np.ndarray) -> np.ndarray:
        """Return the Hessian in v as a dense matrix."""
        pieces = self.pieces
        if pieces.is_quadratic:
            return self._program[0]
        if pieces.n_outputs > 1:
            H = _softmax_hessian(pieces, self.lift(v))
            return H if self.Z is None else self.Z.T @ H @ self.Z
        weights = losses.curvatures(pieces.loss, self.offset + self.B @ v, pieces.y) / pieces.n_samples
        scaled = (
            sparse.diags_array(weights) @ self.B if sparse.issparse(self.B) else weights[:, None] * self.B
        )
        H = self.B.T @ scaled
        return (H.toarray() if sparse.issparse(H) else H) + pieces.l2 * np.eye(self.dim)

    def bend(self, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the Hessian at v times u."""
        pieces = self.pieces
        if pieces.is_quadratic:
            return self._program[0] @ u
        if pieces.n_outputs > 1:
            return self.lower(pieces.bend(self.lift(v), u if self.Z is None else self.Z @ u))
        change = losses.bend(pieces.loss, self.offset + self.B @ v, pieces.y, self.B @ u)
        return self.B.T @ change / pieces.n_samples + pieces.l2 * u

    @cached_property
    def _program(self) -> tuple[np.ndarray, np.ndarray, float]:
        P, q, x0 = self.pieces.P, self.pieces.q, self.x0
        H = P.toarray() if sparse.issparse(P) else P
        H = H if self.Z is None else self.Z.T @ (P @ self.Z)
        return H, self.lower(P @ x0 + q), float(x0 @ (P @ x0) / 2.0 + q @ x0)


def _basis(A: np.ndarray, b: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return Z, or None for the identity, and the feasible point nearest to 0; redundant rows are dropped."""
    if not len(b):
        return None, np.zeros(A.shape[1])
    Q, R, order = qr(A.T, pivoting=True)
    sizes = np.abs(np.diag(R))
    rank = int(np.sum(sizes > 1e-11 * sizes[0]))
    coordinates = solve_triangular(R[:rank, :rank], b[order[:rank]], trans="T")
    return Q[:, rank:], Q[:, :rank] @ coordinates


def _softmax_hessian(pieces: Pieces, x: np.ndarray) -> np.ndarray:
    X, K = pieces.X.toarray() if sparse.issparse(pieces.X) else pieces.X, pieces.n_outputs
    chances = softmax(pieces.predictions(x), axis=1)
    H = np.empty((X.shape[1], K, X.shape[1], K))
    for j in range(K):
        for k in range(j, K):
            weights = chances[:, j] * (float(j == k) - chances[:, k]) / len(X)
            H[:, j, :, k] = X.T @ (weights[:, None] * X)
            H[:, k, :, j] = H[:, j, :, k].T
    return H.reshape(pieces.dim, pieces.dim) + pieces.l2 * np.eye(pieces.dim)
