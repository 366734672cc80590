"""What a metric does to vectors: M^-1 = R R^T, for every form."""

import numpy as np
import pytest
import scipy.sparse as sp

from tether.curvature import kronecker, packed
from tether.metric import metric_of


def _positive(size):
    factors = np.random.default_rng(size).standard_normal((2 * size, size))
    return factors.T @ factors / size


def _forms():
    full, G, S = _positive(12), _positive(4), _positive(3)
    entries = np.linspace(0.5, 20.0, 12)
    units = 10.0 ** np.linspace(-8, 8, 12)
    raw = full * units * units[:, None]
    return {
        "full": (full, metric_of("full", packed(full), 12)),
        "full, raw columns": (raw, metric_of("full", packed(raw), 12)),
        "kronecker": (
            np.kron(G, S) / np.trace(S) + 0.3 * np.eye(12),
            metric_of("kronecker", kronecker(G, S, 0.3), 12, 3),
        ),
        "diagonal": (np.diag(entries), metric_of("diagonal", entries, 12)),
    }


FORMS = _forms()


@pytest.fixture(params=FORMS, ids=str)
def form(request):
    return FORMS[request.param]


def test_metrics_have_the_entries_they_were_made_of(form):
    M, metric = form
    units = np.sqrt(np.diag(M))
    np.testing.assert_allclose(metric.apply(np.eye(12)) / units / units[:, None], M / units / units[:, None])


def test_r_times_its_transpose_is_the_inverse(form):
    M, metric = form
    units = np.sqrt(np.diag(M))
    product = metric.colour(metric.whiten(np.diag(units))) * units[:, None]
    np.testing.assert_allclose(product, np.linalg.inv(M / units / units[:, None]), rtol=1e-9, atol=1e-9)


def test_maps_undo_each_other(form):
    M, metric = form
    v = np.random.default_rng(1).standard_normal(12)
    gradient = np.sqrt(np.diag(M)) * v  # in the units in which a gradient comes
    np.testing.assert_allclose(metric.uncolour(metric.colour(v)), v, rtol=1e-9)
    np.testing.assert_allclose(metric.unwhiten(metric.whiten(gradient)), gradient, rtol=1e-9)


def test_whitening_is_the_transpose_of_colouring(form):
    _, metric = form
    R, inverse = metric.colour(np.eye(12)), metric.uncolour(np.eye(12))
    np.testing.assert_allclose(metric.whiten(np.eye(12)), R.T, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(metric.unwhiten(np.eye(12)), inverse.T, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", ["whiten", "colour", "unwhiten", "uncolour", "apply"])
def test_columns_side_by_side_are_vectors_one_by_one(form, name):
    act = getattr(form[1], name)
    block = np.random.default_rng(2).standard_normal((12, 5))
    one_by_one = np.column_stack([act(column.copy()) for column in block.T])
    np.testing.assert_allclose(act(block), one_by_one, rtol=1e-9, atol=1e-12 * np.abs(one_by_one).max())


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rows_and_columns_are_those_of_the_new_variables(form, wrap):
    _, metric = form
    A = np.random.default_rng(3).standard_normal((3, 12))
    A[A < 0.5] = 0.0
    rows, columns = metric.rows(wrap(A)), metric.columns(wrap(A))
    assert sp.issparse(rows) == sp.issparse(columns) == (metric.keeps_sparse and wrap is sp.csr_array)
    rows, columns = (
        np.asarray(found.toarray() if sp.issparse(found) else found) for found in (rows, columns)
    )
    expected = A @ metric.colour(np.eye(12)), (metric.uncolour(np.eye(12)) @ A.T).T
    for found, known in zip((rows, columns), expected, strict=True):
        np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-12 * np.abs(known).max())


def test_arguments_are_left_alone(form):
    _, metric = form
    for v in (np.arange(1.0, 13.0), np.asfortranarray(np.ones((12, 2)))):
        kept = v.copy()
        for act in (metric.whiten, metric.colour, metric.unwhiten, metric.uncolour, metric.apply):
            assert not np.shares_memory(act(v), v)
        np.testing.assert_array_equal(v, kept)


def test_a_singular_kronecker_metric_is_raised_and_says_so():
    G, S = _positive(4), np.eye(3) - 1 / 3  # outputs that sum to 0, as those of a softmax
    metric = metric_of("kronecker", kronecker(G, S, 0.0), 12, 3)
    assert not metric.exact and np.isfinite(metric.colour(np.ones(12))).all()
    assert metric_of("kronecker", kronecker(G, S, 1e-3), 12, 3).exact


def test_no_direction_is_steeper_than_said(form):
    matrix, metric = form
    rng = np.random.default_rng(5)
    reach = rng.random(12) * np.sqrt(np.diag(matrix))
    bound = metric.steepness(reach)
    inverse = np.linalg.inv(matrix / np.sqrt(np.outer(np.diag(matrix), np.diag(matrix))))
    for v in [*rng.standard_normal((200, 12)), *inverse]:
        v = v / np.sqrt(np.diag(matrix))
        assert reach @ np.abs(v) <= bound * np.sqrt(v @ matrix @ v)


@pytest.mark.parametrize("size", [1, 2, 12, 50])
@pytest.mark.parametrize("smallest", [1.0, 1e-2, 1e-6])
def test_the_norm_of_the_inverse_is_never_above_its_bound(size, smallest):
    units = 10.0 ** np.linspace(-1, 1, size)
    M = (_positive(size) + smallest * np.eye(size)) * units * units[:, None]
    norm = 1.0 / np.linalg.eigvalsh(M)[0]
    bound = metric_of("full", packed(M), size).inverse_norm()
    assert (1.0 - 1e-9) * norm <= bound < np.inf
    assert size > 12 or bound <= 30.0 * norm


def test_no_bound_on_the_inverse_is_given_where_it_would_be_wide():
    M = np.full((30, 30), 1.0 - 1e-9) + 1e-9 * np.eye(30)
    assert metric_of("full", packed(M), 30).inverse_norm() == np.inf
    assert metric_of("diagonal", np.ones(3), 3).inverse_norm() == np.inf
