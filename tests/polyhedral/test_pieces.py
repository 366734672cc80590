"""Scalar functions with a kink and two walls: every closed form against a brute-force one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.polyhedral import Pieces
from tether.polyhedral.pieces import COMPILED_SIZE

WALLS = st.tuples(
    st.one_of(st.just(-np.inf), st.floats(-3, 3).map(lambda v: round(v, 2))),
    st.one_of(st.just(np.inf), st.floats(-3, 3).map(lambda v: round(v, 2))),
).map(lambda pair: (min(pair), max(pair)))
SLOPES = st.one_of(st.just(0.0), st.floats(0, 2).map(lambda v: round(v, 2)))
NUMBERS = st.floats(-6, 6).map(lambda v: round(v, 2))


@st.composite
def functions(draw):
    (lower, upper), left, right = draw(WALLS), draw(SLOPES), draw(SLOPES)
    return Pieces.of(1, lower, upper, left, right)


def value(pieces, z):
    """g at many z, walls included."""
    lower, upper, left, right = (part[0] for part in pieces)
    return np.where((z >= lower) & (z <= upper), left * np.maximum(-z, 0) + right * np.maximum(z, 0), np.inf)


def grid(pieces, reach=20.0):
    """Many points, the kink and the walls among them."""
    ends = [end for end in (pieces.lower[0], pieces.upper[0], 0.0) if np.isfinite(end)]
    return np.unique(np.concatenate([np.linspace(-reach, reach, 40_001), ends]))


def inside(pieces, z):
    return np.clip(np.array([z]), pieces.lower, pieces.upper)


@given(functions(), NUMBERS, st.floats(0.1, 3))
def test_no_point_of_a_grid_beats_the_prox(pieces, z, t):
    x = pieces.prox(np.array([z]), t)
    assert pieces.violation(x)[0] == 0.0
    points = grid(pieces)
    least = np.min(value(pieces, points) + (points - z) ** 2 / (2 * t))
    assert value(pieces, x)[0] + (x[0] - z) ** 2 / (2 * t) <= least + 1e-12


@given(functions(), NUMBERS, st.floats(0.1, 3))
def test_what_the_prox_moved_by_is_a_subgradient_there(pieces, z, t):
    x = pieces.prox(np.array([z]), t)
    low, high = pieces.interval(x)
    slope = (z - x) / t
    assert low[0] - 1e-12 <= slope[0] <= high[0] + 1e-12
    assert pieces.nearest(slope, x) == pytest.approx(slope, abs=1e-12)


@given(functions(), NUMBERS, NUMBERS)
def test_the_interval_holds_exactly_the_slopes_of_lines_below(pieces, z, y):
    z = inside(pieces, z)
    low, high = pieces.interval(z)
    assert low[0] <= high[0]
    points = grid(pieces)
    lines_below = np.all(value(pieces, points) >= value(pieces, z) + y * (points - z) - 1e-12)
    if low[0] <= y <= high[0]:
        assert lines_below
    elif y < low[0] - 1e-6 or y > high[0] + 1e-6:
        # A line that is too steep cuts the function between here and the next point of the grid or wall.
        assert not lines_below


@given(functions(), NUMBERS, NUMBERS)
def test_the_nearest_subgradient_is_one_and_no_other_is_nearer(pieces, z, y):
    z = inside(pieces, z)
    low, high = pieces.interval(z)
    found = pieces.nearest(np.array([y]), z)
    assert low[0] <= found[0] <= high[0]
    assert (found[0] == y) == (low[0] <= y <= high[0])
    assert found[0] in (y, low[0], high[0])


@given(functions(), NUMBERS)
def test_only_points_on_kinks_and_at_walls_are_settled(pieces, z):
    z = inside(pieces, z)
    lower, upper, left, right = (part[0] for part in pieces)
    expected = z[0] in (lower, upper) or (z[0] == 0.0 and left + right > 0.0)
    assert pieces.settled(z)[0] == expected


@given(functions(), NUMBERS)
def test_the_conjugate_is_the_largest_of_y_z_minus_g(pieces, y):
    found = pieces.conjugate(np.array([y]))[0]
    points = grid(pieces)
    largest = np.max(y * points - value(pieces, points))
    if np.isinf(found):
        farther = grid(pieces, reach=40.0)
        assert np.max(y * farther - value(pieces, farther)) > largest + 1e-9
    else:
        assert found == pytest.approx(largest, abs=1e-9)


@given(functions(), NUMBERS, NUMBERS)
def test_the_misfit_is_what_fenchel_says(pieces, z, y):
    z, y = inside(pieces, z), np.array([y])
    found, conjugate = pieces.misfit(z, y)[0], pieces.conjugate(y)[0]
    if np.isinf(conjugate):
        assert np.isinf(found)
    else:
        assert found == pytest.approx(pieces.value(z) + conjugate - y[0] * z[0], abs=1e-12)


@given(functions(), NUMBERS, NUMBERS)
def test_the_misfit_is_zero_exactly_for_subgradients_and_else_positive(pieces, z, y):
    z = inside(pieces, z)
    low, high = pieces.interval(z)
    assert pieces.misfit(z, pieces.nearest(np.array([y]), z))[0] == 0.0
    if not low[0] <= y <= high[0]:
        assert pieces.misfit(z, np.array([y]))[0] > 0.0


def test_a_misfit_just_beyond_a_wall_counts_by_its_size():
    pieces = Pieces.of(1, upper=1.0)
    assert pieces.misfit(np.array([1.0 + 1e-10]), np.array([2.0]))[0] == pytest.approx(2e-10, rel=1e-5)


@given(functions(), functions(), NUMBERS)
def test_sums_have_the_values_and_the_walls_of_both(one, other, z):
    if max(one.lower, other.lower) > min(one.upper, other.upper):
        return
    both = one.plus(other)
    points = np.array([z, 0.0, *both.lower, *both.upper])
    points = points[np.isfinite(points)]
    np.testing.assert_allclose(value(both, points), value(one, points) + value(other, points), atol=1e-12)


def test_a_number_stands_for_all_and_some_are_chosen():
    pieces = Pieces.of(3, lower=[0.0, -1.0, -np.inf], right=2.0)
    assert pieces.size == 3
    assert pieces.right.tolist() == [2.0, 2.0, 2.0]
    assert pieces.some(np.array([2, 0])).lower.tolist() == [-np.inf, 0.0]


def test_only_zero_everywhere_is_trivial():
    assert Pieces.of(2).trivial
    for part in ({"lower": [-np.inf, 0.0]}, {"upper": 1.0}, {"left": 1.0}, {"right": [0.0, 1.0]}):
        assert not Pieces.of(2, **part).trivial


def test_a_violation_is_the_way_back_to_the_nearer_wall():
    pieces = Pieces.of(4, lower=-1.0, upper=2.0)
    assert pieces.violation(np.array([-3.0, -1.0, 2.0, 2.5])).tolist() == [2.0, 0.0, 0.0, 0.5]


@pytest.mark.parametrize("seed", range(4))
def test_many_functions_together_give_what_few_at_a_time_do(seed):
    rng, p = np.random.default_rng(seed), 2 * COMPILED_SIZE
    walls = np.sort(rng.choice([-np.inf, -1.0, -0.5, 0.0, 0.5, 1.0, np.inf], (2, p)), axis=0)
    walls[:, np.isinf(walls).all(axis=0) & (walls[0] == walls[1])] = [[-1.0], [1.0]]
    pieces = Pieces(walls[0], walls[1], *rng.choice([0.0, 0.3, 1.0], (2, p)))
    z = np.clip(rng.choice([-2.0, -1.0, -0.4, 0.0, 0.4, 1.0, 2.0], p), *walls)
    y = rng.choice([-3.0, -1.0, -0.3, 0.0, 0.2, 0.3, 1.0, np.nan], p)
    few = [slice(begin, begin + 100) for begin in range(0, p, 100)]
    for function in (Pieces.nearest, Pieces.misfit):
        first, second = (y, z) if function is Pieces.nearest else (z, y)
        apart = [function(pieces.some(part), first[part], second[part]) for part in few]
        np.testing.assert_array_equal(function(pieces, first, second), np.concatenate(apart))


def test_arrays_that_may_not_be_written_to_are_read_all_the_same():
    pieces, y = Pieces.of(COMPILED_SIZE, left=1.0, right=1.0), np.full(COMPILED_SIZE, 2.0)
    z = np.broadcast_to(0.0, COMPILED_SIZE)
    assert (pieces.nearest(y, z) == 1.0).all()
    assert (pieces.misfit(np.ones(2 * COMPILED_SIZE)[::2], y) == np.inf).all()
