import logging

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from tether.constraints import Affine


def feasible(constraint, x):
    return constraint.residual(constraint.project(x)) <= 1e-10 * (1 + np.linalg.norm(constraint.b))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data(), rows=st.integers(1, 7), columns=st.integers(1, 7))
def test_any_small_integer_matrix_agrees_with_pinv(form, data, rows, columns):
    A = data.draw(arrays(np.int64, (rows, columns), elements=st.integers(-3, 3))).astype(float)
    powers = data.draw(arrays(np.int64, rows, elements=st.integers(-8, 8)))
    x0 = data.draw(arrays(np.int64, columns, elements=st.integers(-9, 9))).astype(float)
    scaled = A * 10.0 ** powers[:, None]
    constraint = Affine(form(scaled), scaled @ x0)
    x = np.linspace(-1.0, 2.0, columns)
    expected = x - np.linalg.pinv(A, rcond=1e-10) @ (A @ (x - x0))
    np.testing.assert_allclose(constraint.project(x), expected, atol=1e-11 * (1 + np.linalg.norm(x0)))
    rounding = 1e-14 * np.linalg.norm(scaled) * (1 + np.linalg.norm(x0))
    assert constraint.residual(constraint.project(x)) <= 1e-10 * (1 + np.linalg.norm(constraint.b)) + rounding


def test_right_hand_side_is_zero_by_default(form):
    constraint = Affine(form(np.array([[1.0, 1.0]])))
    np.testing.assert_allclose(constraint.project(np.array([1.0, 3.0])), [-1.0, 1.0], atol=1e-14)


def test_vector_is_one_row():
    for row in ([1, 2, 2], sp.coo_array(np.array([1.0, 2.0, 2.0]))):
        constraint = Affine(row, 9)
        assert constraint.shape == (1, 3)
        np.testing.assert_allclose(constraint.project(np.zeros(3)), [1, 2, 2], atol=1e-14)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("new", [sp.random, sp.random_array], ids=["matrix", "array"])
def test_every_sparse_format_is_accepted(kind, new):
    if new is sp.random:
        A = sp.random(4, 9, density=0.5, rng=np.random.default_rng(0), format=kind)
    else:
        A = sp.random_array((4, 9), density=0.5, rng=np.random.default_rng(0), format=kind)
    x = np.arange(9.0)
    dense = A.toarray()
    expected = x - np.linalg.pinv(dense) @ (dense @ x - 1)
    np.testing.assert_allclose(Affine(A, np.ones(4)).project(x), expected, atol=1e-11)


def test_user_matrix_may_change_afterwards():
    dense, b = np.eye(2, 4), np.array([1.0, 2.0])
    sparse = sp.csr_array(dense)
    constraints = [Affine(dense, b), Affine(sparse, b)]
    dense[:] = 7.0
    sparse.data[:] = 7.0
    b[:] = 7.0
    for constraint in constraints:
        np.testing.assert_allclose(constraint.project(np.zeros(4)), [1, 2, 0, 0], atol=1e-14)
        assert constraint.residual(np.array([1.0, 2.0, 5.0, 5.0])) == pytest.approx(0, abs=1e-14)


def test_single_feasible_point_is_returned_and_nothing_is_tangent(form):
    rng = np.random.default_rng(0)
    for rows in (5, 8):
        A, x0 = rng.standard_normal((rows, 5)), rng.standard_normal(5)
        constraint = Affine(form(A), A @ x0)
        np.testing.assert_allclose(constraint.project(rng.standard_normal(5)), x0, atol=1e-12)
        np.testing.assert_array_equal(constraint.tangent(rng.standard_normal(5)), np.zeros(5))


def test_no_rows_leave_every_point_alone():
    for A in (np.zeros((0, 3)), sp.csr_array((0, 3)), aslinearoperator(np.zeros((0, 3)))):
        constraint = Affine(A)
        np.testing.assert_array_equal(constraint.project(np.arange(3.0)), np.arange(3.0))
        assert constraint.multipliers(np.ones(3)).shape == (0,)


def test_row_of_zeros_is_fine_when_its_right_hand_side_is_zero(form):
    constraint = Affine(form(np.array([[1.0, 0.0], [0.0, 0.0]])), [2.0, 0.0])
    np.testing.assert_allclose(constraint.project(np.array([5.0, 5.0])), [2.0, 5.0], atol=1e-14)


def test_nearly_parallel_rows_are_met(form):
    rng = np.random.default_rng(1)
    A, x0 = rng.standard_normal((5, 30)), rng.standard_normal(30)
    A = np.vstack([A, A + 1e-6 * rng.standard_normal((5, 30))])
    assert feasible(Affine(form(A), A @ x0), rng.standard_normal(30))


@pytest.mark.parametrize("closeness", [1e-1, 1e-3, 1e-5, 1e-7, 1e-9])
def test_projections_are_exact_however_close_rows_are(closeness):
    rng = np.random.default_rng(8)
    A = rng.standard_normal((12, 60))
    A[1] = A[0] + closeness * A[1]
    basis = np.linalg.svd(A / np.linalg.norm(A, axis=1)[:, None], full_matrices=False)[2]
    constraint, x, b = Affine(A, A @ np.ones(60)), rng.standard_normal(60), A @ np.ones(60)
    projected = constraint.project(x)
    assert np.abs(A @ projected - b).max() <= 1e-12 * np.abs(A).sum(axis=1).max()
    expected = x - basis.T @ (basis @ (x - np.ones(60)))
    np.testing.assert_allclose(projected, expected, rtol=0, atol=1e-14 / closeness + 1e-13)


@pytest.mark.parametrize("length", [1e-100, 1e-8, 1e8, 1e100])
def test_units_of_a_row_do_not_matter(form, length):
    A, b, x = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, -1.0]]), np.array([2.0, 0.0]), np.array([0.0, 3.0, 3.0])
    units = np.array([length, 1.0])
    constraint = Affine(form(units[:, None] * A), units * b)
    np.testing.assert_allclose(constraint.project(x), x - np.linalg.pinv(A) @ (A @ x - b), atol=1e-13)


def test_random_walk_does_not_drift_off(form):
    rng = np.random.default_rng(2)
    A = rng.standard_normal((3, 8)) * np.array([[1e-8], [1.0], [1e8]])
    constraint = Affine(form(A), A @ rng.standard_normal(8))
    steps = 20_000 if form is np.asarray else 5_000
    x = constraint.project(np.zeros(8))
    moved = x.copy()
    for step in rng.standard_normal((steps, 8)):
        x = constraint.project(x + step)
        moved += step
    assert constraint.residual(x) <= 1e-10 * (1 + np.linalg.norm(constraint.b))
    # Pi(...Pi(Pi(x) + s1)...) = Pi(x + s1 + s2 + ...): the walk along the set is kept as well.
    np.testing.assert_allclose(x, constraint.project(moved), atol=1e-9)


def test_rank_and_redundant_rows_are_reported_once(caplog):
    A = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    with caplog.at_level(logging.INFO, logger="tether"):
        constraint = Affine(A, [1.0, 2.0, 3.0, 0.0])
    assert constraint.rank == 2
    assert len(constraint.redundant) == 2
    assert 3 in constraint.redundant
    assert [record.message for record in caplog.records] == [
        f"Affine(4 x 4, dense, rank 2): dropped redundant rows {constraint.redundant[0]} and 3."
    ]


def test_independent_rows_are_not_talked_about(caplog):
    with caplog.at_level(logging.INFO, logger="tether"):
        constraint = Affine(np.eye(2, 3))
    assert constraint.redundant == ()
    assert caplog.records == []


def test_rank_of_sparse_matrix_is_not_known():
    constraint = Affine(sp.eye_array(2, 3))
    assert constraint.rank is None
    assert repr(constraint) == "Affine(2 x 3, sparse, factorised)"


def test_small_sparse_matrices_are_worked_with_as_dense_ones(monkeypatch):
    monkeypatch.setattr("tether.constraints.algebra.sparse.SMALL_WORK", 1e6)
    rows = np.random.default_rng(0).standard_normal((3, 7))
    matrix = np.vstack([rows, rows[0] - rows[1]])
    constraint, dense = Affine(sp.csr_array(matrix), np.zeros(4)), Affine(matrix)
    assert repr(constraint) == "Affine(4 x 7, dense, rank 3)"
    assert constraint.redundant == dense.redundant
    assert sp.issparse(constraint.equations[0])
    v = np.arange(7.0)
    np.testing.assert_array_equal(constraint.tangent(v), dense.tangent(v))


def test_multipliers_solve_the_normal_equations(form):
    rng = np.random.default_rng(4)
    A, g = rng.standard_normal((4, 9)), rng.standard_normal(9)
    expected = np.linalg.lstsq(A.T, g, rcond=None)[0]
    np.testing.assert_allclose(Affine(form(A)).multipliers(g), expected, atol=1e-12)


def test_a_basis_larger_than_the_caches_is_used_in_whole():
    rng = np.random.default_rng(0)
    rows, b = rng.standard_normal((20, 30_000)), rng.standard_normal(20)
    x = rng.standard_normal(30_000)
    expected = x - rows.T @ np.linalg.solve(rows @ rows.T, rows @ x - b)
    np.testing.assert_allclose(Affine(rows, b).project(x), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("rows", "columns"), [(2, 6), (5, 6)])
def test_dense_projection_takes_two_products_with_the_thinner_basis(rows, columns):
    constraint = Affine(np.random.default_rng(0).standard_normal((rows, columns)))
    held = constraint._rows._bases
    basis = held.basis if held.complement is None else held.complement
    assert basis.shape == (columns, min(rows, columns - rows))
    assert basis.flags.f_contiguous


@pytest.mark.parametrize(
    ("shape", "rank"), [((3, 5), 3), ((5, 3), 2), ((40, 50), 30), ((60, 50), 50), ((7, 9), 0)]
)
def test_rows_of_any_rank_are_projected_onto(shape, rank):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    constraint, v = Affine(A, A @ rng.standard_normal(shape[1])), rng.standard_normal(shape[1])
    normal = np.linalg.pinv(A) @ A @ v
    assert constraint.rank == rank and len(constraint.redundant) == shape[0] - rank
    np.testing.assert_allclose(constraint.tangent(v), v - normal, atol=1e-11)
    np.testing.assert_allclose(A.T @ constraint.multipliers(v), normal, atol=1e-11)
    assert constraint.residual(constraint.project(v)) <= 1e-11


def test_independent_rows_are_factorised_when_a_projection_is_asked_for():
    constraint = Affine(np.random.default_rng(0).standard_normal((3, 40)), [1.0, 2.0, 3.0])
    assert constraint.rank == 3 and constraint.independent and "_bases" not in vars(constraint._rows)
    assert constraint.residual(constraint.project(np.ones(40))) < 1e-13
    assert "_bases" in vars(constraint._rows)


def contradictory(form):
    A = np.eye(9, 12)
    A[7] = A[3]
    b = np.arange(9.0)
    b[3], b[7] = 1.0, 2.5
    return form(A), b


def test_contradiction_names_rows_values_and_size(form):
    with pytest.raises(ValueError) as info:
        Affine(*contradictory(form))
    assert str(info.value) == (
        "A x = b has no solution: rows 3 and 7 contradict each other, b[3] = 1.0 and b[7] = 2.5 "
        "(contradiction 1.06). Relax or drop one of them."
    )


def test_contradiction_does_not_depend_on_the_units_of_rows(form):
    A = np.eye(5, 8) * 1e6
    A[4] = A[1] * 1e-9
    b = np.array([0.0, 1e6, 0.0, 0.0, 2.5e-3])
    with pytest.raises(ValueError, match=r"rows 1 and 4 contradict .* \(contradiction 1\.06\)"):
        Affine(form(A), b)


def test_contradiction_of_many_rows_names_five(form):
    A = np.vstack([np.eye(16), np.ones(16)])
    b = np.zeros(17)
    b[16] = 4.0
    with pytest.raises(ValueError, match=r"rows (\d+, ){4}16 and 12 more contradict"):
        Affine(form(A), b)


def test_row_of_zeros_with_a_right_hand_side_is_refused(form):
    A = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, -1.0]])
    with pytest.raises(ValueError, match=r"no solution: row 1 of A is zero but b\[1\] = 3\.0"):
        Affine(form(A), [1.0, 3.0, 1.0])


def test_redundant_rows_with_rounded_right_hand_side_pass(form):
    rng = np.random.default_rng(6)
    A = rng.standard_normal((6, 20))
    A = np.vstack([A, rng.standard_normal((40, 6)) @ A])
    x0 = 1e3 * rng.standard_normal(20)
    assert feasible(Affine(form(A), A @ x0), rng.standard_normal(20))
    null = x0 - np.linalg.pinv(A) @ (A @ x0)
    assert feasible(Affine(form(A), A @ null), rng.standard_normal(20))  # b is all rounding


@pytest.mark.parametrize(
    ("A", "b", "message"),
    [
        ([[1.0, np.nan]], None, r"^A must be finite, got nan at \[0, 1\]"),
        (
            sp.csr_array([[1.0, 2.0, 0.0], [0.0, 0.0, np.inf]]),
            None,
            r"^A must be finite, got inf at \[1, 2\]",
        ),
        ([[1.0, 2.0]], [np.nan], r"^b must be finite, got nan at \[0\]"),
        ([["a", "b"]], None, "^A must hold real numbers, got dtype <U1"),
        ([[object(), 1]], None, "^A must hold real numbers, got dtype object"),
        ([[1.0, 2.0]], ["x"], "^b must hold real numbers, got dtype <U1"),
        ([[1j, 2.0]], None, "^A must hold real numbers, got complex ones"),
        (sp.csr_array([[1j, 2.0]]), None, "^A must hold real numbers, got complex ones"),
        (
            aslinearoperator(np.array([[1j, 2.0]])),
            None,
            r"^A.matvec\(...\) must hold real numbers, got complex",
        ),
        (np.ones((2, 2, 2)), None, r"^A must have two axes, .*, got shape \(2, 2, 2\)"),
        (3.0, None, r"^A must have two axes, .*, got shape \(\)"),
        ([[1.0, 2.0], [1.0]], None, "^A must be a rectangular array, got rows of unequal length"),
        (np.eye(2, 3), [1.0, 2.0, 3.0], r"^b must have shape \(2,\), got shape \(3,\)"),
        (np.eye(2, 3), [[1.0], [2.0]], r"^b must be one-dimensional, got shape \(2, 1\)"),
        (np.eye(2, 3), 1.0, r"^b must have shape \(2,\), got shape \(1,\)"),
        (np.zeros((3, 0)), None, "^A must have at least one column"),
        ([], None, "^A must have at least one column"),
        (sp.csr_array((3, 0)), None, "^A must have at least one column"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(A, b, message):
    with pytest.raises(ValueError, match=message):
        Affine(A, b)


def test_operator_without_transpose_is_refused():
    with pytest.raises(ValueError, match=r"A\.rmatvec must return a vector of length 3"):
        Affine(LinearOperator((1, 3), matvec=lambda x: x[:1], dtype=float))


def test_operator_with_wrong_transpose_is_refused():
    wrong = LinearOperator((1, 3), matvec=lambda x: x[:1], rmatvec=lambda y: np.full(3, y[0]), dtype=float)
    with pytest.raises(ValueError, match=r"A\.rmatvec must be the transpose of A\.matvec"):
        Affine(wrong)


def test_operator_that_returns_nan_is_refused():
    with pytest.raises(ValueError, match=r"A\.matvec\(\.\.\.\) must be finite"):
        Affine(aslinearoperator(np.array([[np.nan, 1.0]])))


def test_one_row_against_a_thousand_is_not_called_a_row_of_zeros():
    A = np.vstack([np.eye(1000), np.ones(1000)])
    with pytest.raises(ValueError, match=r"rows .* 1000 and 996 more contradict each other"):
        Affine(A, np.ones(1001))


def operator_answering(answer):
    return LinearOperator((1, 3), matvec=lambda x: answer, rmatvec=lambda y: np.full(3, y[0]), dtype=float)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.array(["1.0"]), r"^A\.matvec\(\.\.\.\) must hold real numbers, got dtype <U3"),
        (np.array([1j]), r"^A\.matvec\(\.\.\.\) must hold real numbers, got complex ones"),
        (np.array([None]), r"^A\.matvec\(\.\.\.\) must hold real numbers, got dtype object"),
        (np.ones(2), r"^A\.matvec must return a vector of length 1 for one of length 3, got ValueError"),
        (np.array([np.inf]), r"^A\.matvec\(\.\.\.\) must be finite"),
    ],
)
def test_operator_that_answers_without_usable_numbers_is_refused(answer, message):
    with pytest.raises(ValueError, match=message):
        Affine(operator_answering(answer))


def test_operator_that_breaks_during_a_run_is_refused_then():
    broken = []
    ones = LinearOperator(
        (1, 3),
        matvec=lambda x: np.full(1, np.nan) if broken else x.sum(keepdims=True),
        rmatvec=lambda y: np.full(3, y[0]),
        dtype=float,
    )
    constraint = Affine(ones, [1.0])
    broken.append(True)
    with pytest.raises(ValueError, match=r"A\.matvec\(\.\.\.\) must be finite"):
        constraint.project(np.ones(3))


def test_zero_is_projected_to_the_shortest_solution_which_nobody_can_change():
    budget = Affine(np.ones((1, 3)), [6.0])
    budget.project(np.zeros(3))[:] = 7.0
    np.testing.assert_allclose(budget.project(np.zeros(3)), [2.0, 2.0, 2.0])
    np.testing.assert_allclose(budget.project([0, 0, 0]), [2.0, 2.0, 2.0])
    for wrong in (np.zeros(5), np.zeros((3, 2))):
        with pytest.raises(ValueError):
            budget.project(wrong)
