"""What print shows: the sentence, the facts, coefficients and multipliers by name."""

import dataclasses
import math

import numpy as np
import pandas
import pytest
from scipy.optimize import Bounds, LinearConstraint

import tether
from tether import Status

RNG = np.random.default_rng(0)
X = pandas.DataFrame(RNG.standard_normal((300, 4)), columns=["age", "height", "rooms", "floor"])
Y = np.where(X["age"] - X["rooms"] + RNG.standard_normal(300) > 0, 1, -1)
BUDGET = pandas.DataFrame(np.ones((1, 4)), index=["budget"], columns=X.columns)


@pytest.fixture(scope="module")
def named():
    return tether.solve(tether.GLM(X, Y, l2=0.01), tether.Affine(BUDGET, 1.0))


@pytest.fixture(scope="module")
def mixed():
    rows = LinearConstraint(np.diff(np.eye(4), axis=0)[:2], 0.0, np.inf)
    sets = [tether.Affine(BUDGET, 1.0), rows, Bounds(-1.0, 0.26)]
    return tether.solve(tether.GLM(X, Y, l2=0.01), sets, penalty=tether.L1(0.01))


def lines_after(text, title):
    """Return the lines of a list, without the indent."""
    block = next(block for block in text.split("\n\n") if block.startswith(title))
    return [line.strip() for line in block.splitlines()[1:]]


def test_the_first_sentence_is_the_certificate(named):
    assert str(named).startswith(f"Solved: F(x) is certainly within {named.gap:.2g} of the minimum.\n")


def test_the_problem_and_the_method_are_told_in_plain_words(named):
    text = " ".join(str(named).split())
    assert "logistic regression with l2 = 0.01: 300 samples, 4 variables, subject to 1 equation" in text
    assert "solved by Newton's method, " in text and "(second derivatives are cheap)" in text
    assert "Auto(" not in text and "solved=False" not in text


def test_coefficients_and_equations_have_their_names(named):
    coefficients = dict(line.split() for line in lines_after(str(named), "coefficients"))
    assert list(coefficients) == list(X.columns)
    np.testing.assert_allclose([float(v) for v in coefficients.values()], named.x, atol=5e-7)
    assert lines_after(str(named), "multipliers of equations") == [f"budget  {named.multipliers[0]:.6f}"]


def test_active_rows_and_bounds_are_listed_the_most_pressed_first(mixed):
    text = str(mixed)
    held = np.flatnonzero(mixed.active.inequalities)
    assert f"multipliers of inequalities ({len(held)} of 2 active)" in text
    rows = lines_after(text, "multipliers of inequalities")
    assert sorted(" ".join(row.split()[:2]) for row in rows) == [f"inequality {k}" for k in held]
    assert all(row.endswith("lower side holds") for row in rows)
    prices = [abs(float(line.split()[1])) for line in lines_after(text, "multipliers of bounds")]
    assert len(prices) == np.count_nonzero(mixed.active.bounds) >= 1 and prices == sorted(
        prices, reverse=True
    )
    assert "at its upper bound" in text and "terms of the penalty (0 of 4 at zero)" in text


def test_of_many_coefficients_the_largest_are_listed_and_the_rest_is_counted():
    x = np.zeros(40)
    x[[3, 17, 30]] = 5.0, -7.0, 1.0
    objective = tether.Quadratic(matrix=np.eye(40), linear=-2.0 * x)
    text = tether.solve(objective).summary(rows=2)
    assert "coefficients, the 2 largest (40 in all, 37 zero)" in text
    assert lines_after(text, "coefficients") == ["x[17]  -7.000000", "x[3]    5.000000"]


def test_coefficients_of_several_outputs_are_named_by_column_and_class():
    objective = tether.GLM(X, np.arange(300) % 3, "multinomial", l2=0.1, fit_intercept=True)
    text = tether.solve(objective, method="lbfgs").summary(rows=15)
    names = [line.rsplit("  ", 1)[0].strip() for line in lines_after(text, "coefficients")]
    assert names[:4] == ["age[0]", "age[1]", "age[2]", "height[0]"] and names[-1] == "intercept[2]"
    plain = tether.GLM(X.to_numpy(), np.arange(300) % 3, "multinomial", l2=0.1, fit_intercept=True)
    text = tether.solve(plain, method="lbfgs").summary(rows=15)
    names = [line.rsplit("  ", 1)[0].strip() for line in lines_after(text, "coefficients")]
    assert names[0] == "W[0, 0]" and names[-1] == "intercept[2]"


def test_rows_of_several_sets_say_which_set_they_are_of():
    sets = [tether.Affine(np.eye(1, 4), 0.5), tether.Affine(np.eye(1, 4, 1), 0.25), tether.Simplex(2.0)]
    sol = tether.solve(tether.Quadratic(matrix=np.eye(4)), sets)
    names = [line.rsplit("  ", 1)[0].strip() for line in lines_after(str(sol), "multipliers of equations")]
    assert names == ["equation 0 of constraint[0]", "equation 0 of constraint[1]", "total"]


def test_potentials_of_a_network_are_those_of_nodes():
    network = tether.Flow([[0, 1], [1, 2], [0, 2]], [3.0, 0.0, -3.0])
    text = str(tether.solve(tether.Quadratic(matrix=np.eye(3)), network))
    assert "flows that balance at 3 nodes" in text and "node 2" in text


def test_a_direct_solution_is_told_as_such(named):
    assert "solved by  one linear system (" in str(tether.solve(tether.Quadratic(matrix=np.eye(3))))
    program = tether.solve(tether.Quadratic(matrix=np.eye(3)), tether.Simplex())
    assert program.solver == "one quadratic program"


def test_without_a_gap_the_slope_and_the_reason_are_told():
    sol = tether.solve(tether.GLM(X, Y), method="nesterov")
    first = " ".join(str(sol).split("\n\n")[0].split())
    assert sol.success and sol.gap is None
    assert first.startswith("The slope is as small as asked for: ||P grad F(x)|| is at most ")
    assert first.endswith("nothing bounds the gap, because F is not known to be strongly convex.")


def test_a_function_that_is_not_convex_says_so():
    sol = tether.solve(tether.FiniteSum(*_wave(), n_samples=5, dim=2), method="lbfgs")
    assert sol.doubt and sol.doubt in " ".join(str(sol).split())


def _wave():
    def gradient(x, batch):
        return -np.sin(x) + 0.02 * x

    def value(x, batch):
        return float(np.cos(x).sum() + 0.01 * x @ x)

    return gradient, value


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.CONVERGED])
def test_a_run_that_did_not_converge_says_why(named, status):
    text = str(dataclasses.replace(named, status=status, message=status.message))
    assert not text.startswith("Solved") and status.message in " ".join(text.split())


def test_a_function_without_a_minimum_is_no_answer_but_a_direction():
    objective = tether.Quadratic(matrix=np.diag([1.0, 0.0]), linear=np.array([0.0, -1.0]))
    text = str(tether.solve(objective, tether.NonNegative()))
    assert text.startswith("No answer: F is unbounded below on the constraint")
    assert lines_after(text, "a direction along which F falls for ever") == [
        "x[0]  0.000000",
        "x[1]  1.000000",
    ]


def test_losses_that_nobody_measured_are_no_numbers(named):
    hidden = dataclasses.replace(named, fun=math.nan, gap=None, multipliers=None)
    text = str(hidden)
    assert "F(x)  not measured" in text and "nan" not in text


def test_no_line_is_wider_than_a_page(named, mixed):
    for sol in (named, mixed):
        assert max(map(len, str(sol).splitlines())) <= 100


def test_the_representation_is_half_a_line(named):
    assert repr(named) == (
        f"<Solution: converged, F(x) = {named.fun:.6g}, gap <= {named.gap:.2g}, 4 variables, "
        f"{named.counts.rounds} rounds>"
    )


def test_a_notebook_shows_the_same_words_and_never_reads_names_as_tags(named):
    html = named._repr_html_()
    assert "F(x) is certainly within" in html and ">budget</th>" in html
    bad = X.rename(columns={"age": "<script>alert(1)</script>"})
    html = tether.solve(tether.GLM(bad, Y, l2=0.01))._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html


@pytest.mark.parametrize("rows", [0, -1, 1.5, "ten", True])
def test_a_number_of_rows_that_is_none_is_refused(named, rows):
    with pytest.raises(ValueError, match="rows must be a whole number"):
        named.summary(rows=rows)
