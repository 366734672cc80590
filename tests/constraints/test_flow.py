import numpy as np
import pytest

from tether.constraints import Flow


def grid(side):
    node = np.arange(side * side).reshape(side, side)
    across = np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()])
    down = np.column_stack([node[:-1].ravel(), node[1:].ravel()])
    return np.concatenate([across, down])


def balanced(n_nodes, rng):
    supply = rng.standard_normal(n_nodes)
    return supply - supply.mean()


def check(edges, supply, rng):
    """Project on a network and compare with differences of potentials; return the network."""
    edges, network = np.asarray(edges), Flow(edges, supply)
    x = rng.standard_normal(network.n_edges)
    y = network.project(x)
    assert network.residual(y) <= 1e-10 * (1 + np.linalg.norm(network.supply))
    potentials = network.multipliers(x - y)
    tail, head = edges.T
    assert np.linalg.norm(potentials[tail] - potentials[head] - (x - y)) <= 1e-8 * np.linalg.norm(x)
    return network


def test_flow_splits_between_two_routes():
    network = Flow([[0, 1], [1, 2], [0, 2]], [3, 0, -3])
    np.testing.assert_allclose(network.project(np.zeros(3)), [1, 1, 2], atol=1e-14)
    assert repr(network) == "Flow(3 nodes, 3 edges, 1 component)"


def test_edge_direction_is_from_tail_to_head():
    network = Flow([[0, 1]], [2.0, -2.0])
    np.testing.assert_allclose(network.project(np.zeros(1)), [2.0], atol=1e-14)
    assert network.residual(np.zeros(1)) == pytest.approx(np.sqrt(8))


def test_parallel_edges_share_the_flow():
    network = Flow([[0, 1], [0, 1], [1, 0]], [3.0, -3.0])
    np.testing.assert_allclose(network.project(np.zeros(3)), [1, 1, -1], atol=1e-14)


def test_potentials_are_zero_at_the_first_node_of_each_component():
    network = Flow([[1, 0], [1, 2], [3, 4]], np.zeros(6))
    assert (network.n_nodes, network.n_edges, network.n_components) == (6, 3, 3)
    potentials = network.multipliers(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(potentials, [0, 1, -1, 0, -3, 0], atol=1e-14)


def test_grid_with_hundred_thousand_nodes_is_factorised():
    rng = np.random.default_rng(0)
    network = check(grid(316), balanced(316**2, rng), rng)
    assert "factorised" in network._rows.kind


def test_random_graph_with_a_million_edges_is_not_factorised():
    rng = np.random.default_rng(1)
    n = 100_000
    ring = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
    tail = rng.integers(0, n, 9 * n)
    head = (tail + rng.integers(1, n, 9 * n)) % n
    network = check(np.concatenate([ring, np.column_stack([tail, head])]), balanced(n, rng), rng)
    assert "iterative" in network._rows.kind
    assert network.n_edges == 1_000_000


def test_supply_may_be_unbalanced_by_rounding():
    supply = np.array([0.1, 0.2, -0.3])
    assert supply.sum() != 0
    check([[0, 1], [1, 2]], supply, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("edges", "supply", "message"),
    [
        (
            [[0, 1], [2, 3], [3, 4]],
            [1, -1, 2, 0, -0.5],
            "component, but over the one of nodes 2, 3 and 4 it sums to 1.5",
        ),
        (
            [[i, i + 1] for i in range(9)],
            [1.0] + [0] * 9,
            "of nodes 0, 1, 2, 3, 4 and 5 more it sums to 1",
        ),
        ([[0, 1]], [1, -1, 2.5], r"node 2 has no edges, yet supply\[2\] = 2.5"),
        ([[0, 1], [1, 1]], [0, 0], r"edges\[1\] = \[1, 1\] is a loop"),
        ([[0, 1], [1, 2]], [0, 0], r"edges\[1\] = \[1, 2\] names a node that does not exist"),
        ([[0, 1], [-1, 0]], [0, 0], r"edges\[1\] = \[-1, 0\] names a node that does not exist"),
        ([[0.0, 1.5]], [0, 0], "edges must hold integers, 0 to 1, got dtype float64"),
        ([[0, 1, 2]], [0, 0, 0], r"edges must have shape \(E, 2\), .*, got shape \(1, 3\)"),
        ([], [0, 0], "edges must hold at least one edge"),
        ([[0, 1]], [np.nan, 0], r"supply must be finite, got nan at \[0\]"),
        ([[0, 1]], [[1.0], [-1.0]], r"supply must be one-dimensional, got shape \(2, 1\)"),
    ],
)
def test_bad_network_is_refused_with_one_sentence(edges, supply, message):
    with pytest.raises(ValueError, match=message):
        Flow(edges, supply)


def test_supplies_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"supply must be a rectangular array, got rows of unequal length"):
        Flow([[0, 1]], [[1.0], [-1.0, 0.0]])


def test_edges_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="edges must be a rectangular array, got rows of unequal length"):
        Flow([[0, 1], [1]], [0.0, 0.0])
