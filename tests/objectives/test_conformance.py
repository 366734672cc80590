"""What every objective has to do, whatever it is made of."""

import math

import numpy as np
import pytest

from tether.curvature import DIAGONAL, FORMS, FULL, KRONECKER, length_of, unpacked
from tether.objectives.walk import Walk
from tether.objectives.weighted import Weighted
from tether.polyhedral import Pieces


def _batch(objective, rng, size=5):
    return rng.integers(0, objective.n_samples, size)


def _pairs(objective, rng, count=20):
    for _ in range(count):
        # Small points, because a Poisson curvature is only claimed near 0.
        yield 0.2 * rng.standard_normal(objective.dim), 0.2 * rng.standard_normal(objective.dim)


def test_gradient_matches_central_differences_of_the_value(objective, rng):
    x, step = 0.3 * rng.standard_normal(objective.dim), 1e-5
    numeric = np.array(
        [
            (objective.value(x + step * e) - objective.value(x - step * e)) / (2 * step)
            for e in np.eye(objective.dim)
        ]
    )
    gradient = objective.evaluate(x).gradient
    assert np.linalg.norm(numeric - gradient) <= 1e-6 * np.linalg.norm(gradient)


def test_value_and_gradient_are_those_of_evaluate(objective, rng):
    x = rng.standard_normal(objective.dim)
    evaluation = objective.evaluate(x)
    assert objective.value(x) == pytest.approx(evaluation.value, rel=1e-14)
    np.testing.assert_array_equal(objective.gradient(x), evaluation.gradient)


def test_gradients_of_single_samples_average_to_the_full_gradient(objective, rng):
    x = rng.standard_normal(objective.dim)
    singles = [objective.batch_gradient(x, np.array([i])) for i in range(objective.n_samples)]
    np.testing.assert_allclose(np.mean(singles, axis=0), objective.gradient(x), rtol=1e-10, atol=1e-12)


def test_batch_gradient_is_the_mean_over_the_batch_with_repeats(objective, rng):
    x, batch = rng.standard_normal(objective.dim), _batch(objective, rng)
    batch[1] = batch[0]
    singles = [objective.batch_gradient(x, batch[i : i + 1]) for i in range(len(batch))]
    np.testing.assert_allclose(
        np.mean(singles, axis=0), objective.batch_gradient(x, batch), rtol=1e-10, atol=1e-12
    )


def test_no_batch_means_all_samples(objective, rng):
    x, anchor = rng.standard_normal((2, objective.dim))
    np.testing.assert_allclose(
        objective.batch_gradient(x, None), objective.gradient(x), rtol=1e-12, atol=1e-14
    )
    change = objective.gradient(x) - objective.gradient(anchor)
    slopes = objective.evaluate(anchor).slopes
    np.testing.assert_allclose(objective.batch_gradient(x, None, anchor), change, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        objective.batch_gradient(x, None, anchor, slopes), change, rtol=1e-10, atol=1e-12
    )


def test_kept_slopes_and_recomputed_ones_give_the_same_anchor_difference(objective, rng):
    x, anchor = rng.standard_normal((2, objective.dim))
    batch, slopes = _batch(objective, rng), objective.evaluate(anchor).slopes
    expected = objective.batch_gradient(x, batch) - objective.batch_gradient(anchor, batch)
    np.testing.assert_allclose(objective.batch_gradient(x, batch, anchor), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        objective.batch_gradient(x, batch, anchor, slopes), expected, rtol=1e-10, atol=1e-12
    )


def test_results_are_fresh_float64_arrays(objective, rng):
    x, anchor = rng.standard_normal((2, objective.dim))
    slopes, batch = objective.evaluate(anchor).slopes, _batch(objective, rng)
    for arguments in ((x, None), (x, batch), (x, batch, anchor), (x, batch, anchor, slopes)):
        before = objective.batch_gradient(*arguments)
        assert before.dtype == np.float64
        kept = before.copy()
        before += 1.0
        np.testing.assert_array_equal(objective.batch_gradient(*arguments), kept)


def test_points_are_left_alone(objective, rng):
    x, anchor = rng.standard_normal((2, objective.dim))
    kept = x.copy(), anchor.copy()
    evaluation = objective.evaluate(anchor)
    slopes = None if evaluation.slopes is None else evaluation.slopes.copy()
    objective.batch_gradient(x, _batch(objective, rng), anchor, evaluation.slopes)
    objective.batch_gradient(x, None, anchor, evaluation.slopes)
    np.testing.assert_array_equal((x, anchor), kept)
    if slopes is not None:
        np.testing.assert_array_equal(evaluation.slopes, slopes)


def test_no_gradient_changes_faster_than_the_smoothness_constants(objective, rng):
    s = objective.smoothness
    assert s.convexity <= s.full <= s.maximum
    for x, y in _pairs(objective, rng):
        distance = np.linalg.norm(x - y)
        assert np.linalg.norm(objective.gradient(x) - objective.gradient(y)) <= s.full * distance * (1 + 1e-9)
        for i in rng.integers(0, objective.n_samples, 5):
            change = objective.batch_gradient(x, np.array([i]), y)
            assert np.linalg.norm(change) <= s.maximum * distance * (1 + 1e-9)


def test_strong_convexity_is_a_lower_bound(objective, rng):
    mu = objective.smoothness.convexity
    for x, y in _pairs(objective, rng):
        growth = (objective.gradient(x) - objective.gradient(y)) @ (x - y)
        assert growth >= mu * np.sum((x - y) ** 2) * (1 - 1e-9)


def test_kind_is_plain_settings_that_survive_a_weight(objective):
    kind = objective.kind()
    assert {type(name) for name in kind} == {str}
    assert {type(value) for value in kind.values()} <= {str, float, int, bool}
    assert Weighted(objective, 0.5).kind() == kind


def test_no_objective_of_the_suite_looks_as_if_it_were_not_convex(objective):
    assert objective.convex and objective.nonconvexity == ""


def test_smoothness_is_deterministic_and_computed_once(objective):
    assert objective.smoothness is objective.smoothness


def test_walk_with_all_samples_and_no_anchor_is_gradient_descent(objective, rng):
    start = 0.1 * rng.standard_normal(objective.dim)
    eta = 0.5 / objective.smoothness.full
    walked = objective.descend(Walk(start, steps=4, step_size=eta, batches=None))
    x = start.copy()
    for _ in range(4):
        x -= eta * objective.gradient(x)
    np.testing.assert_allclose(walked.end, x, rtol=1e-12, atol=1e-14)
    assert walked.gradients == 4 * objective.n_samples


@pytest.mark.parametrize("all_samples", [True, False], ids=["all samples", "batches"])
def test_every_step_of_a_walk_with_pieces_ends_with_their_prox(objective, rng, all_samples):
    p, eta = objective.dim, 0.2 / objective.smoothness.maximum
    start, shift = 0.1 * rng.standard_normal((2, p))
    pieces = Pieces.of(p, np.where(rng.random(p) < 0.5, -0.05, -np.inf), 0.1, 0.02, 0.1 * rng.random(p))
    batches = None if all_samples else rng.integers(0, objective.n_samples, (6, 3))
    walk = Walk(start, 6, eta, batches, shift=shift, ridge=0.1, pieces=pieces)
    for one in (objective, Weighted(objective, 1.7)):
        x = start.copy()
        for t in range(6):
            g = one.batch_gradient(x, None if all_samples else batches[t]) + shift + 0.1 * x
            x = pieces.prox(x - eta * g, eta)
        walked = one.descend(walk)
        np.testing.assert_allclose(walked.end, x, rtol=1e-11, atol=1e-12)
        assert walked.gradients == one.descend(walk._replace(pieces=None)).gradients


def test_walk_from_the_anchor_is_the_same_with_and_without_slopes(objective, rng):
    anchor = 0.1 * rng.standard_normal(objective.dim)
    evaluation = objective.evaluate(anchor)
    walk = Walk(
        anchor,
        steps=6,
        step_size=0.2 / objective.smoothness.maximum,
        batches=rng.integers(0, objective.n_samples, (6, 3)),
        shift=evaluation.gradient,
        anchor=anchor,
        slopes=evaluation.slopes,
    )
    with_slopes, without = objective.descend(walk), objective.descend(walk._replace(slopes=None))
    np.testing.assert_allclose(with_slopes.end, without.end, rtol=1e-10, atol=1e-12)
    assert with_slopes.gradients == 6 * 3 * objective.cost_of_step(walk)


def _forms(objective):
    return [form for form in FORMS if math.isfinite(objective.second_order.price(form))]


def _hessian(objective, x, batch=None, step=1e-5):
    """Central differences of gradients, which know nothing of second derivatives."""
    moves = step * np.eye(objective.dim)
    changes = [objective.batch_gradient(x + v, batch) - objective.batch_gradient(x - v, batch) for v in moves]
    return np.array(changes) / (2 * step)


def test_second_derivatives_match_central_differences_of_gradients(objective, rng):
    x = 0.3 * rng.standard_normal(objective.dim)
    for batch in (None, _batch(objective, rng)):
        numeric = _hessian(objective, x, batch)
        size = np.abs(numeric).max()
        for form in _forms(objective):
            found = objective.curvature(x, form, batch)
            assert found.dtype == np.float64
            assert found.shape == (length_of(form, objective.dim, objective.second_order.outputs),)
            if form == FULL:
                np.testing.assert_allclose(unpacked(found), numeric, atol=1e-8 * size)
            if form == DIAGONAL:
                np.testing.assert_allclose(found, numeric.diagonal(), atol=1e-8 * size)


def test_second_derivatives_of_a_batch_are_means_over_its_samples_with_repeats(objective, rng):
    x, batch = rng.standard_normal(objective.dim), _batch(objective, rng)
    batch[1] = batch[0]
    everybody = np.arange(objective.n_samples)
    for form in _forms(objective):
        for numbers in (batch, everybody):
            singles = [objective.curvature(x, form, numbers[i : i + 1]) for i in range(len(numbers))]
            together = objective.curvature(x, form, numbers)
            np.testing.assert_allclose(together, np.mean(singles, axis=0), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(objective.curvature(x, form), together, rtol=1e-10, atol=1e-12)


def test_second_derivatives_are_fresh_and_leave_the_point_alone(objective, rng):
    x = rng.standard_normal(objective.dim)
    kept = x.copy()
    for form in _forms(objective):
        found = objective.curvature(x, form)
        before = found.copy()
        found += 1.0
        np.testing.assert_array_equal(objective.curvature(x, form), before)
    np.testing.assert_array_equal(x, kept)


def test_a_weight_multiplies_second_derivatives_and_changes_no_price(objective, rng):
    x, weighted = rng.standard_normal(objective.dim), Weighted(objective, 0.3)
    assert weighted.second_order == objective.second_order
    for form in _forms(objective):
        np.testing.assert_allclose(
            weighted.curvature(x, form), 0.3 * objective.curvature(x, form), rtol=1e-14, atol=0
        )


def test_prices_are_those_of_at_least_a_gradient_and_say_what_there_is(objective, rng):
    second = objective.second_order
    for form in FORMS:
        assert second.price(form) >= 1.0
        if form not in _forms(objective):
            with pytest.raises(NotImplementedError, match=rf'no second derivatives of the form "{form}"'):
                objective.curvature(np.zeros(objective.dim), form)
    assert (KRONECKER in _forms(objective)) == (second.outputs > 1)


def test_a_separable_sum_has_a_diagonal_hessian(objective, rng):
    if objective.second_order.separable:
        x = rng.standard_normal(objective.dim)
        numeric = _hessian(objective, x)
        np.testing.assert_allclose(numeric, np.diag(objective.curvature(x, DIAGONAL)), atol=1e-8)


def test_second_derivatives_fall_no_faster_than_the_concordance_says(objective, rng):
    """H(x + v) - exp(-R ||v||) H(x) has no negative eigenvalue, near and far."""
    rate = objective.second_order.concordance
    if math.isfinite(rate):
        assert FULL in _forms(objective)
        for x, _ in _pairs(objective, rng, 10):
            for length in (0.01, 0.3, 2.0):
                v = rng.standard_normal(objective.dim)
                v *= length / np.linalg.norm(v)
                before, after = (unpacked(objective.curvature(at, FULL)) for at in (x, x + v))
                least = np.linalg.eigvalsh(after - math.exp(-rate * length) * before)[0]
                assert least >= -1e-12 * np.abs(before).max()
