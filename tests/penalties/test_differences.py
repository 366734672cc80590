"""Matrices of differences are what NumPy's differences are."""

import numpy as np
import pytest

import tether


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("p", [4, 9])
def test_differences_on_a_line_are_those_of_numpy(p, order):
    x = np.random.default_rng(p).standard_normal(p)
    np.testing.assert_allclose(tether.differences(p, order) @ x, np.diff(x, order), atol=1e-14)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (1, 3)], ids=str)
def test_differences_on_a_grid_are_those_along_each_axis(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    expected = np.concatenate([np.diff(x, axis=axis).ravel() for axis in range(x.ndim)])
    np.testing.assert_array_equal(tether.grid_differences(shape) @ x.ravel(), expected)


def test_differences_on_a_path_are_those_on_a_line():
    path = np.column_stack([np.arange(4), np.arange(1, 5)])
    np.testing.assert_array_equal(tether.graph_differences(path).toarray(), tether.differences(5).toarray())
    backwards = tether.graph_differences(path[:, ::-1]).toarray()
    np.testing.assert_array_equal(backwards, -tether.differences(5).toarray())


def test_nodes_without_edges_have_columns_too():
    assert tether.graph_differences([[0, 1]], n_nodes=4).shape == (1, 4)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (tether.differences, (3, 3), r"^order must be less than p = 3, got 3; a difference needs"),
        (tether.differences, (3, 0), r"^order must be a whole number >= 1, got 0\.$"),
        (tether.differences, (2.0,), r"^p must be a whole number >= 1, got 2\.0\.$"),
        (tether.graph_differences, ([],), r"^edges must have shape \(E, 2\), .* got shape \(0,\)\.$"),
        (tether.graph_differences, ([[0, 1, 2]],), r"^edges must have shape \(E, 2\)"),
        (tether.graph_differences, ([[0.0, 1.0]],), r"^edges must hold whole numbers, .* float64\.$"),
        (tether.graph_differences, ([[1, 2], [3, 3]],), r"^edges\[1\] = \[3, 3\] must join two different"),
        (tether.graph_differences, ([[0, -1]],), r"^edges\[0\] = \[0, -1\] must join two different nodes"),
        (tether.graph_differences, ([[0, 5]], 3), r"^n_nodes must be at least 6, because .* got 3\.$"),
        (tether.grid_differences, (3,), r"^shape must be a sequence of whole numbers, .* got 3\.$"),
        (tether.grid_differences, ((),), r"^shape must be a sequence of whole numbers, .* got \(\)\.$"),
        (tether.grid_differences, ((2, 0),), r"^shape\[1\] must be a whole number >= 1, got 0\.$"),
    ],
    ids=lambda value: getattr(value, "__name__", None) or str(value)[:40],
)
def test_wrong_sizes_are_refused_by_name(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


def test_unsigned_nodes_do_not_wrap_around():
    edges = np.array([[0, 2**63]], dtype=np.uint64)
    with pytest.raises(ValueError, match="n_nodes must be"):
        tether.graph_differences(edges)
