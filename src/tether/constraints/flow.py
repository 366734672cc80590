"""Conservation of flow on a network: what leaves a node less what enters it is its supply.

The projection is a solve with the Laplacian of the graph. One node of each connected component is
grounded: its equation follows from those of the others, provided the supplies of the component sum to 0.
The Laplacian is factorised when it is first needed: a problem with quadratic costs needs another one.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from tether.arrays import Array
from tether.constraints.algebra.consistency import listed, require_consistent
from tether.constraints.algebra.rows import Rows
from tether.constraints.algebra.sparse import sparse_rows
from tether.constraints.base import Constraint
from tether.digest import digest_of
from tether.inputs import numbers, vector
from tether.lazy import lazy
from tether.names import Labels


class Flow(Constraint):
    """The flows on a network that balance every node.

    x holds one number for each edge; {x : B x = supply} with the incidence matrix B, +1 where an edge
    leaves a node and -1 where it enters. Multipliers are node potentials: (B^T lambda)_e =
    lambda_tail - lambda_head, and lambda = 0 at the first node of each connected component.

    Parameters
    ----------
    edges : array_like of int, shape (E, 2)
        Tail and head of each edge. Parallel edges are allowed, loops are not.
    supply : array_like, shape (n_nodes,)
        Outflow less inflow of each node; must sum to 0 over each connected component.

    Attributes
    ----------
    dim, n_edges : int
        E, the length of the vectors it acts on.
    n_nodes : int
        The number of nodes.
    n_components : int
        The number of connected components.

    Examples
    --------
    >>> from tether.constraints import Flow
    >>> network = Flow([[0, 1], [1, 2], [0, 2]], [3.0, 0.0, -3.0])
    >>> network
    Flow(3 nodes, 3 edges, 1 component)
    >>> network.project([0.0, 0.0, 0.0]).round(12).tolist()
    [1.0, 1.0, 2.0]

    References
    ----------
    Li & Zhang, "Delayed Projection Techniques for Linearly Constrained Problems", the network flow problem.
    """

    dim: int

    def __init__(self, edges: Any, supply: Any) -> None:
        self.supply = vector("supply", supply).copy()
        self.n_nodes = len(self.supply)
        self._tail, self._head = _checked_edges(edges, self.n_nodes)
        self.dim = self.n_edges = len(self._tail)
        self.n_components, label = self._components()
        _require_balance(self.supply, label, self.n_components)
        self._free = _all_but_first(label)

    @property
    def equations(self) -> tuple[Any, Array] | None:
        """The incidence matrix and the supplies, one node of each component left out."""
        return self._equations

    @lazy
    def _equations(self) -> tuple[sp.csr_array, Array]:
        return self._incidence()[self._free], self.supply[self._free]

    @lazy
    def _rows(self) -> Rows:
        return sparse_rows(self._equations[0])

    @lazy
    def _origin(self) -> Array:
        """The shortest flow that balances every node."""
        fit = self._rows.fit(self._equations[1])
        require_consistent(self._rows, self._equations[1], fit)
        return fit.point

    def project(self, x: Array) -> Array:
        """Return the nearest flow that balances every node."""
        return self._rows.projected(np.asarray(x, dtype=float), self._equations[1], self._origin)

    def tangent(self, v: Array) -> Array:
        """Return the circulation nearest to v: a flow without supplies."""
        return self._rows.tangent(np.asarray(v, dtype=float))

    def residual(self, x: Array) -> float:
        """Return the norm of the imbalance over all nodes."""
        out = np.bincount(self._tail, x, minlength=self.n_nodes)
        into = np.bincount(self._head, x, minlength=self.n_nodes)
        return float(np.linalg.norm(out - into - self.supply))

    def multipliers(self, gradient: Array) -> Array:
        """Return the node potentials whose differences are nearest to the gradient."""
        return self.multipliers_of(self._rows.multipliers(gradient))

    def multipliers_of(self, rows: Array) -> Array:
        """Return node potentials: those of the rows, and 0 at the nodes that were left out."""
        potentials = np.zeros(self.n_nodes)
        potentials[self._free] = rows
        return potentials

    @property
    def words(self) -> str:
        """What has to balance where."""
        return f"flows that balance at {self.n_nodes:,} nodes"

    def labels(self, dim: int) -> Labels:
        """Return the numbers of the nodes, to which multipliers belong as potentials."""
        return Labels("node", self.n_nodes)

    def digest(self) -> str:
        """Return a digest of the edges and the supplies."""
        return digest_of("Flow", self._tail, self._head, self.supply)

    def _incidence(self) -> sp.csr_array:
        one, edge = np.ones(self.n_edges), np.arange(self.n_edges)
        node = np.concatenate([self._tail, self._head])
        entries = (np.concatenate([one, -one]), (node, np.concatenate([edge, edge])))
        return sp.csr_array(entries, shape=(self.n_nodes, self.n_edges))

    def _components(self) -> tuple[int, NDArray[np.int32]]:
        links = (np.ones(self.n_edges), (self._tail, self._head))
        graph = sp.csr_array(links, shape=(self.n_nodes, self.n_nodes))
        count, label = connected_components(graph, directed=False)
        return int(count), label

    def __repr__(self) -> str:
        components = "1 component" if self.n_components == 1 else f"{self.n_components} components"
        return f"Flow({self.n_nodes} nodes, {self.n_edges} edges, {components})"


def _checked_edges(edges: Any, n_nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    table = numbers("edges", edges)
    if table.size == 0:
        raise ValueError("edges must hold at least one edge, got none.")
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(
            f"edges must have shape (E, 2), the tail and head of each edge, got shape {table.shape}."
        )
    if table.dtype.kind not in "iu":
        raise ValueError(f"edges must hold integers, 0 to {n_nodes - 1}, got dtype {table.dtype}.")
    if table.dtype == np.uint64:  # what becomes negative is no node
        table = np.minimum(table, np.iinfo(np.int64).max)
    table = table.astype(np.int64)
    stray = np.flatnonzero(np.any((table < 0) | (table >= n_nodes), axis=1))
    if len(stray):
        e = stray[0]
        raise ValueError(
            f"edges[{e}] = {table[e].tolist()} names a node that does not exist: supply has {n_nodes} "
            f"entries, so nodes are numbered 0 to {n_nodes - 1}."
        )
    loops = np.flatnonzero(table[:, 0] == table[:, 1])
    if len(loops):
        e = loops[0]
        raise ValueError(f"edges[{e}] = {table[e].tolist()} is a loop, which no balance restrains; drop it.")
    return table[:, 0].copy(), table[:, 1].copy()


def _require_balance(supply: Array, label: NDArray[np.int32], count: int) -> None:
    surplus = np.bincount(label, supply, minlength=count)
    size = np.bincount(label, np.abs(supply), minlength=count)
    unbalanced = np.flatnonzero(np.abs(surplus) > 1e-10 * size)
    if len(unbalanced) == 0:
        return
    nodes = np.flatnonzero(label == unbalanced[0])
    amount = f"{surplus[unbalanced[0]]:.6g}"
    if len(nodes) == 1:
        raise ValueError(f"node {nodes[0]} has no edges, yet supply[{nodes[0]}] = {amount}; it must be 0.")
    named = listed(nodes[:5], max(0, len(nodes) - 5))
    raise ValueError(
        f"supply must sum to 0 over each connected component, but over the one of nodes {named} "
        f"it sums to {amount}."
    )


def _all_but_first(label: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return the mask of the nodes that are not the first of their component."""
    free = np.ones(len(label), dtype=bool)
    free[np.unique(label, return_index=True)[1]] = False
    return free
