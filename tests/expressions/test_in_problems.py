"""Expressions as constraints of a problem: found by name, and spoken of by their texts."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds

import tether
from tether import constraints_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 4))
Y = X @ [1.0, 2.0, 3.0, 4.0] + 5.0
TABLE = pd.DataFrame(X, columns=list("abcd"))


def solved(X, constraint, **settings):
    return tether.solve(tether.GLM(X, Y, "squared", **settings), constraint, tol=1e-12)


def test_texts_in_a_list_with_others_hold_together():
    sol = solved(TABLE, ["a + b == c", Bounds(-np.inf, 3.0), "d <= 2"])
    assert sol.success and abs(sol.x[0] + sol.x[1] - sol.x[2]) < 1e-9 and sol.x[3] == 2.0
    same = solved(X, [tether.Affine([1.0, 1.0, -1.0, 0.0]), Bounds(-np.inf, [3.0, 3.0, 3.0, 2.0])])
    np.testing.assert_allclose(sol.x, same.x, atol=1e-8)


def test_columns_without_names_are_called_by_their_numbers_and_the_intercept_by_its_name():
    sol = solved(X, ["sum == 0", "x[0] == 1", "intercept <= 4"], fit_intercept=True)
    assert abs(sol.x[:4].sum()) < 1e-9 and abs(sol.x[0] - 1.0) < 1e-9 and sol.x[4] == 4.0
    np.testing.assert_allclose(solved(pd.DataFrame(X), "x[0] == 1").x, solved(X, "x[0] == 1").x, atol=1e-9)


def test_a_sum_leaves_the_intercepts_of_all_classes_alone():
    classes = np.arange(200) % 3
    sol = tether.solve(tether.GLM(X, classes, "multinomial", l2=0.1, fit_intercept=True), "sum == 1")
    assert abs(sol.x[:12].sum() - 1.0) < 1e-9
    sol = tether.solve(tether.GLM(X, classes, "multinomial", l2=0.1, fit_intercept=True), "intercept[2] == 1")
    assert abs(sol.x[14] - 1.0) < 1e-9


def test_names_of_other_columns_in_another_order_find_their_variables():
    for names in (TABLE.columns, list("cdeab")):
        sol = solved(TABLE, constraints_of("b == 0", names), fit_intercept=True)
        assert abs(sol.x[1]) < 1e-12 and abs(sol.x[0]) > 0.5
    with pytest.raises(
        ValueError, match="an expression has the variable 'e', which is no variable of the obj"
    ):
        solved(TABLE, constraints_of("e == 0", list("cdeab")))


def test_the_workers_of_a_federation_share_one_expression():
    parts = [tether.GLM(TABLE[k::2], Y[k::2], "squared", fit_intercept=True) for k in range(2)]
    sol = tether.solve(tether.Federation(parts), ["sum == 1"])
    assert abs(sol.x[:4].sum() - 1.0) < 1e-9


def test_iterate_reads_texts_too():
    moment = next(iter(tether.iterate(tether.GLM(TABLE, Y, "squared"), "a + b == 1", "nesterov")))
    assert abs(moment.x[:2].sum() - 1.0) < 1e-12


def test_what_is_always_true_changes_nothing():
    free = solved(TABLE, None)
    np.testing.assert_allclose(solved(TABLE, ["1 == 1", "a - a <= 0"]).x, free.x, atol=1e-9)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["a + b == 1", "c >= 0", "a + b == 2"], "'a + b == 1' and 'a + b == 2'"),
        (["a >= 1", "2*a <= 0"], "'a >= 1' and '2*a <= 0'"),
        (["a + b == 1", "a - b == 2", "a == 5"], "'a + b == 1', 'a - b == 2' and 'a == 5'"),
        (
            ["a + b == 1", "all <= 0.2"],
            "'a + b == 1', 'a <= 0.2' of 'all <= 0.2' and 'b <= 0.2' of 'all <= 0.2'",
        ),
        (["a <= b <= a - 1"], "'a <= b' of 'a <= b <= a - 1' and 'b <= a - 1' of 'a <= b <= a - 1'"),
        (["a <= b", "b <= c", "c <= a - 1"], "'a <= b', 'b <= c' and 'c <= a - 1'"),
        (["a + b == 3", tether.Simplex()], "the total of constraint[1] (a + b + c + d = 1)"),
    ],
)
@pytest.mark.parametrize("together", [False, True])
def test_expressions_that_contradict_each_other_are_named_by_their_texts(texts, words, together):
    if together:
        own = [text for text in texts if isinstance(text, str)]
        texts = [*constraints_of(own, list("abcd")), *texts[len(own) :]]
    with pytest.raises(ValueError, match="contradict") as error:
        solved(TABLE, texts)
    assert words in str(error.value) and str(error.value).endswith("; relax or drop one of them.")


def test_multipliers_are_those_of_the_expressions_in_their_order():
    sol = solved(TABLE, ["a >= 0", "b <= 1", "0 <= all <= 3"])
    assert len(sol.multipliers.inequalities) == 6
    assert sol.active.inequalities.tolist() == [0, 1, 0, 0, 0, 1]
    assert sol.multipliers.inequalities[1] < 0.0 and sol.multipliers.inequalities[0] == 0.0


def test_columns_of_several_classes_have_a_variable_for_each():
    objective = tether.GLM(TABLE, np.arange(200) % 3, "multinomial", l2=0.1, fit_intercept=True)
    sol = tether.solve(objective, ["sum(a[0], a[1], a[2]) == 1", "b* >= 0.1"])
    assert abs(sol.x[:3].sum() - 1.0) < 1e-9 and sol.x[3:6].min() >= 0.1 - 1e-12
    unnamed = tether.GLM(X, np.arange(200) % 3, "multinomial", l2=0.1)
    sol = tether.solve(unnamed, "W[1, 2] == 1")
    assert abs(sol.x[5] - 1.0) < 1e-12


def test_a_solution_lists_its_rows_by_what_they_say():
    sol = solved(TABLE, ["a == 0", "b + c == 1"])
    assert "a == 0" in str(sol) and "b + c == 1" in str(sol)
    lines = str(solved(TABLE, ["a == 0.5", "d <= 2"])).splitlines()
    assert any(line.startswith("  d <= 2") and line.endswith("upper side holds") for line in lines)
    assert any(line.startswith("  a == 0.5") and not line.endswith("holds") for line in lines)
    sol = solved(TABLE, ["0 <= a <= b <= 1", "all <= 3"])
    first, second = ("0 <= a", "a <= b", "b <= 1"), ("a <= 3", "b <= 3", "c <= 3", "d <= 3")
    assert sol.problem.inequalities[0].names == first + second
