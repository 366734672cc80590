"""Sets without a point are refused by naming a few constraints, of which none can be left out."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog

import tether
from tether.feasible import as_feasible, contradiction
from tether.feasible.contradiction import conflict, system_of
from tether.feasible.given import read

INF = np.inf
NAMES = ("age", "height", "income")


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        (
            [LinearConstraint([[1, 1, 0], [1, 0, 2]], [3, 0], INF), Bounds(0, 1)],
            "row 0 of constraint[0] (age + height >= 3) and the upper bounds of age and height (1, 1)",
        ),
        (
            LinearConstraint([[1, 1, 0], [2, 2, 0]], [3, -INF], [INF, 4]),
            "row 0 of constraint (age + height >= 3) and row 1 of constraint (2 age + 2 height <= 4)",
        ),
        (
            [tether.Simplex(), Bounds(-1, 0.25)],
            "the total of constraint[0] (age + height + income = 1) and the upper bounds of age, height and "
            "income (0.25, 0.25, 0.25)",
        ),
        (
            [tether.NonNegative(), Bounds(-2, [-1, 3, 4])],
            "the lower bound of age (0) and the upper bound of age (-1)",
        ),
        (
            [tether.Affine([1.0, 1.0, -1.0], 1.0), tether.Affine([2.0, 2.0, -2.0], 1.0)],
            "row 0 of constraint[0] (age + height - income = 1) and row 0 of constraint[1] "
            "(2 age + 2 height - 2 income = 1)",
        ),
        (
            [tether.Affine([1.0, 1.0, -1.0], 1.0), LinearConstraint([[-2, -2, 2]], -1, INF)],
            "row 0 of constraint[0] (age + height - income = 1) and row 0 of constraint[1] "
            "(-2 age - 2 height + 2 income >= -1)",
        ),
        (
            [tether.Flow([[0, 1], [1, 2], [0, 2]], [3.0, 0.0, -3.0]), Bounds(0, 1)],
            "the balance of node 2 of constraint[0] (-height - income = -3) and the upper bounds of height "
            "and income (1, 1)",
        ),
        (
            [tether.Range(np.eye(3)[:, :2]), Bounds([-INF, -INF, 1], INF)],
            "constraint[0], Range(3 x 2, dense, rank 2) and the lower bound of income (1)",
        ),
        (
            [LinearConstraint([[1, -1, 0], [0, 1, -1], [-1, 0, 1]], 1, INF)],
            "row 0 of constraint[0] (age - height >= 1), row 1 of constraint[0] (height - income >= 1) and "
            "row 2 of constraint[0] (-age + income >= 1)",
        ),
    ],
    ids=["bounds", "parallel", "simplex", "crossed", "planes", "multiple", "flow", "range", "circle"],
)
def test_a_contradiction_is_refused_in_the_words_of_the_user(constraints, words):
    with pytest.raises(ValueError, match="contradict") as error:
        as_feasible(constraints, None, 3, NAMES)
    assert str(error.value) == f"the constraints contradict each other: {words}; relax or drop one of them."


def test_a_row_without_entries_is_named_alone():
    with pytest.raises(ValueError, match=r"^the constraints cannot be met: row 1 of constraint \(0 >= 2\); "):
        as_feasible(LinearConstraint(np.eye(2, 3) * [[1], [0]], [0, 2], INF), None, 3)


def test_long_rows_and_many_bounds_are_cut_short():
    with pytest.raises(ValueError, match="contradict") as error:
        as_feasible([tether.Simplex(), Bounds(-INF, 0.01)], None, 9)
    assert str(error.value) == (
        "the constraints contradict each other: the total of constraint[0] (x[0] + x[1] + x[2] + x[3] + ... "
        "of 9 variables = 1) and the upper bounds of x[0], x[1], x[2], x[3], x[4] and 4 more (0.01, 0.01, "
        "0.01, 0.01, 0.01, ...); relax or drop one of them."
    )


def solvable(system):
    matrix, right, equal = system.matrix.toarray(), system.right, system.equal
    answer = linprog(
        np.zeros(matrix.shape[1]),
        A_ub=-matrix[~equal],
        b_ub=-right[~equal],
        A_eq=matrix[equal],
        b_eq=right[equal],
        bounds=(None, None),
    )
    assert answer.status in (0, 2)
    return answer.status == 0


def random_set(seed):
    """A set of small whole numbers, empty about as often as not."""
    rng = np.random.default_rng(seed)
    p, m = rng.integers(2, 7), rng.integers(1, 6)
    G = rng.integers(-2, 3, (m, p)) * (rng.random((m, p)) < 0.7)
    lower = rng.choice([-INF, -2.0, 0.0, 1.0], m)
    upper = np.where(np.isfinite(lower), lower, 0.0) + rng.choice([0.0, 1.0, 2.0, INF], m)
    box = rng.choice([-INF, -1.0, 0.0], p)
    bounds = Bounds(box, np.where(np.isfinite(box), box, 0.0) + rng.choice([1.0, 2.0, INF], p))
    A = rng.integers(-1, 2, (1, p))
    return [LinearConstraint(G, lower, upper), bounds, tether.Affine(A, A @ rng.integers(-2, 3, p))], int(p)


SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_contradictions_are_found_where_there_are_any_and_are_irreducible(seed):
    constraints, dim = random_set(seed)
    given = read(constraints, None, dim, None)
    system = system_of(given)
    sides = conflict(given)
    assert (sides is None) == solvable(system)
    if sides is None:
        assert as_feasible(constraints, None, dim).plane.dim == dim
        return
    with pytest.raises(ValueError, match=r"^the constraints (contradict each other|cannot be met): "):
        as_feasible(constraints, None, dim)
    places = [system.sides.index(side) for side in sides]
    assert not solvable(system.some(places))
    for left_out in places if len(places) > 1 else []:
        assert solvable(system.some([k for k in places if k != left_out]))


def test_the_random_sets_are_of_both_kinds():
    kinds = [
        conflict(read(constraints, None, dim, None)) is None for constraints, dim in map(random_set, SEEDS)
    ]
    assert 10 < sum(kinds) < len(SEEDS) - 10


def test_large_problems_are_only_looked_through_when_asked():
    p = 500
    circle = sp.diags_array(
        [1.0, -1.0, -1.0], offsets=[0, 1, 1 - p], shape=(p, p)
    )  # x_j > x_{j+1} all around
    feasible = as_feasible(LinearConstraint(circle, 1.0, INF), None, p)
    assert contradiction(feasible).startswith(
        "the constraints contradict each other: row 0 of constraint (x[0]"
    )
    assert "and 494 more rows; relax" in contradiction(feasible)
    assert contradiction(as_feasible(LinearConstraint(circle, 0.0, INF), None, p)) is None


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_contradictions_are_found_in_every_unit(unit):
    G = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [-1.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="contradict"):
        as_feasible(LinearConstraint(G, unit, INF), None, 3)
    as_feasible(LinearConstraint(G, -unit, INF), None, 3)
    with pytest.raises(ValueError, match="contradict"):
        as_feasible([Bounds([-1e20, -INF, -INF], 1e20), LinearConstraint(unit * G, 1.0, INF)], None, 3)
    with pytest.raises(ValueError, match="contradict"):
        as_feasible([Bounds(-1e6 * unit, 1e6 * unit), LinearConstraint(G, unit, INF)], None, 3)


def test_what_may_be_rounding_of_larger_numbers_is_no_contradiction():
    G = np.array([[1.227, 1.1546, 2.9916]])
    for rows in (LinearConstraint(G, -9e-16, -9e-16), LinearConstraint(G, -INF, -9e-16)):
        feasible = as_feasible([rows, Bounds(0, [INF, INF, 3.0])], None, 3)
        assert contradiction(feasible) is None


def test_rounding_is_no_contradiction():
    third = np.array([[1.0, 1.0, 1.0]]) / 3.0
    for slack in (1e-16, 1e-13):
        as_feasible([LinearConstraint(third, 0.1 + slack, INF), Bounds(0, 0.1)], None, 3)


def test_no_linear_program_is_solved_where_zero_or_the_nearest_bounds_will_do(monkeypatch):
    monkeypatch.setattr("tether.feasible.shape.contradiction", None)
    rows = LinearConstraint(np.diff(np.eye(4), axis=0), 0.0, np.inf)
    assert as_feasible(rows, None, 4).polyhedral is not None
    assert as_feasible([rows, Bounds(1.0, 2.0)], None, 4).polyhedral is not None
    with pytest.raises(TypeError):  # zero is outside, so that there is something to look for
        as_feasible(LinearConstraint(np.diff(np.eye(4), axis=0), 0.1, np.inf), None, 4)
