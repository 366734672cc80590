"""Random equations that a collection's problems are given, each from its own seed."""

from typing import Any

import numpy as np
from scipy import sparse


def dense_rows(count: int, dim: int, seed: int, size: float = 0.0) -> dict[str, Any]:
    """Return ``count`` Gaussian equations; b is 0, or A x for some x of that size."""
    rng = np.random.default_rng([7, seed])
    A = rng.standard_normal((count, dim))
    return {"A": A, "b": A @ (size * rng.standard_normal(dim) / np.sqrt(dim))} if count else {}


def sparse_rows(count: int, dim: int, each: int, seed: int) -> dict[str, Any]:
    """Return equations with ``each`` non-zeros; b = 0."""
    rng = np.random.default_rng([8, seed])
    columns = np.concatenate([np.sort(rng.choice(dim, each, replace=False)) for _ in range(count)])
    entries = rng.standard_normal(count * each)
    A = sparse.csr_array((entries, columns, np.arange(count + 1) * each), shape=(count, dim))
    return {"A": A, "b": np.zeros(count)}


def grouped_sums(groups: int, dim: int) -> dict[str, Any]:
    """Ask that the coefficients of every group of columns sum to 0, as contrasts and compositions do."""
    members = np.array_split(np.arange(dim), groups)
    A = np.zeros((groups, dim))
    for row, columns in enumerate(members):
        A[row, columns] = 1.0
    return {"A": A, "b": np.zeros(groups)}


def class_sums(n_columns: int, n_classes: int) -> dict[str, Any]:
    """Ask that the coefficients of every column sum to 0 over the classes, which makes them unique."""
    A = sparse.kron(sparse.eye_array(n_columns), np.ones((1, n_classes)), format="csr")
    return {"A": sparse.csr_array(A), "b": np.zeros(n_columns)}
