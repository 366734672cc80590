"""What every constraint must do, whatever its kind."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tether.constraints import Affine, Constraint

quick = settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
numbers = st.floats(-1e3, 1e3, allow_subnormal=False)


def draw(data, length):
    return data.draw(arrays(np.float64, length, elements=numbers))


def close(a, b, *scales):
    size = 1.0 + sum(np.linalg.norm(scale) for scale in scales)
    return np.linalg.norm(a - b) <= 1e-11 * size


@quick
@given(data=st.data())
def test_projection_is_the_nearest_feasible_point(case, data):
    x = draw(data, case.dim)
    assert close(case.constraint.project(x), case.projector @ x + case.point, x, case.point)


@quick
@given(data=st.data())
def test_tangent_is_the_orthogonal_projector(case, data):
    v = draw(data, case.dim)
    assert close(case.constraint.tangent(v), case.projector @ v, v)


@quick
@given(data=st.data())
def test_tangent_is_linear(case, data):
    v, w, s = draw(data, case.dim), draw(data, case.dim), data.draw(st.floats(-10, 10))
    c = case.constraint
    assert close(c.tangent(v + s * w), c.tangent(v) + s * c.tangent(w), v, s * w)


@quick
@given(data=st.data())
def test_tangent_is_self_adjoint(case, data):
    v, w = draw(data, case.dim), draw(data, case.dim)
    left, right = case.constraint.tangent(v) @ w, v @ case.constraint.tangent(w)
    assert abs(left - right) <= 1e-11 * (1 + np.linalg.norm(v) * np.linalg.norm(w))


@quick
@given(data=st.data())
def test_projecting_twice_changes_nothing(case, data):
    x = draw(data, case.dim)
    once, direction = case.constraint.project(x), case.constraint.tangent(x)
    assert close(case.constraint.project(once), once, x, once)
    assert close(case.constraint.tangent(direction), direction, x)


@quick
@given(data=st.data())
def test_projected_points_are_feasible(case, data):
    x = draw(data, case.dim)
    size = np.linalg.norm(case.constraint.b) if isinstance(case.constraint, Affine) else 0.0
    assert case.constraint.residual(case.constraint.project(x)) <= 1e-10 * (1 + size)


@quick
@given(data=st.data())
def test_points_differ_by_the_tangent_of_their_difference(case, data):
    x, y = draw(data, case.dim), draw(data, case.dim)
    c = case.constraint
    assert close(c.project(x) - c.project(y), c.tangent(x - y), x, y, case.point)


@quick
@given(data=st.data())
def test_normals_have_no_tangent_part(case, data):
    multipliers = draw(data, len(case.constraint.multipliers(np.ones(case.dim))))
    normal = case.transposed @ multipliers
    assert close(case.constraint.tangent(normal), 0.0, normal, multipliers)


@quick
@given(data=st.data())
def test_multipliers_of_a_normal_reproduce_it(case, data):
    multipliers = draw(data, len(case.constraint.multipliers(np.ones(case.dim))))
    normal = case.transposed @ multipliers
    assert close(case.transposed @ case.constraint.multipliers(normal), normal, normal, multipliers)


@quick
@given(data=st.data())
def test_gradient_is_its_tangent_plus_its_normal(case, data):
    gradient = draw(data, case.dim)
    c = case.constraint
    assert close(c.tangent(gradient) + case.transposed @ c.multipliers(gradient), gradient, gradient)


def test_arguments_are_left_alone_and_results_are_fresh(case):
    x = np.arange(1.0, case.dim + 1)
    kept = x.copy()
    for method in (case.constraint.project, case.constraint.tangent):
        result = method(x)
        assert not np.shares_memory(result, x)
        before = method(x)
        result += 1.0
        np.testing.assert_array_equal(method(x), before)
    case.constraint.multipliers(x)
    case.constraint.residual(x)
    np.testing.assert_array_equal(x, kept)


def test_the_digest_is_the_same_at_every_call(case):
    digest = case.constraint.digest()
    assert case.constraint.digest() == digest and len(digest) == 32 and int(digest, 16) >= 0


def test_constraint_says_what_it_is(case):
    assert isinstance(case.constraint, Constraint)
    assert repr(case.constraint).startswith(type(case.constraint).__name__ + "(")
    assert case.constraint.dim in (None, case.dim)
