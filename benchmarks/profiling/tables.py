"""Problems as people have them, drawn: tariffs, series, curves, documents, roads."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.interpolate import BSpline
from scipy.spatial import cKDTree
from scipy.special import expit

from profiling.equations import dense_rows, grouped_sums, sparse_rows
from profiling.generators import flow
from profiling.pieces import Pieces


def tariff(
    n: int, levels: tuple[int, ...], loss: str, seed: int, *, mu: float = 1.0, sums: bool = False
) -> Pieces:
    """Rate policies by factors, a column a level, few of which are popular; effects may sum to 0."""
    rng = np.random.default_rng([20, seed])
    begins = np.concatenate([[0], np.cumsum(levels)[:-1]])
    chosen = [
        np.minimum(rng.zipf(1.4, n) - 1, count - 1) + begin
        for count, begin in zip(levels, begins, strict=True)
    ]
    columns = np.stack(chosen, axis=1)
    width = sum(levels)
    X = sparse.csr_array(
        (
            np.ones(columns.size),
            columns.ravel().astype(np.int32),
            np.arange(n + 1, dtype=np.int32) * len(levels),
        ),
        shape=(n, width),
    )
    equations: dict[str, Any] = {}
    if sums:
        A = np.zeros((len(levels), width))
        for row, (count, begin) in enumerate(zip(levels, begins, strict=True)):
            A[row, begin : begin + count] = 1.0
        equations = {"A": A, "b": np.zeros(len(levels))}
    z = X @ (0.4 * rng.standard_normal(width)) - 1.0
    return Pieces(loss=loss, X=X, y=_answers(loss, z, rng), l2=mu / n, **equations)


def series(
    n: int, p: int, memory: float, loss: str, seed: int, *, mu: float = 1.0, equations: int = 0
) -> Pieces:
    """Explain something by columns each of which resembles the one before, as lags and bands do."""
    rng = np.random.default_rng([21, seed])
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = memory * X[:, j - 1] + np.sqrt(1.0 - memory**2) * X[:, j]
    z = X @ rng.standard_normal(p) / np.sqrt(p)
    return Pieces(loss=loss, X=X, y=_answers(loss, z, rng), l2=mu / n, **dense_rows(equations, p, seed))


def curve(n: int, knots: int, loss: str, seed: int, *, mu: float = 1.0, sums: int = 0) -> Pieces:
    """Fit a curve by cubic splines, of which four overlap anywhere."""
    rng = np.random.default_rng([22, seed])
    t = np.sort(rng.beta(2.0, 3.0, n))
    ends = np.concatenate([np.zeros(3), np.linspace(0.0, 1.0, knots - 2), np.ones(3)])
    X = sparse.csr_array(BSpline.design_matrix(t, ends, 3))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    z = np.sin(12.0 * t) + t
    equations = grouped_sums(sums, X.shape[1]) if sums else {}
    return Pieces(loss=loss, X=X, y=_answers(loss, z, rng), l2=mu / n, **equations)


def powers(n: int, inputs: int, degree: int, loss: str, seed: int, *, mu: float = 1.0) -> Pieces:
    """Explain something by powers and products of a few inputs, as they are."""
    rng = np.random.default_rng([23, seed])
    columns = [np.ones(n)]
    for u in rng.uniform(0.5, 3.0, (inputs, n)):
        columns += [column * u**k for column in list(columns) for k in range(1, degree + 1)]
    X = np.ascontiguousarray(np.stack(columns, axis=1))
    z = X @ (rng.standard_normal(X.shape[1]) / np.sqrt(np.mean(X**2, axis=0) * X.shape[1]))
    return Pieces(loss=loss, X=X, y=_answers(loss, z, rng), l2=mu / n)


def documents(
    n: int, p: int, each: int, seed: int, *, mu: float = 1.0, equations: int = 0, words: int = 0
) -> Pieces:
    """Tell two kinds of documents apart by their words, the rarer the heavier; rows have length 1."""
    rng = np.random.default_rng([24, seed])
    lengths = np.maximum(3, rng.poisson(each, n))
    columns = np.minimum(rng.zipf(1.3, lengths.sum()) - 1, p - 1).astype(np.int32)
    pointers = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    X = sparse.csr_array((np.ones(len(columns)), columns, pointers), shape=(n, p))
    X.sum_duplicates()
    found = np.bincount(X.indices, minlength=p)
    X.data *= np.log(n / np.maximum(found, 1.0) + 1.0)[X.indices]
    X.data /= np.repeat(np.sqrt((X.multiply(X)).sum(axis=1)), np.diff(X.indptr))
    y = _answers("logistic", 6.0 * (X @ rng.standard_normal(p)), rng)
    drawn = sparse_rows(equations, p, words, seed) if words else dense_rows(equations, p, seed)
    return Pieces(loss="logistic", X=X, y=y, l2=mu / n, **drawn)


def roads(nodes: int, loss: str, seed: int) -> Pieces:
    """Send supplies through roads between neighbours in the plane, the longer the dearer."""
    rng = np.random.default_rng([26, seed])
    places = rng.random((nodes, 2))
    near = cKDTree(places).query(places, k=4)[1][:, 1:]
    pairs = np.sort(np.stack([np.repeat(np.arange(nodes), 3), near.ravel()], axis=1), axis=1)
    chain = np.argsort(places[:, 0])  # so that all are connected
    edges = np.unique(np.vstack([pairs, np.sort(np.stack([chain[:-1], chain[1:]], axis=1), axis=1)]), axis=0)
    lengths = np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1)
    supply = rng.standard_normal(nodes)
    return flow(loss, edges, supply - supply.mean(), np.sqrt(nodes) * (lengths + 0.01))


def _answers(loss: str, z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw what is to be explained, given what the model says of it."""
    if loss == "logistic":
        return (rng.random(len(z)) < expit(2.0 * z)).astype(float)
    if loss == "poisson":
        return rng.poisson(np.exp(np.clip(z, -4.0, 3.0))).astype(float)
    if loss == "multinomial":
        return np.digitize(z + 0.5 * rng.logistic(size=len(z)), np.quantile(z, [0.3, 0.7])).astype(int)
    return z + (rng.standard_t(1.5, len(z)) if loss == "huber" else rng.standard_normal(len(z)))
