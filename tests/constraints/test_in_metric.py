"""Projections in a metric, for every kind of set and every form of metric."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tether.constraints import Affine, Constraint, Flow, Unconstrained
from tether.curvature import kronecker, packed
from tether.metric import NotFinite, metric_of
from tether.metric.full import FullMetric

quick = settings(
    max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
numbers = st.floats(-1e3, 1e3).map(lambda number: round(number, 6))


def _spread(rng, dim):
    factors = rng.standard_normal((3 * dim, dim))
    return factors.T @ factors / dim


def _full(rng, dim):
    M = _spread(rng, dim)
    return M, metric_of("full", packed(M), dim)


def _raw_columns(rng, dim):
    """Columns in units that differ by 1e8: eigenvalues by 1e16 and more."""
    units = 10.0 ** rng.uniform(-4, 4, dim)
    M = _spread(rng, dim) * units * units[:, None]
    return M, metric_of("full", packed(M), dim)


def _kronecker(rng, dim):
    outputs = next(k for k in (3, 2, 1) if dim % k == 0)
    G, S = _spread(rng, dim // outputs), _spread(rng, outputs)
    M = np.kron(G, S / np.trace(S)) + 0.1 * np.eye(dim)
    return M, metric_of("kronecker", kronecker(G, S, 0.1), dim, outputs)


def _diagonal(rng, dim):
    entries = 10.0 ** rng.uniform(-3, 3, dim)
    return np.diag(entries), metric_of("diagonal", entries, dim)


METRICS = {"full": _full, "full, raw columns": _raw_columns, "kronecker": _kronecker, "diagonal": _diagonal}


@pytest.fixture(scope="module", params=METRICS, ids=str)
def metric(request, case):
    return METRICS[request.param](np.random.default_rng(case.dim), case.dim)


@pytest.fixture(scope="module")
def within(case, metric):
    return case.constraint.in_metric(metric[1])


def tangent_basis(case):
    values, vectors = np.linalg.eigh(0.5 * (case.projector + case.projector.T))
    return vectors[:, values > 0.5]


def image_of(M, Z, g):
    """Return Z (Z^T M Z)^-1 Z^T g, by least squares in units in which M has a diagonal of ones."""
    units = np.sqrt(np.diag(M))
    root = np.linalg.cholesky(M / units / units[:, None]).T * units  # root^T root = M
    q, r = np.linalg.qr(root @ Z)
    return root, q @ scipy.linalg.solve_triangular(r, Z.T @ g, trans="T") if Z.shape[1] else 0.0 * g


def of_size(M, g):
    """Return ||g|| in the metric M^-1, which no ||P_M g||_M exceeds."""
    units = np.sqrt(np.diag(M))
    return 1e-300 + np.linalg.norm(np.linalg.solve(np.linalg.cholesky(M / units / units[:, None]), g / units))


def draw(data, length):
    return data.draw(arrays(np.float64, length, elements=numbers))


def limit(metric):
    """Return the accuracy to ask for: Z of the oracle is orthonormal in the user's units."""
    return 1e-6 if np.linalg.cond(metric[0]) > 1e10 else 1e-9


@quick
@given(data=st.data())
def test_it_is_the_minimum_of_the_quadratic_model_on_the_set(case, metric, within, data):
    M, g = metric[0], draw(data, case.dim)
    u = within.tangent(g)
    root, expected = image_of(M, tangent_basis(case), g)
    assert np.linalg.norm(root @ u - expected) <= limit(metric) * of_size(M, g)


@quick
@given(data=st.data())
def test_its_directions_are_tangent(case, metric, within, data):
    g = draw(data, case.dim)
    u = within.tangent(g)
    A = case.transposed.T
    lengths = np.linalg.norm(A, axis=1)
    lengths[lengths < 1e-12] = 1.0  # rounding of the oracle
    assert np.all(np.abs(A @ u) <= 1e-11 * lengths * np.linalg.norm(u) + 1e-30)


@quick
@given(data=st.data())
def test_it_is_self_adjoint_and_linear(case, metric, within, data):
    M, (g, h) = metric[0], (draw(data, case.dim), draw(data, case.dim))
    tangent = within.tangent
    sizes = of_size(M, g) * of_size(M, h)
    assert abs(tangent(g) @ h - g @ tangent(h)) <= limit(metric) * sizes
    assert tangent(g) @ g >= -1e-12 * of_size(M, g) ** 2
    root, _ = image_of(M, tangent_basis(case), g)
    both = of_size(M, g) + of_size(M, h)
    assert np.linalg.norm(root @ (tangent(g - 2 * h) - tangent(g) + 2 * tangent(h))) <= limit(metric) * both


@quick
@given(data=st.data())
def test_of_a_tangent_direction_times_the_metric_it_returns_the_direction(case, metric, within, data):
    """P_M M P_M = P_M: with M it is a projection, and applying it twice changes nothing."""
    M, g = metric[0], draw(data, case.dim)
    tangent = within.tangent
    u = tangent(g)
    root, _ = image_of(M, tangent_basis(case), g)
    assert np.linalg.norm(root @ (tangent(M @ u) - u)) <= limit(metric) * of_size(M, g)


def test_nothing_is_added_to_positive_metrics(within):
    assert within.exact


def test_the_bound_is_below_all_eigenvalues_on_the_tangent_space(case, metric, within):
    smallest = within.smallest
    Z = tangent_basis(case)
    if Z.shape[1] == 0:
        return
    truth = np.linalg.norm(np.linalg.pinv(image_of(metric[0], Z, np.zeros(case.dim))[0] @ Z), 2) ** -2
    assert 0.0 <= smallest <= truth * (1 + 1e-9)
    if isinstance(metric[1], FullMetric):
        assert smallest >= 0.09 * truth


def test_a_singular_metric_that_is_positive_on_the_tangent_space_is_exact():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((4, 12))
    factors = rng.standard_normal((8, 12))  # 8 samples, 12 variables, 8 free directions
    M, g = factors.T @ factors, rng.standard_normal(12)
    within = Affine(A, A @ g).in_metric(metric_of("full", packed(M), 12))
    kkt = np.linalg.solve(np.block([[M, A.T], [A, np.zeros((4, 4))]]), np.concatenate([g, np.zeros(4)]))
    assert within.exact
    np.testing.assert_allclose(within.tangent(g), kkt[:12], rtol=1e-9, atol=1e-9)
    Z = scipy.linalg.null_space(A)
    truth = np.linalg.eigvalsh(Z.T @ M @ Z)[0]
    assert 0.09 * truth <= within.smallest <= truth


@pytest.mark.parametrize(
    "spoil",
    [lambda M: M - 3.0 * np.eye(len(M)), lambda M: np.zeros_like(M), lambda M: np.ones_like(M)],
    ids=["indefinite", "zero", "of rank one"],
)
def test_a_metric_that_is_not_positive_gets_a_ridge_and_says_so(spoil):
    rng = np.random.default_rng(1)
    A, g = rng.standard_normal((2, 8)), rng.standard_normal(8)
    within = Affine(A).in_metric(metric_of("full", packed(spoil(_spread(rng, 8))), 8))
    u = within.tangent(g)
    assert not within.exact and within.smallest == 0.0
    assert g @ u > 0.0 and np.linalg.norm(A @ u) <= 1e-10 * np.linalg.norm(u)


def test_entries_of_a_diagonal_that_are_not_positive_are_raised():
    within = Affine([[1.0, 1.0, 1.0]]).in_metric(metric_of("diagonal", np.array([1.0, 0.0, -2.0]), 3))
    u = within.tangent(np.array([1.0, 2.0, 4.0]))
    assert not within.exact and within.smallest == 0.0
    assert u @ [1.0, 2.0, 4.0] > 0.0 and abs(u.sum()) <= 1e-12 * np.abs(u).max()


class Plane(Constraint):
    """A user's own set: vectors whose first entry is 1 and whose sum is 3."""

    dim = 5
    _rows = Affine([[1.0, 0, 0, 0, 0], [1.0, 1, 1, 1, 1]], [1.0, 3.0])

    def project(self, x):
        return self._rows.project(x)

    def tangent(self, v):
        return self._rows.tangent(v)

    def residual(self, x):
        return self._rows.residual(x)

    def multipliers(self, gradient):
        return self._rows.multipliers(gradient)


@pytest.mark.parametrize("form", METRICS, ids=str)
def test_a_set_that_only_projects_is_probed(form):
    rng = np.random.default_rng(2)
    _, metric = METRICS[form](rng, 5)
    g = rng.standard_normal(5)
    known = Affine([[1.0, 0, 0, 0, 0], [1.0, 1, 1, 1, 1]]).in_metric(metric).tangent(g)
    np.testing.assert_allclose(Plane().in_metric(metric).tangent(g), known, rtol=1e-8, atol=1e-12)


def test_a_large_set_that_only_projects_is_refused_in_one_sentence():
    class Wide(Plane):
        dim = 1_200

    with pytest.raises(NotImplementedError, match="Wide must have equations"):
        Wide().in_metric(metric_of("diagonal", np.ones(1_200), 1_200))


@pytest.mark.parametrize("wrong", [np.nan, np.inf], ids=str)
@pytest.mark.parametrize(("form", "length"), [("full", 6), ("kronecker", 8), ("diagonal", 3)])
def test_numbers_that_are_not_finite_have_an_error_of_their_own(form, length, wrong):
    vector = np.ones(length)
    vector[1] = wrong
    with pytest.raises(NotFinite):
        metric_of(form, vector, 3, 1)


def test_a_gradient_that_is_not_finite_has_the_same_error():
    within = Unconstrained(3).in_metric(metric_of("diagonal", np.ones(3), 3))
    with pytest.raises(NotFinite):
        within.tangent(np.array([1.0, np.nan, 0.0]))


def test_a_diagonal_metric_on_a_network_is_a_weighted_laplacian():
    side = 30
    nodes = np.arange(side * side).reshape(side, side)
    edges = np.concatenate(
        [
            np.column_stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()]),
            np.column_stack([nodes[:-1].ravel(), nodes[1:].ravel()]),
        ]
    )
    supply = np.zeros(side * side)
    supply[[0, -1]] = 1.0, -1.0
    rng = np.random.default_rng(3)
    entries, g = 10.0 ** rng.uniform(-3, 3, len(edges)), rng.standard_normal(len(edges))
    network = Flow(edges, supply)
    u = network.in_metric(metric_of("diagonal", entries, len(edges))).tangent(g)
    B = network.equations[0].toarray()
    potentials = np.linalg.solve(B / entries @ B.T, B @ (g / entries))
    np.testing.assert_allclose(u, (g - B.T @ potentials) / entries, rtol=1e-7, atol=1e-9 * np.abs(u).max())


def test_columns_side_by_side_are_projected_like_vectors():
    rng = np.random.default_rng(2)
    for rows in (1, 20):  # few long rows are kept as they are, more become orthonormal
        within = Affine(rng.standard_normal((rows, 40))).in_metric(FullMetric(_spread(rng, 40)))
        several = rng.standard_normal((40, 3))
        expected = np.column_stack([within.direction(v) for v in several.T])
        np.testing.assert_allclose(within.direction(several), expected, atol=1e-12)
