"""Differences on graphs: chains that take turns find what a quadratic program finds."""

import numpy as np
import pytest
from scipy import sparse

import tether
from tether.constraints import Unconstrained
from tether.kernels.forests import components, line_up, share_out
from tether.polyhedral import Pieces, Polyhedral
from tether.prox.graph_variation import GraphVariation, forests_of
from tether.prox.program import Quadratic

from .cases import metric, scalars


def random_graph(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(4, 30))
    tail = rng.integers(p, size=3 * p)
    ends = np.column_stack([tail, (tail + rng.integers(1, p, size=3 * p)) % p])
    ends = np.unique(np.sort(ends[: int(rng.integers(p, 2 * p))], axis=1), axis=0)
    rows = Pieces.of(len(ends), left=rng.random(len(ends)), right=rng.random(len(ends)))
    pieces = Pieces.of(p) if rng.random() < 0.4 else scalars(rng, p)
    psi = Polyhedral(pieces, tether.graph_differences(ends, p), rows)
    return psi, 2.0 * rng.normal(size=p), metric(rng, p)


@pytest.mark.parametrize("seed", range(30))
def test_chains_that_take_turns_find_what_a_quadratic_program_finds(seed):
    psi, z, t = random_graph(seed)
    found = GraphVariation(psi, *forests_of(psi)).at(z, t, None)
    exact = Quadratic(Unconstrained().sized(len(z)), psi).at(z, t, None)

    def value(x):
        return psi.value(x) + float(np.sum((x - z) ** 2 / (2 * t)))

    assert value(found.point) - value(exact.point) <= 1e-9 * (1.0 + abs(value(exact.point)))
    assert found.point == pytest.approx(exact.point, abs=1e-4)
    assert np.all(psi.coordinates.violation(found.point) == 0.0)
    pull = (found.point - z) / t + psi.subgradient(found.duals)
    assert np.linalg.norm(np.sqrt(t) * pull) <= 1e-4 * (1.0 + np.linalg.norm(z / np.sqrt(t)))


def test_neighbours_in_a_patch_are_equal_exactly():
    rng = np.random.default_rng(0)
    picture = np.kron([[0.0, 1.0], [2.0, -1.0]], np.ones((10, 10))) + 0.05 * rng.normal(size=(20, 20))
    psi = Polyhedral(Pieces.of(400), tether.grid_differences((20, 20)), Pieces.of(760, left=0.3, right=0.3))
    found = GraphVariation(psi, *forests_of(psi)).at(picture.ravel(), np.ones(400), None)
    assert len(np.unique(found.point)) <= 10  # corners may differ a little


def test_a_warm_start_ends_at_once():
    psi, z, t = random_graph(3)
    prox = GraphVariation(psi, *forests_of(psi))
    cold = prox.at(z, t, None)
    assert prox.at(z, t, cold).iterations <= min(20, cold.iterations)


@pytest.mark.parametrize("shape", [(7, 5), (4, 3, 3)])
def test_a_grid_needs_a_forest_for_each_axis(shape):
    ends = tether.grid_differences(shape).indices.reshape(-1, 2).astype(np.int64)
    nodes = int(np.prod(shape))
    forest, count = share_out(ends, nodes, 8)
    assert count == len(shape) and forest.min() == 0
    for f in range(count):
        order, before = line_up(ends, np.flatnonzero(forest == f), nodes)
        assert sorted(order) == list(range(nodes))
        inner = np.flatnonzero(before >= 0)
        assert sorted(before[inner]) == sorted(np.flatnonzero(forest == f))
        for k in inner:
            assert {order[k - 1], order[k]} == set(ends[before[k]])


def test_tied_edges_make_components():
    ends = np.array([[0, 1], [1, 2], [3, 4]])
    number, count = components(ends, np.array([True, False, True]), 6)
    assert count == 4 and number.tolist() == [0, 0, 1, 2, 2, 3]


def test_a_picture_is_smoothed_with_a_proof():
    rng = np.random.default_rng(1)
    n = 45
    picture = np.zeros((n, n))
    picture[10:30, 12:40] = 1.0
    y = (picture + 0.3 * rng.normal(size=(n, n))).ravel()
    objective = tether.Quadratic(matrix=0.5 * sparse.eye_array(n * n), linear=-y)
    sol = tether.solve(objective, penalty=tether.L1(0.5, tether.grid_differences((n, n))))
    assert sol.success and sol.gap <= 1e-9 * abs(sol.fun)
    assert np.abs(sol.x - picture.ravel()).mean() <= 0.1
