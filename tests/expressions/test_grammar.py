"""Expressions mean what Python means by them, and what cannot be meant is refused at its place."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tether
from tether.expressions import constraints_of

NAMES = (
    "age",
    "income",
    "x1",
    "x2",
    "age_30",
    "age_40",
    "age group",
    "north[a b]",
    "Sepal.Length",
    "intercept",
)
LETTERS = ("a", "b", "c", "d", "e")
INF = np.inf


def rows(expressions, names=NAMES):
    """Return the rows as texts of what is not zero, with their sides."""
    found = constraints_of(expressions, names)
    return [
        ({names[j]: float(row[j]) for j in np.flatnonzero(row)}, lower, upper)
        for item in found
        for row, lower, upper in zip(item.A, item.lb, item.ub, strict=True)
    ]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("age + income == 1", [({"age": 1, "income": 1}, 1, 1)]),
        ("age + income = 1", [({"age": 1, "income": 1}, 1, 1)]),
        ("2 * (age - income) / 4 <= 3 - x1", [({"age": 0.5, "income": -0.5, "x1": 1}, -INF, 3)]),
        ("3 >= age", [({"age": 1}, -INF, 3)]),
        ("age ≥ 3", [({"age": 1}, 3, INF)]),
        ("0 <= age <= 1", [({"age": 1}, 0, 1)]),
        ("1 >= age >= 0", [({"age": 1}, 0, 1)]),
        ("-1 <= 2*age + 1 <= 1", [({"age": 2}, -2, 0)]),
        ("age <= income <= x1", [({"age": 1, "income": -1}, -INF, 0), ({"income": 1, "x1": -1}, -INF, 0)]),
        ("age == income == 2", [({"age": 1, "income": -1}, 0, 0), ({"income": 1}, 2, 2)]),
        ("age >= 0 >= income", [({"age": 1}, 0, INF), ({"income": 1}, -INF, 0)]),
        ("'age group' >= age", [({"age group": 1, "age": -1}, 0, INF)]),
        ('"age group" >= age', [({"age group": 1, "age": -1}, 0, INF)]),
        ("north[a b] == Sepal.Length", [({"north[a b]": 1, "Sepal.Length": -1}, 0, 0)]),
        ("sum == 0", [(dict.fromkeys(NAMES[:-1], 1), 0, 0)]),
        ("sum(age, income, -2*x1) == 0", [({"age": 1, "income": 1, "x1": -2}, 0, 0)]),
        ("sum(age_*) <= 1", [({"age_30": 1, "age_40": 1}, -INF, 1)]),
        ("sum(all) == 0", [(dict.fromkeys(NAMES[:-1], 1), 0, 0)]),
        ("sum(age_* - x1, 3) <= 1", [({"age_30": 1, "age_40": 1, "x1": -2}, -INF, -2)]),
        ("age_* >= 0", [({"age_30": 1}, 0, INF), ({"age_40": 1}, 0, INF)]),
        (
            "0<=age_*<=x1",
            [*(({n: 1}, 0, INF) if s else ({n: 1, "x1": -1}, -INF, 0) for n in NAMES[4:6] for s in (1, 0))],
        ),
        ("x* -1 >= 0", [({"x1": 1}, 1, INF), ({"x2": 1}, 1, INF)]),
        ("2*x* <= 1", [({"x1": 2}, -INF, 1), ({"x2": 2}, -INF, 1)]),
        ("x1*-2 <= 1", [({"x1": -2}, -INF, 1)]),
        ("all <= 2", [({name: 1}, -INF, 2) for name in NAMES[:-1]]),
        ("intercept == 0", [({"intercept": 1}, 0, 0)]),
        ("--age == +1", [({"age": 1}, 1, 1)]),
        ("age/3 + age/3 + age/3 - age + x1 == 0.1 + 0.2 - 0.3", [({"x1": 1}, 0, 0)]),
        ("1 == 1", []),
        ("0.1 + 0.2 == 0.3", []),
        ("age - age <= 0", []),
        ("age <= 1 <= 2", [({"age": 1}, -INF, 1)]),
    ],
)
def test_an_expression_becomes_its_rows(text, meant):
    assert rows(text) == meant


def number_texts():
    return st.decimals(-100, 100, places=3, allow_nan=False).map(lambda value: f"{abs(value)}")


def sums():
    """Texts of linear forms that Python reads too."""
    numbers = st.recursive(
        number_texts(),
        lambda inner: (
            st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner)
            | st.builds("-{}".format, inner)
            | st.builds("{}/{}".format, inner, st.sampled_from(["2", "0.5", "3", "(7 - 3)"]))
        ),
        max_leaves=4,
    )
    return st.recursive(
        st.sampled_from(LETTERS) | numbers,
        lambda inner: (
            st.builds("{} + {}".format, inner, inner)
            | st.builds("{} - ({})".format, inner, inner)
            | st.builds("-({})".format, inner)
            | st.builds("{}*({})".format, numbers, inner)
            | st.builds("({})*{}".format, inner, numbers)
            | st.builds("({})/{}".format, inner, st.sampled_from(["2", "-4", "0.3"]))
        ),
        max_leaves=8,
    )


def exactly(text, values):
    """Return what Python makes of a text, in fractions."""
    return eval(re.sub(r"\d+(\.\d+)?", r"Fraction('\g<0>')", text), {"Fraction": Fraction}, values)


@settings(max_examples=100, deadline=None)
@given(
    sums(), st.sampled_from(["<=", ">=", "=="]), sums(), st.lists(st.fractions(-5, 5), min_size=5, max_size=5)
)
def test_random_expressions_have_the_slack_that_python_computes(left, sign, right, at):
    text, values = f"{left} {sign} {right}", dict(zip(LETTERS, at, strict=True))
    slack = exactly(right, values) - exactly(left, values)
    true = {"<=": slack >= 0, ">=": slack <= 0, "==": slack == 0}[sign]
    try:
        found = constraints_of(text, LETTERS)
    except ValueError as error:
        found = str(error)
    if not found or isinstance(found, str):  # no variable is left
        assert true if not found else (not true and "is never true" in found)
        return
    parts = found[0].A[0] * np.array(at, dtype=float)
    lower, upper = found[0].lb[0], found[0].ub[0]
    side = upper if np.isfinite(upper) else lower
    own = (side - parts.sum()) * (1.0 if np.isfinite(upper) else -1.0)
    rounding = 1e-12 * (np.abs(parts).sum() + abs(side))
    expected = {"<=": slack, ">=": -slack, "==": np.copysign(float(slack), own)}[sign]
    assert (lower == upper) == (sign == "==") and abs(own - float(expected)) <= rounding


@pytest.mark.parametrize(
    ("text", "said", "at"),
    [
        ("agee == 1", "'agee' is no variable; perhaps 'age' is meant.", "agee"),
        ("INCOME == 1", "perhaps 'income' is meant", "INCOME"),
        ("q == 1", "there are 'age', 'income', 'x1', 'x2', 'age_30' and 5 more", "q"),
        ("'age grup' == 1", "perhaps 'age group' is meant", "'age grup'"),
        ("z* >= 0", "no variable has a name that begins with 'z'", "z*"),
        ("age_*2 <= 1", "a pattern has a blank behind its star", "age_"),
        ("x1", "a comparison is missing", ""),
        ("x1 +", "ends where a number or a name must follow", ""),
        ("x1 == 1 ==", "ends where a number or a name must follow", ""),
        ("x1 + == 2", "'==' stands where a number or a name must", "=="),
        ("x1*x2 == 0", "a product of two variables is not linear", "*"),
        ("1/x1 == 0", "dividing by a variable is not linear", "/"),
        ("x1/0 == 0", "this divides by 0", "/"),
        ("x1/(2 - 2) == 0", "this divides by 0", "/"),
        ("x1 ^ 2 == 0", "powers are not linear", "^"),
        ("x1 < 2", "'<' leaves out the boundary, where the minimum may be; write '<='.", "<"),
        ("x1 > 2", "write '>='", ">"),
        ("x1 =< 2", "write '<='", "=<"),
        ("x1 => 2", "write '>='", "=>"),
        ("x1 != 2", "is not linear", "!="),
        ("1 == 2", "has no variable left and is never true", "=="),
        ("x1 - x1 >= 1", "has no variable left and is never true", ">="),
        ("1 <= x1 <= 0", "this is never true: 1 is more than 0", "1 <= x1 <= 0"),
        ("x1 <= 2 >= x2", "a chain goes one way", ">="),
        ("(x1 == 1", "opened here and not closed", "("),
        ("sum(x1 == 1", "opened here and not closed", "("),
        ("x1) == 1", "')' stands where", ")"),
        ("sum() == 1", "')' stands where a number or a name must", ")"),
        ("sum(x1, ) == 1", "')' stands where a number or a name must", ")"),
        ("2x1 == 1", "neither a number nor a name; write a product as 2*x", "2x1"),
        ("2 x1 == 1", "a product has a star", "x1"),
        ("age group == 1", "a name with blanks is written between quotes", "group"),
        ("x1 and x2 == 1", "must stand before 'and'", "and"),
        ("abs(x1) <= 1", "'abs' is no function here", "abs"),
        ("`age group` == 0", "between quotes", "`"),
        ("'age == 0", "a quote is opened here and not closed", "'"),
        ("x1; x2 == 0", "';' cannot be read", ";"),
        ("age_* <= x*", "already stands for several variables", "x*"),
        ("x* + x* <= 1", "already stands for several variables", "x*"),
        ("1e400 >= x1", "numbers must be between", "1e400"),
        ("1e-999999999 >= x1", "numbers must be between", "1e-999999999"),
        ("1e100*1e100*x1 <= 1", "becomes larger than", "1e100*1e100*x1 <= 1"),
        ("x1 <= 1,000", "',' stands where", ","),
        ("(" * 200 + "x1", "nested more than 100 deep", "("),
    ],
)
def test_what_cannot_be_meant_is_refused_and_its_place_marked(text, said, at):
    with pytest.raises(ValueError) as error:
        constraints_of(text, NAMES)
    sentence, shown, mark = str(error.value).split("\n")
    assert sentence.startswith("expressions: ") and said in sentence and sentence.endswith(".")
    start = mark.index("^")
    assert shown[start:].startswith(at) and mark.strip() == "^" + "~" * max(0, len(at) - 1)


def test_the_place_is_marked_in_a_long_expression_too():
    text = " + ".join(["x1"] * 300) + " + agge + " + " + ".join(["x2"] * 300) + " == 0"
    with pytest.raises(ValueError, match="perhaps 'age' is meant") as error:
        constraints_of(text, NAMES)
    _, shown, mark = str(error.value).split("\n")
    assert shown[mark.index("^") :].startswith("agge") and len(shown) < 90


def test_a_word_of_the_grammar_that_is_a_column_is_the_column_only_between_quotes():
    assert rows("'sum' == 1", ("sum", "b")) == [({"sum": 1.0}, 1, 1)]
    assert rows("sum(all) == 1", ("sum", "b")) == [({"sum": 1.0, "b": 1.0}, 1, 1)]
    for text in ("sum == 1", "sum <= b"):
        with pytest.raises(ValueError, match="name of a variable here, and a word for all"):
            constraints_of(text, ("sum", "b"))
    with pytest.raises(ValueError, match="name of a variable here"):
        constraints_of("all >= 0", ("all", "b"))


def test_a_quote_within_a_name_is_doubled_or_put_between_the_others():
    for text in ("'it''s' == 1", '"it\'s" == 1'):
        assert rows(text, ("it's",)) == [({"it's": 1.0}, 1, 1)]


def test_a_name_of_two_columns_is_refused_only_where_it_is_used():
    assert rows("b == 1", ("a", "a", "b")) == [({"b": 1.0}, 1, 1)]
    with pytest.raises(ValueError, match="more than one variable"):
        constraints_of("a == 1", ("a", "a", "b"))


def test_thousands_of_names_in_one_expression_take_no_time():
    names = [f"x{j}" for j in range(2000)]
    (item,) = constraints_of([" + ".join(names) + " == 1", "all >= 0"], names)
    assert item.A.shape == (2001, 2000) and item.A.sum() == 4000 and item.A[[0]].sum() == 2000


@pytest.mark.parametrize(
    ("expressions", "names", "said"),
    [
        (3, NAMES, "expressions must be a text or a list of texts, got 3"),
        (["x1 == 1", 3], NAMES, "expressions must be a text or a list of texts"),
        (None, NAMES, "expressions must be"),
        ("x1 == 1", "x1", "names must be a list of names, got 'x1'"),
        ("x1 == 1", 3, "names must be a list of names, got 3"),
        (["x1 == 1", "  "], NAMES, r"expressions\[1\]: the expression is empty"),
    ],
)
def test_other_things_than_texts_and_names_are_refused(expressions, names, said):
    with pytest.raises((TypeError, ValueError), match=said):
        constraints_of(expressions, names)


def test_the_function_is_public():
    assert tether.constraints_of is constraints_of
