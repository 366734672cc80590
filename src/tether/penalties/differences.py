"""Matrices whose rows are differences of neighbours: on a line, on a graph, on a grid."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from tether.inputs import dimension, numbers, positive_integer

PAIR = 2


def differences(p: int, order: int = 1) -> sparse.csr_array:
    """Return the matrix of differences of neighbours on a line.

    Row i of the first order is x[i+1] - x[i]; the second order holds differences of these, and so on. With
    `tether.L1` order 1 is the fused lasso (x piecewise constant), order 2 is linear trend filtering.

    Parameters
    ----------
    p : int
        The number of variables.
    order : int, default 1
        How often to take differences; less than p.

    Returns
    -------
    scipy.sparse.csr_array, shape (p - order, p)

    Examples
    --------
    >>> import tether
    >>> tether.differences(4, order=2).toarray().tolist()
    [[1.0, -2.0, 1.0, 0.0], [0.0, 1.0, -2.0, 1.0]]
    """
    p, order = dimension("p", p), positive_integer("order", order)
    if order >= p:
        raise ValueError(
            f"order must be less than p = {p}, got {order}; a difference needs order + 1 variables."
        )
    signs = np.array([1.0])
    for _ in range(order):
        signs = np.convolve(signs, [-1.0, 1.0])
    first = np.arange(p - order)[:, None]
    columns = (first + np.arange(order + 1)).ravel()
    ends = np.arange(p - order + 1) * (order + 1)
    return sparse.csr_array((np.tile(signs, p - order), columns, ends), shape=(p - order, p))


def graph_differences(edges: Any, n_nodes: int | None = None) -> sparse.csr_array:
    """Return the matrix of differences along the edges of a graph: x[head] - x[tail] for each edge.

    Parameters
    ----------
    edges : array_like of int, shape (E, 2)
        Tail and head of each edge; for an l1 term it does not matter which is which.
    n_nodes : int, optional
        The number of variables; by default one more than the largest node.

    Returns
    -------
    scipy.sparse.csr_array, shape (E, n_nodes)

    Examples
    --------
    >>> import tether
    >>> tether.graph_differences([[0, 1], [0, 2]]).toarray().tolist()
    [[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]
    """
    ends = _ends(edges)
    largest = dimension("n_nodes", int(ends.max()) + 1)
    count = largest if n_nodes is None else dimension("n_nodes", n_nodes)
    if largest > count:
        raise ValueError(
            f"n_nodes must be at least {largest}, because edges name the node {largest - 1}, got {count}."
        )
    return _rows(ends, count)


def grid_differences(shape: Sequence[int]) -> sparse.csr_array:
    """Return the matrix of differences of neighbours on a grid, along each of its axes in turn.

    The variables are the points of the grid in the order of ``ravel``. With `tether.L1` it is the
    anisotropic total variation of an image.

    Parameters
    ----------
    shape : sequence of int
        The number of points along each axis.

    Returns
    -------
    scipy.sparse.csr_array, shape (number of neighbours, product of shape)

    Examples
    --------
    >>> import tether
    >>> tether.grid_differences((2, 2)).toarray().tolist()
    [[-1.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 1.0], [-1.0, 1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 1.0]]
    """
    if not isinstance(shape, Sequence | np.ndarray) or isinstance(shape, str) or len(shape) == 0:
        raise ValueError(f"shape must be a sequence of whole numbers, such as (300, 300), got {shape!r}.")
    lengths = [dimension(f"shape[{k}]", length) for k, length in enumerate(shape)]
    point = np.arange(dimension("the product of shape", int(np.prod(lengths, dtype=object)))).reshape(lengths)
    tails = [np.delete(point, -1, axis).ravel() for axis in range(point.ndim)]
    heads = [np.delete(point, 0, axis).ravel() for axis in range(point.ndim)]
    return _rows(np.column_stack([np.concatenate(tails), np.concatenate(heads)]), point.size)


def _rows(ends: Any, count: int) -> sparse.csr_array:
    """Return one row for each pair of nodes: -1 at the first, 1 at the second."""
    signs = np.tile([-1.0, 1.0], len(ends))
    rows = sparse.csr_array((signs, ends.ravel(), np.arange(len(ends) + 1) * PAIR), shape=(len(ends), count))
    rows.sort_indices()
    return rows


def _ends(edges: Any) -> Any:
    table = numbers("edges", edges)
    if table.ndim != PAIR or table.shape[1] != PAIR or len(table) == 0:
        raise ValueError(
            f"edges must have shape (E, 2), the two nodes of each edge, got shape {table.shape}."
        )
    if table.dtype.kind not in "iu":
        raise ValueError(f"edges must hold whole numbers, the nodes, got dtype {table.dtype}.")
    wrong = np.flatnonzero(np.any(table < 0, axis=1) | (table[:, 0] == table[:, 1]))
    if len(wrong):
        raise ValueError(
            f"edges[{wrong[0]}] = {table[wrong[0]].tolist()} must join two different nodes, numbered from 0; "
            "drop or correct it."
        )
    return np.minimum(table, np.iinfo(np.int64).max).astype(np.int64)  # no unsigned one becomes negative
