"""The checks that every argument goes through: what they let pass, and the words with which they refuse."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import tether
from tether.inputs import (
    LARGEST_DATUM,
    LARGEST_NUMBER,
    fresh_matrix,
    matrix,
    nonnegative,
    number,
    numbers,
    plain_array,
    positive,
    positive_integer,
    shown,
    sized_matrix,
    switch,
    vector,
    whole_number,
)

NO_NUMBERS = ["0.1", b"1", np.str_("2"), True, np.bool_(True), None, 1j, np.complex128(1), [1.0], np.ones(1)]
NO_NUMBERS += [np.datetime64("2020"), float("nan"), float("inf"), 10**400, -(10**400), np.ma.masked, object]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: shown(value)[:20])
@pytest.mark.parametrize("check", [number, nonnegative, positive])
def test_what_is_no_finite_number_is_refused(check, value):
    with pytest.raises(ValueError, match=r"^l2 must be a finite number( >=? 0)?, got [^\n]*\.$"):
        check("l2", value)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int8(2), np.array(2.0), Fraction(2), Decimal(2)])
def test_numbers_of_every_kind_are_numbers(value):
    for check in (number, nonnegative, positive):
        found = check("l2", value)
        assert found == 2.0 and type(found) is float


def test_numbers_are_held_to_their_bounds():
    with pytest.raises(ValueError, match=r"^l2 must be a finite number >= 0, got -1\.$"):
        nonnegative("l2", -1)
    with pytest.raises(ValueError, match=r"^l2 must be a finite number > 0, got 0\.$"):
        positive("l2", 0)
    with pytest.raises(ValueError, match=r"^l2 must be at most 1e\+120, got 1e\+200; "):
        nonnegative("l2", 1e200)
    with pytest.raises(ValueError, match=r"^l2 must be at least 1e-120, got 1e-200; "):
        positive("l2", 1e-200)


@pytest.mark.parametrize("value", [0, -1, 1.0, "3", True, None, np.array(2), 2**63, 10**400])
def test_what_is_no_positive_integer_is_refused(value):
    with pytest.raises(ValueError, match=r"^n must be a whole number (>= 1|below 2\*\*63), got [^\n]*\.$"):
        positive_integer("n", value)


def test_whole_numbers_may_be_zero_and_as_large_as_seeds():
    assert whole_number("seed", 0) == 0 and whole_number("seed", np.uint8(3)) == 3
    assert whole_number("seed", 2**127) == 2**127
    with pytest.raises(ValueError, match=r"^seed must be a whole number >= 0, got -1"):
        whole_number("seed", -1)


@pytest.mark.parametrize("value", ["True", "", 0, 1, None, np.array(True), np.array([True, False]), []])
def test_a_switch_is_true_or_false(value):
    with pytest.raises(ValueError, match=r"^verbose must be True or False, got [^\n]*\.$"):
        switch("verbose", value)


def test_switches_of_numpy_are_switches():
    assert switch("verbose", np.bool_(True)) is True and switch("verbose", False) is False


MASKED = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])


@pytest.mark.parametrize(
    "value",
    [MASKED, MASKED[0], list(MASKED), [[1.0, np.ma.masked]], (MASKED[0], [1.0, 2.0]), MASKED.astype(object)],
)
@pytest.mark.parametrize("check", [plain_array, numbers, vector, matrix, fresh_matrix])
def test_masked_arrays_are_refused_because_their_mask_would_be_lost(check, value):
    with pytest.raises(ValueError, match=r"^X must not be masked, .*X\.filled\(\.\.\.\) or drop"):
        check("X", value)


BAD_TABLES = {
    "strings": (np.array([["1", "2"]]), "real numbers, got dtype <U1"),
    "bytes": (np.array([[b"1"]]), "real numbers, got dtype"),
    "objects": (np.array([[1.0, 2]], dtype=object), "real numbers, got dtype object"),
    "dates": (np.zeros((1, 1), dtype="M8[D]"), "real numbers, got dtype datetime64"),
    "complex numbers": (np.ones((2, 2)) * 1j, "real numbers, got complex ones"),
    "ragged": ([[1.0, 2.0], [3.0]], "rectangular array, got rows of unequal length"),
    "huge integers": ([[10**400, 1.0]], "fit into a float|dtype object"),
    "huge integers alone": ([[10**400]], "dtype object"),
    "nan": ([[1.0, 2.0], [3.0, np.nan]], r"finite, got nan at \[1, 1\]"),
    "infinite": ([[1.0, -np.inf]], r"finite, got -inf at \[0, 1\]"),
    "wider than floats": (np.array([[1.0, 2.0]], dtype=np.longdouble) * 10.0 ** np.longdouble(400), "finite"),
    "overflowing squares": ([[1.0, -1e200]], r"at most 1e\+(45|120) in absolute value, got 1e\+200; rescale"),
    "overflowing singles": (np.full((1, 1), 1e35, np.float32), None),
    "sparse, nan": (sparse.csr_array([[0.0, 1.0], [np.nan, 0.0]]), r"finite, got nan at \[1, 0\]"),
    "sparse, huge": (sparse.coo_array([[0.0, 1e200]]), r"at most 1e\+(45|120) .* rescale"),
    "sparse, complex": (sparse.csc_matrix([[1j]]), "complex ones"),
    "a box": (np.ones((2, 2, 2)), r"two-dimensional|two axes"),
    "a number": (3.0, r"two-dimensional|two axes"),
}


@pytest.mark.parametrize("label", BAD_TABLES)
@pytest.mark.parametrize("check", [matrix, fresh_matrix])
def test_tables_without_usable_numbers_are_refused(check, label):
    table, words = BAD_TABLES[label]
    if words is None:  # a number that is large for single precision only
        assert fresh_matrix("X", table)[0, 0] == table[0, 0]
        with pytest.raises(ValueError, match=r"^X must be at most 1e\+30 in absolute value"):
            matrix("X", table)
        return
    with pytest.raises(ValueError, match=rf"^X must (be|hold|have) [^\n]*({words})[^\n]*\.$"):
        check("X", table)


def test_the_place_of_a_bad_number_counts_all_rows_of_a_long_table():
    table = np.zeros((3_000_000, 1))
    table[2_345_678] = np.nan
    with pytest.raises(ValueError, match=r"got nan at \[2345678, 0\]"):
        matrix("X", table)


def test_data_is_used_as_it_is_and_a_fresh_matrix_is_a_copy():
    for dtype in (np.float32, np.float64):
        table = np.ones((2, 3), dtype=dtype)
        assert matrix("X", table) is table
    assert not np.shares_memory(fresh_matrix("X", table), table)
    rows = sparse.csr_array(np.eye(3))
    assert np.shares_memory(matrix("X", rows).data, rows.data)
    assert not np.shares_memory(fresh_matrix("X", rows).data, rows.data)


def test_sparse_duplicates_are_added_without_touching_the_caller():
    rows = sparse.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    for check in (matrix, fresh_matrix):
        assert check("X", rows).toarray().tolist() == [[0.0, 3.0, 0.0]]
    assert rows.nnz == 2


def test_vectors_are_held_to_their_length():
    assert vector("b", [1, 2], 2).dtype == np.float64
    with pytest.raises(ValueError, match=r"^b must have shape \(3,\), got shape \(2,\)\.$"):
        vector("b", [1, 2], 3)
    with pytest.raises(
        ValueError, match=r"^b must be at most 1e\+45 in absolute value, got 1e\+300; rescale b\.$"
    ):
        vector("b", [1e300, 0.0])


def test_the_largest_numbers_can_be_squared_and_added_up():
    assert np.isfinite(np.square(np.full(1000, LARGEST_NUMBER)).sum())


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_largest_data_can_be_learned_from_without_a_warning(loss):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-LARGEST_DATUM, LARGEST_DATUM, (50, 3)), np.tile([0.0, 1.0], 25)
    constraint = tether.Affine(np.ones((1, 3)))
    for method in ("auto", "nesterov", "dp-svrg"):
        solution = tether.solve(tether.GLM(X, y, loss, l2=0.1), constraint, method, max_passes=5)
        assert np.isfinite(solution.x).all() and np.isfinite(solution.fun)


class Unreadable:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no")


def test_what_numpy_cannot_read_is_refused_in_our_words():
    with pytest.raises(ValueError, match=r"^X must be an array, got a Unreadable that NumPy cannot read\.$"):
        numbers("X", Unreadable())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.ones((2, 3)), "an array of shape (2, 3)"),
        (10**400, "an integer of 1329 bits"),
        (1 << 20_000, "an integer of 20001 bits"),
        ("x" * 100, "a str"),
        ("short", "'short'"),
        (sparse.eye_array(3).tocsr(), "a csr_array"),
        (None, "None"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_was_got_is_shown_on_one_short_line(value, text):
    assert shown(value) == text


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_size_of_a_matrix_bounds_its_squares(dtype):
    X = np.random.default_rng(0).standard_normal((50, 20)).astype(dtype)
    for table in (X, np.asfortranarray(X), sparse.csr_array(X)):
        assert sized_matrix("X", table).squares == pytest.approx(float(np.sum(X**2)), rel=1e-5)
    assert sized_matrix("X", np.full((2, 2), 1e30, dtype)).squares >= 4e60 * (1 - 1e-6)
