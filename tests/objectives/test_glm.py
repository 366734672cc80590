import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.linear_model import LogisticRegression

from tether import threads
from tether.objectives import GLM, Federation
from tether.objectives.losses import LOSSES

N, D = 60, 5


@pytest.fixture(params=LOSSES)
def problem(request, rng):
    """A loss with a data matrix and labels that suit it."""
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.5)
    response = X @ rng.standard_normal(D)
    classes = np.digitize(response, [-0.5, 0.5])
    labels = {"logistic": response > 0, "multinomial": classes, "poisson": np.floor(np.abs(response))}
    labels |= {
        "binomial": 1 / (1 + np.exp(-response)),
        "gamma": np.exp(response),
        "tweedie": np.maximum(response, 0),
    }
    return request.param, X, labels.get(request.param, response)


def _same(first, second, rng, tolerance=1e-12):
    """Assert that two objectives agree in everything the interface offers."""
    x, anchor = 0.5 * rng.standard_normal((2, first.dim))
    batch = rng.integers(0, first.n_samples, 9)
    one, other = first.evaluate(x), second.evaluate(x)
    assert one.value == pytest.approx(other.value, rel=tolerance)
    pairs = [
        (one.gradient, other.gradient),
        (one.slopes, other.slopes),
        (first.batch_gradient(x, batch), second.batch_gradient(x, batch)),
        (first.batch_gradient(x, batch, anchor), second.batch_gradient(x, batch, anchor)),
        (np.array(first.smoothness), np.array(second.smoothness)),
    ]
    for a, b in pairs:
        assert np.linalg.norm(a - b) <= tolerance * (1 + np.linalg.norm(b))


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array, sparse.csc_matrix])
def test_sparse_equals_dense(problem, rng, make):
    loss, X, y = problem
    _same(GLM(make(X), y, loss, l2=0.1, fit_intercept=True), GLM(X, y, loss, l2=0.1, fit_intercept=True), rng)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_intercept_equals_an_explicit_column_of_ones(problem, rng, make):
    loss, X, y = problem
    weights = rng.random(N)
    with_ones = make(np.column_stack([X, np.ones(N)]))
    implicit = GLM(make(X), y, loss, l2=0.1, fit_intercept=True, sample_weight=weights)
    _same(implicit, GLM(with_ones, y, loss, l2=0.1, sample_weight=weights), rng)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_weights_equal_repeated_rows(problem, rng, make):
    loss, X, y = problem
    counts = rng.integers(1, 4, N)
    repeated = GLM(make(np.repeat(X, counts, axis=0)), np.repeat(y, counts), loss, l2=0.1, fit_intercept=True)
    weighted = GLM(make(X), y, loss, l2=0.1, fit_intercept=True, sample_weight=counts)
    x = rng.standard_normal(weighted.dim)
    one, other = weighted.evaluate(x), repeated.evaluate(x)
    assert one.value == pytest.approx(other.value, rel=1e-12)
    np.testing.assert_allclose(one.gradient, other.gradient, rtol=1e-10, atol=1e-13)
    assert weighted.smoothness.full == pytest.approx(repeated.smoothness.full, rel=2e-3)
    assert weighted.smoothness.convexity == pytest.approx(repeated.smoothness.convexity, rel=1e-9)


def test_only_the_ratio_of_the_weights_counts(problem, rng):
    loss, X, y = problem
    weights = rng.random(N)
    _same(GLM(X, y, loss, sample_weight=weights), GLM(X, y, loss, sample_weight=7.0 * weights), rng)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_single_precision_is_close_to_double_and_answers_in_double(problem, rng, make):
    loss, X, y = problem
    single = GLM(make(X.astype(np.float32)), y, loss, l2=0.1, fit_intercept=True)
    _same(single, GLM(make(X), y, loss, l2=0.1, fit_intercept=True), rng, tolerance=1e-5)
    evaluation = single.evaluate(np.ones(single.dim))
    assert evaluation.gradient.dtype == evaluation.slopes.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_contiguous_floats_are_not_copied(rng, dtype):
    X, y = rng.standard_normal((N, D)).astype(dtype), rng.random(N)
    assert np.shares_memory(GLM(X, y, "squared", fit_intercept=True).design.design.matrix, X)
    rows = sparse.csr_array(X)
    assert np.shares_memory(GLM(rows, y, "squared").design.matrix.data, rows.data)


def test_memory_maps_are_read_in_place(tmp_path, rng):
    X = np.memmap(tmp_path / "X", dtype=np.float32, mode="w+", shape=(N, D))
    X[:] = rng.standard_normal((N, D))
    objective = GLM(X, rng.random(N), "squared")
    assert np.shares_memory(objective.design.matrix, X)
    _same(objective, GLM(np.array(X), objective.y, "squared"), rng)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16])
def test_other_numbers_are_converted_once(rng, dtype):
    X, y = rng.integers(0, 2, (N, D)), rng.random(N)
    expected = GLM(X.astype(float), y, "squared")
    _same(GLM(X.astype(dtype), y, "squared"), expected, rng)
    if dtype != np.float16:  # which SciPy has no sparse matrices of
        _same(GLM(sparse.csr_array(X.astype(dtype)), y, "squared"), expected, rng)


def test_duplicate_entries_are_summed_and_the_callers_matrix_is_kept(rng):
    columns, entries = np.array([0, 0, 1]), np.array([1.0, 2.0, 4.0])
    X = sparse.csr_array((entries, columns, np.array([0, 2, 3])), shape=(2, 2))
    _same(GLM(X, [1.0, 2.0], "squared"), GLM(np.array([[3.0, 0.0], [0.0, 4.0]]), [1.0, 2.0], "squared"), rng)
    np.testing.assert_array_equal(X.data, entries)


def test_sums_of_the_smoothness_constants_are_what_the_formulas_say(problem, rng):
    loss, X, y = problem
    weights = rng.random(N)
    objective = GLM(X, y, loss, l2=0.3, sample_weight=weights)
    weights = weights / weights.mean()
    curvature, mean = LOSSES[loss]().curvature, np.average(y, weights=weights)
    assert objective.smoothness.exact == np.isfinite(curvature)
    if loss == "poisson":
        curvature = 4.0 * max(1.0, mean)
    elif loss == "gamma":
        curvature = 4.0 * y.max() * max(1.0, 1.0 / mean)
    elif loss == "tweedie":
        curvature = 4.0 * max(0.5 * (y.max() * m**-0.5 + m**0.5) for m in (1.0, mean))
    spectrum = np.linalg.eigvalsh(X.T @ (weights[:, None] * X) / N)
    largest_row = np.max(weights * np.sum(X**2, axis=1))
    assert objective.smoothness.maximum == pytest.approx(curvature * largest_row + 0.3, rel=1e-12)
    bound = curvature * spectrum[-1] + 0.3
    assert bound * (1 - 1e-12) <= objective.smoothness.full <= 1.03 * bound
    mu = 0.3 + (spectrum[0] if loss == "squared" else 0.0)
    assert objective.smoothness.convexity == pytest.approx(mu, rel=1e-9)
    assert objective.smoothness.convexity <= mu


def test_rank_deficient_least_squares_claim_no_strong_convexity(rng):
    X = rng.standard_normal((N, D))
    X[:, 4] = X[:, 0] + X[:, 1]
    assert GLM(X, rng.random(N), "squared").smoothness.convexity == 0.0
    assert GLM(X[:3], rng.random(3), "squared").smoothness.convexity == 0.0


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_unpacked_coefficients_predict(problem, rng, fit_intercept):
    loss, X, y = problem
    objective = GLM(X, y, loss, fit_intercept=fit_intercept)
    x = rng.standard_normal(objective.dim)
    coef, intercept = objective.unpack(x)
    assert coef.shape == ((D, 3) if loss == "multinomial" else (D,))
    assert (intercept is None) == (not fit_intercept)
    z = X @ coef + (0.0 if intercept is None else intercept)
    assert np.mean(objective.loss.values(z, objective.y)) == pytest.approx(objective.value(x), rel=1e-13)


def test_unpacking_copies(rng):
    objective = GLM(rng.standard_normal((N, D)), rng.random(N), "squared")
    x = np.ones(D)
    objective.unpack(x).coef[:] = 5.0
    np.testing.assert_array_equal(x, np.ones(D))


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_minimiser_is_scikit_learns(rng, loss):
    X = rng.standard_normal((N, D))
    y = np.digitize(X @ np.ones(D) + rng.standard_normal(N), [0.0] if loss == "logistic" else [-1.0, 1.0])
    objective = GLM(X, y, loss, l2=0.05)
    found = optimize.minimize(objective.value, np.zeros(objective.dim), jac=objective.gradient, tol=1e-12)
    expected = (
        LogisticRegression(C=1 / (0.05 * N), fit_intercept=False, tol=1e-12, max_iter=10_000).fit(X, y).coef_
    )
    np.testing.assert_allclose(objective.unpack(found.x).coef, np.squeeze(expected.T), atol=1e-5)


def test_one_row_and_one_column_are_enough():
    objective = GLM([[2.0]], [3.0], "squared")
    assert objective.value(np.array([1.0])) == 0.5
    assert objective.smoothness.full == objective.smoothness.maximum == 4.0
    assert objective.smoothness.convexity == pytest.approx(4.0)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_narrow_data_has_exact_constants_without_an_iteration(rng, make, monkeypatch):
    """Thousands of small workers would iterate for half a minute."""

    def refuse(*arguments):
        raise AssertionError("Lanczos was used")

    monkeypatch.setattr("tether.objectives.spectrum.largest_ritz_value", refuse)
    X = rng.standard_normal((50, 20))
    found = GLM(make(X), X[:, 0] > 0, l2=0.1).smoothness
    assert found.full == pytest.approx(0.1 + 0.25 * np.linalg.eigvalsh(X.T @ X / 50)[-1], rel=1e-12)


def test_the_threads_of_blas_are_set_once_for_many_workers(rng, monkeypatch):
    changes = []
    monkeypatch.setattr(threads._Blas, "_set", lambda self, numbers: changes.append(numbers))
    workers = [GLM(rng.standard_normal((10, 3)), rng.integers(0, 2, 10), l2=0.1) for _ in range(20)]
    assert Federation(workers).smoothness.full > 0.1
    assert len(changes) == 2


def test_names_may_be_given_to_columns_and_classes_that_have_none():
    X, y = np.eye(3), np.array([0, 1, 2])
    plain = GLM(X, y, "multinomial", l2=0.1, fit_intercept=True)
    named = plain.with_names(["a", "b", "c"], ["no", "yes", "perhaps"])
    assert [named.labels.at(k) for k in (0, 4, 11)] == ["a[no]", "b[yes]", "intercept[perhaps]"]
    assert plain.labels.at(4) == "W[1, 1]" and named.names == ()
    single = GLM(X, y, "squared", fit_intercept=True).with_names(["a", "b", "c"])
    assert single.names == ("a", "b", "c", "intercept")
    with pytest.raises(ValueError, match="columns must be 3 names, one for each column of X, got 2"):
        plain.with_names(["a", "b"])
    with pytest.raises(ValueError, match="classes must be 3 names"):
        plain.with_names(["a", "b", "c"], ["no", "yes"])
    with pytest.raises(ValueError, match="classes must be 1 names, one for each class of a model of several"):
        GLM(X, y, "squared").with_names(["a", "b", "c"], ["one"])
