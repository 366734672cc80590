"""A problem as plain arrays, its value in plain NumPy, and as Tether sees it."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

import tether
from profiling import losses

FEASIBLE = 1e-6  # an answer counts where ||A x - b|| <= this (1 + ||b||)


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """The arrays of a problem.

    F(x) = mean loss(a_i x, y_i) + l2/2 ||x||^2, or x'Px/2 + q'x for the loss "quadratic", subject to A x = b
    or to the balance of a network. With K classes, x is W.ravel() for W of shape (d, K).
    """

    loss: str
    X: Any = None  # rows a_i: a C-contiguous array or CSR
    y: Any = None  # labels; 0 and 1 for "logistic"
    l2: float = 0.0
    P: Any = None
    q: Any = None
    A: Any = None
    b: Any = None
    edges: Any = None  # tail and head of each edge of a network
    supply: Any = None

    @property
    def is_quadratic(self) -> bool:
        """Whether F is given by its matrix."""
        return self.loss == "quadratic"

    @property
    def n_outputs(self) -> int:
        """How many numbers predict one sample."""
        return int(self.y.max()) + 1 if self.loss == "multinomial" else 1

    @property
    def n_samples(self) -> int:
        """N; a quadratic given by its matrix is one sample."""
        return 1 if self.is_quadratic else self.X.shape[0]

    @property
    def dim(self) -> int:
        """The length of x."""
        return len(self.q) if self.is_quadratic else self.X.shape[1] * self.n_outputs

    @property
    def is_sparse(self) -> bool:
        """Whether the data are a sparse matrix."""
        return sparse.issparse(self.P if self.is_quadratic else self.X)

    @cached_property
    def equations(self) -> tuple[Any, np.ndarray]:
        """A and b; of a network the incidence matrix with all its nodes."""
        if self.edges is not None:
            n, m = len(self.edges), len(self.supply)
            places = (self.edges.T.ravel(), np.tile(np.arange(n), 2))
            signs = np.repeat([1.0, -1.0], n)
            return sparse.csr_array((signs, places), shape=(m, n)), self.supply
        if self.A is None:
            return np.zeros((0, self.dim)), np.zeros(0)
        return self.A, self.b

    @property
    def is_constrained(self) -> bool:
        """Whether there are equations."""
        return len(self.equations[1]) > 0

    def objective(self) -> tether.Objective:
        """Build F for Tether."""
        if self.is_quadratic:
            return tether.Quadratic(matrix=self.P / 2.0, linear=self.q)
        return tether.GLM(self.X, self.y, self.loss, l2=self.l2)

    def constraint(self) -> tether.Constraint | None:
        """Build the constraint for Tether; None without equations."""
        if self.edges is not None:
            return tether.Flow(self.edges, self.supply)
        return tether.Affine(self.A, self.b) if self.A is not None else None

    def value(self, x: np.ndarray) -> float:
        """Return F(x), by NumPy."""
        if self.is_quadratic:
            return float(x @ (self.P @ x) / 2.0 + self.q @ x)
        return losses.mean_loss(self.loss, self.predictions(x), self.y) + float(self.l2 / 2.0 * (x @ x))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return grad F(x), by NumPy."""
        if self.is_quadratic:
            return self.P @ x + self.q
        slopes = losses.slopes(self.loss, self.predictions(x), self.y)
        return (self.X.T @ slopes).ravel() / self.n_samples + self.l2 * x

    def bend(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the Hessian at x times v, by NumPy."""
        if self.is_quadratic:
            return self.P @ v
        change = losses.bend(self.loss, self.predictions(x), self.y, self.predictions(v))
        return (self.X.T @ change).ravel() / self.n_samples + self.l2 * v

    def predictions(self, x: np.ndarray) -> np.ndarray:
        """Return a_i x for all samples."""
        return self.X @ (x.reshape(-1, self.n_outputs) if self.n_outputs > 1 else x)

    def violation(self, x: np.ndarray) -> float:
        """Return ||A x - b|| / (1 + ||b||)."""
        A, b = self.equations
        return float(np.linalg.norm(A @ x - b) / (1.0 + np.linalg.norm(b)))

    def digest(self) -> str:
        """Return a hash that all numbers of the problem enter, rounded: their last bits are a processor's."""
        total = hashlib.sha256(f"{self.loss} {self.l2!r}".encode())
        for array in (self.X, self.y, self.P, self.q, *self.equations):
            parts = (array.data, array.indices, array.indptr) if sparse.issparse(array) else (array,)
            for part in parts:
                total.update(np.ascontiguousarray(0 if part is None else part, dtype=np.float32).tobytes())
        return total.hexdigest()[:16]
