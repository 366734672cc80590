"""The l1 penalty: its value, its factors, its names, and what it refuses."""

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import tether

RNG = np.random.default_rng(3)
D = np.where(RNG.random((4, 5)) < 0.5, 0.0, RNG.standard_normal((4, 5)))
X = RNG.standard_normal(5)
NAMES = ("a", "b", "c", "d", "e")


def by_hand(lam, matrix, below, above):
    z = matrix @ X
    return float(np.sum(lam * np.where(z < 0.0, -z * below, z * above)))


@pytest.mark.parametrize(
    "wrap", [np.asarray, sp.csr_array, sp.coo_matrix, aslinearoperator, pandas.DataFrame, np.ndarray.tolist]
)
def test_every_form_of_a_matrix_gives_the_same_value(wrap):
    assert tether.L1(0.3, wrap(D)).value(X) == pytest.approx(by_hand(0.3, D, 1.0, 1.0))


@pytest.mark.parametrize("matrix", [None, D], ids=["identity", "matrix"])
def test_factors_of_rows_and_sides_multiply(matrix):
    plain = np.eye(5) if matrix is None else matrix
    lam, below, above = np.arange(len(plain)) * 0.1, np.linspace(0, 1, len(plain)), 2.0
    penalty = tether.L1(lam, matrix, weights=(below, above))
    assert penalty.value(X) == pytest.approx(by_hand(lam, plain, below, above))
    assert tether.L1(0.5, matrix, weights=below).value(X) == pytest.approx(by_hand(0.5, plain, below, below))


def test_two_numbers_in_a_list_are_factors_of_two_rows():
    assert tether.L1(1.0, weights=[2.0, 3.0]).value([1.0, -1.0]) == 5.0
    assert tether.L1(1.0, weights=(2.0, 3.0)).value([1.0, -1.0]) == 5.0
    assert tether.L1(1.0, weights=[2.0, 3.0]).value([1.0, 1.0]) == 5.0
    assert tether.L1(1.0, weights=(2.0, 3.0)).value([1.0, 1.0]) == 6.0


def test_columns_find_their_variables_and_variables_without_one_are_left_out():
    penalty = tether.L1(1.0, pandas.DataFrame([[1.0, 2.0]], columns=["d", "b"]))
    np.testing.assert_array_equal(penalty.terms(5, NAMES).matrix, [[0.0, 2.0, 0.0, 1.0, 0.0]])


def test_factors_with_names_find_their_variables():
    lam = pandas.Series({"e": 5.0, "a": 1.0, "c": 3.0, "b": 2.0, "d": 4.0})
    np.testing.assert_array_equal(tether.L1(lam).terms(5, NAMES).left, [1.0, 2.0, 3.0, 4.0, 5.0])
    above = tether.L1(1.0, weights=(1.0, lam)).terms(5, NAMES)
    np.testing.assert_array_equal(above.right, [1.0, 2.0, 3.0, 4.0, 5.0])
    np.testing.assert_array_equal(above.left, np.ones(5))


def test_factors_with_names_find_their_rows():
    table = pandas.DataFrame(np.eye(2), index=["first", "second"], columns=["a", "b"])
    penalty = tether.L1(pandas.Series({"second": 2.0, "first": 1.0}), table)
    np.testing.assert_array_equal(penalty.terms(2).left, [1.0, 2.0])


def test_what_is_given_may_change_later_without_effect():
    lam, matrix = np.ones(4), D.copy()
    penalty = tether.L1(lam, matrix)
    before = penalty.value(X)
    lam[:], matrix[:] = 9.0, 9.0
    assert penalty.value(X) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-0.1,), r"^lam must be a finite number >= 0, got -0\.1\.$"),
        (([1.0, -2.0],), r"^lam must be at least 0, got -2 at \[1\]; use 0 to free a row\.$"),
        ((np.nan,), r"^lam must be a finite number >= 0, got nan\.$"),
        (("0.1",), r"^lam must be a finite number >= 0, got '0\.1'\.$"),
        ((None,), r"^lam must be a finite number >= 0, got None\.$"),
        ((1.0, D, -1.0), r"^weights must be a finite number >= 0, got -1\.0\.$"),
        ((1.0, D, (1.0, [1.0, -1.0, 0.0, 0.0])), r"^weights must be at least 0, got -1 at \[1\]"),
        ((1.0, D, np.ones(5)), r"^weights must be a number or have one entry for each row of D, 4 of them"),
        (([1.0, 1.0], D), r"^lam must be a number or have one entry for each row of D, 4 of them, got 2\.$"),
        ((1.0, [[np.nan]]), r"^D must be finite, got nan at \[0, 0\]"),
        ((1.0, "D"), r"^D must be an array of real numbers, got 'D'\.$"),
        (
            (1.0, aslinearoperator(sp.eye_array(20_000))),
            r"^D is an operator .* too large .* sparse matrix\.$",
        ),
    ],
    ids=range(12),
)
def test_wrong_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        tether.L1(*arguments)


@pytest.mark.parametrize(
    ("penalty", "message"),
    [
        (
            tether.L1(1.0, D[:, :4]),
            r"^D of the penalty must have one column for each of the 5 variables, got shape \(4, 4\)",
        ),
        (tether.L1([1.0]), r"^lam must be .* each variable of the objective, 5 of them, got 1\.$"),
        (tether.L1(pandas.Series({"a": 1.0})), r"^lam has no entry 'b'; give one for every variable"),
        (
            tether.L1(1.0, pandas.DataFrame([[1.0]], columns=["bb"])),
            r"^D has the column 'bb', which is no variable of the objective; perhaps 'b' is meant\.$",
        ),
    ],
    ids=["columns", "length", "missing", "stranger"],
)
def test_what_does_not_fit_the_variables_is_refused_by_name(penalty, message):
    with pytest.raises(ValueError, match=message):
        penalty.terms(5, NAMES)


def test_operators_become_sparse_matrices_where_most_entries_are_zero():
    matrix = tether.differences(600)
    operator = LinearOperator(matrix.shape, matvec=lambda x: matrix @ x, dtype=float)
    found = tether.L1(1.0, operator).terms(600).matrix
    assert sp.issparse(found)
    np.testing.assert_array_equal(found.toarray(), matrix.toarray())
