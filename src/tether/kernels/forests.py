"""Edges of a graph shared out among linear forests: sets of paths, each of which is a chain.

Edges go one after another into the first forest that has room for them: where neither end has two edges yet,
and both are not on one path already. A grid needs two forests, its rows and its columns.
"""

import numpy as np

from tether.kernels.options import kernel


@kernel
def share_out(ends, nodes, most):
    """Return the forest of each edge, -1 where none had room, and how many forests there are."""
    count = len(ends)
    forest, degree, parent = np.full(count, -1), np.zeros(nodes, np.int64), np.arange(nodes)
    used, left = 0, count
    while left > 0 and used < most:
        degree[:] = 0
        for node in range(nodes):
            parent[node] = node
        for e in range(count):
            i, k = ends[e, 0], ends[e, 1]
            if forest[e] >= 0 or degree[i] == 2 or degree[k] == 2:
                continue
            one, other = _root(parent, i), _root(parent, k)
            if one == other:
                continue
            parent[one] = other
            degree[i], degree[k] = degree[i] + 1, degree[k] + 1
            forest[e] = used
            left -= 1
        used += 1
    return forest, used


@kernel
def _root(parent, node):
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel
def line_up(ends, edges, nodes):
    """Return the nodes of one forest, path after path, and the edge that leads to each of them, or -1."""
    neighbour, through = np.full((nodes, 2), -1), np.full((nodes, 2), -1)
    degree = np.zeros(nodes, np.int64)
    for e in edges:
        for side in range(2):
            node = ends[e, side]
            neighbour[node, degree[node]], through[node, degree[node]] = ends[e, 1 - side], e
            degree[node] += 1
    order, before, seen = np.empty(nodes, np.int64), np.full(nodes, -1), np.zeros(nodes, np.bool_)
    place = 0
    for start in range(nodes):
        if seen[start] or degree[start] == 2:  # a path is walked from one of its ends
            continue
        node, came = start, -1
        while node >= 0:
            seen[node], order[place], before[place] = True, node, came
            place += 1
            onward, came = -1, -1
            for side in range(degree[node]):
                if not seen[neighbour[node, side]]:
                    onward, came = neighbour[node, side], through[node, side]
            node = onward
    return order, before


@kernel
def components(ends, tied, nodes):
    """Return a number for each node, the same for those that tied edges connect, and how many there are."""
    parent = np.arange(nodes)
    for e in range(len(ends)):
        if tied[e]:
            one, other = _root(parent, ends[e, 0]), _root(parent, ends[e, 1])
            if one != other:
                parent[one] = other
    number, count = np.full(nodes, -1), 0
    for node in range(nodes):
        root = _root(parent, node)
        if number[root] < 0:
            number[root] = count
            count += 1
        number[node] = number[root]
    return number, count
