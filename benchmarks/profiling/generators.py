"""Problems out of nothing but a seed: data of a wanted shape and conditioning, labels from a true model."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from profiling.equations import dense_rows, sparse_rows
from profiling.pieces import Pieces

STEEP = 1.5  # standard deviation of the logarithm of heavy-tailed row lengths


@dataclass(frozen=True)
class Recipe:
    """How to draw a generalised linear model."""

    loss: str
    n: int
    p: int  # columns
    seed: int
    _: KW_ONLY
    mu: float = 1.0  # times 1/N
    l2: float | None = None  # instead of mu/N
    each: int | None = None  # non-zeros of a row; None: dense
    conditioning: float = 1.0  # of X'X, in directions that no column scaling mends
    decades: float = 0.0  # over which the scales of columns spread
    heavy: bool = False  # row lengths with a heavy tail
    equations: int = 0
    each_equation: int | None = None  # non-zeros of an equation; None: dense
    size: float = 0.0  # of a point with A x = b; 0: b = 0
    classes: int = 1

    def __call__(self) -> Pieces:
        """Draw the problem."""
        rng = np.random.default_rng([1, self.seed])
        X = self._dense(rng) if self.each is None else self._sparse(rng)
        y = self._labels(X, rng)
        dim = self.p * self.classes
        if self.each_equation is None:
            equations = dense_rows(self.equations, dim, self.seed, self.size)
        else:
            equations = sparse_rows(self.equations, dim, self.each_equation, self.seed)
        return Pieces(loss=self.loss, X=X, y=y, l2=self._l2, **equations)

    @property
    def _l2(self) -> float:
        return self.mu / self.n if self.l2 is None else self.l2

    def _dense(self, rng: np.random.Generator) -> np.ndarray:
        X = rng.standard_normal((self.n, self.p))
        if self.conditioning > 1.0:
            turn = np.linalg.qr(rng.standard_normal((self.p, self.p)))[0]
            X = X @ (np.logspace(0.0, -np.log10(self.conditioning) / 2.0, self.p)[:, None] * turn)
        X *= self._column_scales(rng)
        return X * self._row_scales(rng)[:, None]

    def _sparse(self, rng: np.random.Generator) -> sparse.csr_array:
        """Draw rows whose columns are as unequally popular as words are."""
        lengths = np.full(self.n, self.each)
        if self.heavy:  # web pages: most rows are short, some are very long
            lengths = np.clip(self.each * self._row_scales(rng), 1, self.p // 2).astype(int)
        ends = np.concatenate([[0], np.cumsum(lengths)])
        columns = (self.p * rng.random(ends[-1]) ** 2.5).astype(np.int32)
        entries = np.ones(ends[-1]) if self.heavy else rng.standard_normal(ends[-1])
        X = sparse.csr_array((entries, columns, ends.astype(np.int32)), shape=(self.n, self.p))
        X.sum_duplicates()
        X.data *= self._column_scales(rng)[X.indices]
        return X

    def _column_scales(self, rng: np.random.Generator) -> np.ndarray:
        return 10.0 ** (self.decades * (rng.random(self.p) - 0.5))

    def _row_scales(self, rng: np.random.Generator) -> np.ndarray:
        return np.exp(STEEP * rng.standard_normal(self.n)) if self.heavy else np.ones(self.n)

    def _labels(self, X: Any, rng: np.random.Generator) -> np.ndarray:
        truth = rng.standard_normal((self.p, self.classes)) / self._lengths(X)[:, None]
        z = X @ truth
        z = 2.0 * z / np.sqrt(np.mean(z**2))
        if self.loss == "multinomial":
            return np.argmax(z + rng.gumbel(size=z.shape), axis=1)
        z = z[:, 0]
        if self.loss == "logistic":
            return (rng.random(self.n) < expit(z)).astype(float)
        if self.loss == "poisson":
            return rng.poisson(np.exp(np.clip(z / 2.0, -3.0, 3.0))).astype(float)
        noise = rng.standard_t(1.5, self.n) if self.loss == "huber" else rng.standard_normal(self.n)
        return z + noise

    def _lengths(self, X: Any) -> np.ndarray:
        """Return the lengths of columns, so that the truth is felt in all of them."""
        squares = X.multiply(X).sum(axis=0) if sparse.issparse(X) else (X**2).sum(axis=0)
        return np.sqrt(np.maximum(np.asarray(squares).ravel(), 1e-12))


def calibration(n: int, m: int, seed: int) -> Pieces:
    """Find the weights nearest to design weights with given totals: diagonal P, few equations."""
    rng = np.random.default_rng([2, seed])
    start = np.exp(0.5 * rng.standard_normal(n))
    A = rng.standard_normal((m, n)) + 1.0
    b = A @ start * (1.0 + 0.05 * rng.standard_normal(m))
    return Pieces(loss="quadratic", P=sparse.diags_array(1.0 / start, format="csr"), q=-np.ones(n), A=A, b=b)


def portfolio(p: int, factors: int, seed: int) -> Pieces:
    """Minimise the variance of weights that sum to 1 and earn a mean: a factor model, dense P."""
    rng = np.random.default_rng([3, seed])
    loads = rng.standard_normal((p, factors)) / np.sqrt(factors)
    P = 1e-4 * (loads @ loads.T + np.diag(rng.uniform(0.01, 1.0, p)))  # daily returns are about 1%
    A = np.vstack([np.ones(p), 1e-3 * rng.standard_normal(p)])
    return Pieces(loss="quadratic", P=P, q=np.zeros(p), A=A, b=np.array([1.0, 5e-4]))


def dense_program(p: int, m: int, conditioning: float, seed: int) -> Pieces:
    """Draw a quadratic program with equations and eigenvalues over a wide range."""
    rng = np.random.default_rng([4, seed])
    turn = np.linalg.qr(rng.standard_normal((p, p)))[0]
    P = (turn * np.logspace(0.0, -np.log10(conditioning), p)) @ turn.T
    return Pieces(
        loss="quadratic", P=(P + P.T) / 2.0, q=rng.standard_normal(p), **dense_rows(m, p, seed, size=1.0)
    )


def grid(width: int) -> np.ndarray:
    """Return the edges of a square grid of nodes, each to the right and down."""
    nodes = np.arange(width * width).reshape(width, width)
    right = np.stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()], axis=1)
    down = np.stack([nodes[:-1].ravel(), nodes[1:].ravel()], axis=1)
    return np.concatenate([right, down])


def grid_flow(loss: str, width: int, seed: int, decades: float = 1.0) -> Pieces:
    """Send random supplies through a grid whose edges differ in cost."""
    rng = np.random.default_rng([5, seed])
    supply = rng.standard_normal(width * width)
    return flow(loss, grid(width), supply - supply.mean(), 10.0 ** (decades * rng.random(width * width * 2)))


def flow(loss: str, edges: np.ndarray, supply: np.ndarray, costs: np.ndarray) -> Pieces:
    """Return a network with costs w_e x_e^2/2, or the mean of a loss of w_e x_e."""
    costs = costs[: len(edges)]
    diagonal = sparse.diags_array(costs, format="csr")
    if loss == "quadratic":
        return Pieces(loss=loss, P=diagonal, q=np.zeros(len(edges)), edges=edges, supply=supply)
    y = np.ones(len(edges)) if loss == "poisson" else np.zeros(len(edges))
    return Pieces(
        loss=loss, X=sparse.csr_array(diagonal), y=y, l2=0.01 / len(edges), edges=edges, supply=supply
    )
