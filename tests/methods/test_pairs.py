"""Curvature pairs, against the two loops as textbooks write them."""

import numpy as np
import pytest

from tether.methods.pairs import Pairs

DIM = 30


def two_loops(triples, gradient, image):
    """Algorithm 7.4 of Nocedal & Wright, with a first guess of which images are at hand."""
    q, r, kept = gradient.copy(), image.copy(), []
    for s, y, z in reversed(triples):
        alpha = (s @ q) / (s @ y)
        q -= alpha * y
        r -= alpha * z
        kept.append(alpha)
    s, y, z = triples[-1]
    r *= (s @ y) / (y @ z)
    for (s, y, _), alpha in zip(triples, reversed(kept), strict=True):
        r += (alpha - (y @ r) / (s @ y)) * s
    return r


def triples_of(count, rng, guess):
    """Return steps, changes of a quadratic's gradient with some error, and their images."""
    matrix = np.diag(np.logspace(0, 3, DIM))
    for _ in range(count):
        s = rng.standard_normal(DIM)
        y = matrix @ s + 0.1 * rng.standard_normal(DIM)
        yield s, y, guess @ y


@pytest.mark.parametrize("count", [1, 2, 7, 12])
@pytest.mark.parametrize("metric", [False, True], ids=["plain", "metric"])
def test_the_inverse_hessian_is_that_of_the_two_loops(count, metric):
    rng, memory = np.random.default_rng(count), 7
    guess = np.diag(np.logspace(0, -2, DIM)) if metric else np.eye(DIM)
    triples, pairs = list(triples_of(count, rng, guess)), Pairs.none(DIM)
    for triple in triples:
        pairs = pairs.followed_by(*triple, memory)
    gradient = rng.standard_normal(DIM)
    found = pairs.inverse(gradient, guess @ gradient)
    expected = two_loops(triples[-memory:], gradient, guess @ gradient)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_the_newest_change_is_mapped_to_its_step():
    pairs, triples = Pairs.none(DIM), list(triples_of(5, np.random.default_rng(0), np.eye(DIM)))
    for triple in triples:
        pairs = pairs.followed_by(*triple, 3)
    step, change, image = triples[-1]
    np.testing.assert_allclose(pairs.inverse(change, image), step, rtol=0, atol=1e-11)


def test_images_that_are_the_changes_are_kept_once():
    pairs, rng = Pairs.none(DIM), np.random.default_rng(0)
    for _ in range(3):
        step, change = rng.standard_normal((2, DIM))
        pairs = pairs.followed_by(step, change, change, 2)
    assert pairs.images is pairs.changes


def test_images_kept_apart_change_no_bit():
    pairs, rng = Pairs.none(DIM), np.random.default_rng(0)
    for step, change, _ in triples_of(4, rng, np.eye(DIM)):
        pairs = pairs.followed_by(step, change, change, 5)
    gradient, apart = rng.standard_normal(DIM), pairs._replace(images=pairs.changes.copy())
    np.testing.assert_array_equal(pairs.inverse(gradient, gradient), apart.inverse(gradient, gradient.copy()))


def test_pairs_before_another_one_stay_as_they_were():
    rng, before = np.random.default_rng(0), Pairs.none(DIM)
    for triple in triples_of(3, rng, np.eye(DIM)):
        before = before.followed_by(*triple, 3)
    copies = [part.copy() for part in before]
    before.followed_by(*next(triples_of(1, rng, np.eye(DIM))), 3)
    for part, copy in zip(before, copies, strict=True):
        np.testing.assert_array_equal(part, copy)


def test_pairs_that_share_their_room_do_not_disturb_each_other():
    rng, dim = np.random.default_rng(0), 5_000
    steps = rng.standard_normal((40, dim))

    def followed(pairs, step):
        return pairs.followed_by(step, 2.0 * step, 3.0 * step, memory=8)

    known = [Pairs.none(dim)]
    for step in steps[:30]:
        known.append(followed(known[-1], step))
    for start in (4, 8, 29):  # histories that part from one another
        one, other = followed(known[start], steps[38]), followed(known[start], steps[39])
        np.testing.assert_array_equal(one.steps[-1], steps[38])
        np.testing.assert_array_equal(other.changes[-1], 2.0 * steps[39])
    for count, pairs in enumerate(known):
        kept = steps[max(0, count - 8) : count]
        for rows, factor in ((pairs.steps, 1.0), (pairs.changes, 2.0), (pairs.images, 3.0)):
            np.testing.assert_array_equal(rows, factor * kept)


def test_pairs_find_room_behind_rows_that_cannot_be_written():
    rng, dim = np.random.default_rng(0), 5_000
    pairs = Pairs.none(dim)
    for step in rng.standard_normal((6, dim)):
        pairs = pairs.followed_by(step, step, step, memory=10)
    pairs.steps.base.setflags(write=False)
    more = pairs.followed_by(np.ones(dim), np.ones(dim), np.ones(dim), memory=10)
    np.testing.assert_array_equal(more.steps, np.vstack([pairs.steps, np.ones(dim)]))
