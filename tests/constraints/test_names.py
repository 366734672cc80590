"""Tables with labels: columns find their variables by name, or are refused."""

import numpy as np
import pandas
import pytest

import tether
from tether.constraints import Affine, Consensus, Range, aligned_vector, as_constraint
from tether.names import column_names, read_names, row_names, written

NAMES = ("a", "b", "c", "intercept")
TABLE = pandas.DataFrame([[1.0, 2.0, 3.0, 0.5], [0.0, 1.0, 0.0, 0.0]], columns=["c", "b", "a", "intercept"])
IN_ORDER = TABLE[list(NAMES)].to_numpy()
B = np.array([6.0, 1.0])


def test_labels_are_names_also_the_numbers_that_nobody_gave():
    assert Affine(TABLE).names == ("c", "b", "a", "intercept")
    assert Affine(pandas.DataFrame([[1.0, 2.0]], columns=[7, "x"])).names == ("7", "x")
    assert Affine(pandas.DataFrame([[1.0, 2.0]], columns=[1, 0])).names == ("1", "0")
    assert Affine(pandas.DataFrame([[1.0, 2.0]])).names == ("0", "1")
    assert Affine([[1.0, 2.0]]).names is None
    assert Affine(pandas.Series([1.0, 2.0], index=["x", "y"])).names == ("x", "y")
    assert Range(pandas.DataFrame([[1.0], [2.0]], index=["x", "y"], columns=["t"])).names == ("x", "y")
    assert Range(pandas.DataFrame([[1.0], [2.0]], columns=["t"])).names == ("0", "1")


def test_columns_in_another_order_find_their_variables():
    constraint = as_constraint(Affine(TABLE, B), 4, NAMES)
    plain = Affine(IN_ORDER, B)
    x, g = np.array([1.0, -2.0, 0.3, 4.0]), np.array([0.2, 3.0, -1.0, 1.0])
    assert constraint.names == NAMES and constraint.dim == 4 and constraint.shape == (2, 4)
    np.testing.assert_allclose(constraint.project(x), plain.project(x), atol=1e-14)
    np.testing.assert_allclose(constraint.tangent(g), plain.tangent(g), atol=1e-14)
    np.testing.assert_allclose(constraint.multipliers(g), plain.multipliers(g), atol=1e-14)
    np.testing.assert_allclose(constraint.residual(x), plain.residual(x))
    np.testing.assert_array_equal(constraint.equations[0], IN_ORDER)
    np.testing.assert_array_equal(constraint.equations[1], B)
    assert constraint.digest() == plain.digest()


def test_the_constraint_itself_keeps_its_order():
    constraint = Affine(TABLE, B)
    as_constraint(constraint, 4, NAMES)
    assert constraint.names == tuple(TABLE.columns)
    np.testing.assert_array_equal(constraint.equations[0], TABLE.to_numpy())
    assert constraint.residual(constraint.project(np.ones(4))) < 1e-13


def test_the_same_order_needs_no_other_constraint():
    constraint = Affine(TABLE)
    assert as_constraint(constraint, 4, tuple(TABLE.columns)) is constraint


def test_variables_without_a_column_are_free():
    constraint = as_constraint(Affine(TABLE[["c", "a"]].iloc[:1], 6.0), 4, NAMES)
    np.testing.assert_array_equal(constraint.equations[0], [[3.0, 0.0, 1.0, 0.0]])
    projected = constraint.project(np.array([0.0, 5.0, 0.0, 7.0]))
    assert projected[1] == 5.0 and projected[3] == 7.0
    assert 3.0 * projected[0] + projected[2] == pytest.approx(6.0)


def test_aligning_twice_is_aligning_once():
    again = Affine(TABLE[["c", "a"]], B * [1, 0]).aligned(NAMES).aligned(NAMES[::-1])
    expected = TABLE.assign(b=0.0, intercept=0.0)[list(NAMES[::-1])].to_numpy()
    np.testing.assert_array_equal(again.equations[0], expected)
    assert again.residual(again.project(np.arange(4.0))) < 1e-13
    np.testing.assert_allclose(expected @ again.project(np.arange(4.0)), B * [1, 0], atol=1e-13)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            ["a", "bb"],
            r"^A has the column 'bb', which is no variable of the objective; perhaps 'b' is meant\.$",
        ),
        (["a", "intercep"], r"'intercep', which is no variable .*; perhaps 'intercept' is meant\.$"),
        (["a", "zzz"], r"'zzz', which is no variable .*; there are 'a', 'b', 'c', 'intercept'\.$"),
        (["a", "a"], r"^A cannot be aligned by name, because 'a' names more than one column"),
    ],
)
def test_strangers_and_doubles_are_refused(columns, message):
    constraint = Affine(pandas.DataFrame([[1.0, 2.0]], columns=columns))
    with pytest.raises(ValueError, match=message):
        as_constraint(constraint, 4, NAMES)


def test_doubles_among_the_variables_are_refused_where_they_matter():
    names = ("a", "b", "b")
    with pytest.raises(ValueError, match="'b' names more than one column or variable of the objective"):
        as_constraint(Affine(pandas.DataFrame([[1.0, 2.0]], columns=["b", "a"])), 3, names)
    constraint = as_constraint(Affine(pandas.DataFrame([[1.0]], columns=["a"])), 3, names)
    np.testing.assert_array_equal(constraint.equations[0], [[1.0, 0.0, 0.0]])


def test_with_names_on_one_side_only_position_counts_and_lengths_must_agree():
    for constraint, names in (
        (Affine(TABLE), None),
        (Affine(TABLE.to_numpy()), NAMES),
        (Consensus(2), NAMES),
    ):
        assert as_constraint(constraint, 4, names) is constraint
    with pytest.raises(ValueError, match="length 4, the objective has 5 variables"):
        as_constraint(Affine(TABLE), 5)
    with pytest.raises(ValueError, match="length 3, the objective has 4 variables"):
        as_constraint(Affine(np.ones((1, 3))), 4, NAMES)


def numbered(*labels):
    return pandas.DataFrame([np.eye(len(labels))[0]], columns=list(labels))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("columns", "labels"),
    [((0, 1, 2), (2, 1, 0)), ((2, 1, 0), (0, 1, 2)), ((0, 1, 2), (2, 0)), ((5, 3), (3, 5))],
)
def test_numbers_in_another_order_find_their_variables(columns, labels, intercept):
    X = pandas.DataFrame(np.eye(len(columns)), columns=list(columns))
    model = tether.GLM(X, np.zeros(len(columns)), "squared", l2=0.1, fit_intercept=intercept)
    x = tether.solve(model, Affine(numbered(*labels), [5.0]), tol=1e-10).x
    assert x[columns.index(labels[0])] == pytest.approx(5.0)
    assert np.count_nonzero(np.isclose(x, 5.0)) == 1


def test_numbers_and_an_intercept_in_another_order_find_their_variables():
    model = tether.GLM(pandas.DataFrame(np.eye(2)), [0.0, 0.0], "squared", l2=0.1, fit_intercept=True)
    x = tether.solve(model, Affine(numbered("intercept", 1, 0), [5.0])).x
    assert x[2] == pytest.approx(5.0)


@pytest.mark.parametrize(("columns", "labels"), [((0, 1, 2), (1, 2, 3)), ((1, 2, 3), (0, 1, 2))])
def test_numbers_that_are_only_partly_those_of_the_variables_are_refused(columns, labels):
    with pytest.raises(ValueError, match=r"^A has the column '[03]', which is no variable .*; there are '"):
        as_constraint(Affine(numbered(*labels)), 3, Affine(numbered(*columns)).names)


@pytest.mark.parametrize(
    ("columns", "labels"),
    [
        (None, (2, 1, 0)),
        ((0, 1, 2), (0, 1, 2)),
        (("a", "b", "c"), (0, 1, 2)),
        ((0, 1, 2), ("a", "b", "c")),
        ((0, 1, 2), ("2", "1", "0")),
        ((0, 1, 2), (2001, 2002, 2003)),
    ],
)
def test_numbers_that_nobody_gave_count_by_position_beside_all_but_other_numbers(columns, labels):
    constraint = Affine(numbered(*labels))
    names = None if columns is None else Affine(numbered(*columns)).names
    assert as_constraint(constraint, 3, names) is constraint


def test_two_tables_that_nobody_named_must_have_equal_lengths():
    with pytest.raises(ValueError, match="length 2, the objective has 3 variables"):
        as_constraint(Affine(numbered(0, 1)), 3, Affine(numbered(0, 1, 2)).names)


def test_starts_and_right_hand_sides_with_numbers_find_their_places():
    start = pandas.Series([1.0, 2.0, 3.0], index=[2, 0, 1])
    np.testing.assert_array_equal(aligned_vector(start, column_names(numbered(0, 1, 2))), [2.0, 3.0, 1.0])
    np.testing.assert_array_equal(Affine(TABLE, pandas.Series([1.0, 6.0], index=[1, 0])).b, B)


def test_rows_of_a_range_find_their_variables_and_none_may_be_left_out():
    D = pandas.DataFrame([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]], index=["c", "a", "b"])
    constraint = as_constraint(Range(D), 3, ("a", "b", "c"))
    plain = Range(D.loc[["a", "b", "c"]].to_numpy())
    x = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(constraint.project(x), plain.project(x), atol=1e-14)
    np.testing.assert_allclose(constraint.multipliers(x), plain.multipliers(x), atol=1e-14)
    assert constraint.digest() == plain.digest() != Range(D).digest()
    with pytest.raises(ValueError, match=r"^D has no row 'intercept'; give one for every variable"):
        as_constraint(Range(D), 4, NAMES)
    with pytest.raises(ValueError, match=r"^D has the row 'c', which is no variable"):
        as_constraint(Range(D), 2, ("a", "b"))


def test_the_right_hand_side_finds_its_rows_by_name():
    rows = TABLE.set_axis(["total", "share"], axis=0)
    constraint = Affine(rows, pandas.Series({"share": 1.0, "total": 6.0}))
    np.testing.assert_array_equal(constraint.b, B)
    np.testing.assert_array_equal(Affine(rows, pandas.Series([6.0, 1.0])).b, B)
    np.testing.assert_array_equal(Affine(TABLE, pandas.Series({"share": 6.0, "total": 1.0})).b, B)
    with pytest.raises(ValueError, match=r"^b has the entry 'shares', which is no row of A; perhaps 'share'"):
        Affine(rows, pandas.Series({"shares": 1.0, "total": 6.0}))
    with pytest.raises(ValueError, match=r"^b has no entry 'share'; give one for every row of A\.$"):
        Affine(rows, pandas.Series({"total": 6.0}))


# --- starting points -------------------------------------------------------------------------------------


def test_a_series_is_put_into_the_order_of_the_variables():
    start = pandas.Series({"c": 3.0, "intercept": 4.0, "a": 1.0, "b": 2.0})
    np.testing.assert_array_equal(aligned_vector(start, NAMES), [1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    "value", [[1.0, 2.0], np.ones(2), pandas.Series([1.0, 2.0]), pandas.DataFrame({"z": [1.0]})]
)
def test_what_has_no_names_of_its_own_is_left_as_it_is(value):
    assert aligned_vector(value, NAMES) is value
    assert aligned_vector(pandas.Series({"z": 1.0}), None)["z"] == 1.0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", "c"], r"^x0 has no entry 'intercept'; give one for every variable of the objective\.$"),
        (
            ["a", "b", "c", "d"],
            r"^x0 has the entry 'd', which is no variable of the objective; there are 'a'",
        ),
        (["a", "a", "b", "c"], r"^x0 cannot be aligned by name, because 'a' names more than one entry"),
    ],
)
def test_a_series_with_other_names_is_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        aligned_vector(pandas.Series(np.ones(len(labels)), index=labels), NAMES)


def test_labels_are_found_by_what_a_table_can_do():
    class Table:
        columns = ("x", "y")
        ndim = 2

        def to_numpy(self):
            return np.ones((1, 2))

    assert column_names(Table()) == ("x", "y") and row_names(Table()) is None
    for plain in (np.ones((2, 2)), [[1.0]], None, "abc", {"x": 1}):
        assert column_names(plain) is None and row_names(plain) is None


# --- several outputs -------------------------------------------------------------------------------------


def classes(X):
    return tether.GLM(X, [0, 1, 2, 0], "multinomial", l2=0.1)


def test_names_are_refused_where_each_column_of_the_data_has_several_variables():
    X = pandas.DataFrame(np.eye(4)[:, :2], columns=["a", "b"])
    A = pandas.DataFrame([np.eye(6)[0]], columns=["zebra", "b", "a", "u", "v", "w"])
    with pytest.raises(
        ValueError, match=r"^A has names such as 'zebra', .*; pass A\.to_numpy\(\), .* W\.ravel"
    ):
        tether.solve(classes(X), Affine(A, [5.0]))
    with pytest.raises(ValueError, match=r"^D has names such as 'zebra', .*; pass D\.to_numpy\(\)"):
        tether.solve(tether.Federation([classes(X), classes(X)]), Range(A.T))
    with pytest.raises(ValueError, match=r"^x0 has names such as 'zebra'"):
        tether.solve(classes(X), x0=A.iloc[0])


@pytest.mark.parametrize("named", [False, True])
def test_with_several_outputs_and_names_on_one_side_position_counts(named):
    X = pandas.DataFrame(np.eye(4)[:, :2], columns=["a", "b"] if named else None)
    A = pandas.DataFrame([np.eye(6)[0]], columns=None if named else list("zyxwvu"))
    assert tether.solve(classes(X), Affine(A, [0.5])).x[0] == pytest.approx(0.5)
    assert tether.solve(classes(X), Affine(A.to_numpy(), [0.5])).x[0] == pytest.approx(0.5)


@pytest.mark.parametrize("names", [None, (), ("a, b", "", "\u00fc\t", "7"), column_names(numbered(0, 1))])
def test_names_that_are_written_can_be_read(names):
    again = read_names(written(names))
    assert again == names and list(map(type, again or ())) == list(map(type, names or ()))


def test_truth_values_are_no_numbers():
    assert read_names(written(column_names(numbered(True, False)))) == ("True", "False")
