"""Dividing samples over workers: nothing lost, nothing twice, nobody empty, and as unequal as asked."""

import doctest
import math

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether import splits

NAN = float("nan")
DIGITS = np.repeat(np.arange(10), 30)

steady = settings(deadline=None, derandomize=True)
seeds = st.integers(0, 2**32)
label_lists = st.one_of(
    st.lists(st.integers(-3, 4), min_size=1, max_size=60),
    st.lists(st.sampled_from(["cat", "dog", "eel"]), min_size=1, max_size=60),
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=30),
)


@st.composite
def labels_and_workers(draw):
    y = draw(label_lists)
    return y, draw(st.integers(1, len(y)))


def assert_divides(parts, n_samples, n_workers):
    assert len(parts) == n_workers
    assert all(len(part) > 0 and part.dtype == np.int64 for part in parts)
    assert all((np.diff(part) > 0).all() for part in parts)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n_samples))


def assert_same(first, second):
    assert [part.tolist() for part in first] == [part.tolist() for part in second]


def sizes_of(parts):
    return [len(part) for part in parts]


def classes_of(parts, y):
    return [len(np.unique(np.asarray(y)[part])) for part in parts]


# --- every split divides the samples ---------------------------------------------------------------------


@steady
@given(st.integers(1, 80), st.data(), seeds)
def test_iid_divides_evenly_and_repeats(n_samples, data, seed):
    n_workers = data.draw(st.integers(1, n_samples))
    parts = splits.iid(n_samples, n_workers, seed)
    assert_divides(parts, n_samples, n_workers)
    assert max(sizes_of(parts)) - min(sizes_of(parts)) <= 1
    assert_same(parts, splits.iid(n_samples, n_workers, seed))


@steady
@given(labels_and_workers(), seeds)
def test_sorting_by_label_divides_evenly_in_order_and_repeats(case, seed):
    y, n_workers = case
    parts = splits.by_label(y, n_workers, seed=seed)
    assert_divides(parts, len(y), n_workers)
    assert max(sizes_of(parts)) - min(sizes_of(parts)) <= 1
    assert [label for part in parts for label in sorted(y[i] for i in part)] == sorted(y)
    assert_same(parts, splits.by_label(y, n_workers, seed=seed))


@steady
@given(labels_and_workers(), st.integers(0, 3), seeds)
def test_classes_each_is_never_exceeded_and_repeats(case, spare, seed):
    y, n_workers = case
    classes_each = math.ceil(len(np.unique(y)) / n_workers) + spare
    parts = splits.by_label(y, n_workers, classes_each, seed)
    assert_divides(parts, len(y), n_workers)
    assert max(classes_of(parts, y)) <= classes_each
    assert_same(parts, splits.by_label(y, n_workers, classes_each, seed))


@steady
@given(labels_and_workers(), st.floats(min_value=0, exclude_min=True, allow_infinity=False), seeds)
def test_dirichlet_divides_at_any_alpha_and_repeats(case, alpha, seed):
    y, n_workers = case
    parts = splits.dirichlet(y, n_workers, alpha, seed)
    assert_divides(parts, len(y), n_workers)
    assert_same(parts, splits.dirichlet(y, n_workers, alpha, seed))


@steady
@given(label_lists)
def test_a_column_gives_one_worker_a_value_in_sorted_order(column):
    parts = splits.by_column(column)
    assert_divides(parts, len(column), len(set(column)))
    for value, part in zip(np.unique(column), parts, strict=True):
        np.testing.assert_array_equal(part, np.flatnonzero(np.asarray(column) == value))


@pytest.mark.parametrize(
    "split",
    [
        lambda seed: splits.iid(300, 10, seed),
        lambda seed: splits.by_label(DIGITS, 20, seed=seed),
        lambda seed: splits.by_label(DIGITS, 10, 2, seed),
        lambda seed: splits.dirichlet(DIGITS, 10, 0.5, seed),
    ],
    ids=["iid", "sorted", "classes_each", "dirichlet"],
)
def test_another_seed_gives_another_split(split):
    with pytest.raises(AssertionError):
        assert_same(split(0), split(1))


# --- as unequal as asked ---------------------------------------------------------------------------------


def test_sorting_by_label_gives_each_worker_its_own_digit():
    assert_same(splits.by_label(DIGITS, 10), np.arange(300).reshape(10, 30))


@pytest.mark.parametrize("classes_each", [1, 2, 5, 10])
def test_equal_classes_give_equal_workers_with_exactly_so_many_classes(classes_each):
    parts = splits.by_label(DIGITS, 10, classes_each)
    assert sizes_of(parts) == [30] * 10 and classes_of(parts, DIGITS) == [classes_each] * 10


def test_a_larger_class_goes_to_more_workers():
    y = np.repeat([0, 1], [900, 100])
    assert sorted(sizes_of(splits.by_label(y, 10, 1))) == [100] * 10


def test_any_two_classes_can_meet_on_a_worker():
    met = set()
    for seed in range(100):
        for part in splits.by_label(np.repeat(np.arange(4), 4), 4, 2, seed):
            met.add(tuple(np.unique(part // 4)))
    assert met == {(i, j) for i in range(4) for j in range(i + 1, 4)}


def test_more_classes_each_than_there_are_gives_everyone_all():
    assert classes_of(splits.by_label(DIGITS, 7, 99), DIGITS) == [10] * 7


def test_a_rare_class_reaches_everyone_when_there_is_room():
    y = np.repeat([0, 1], [900, 7])
    assert classes_of(splits.by_label(y, 7, 2), y) == [2] * 7


def test_a_tiny_alpha_gives_each_class_to_one_worker():
    counts = splits.describe(splits.dirichlet(DIGITS, 3, 1e-9), DIGITS).counts
    assert (counts == 30).sum() >= 8  # at most two workers had to be fed


def test_a_huge_alpha_gives_everyone_the_same_mixture():
    described = splits.describe(splits.dirichlet(DIGITS, 10, 1e308), DIGITS)
    np.testing.assert_array_equal(described.counts, 3)


def test_workers_grow_apart_as_alpha_falls():
    far = [
        np.mean([splits.describe(splits.dirichlet(DIGITS, 5, a, s), DIGITS).distances for s in range(20)])
        for a in (0.01, 0.1, 1.0, 10.0, 100.0)
    ]
    assert all(np.diff(far) < -0.02)


def test_the_shares_of_a_class_have_the_variance_of_the_dirichlet_distribution():
    y, n, alpha = np.zeros(1000, dtype=int), 4, 2.0
    shares = np.array([sizes_of(splits.dirichlet(y, n, alpha, seed)) for seed in range(500)]) / 1000
    np.testing.assert_allclose(shares.mean(axis=0), 1 / n, atol=0.03)
    np.testing.assert_allclose(shares.var(axis=0), (n - 1) / (n**2 * (n * alpha + 1)), rtol=0.25)


def test_single_samples_of_many_classes_reach_every_worker_alike():
    sizes = sizes_of(splits.dirichlet(np.arange(4000), 4, 1e6))
    np.testing.assert_allclose(sizes, 1000, atol=150)


def test_a_fed_worker_takes_one_sample_from_the_largest():
    sizes = sorted(sizes_of(splits.dirichlet(np.zeros(20), 5, 1e-12)))
    assert sizes == [1, 1, 1, 1, 16]


# --- what is accepted ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        pandas.Series(["b", "a", "b"], index=[7, 8, 9]),
        pandas.Series(pandas.Categorical(["b", "a", "b"])),
        np.array(["b", "a", "b"], dtype=object),
        np.array(["2021", "2020", "2021"], dtype="datetime64[Y]"),
        (True, False, True),
    ],
    ids=["series", "categorical", "objects", "dates", "booleans"],
)
def test_columns_of_any_sortable_kind_are_accepted(column):
    assert_same(splits.by_column(column), [np.array([1]), np.array([0, 2])])


def test_numpy_numbers_serve_as_counts():
    assert_same(splits.iid(np.int64(9), np.int32(2), np.uint8(3)), splits.iid(9, 2, 3))


# --- the description -------------------------------------------------------------------------------------


def test_the_description_counts_labels_and_measures_total_variation():
    described = splits.describe([[0, 1, 2], [3]], ["a", "a", "b", "b"])
    assert described.sizes.tolist() == [3, 1] and described.labels.tolist() == ["a", "b"]
    assert described.counts.tolist() == [[2, 1], [0, 1]]
    np.testing.assert_allclose(described.distances, [1 / 6, 1 / 2])


@steady
@given(labels_and_workers(), seeds)
def test_the_description_agrees_with_plain_counting(case, seed):
    y, n_workers = case
    parts = splits.dirichlet(y, n_workers, 0.5, seed)
    described = splits.describe(parts, y)
    for k, part in enumerate(parts):
        held = [y[i] for i in part]
        here = np.array([held.count(label) for label in described.labels])
        whole = np.array([y.count(label) for label in described.labels])
        assert described.counts[k].tolist() == here.tolist()
        far = np.maximum(here / len(held) - whole / len(y), 0).sum()
        np.testing.assert_allclose(described.distances[k], far, atol=1e-12)


def test_without_labels_only_the_sizes_are_told():
    described = splits.describe(splits.iid(5, 2))
    assert described[1:] == (None, None, None)
    assert str(described) == "worker  samples\n     0        3\n     1        2\n   all        5"


def test_many_classes_are_only_counted_in_the_printed_table():
    lines = str(splits.describe([[0, 1, 2], range(3, 20)], np.arange(20))).splitlines()
    assert lines[0].split() == ["worker", "samples", "distance", "classes"]
    assert [line.split()[-1] for line in lines[1:]] == ["3", "17", "20"]


@pytest.mark.parametrize("module", [splits.division, splits.description])
def test_the_examples_of_the_module_run_as_printed(module):
    results = doctest.testmod(module, raise_on_error=True)
    assert results.failed == 0 and results.attempted > 0


# --- mistakes --------------------------------------------------------------------------------------------

RAGGED = [[1, 2], [3]]
MIXED = np.array([1, "a", 2], dtype=object)
MISTAKES = {
    "no samples": (lambda: splits.iid(0, 1), "n_samples", "whole number >= 1"),
    "half a sample": (lambda: splits.iid(2.5, 1), "n_samples", "2.5"),
    "no workers": (lambda: splits.iid(5, 0), "n_workers", "whole number >= 1"),
    "true workers": (lambda: splits.iid(5, True), "n_workers", "True"),
    "float workers": (lambda: splits.dirichlet(DIGITS, 2.0, 1.0), "n_workers", "2.0"),
    "crowded iid": (lambda: splits.iid(3, 5), "n_workers", "5 workers for 3 samples", "fewer"),
    "crowded labels": (lambda: splits.by_label([1, 2], 3), "n_workers", "3 workers for 2 samples"),
    "crowded dirichlet": (lambda: splits.dirichlet([1, 2], 3, 1.0), "n_workers", "fewer"),
    "negative seed": (lambda: splits.iid(5, 2, -1), "seed", "-1"),
    "no seed": (lambda: splits.by_label(DIGITS, 2, seed=None), "seed", "None"),
    "zero alpha": (lambda: splits.dirichlet(DIGITS, 2, 0), "alpha", "number > 0"),
    "negative alpha": (lambda: splits.dirichlet(DIGITS, 2, -0.5), "alpha", "-0.5"),
    "nan alpha": (lambda: splits.dirichlet(DIGITS, 2, NAN), "alpha", "nan"),
    "infinite alpha": (lambda: splits.dirichlet(DIGITS, 2, math.inf), "alpha", "finite"),
    "alpha in words": (lambda: splits.dirichlet(DIGITS, 2, "0.5"), "alpha", "'0.5'"),
    "no classes": (lambda: splits.by_label(DIGITS, 2, 0), "classes_each", "whole number >= 1"),
    "no room": (lambda: splits.by_label(DIGITS, 3, 2), "classes_each", "at least 4", "more workers"),
    "table as y": (lambda: splits.by_label(np.eye(3), 2), "y", "shape (3, 3)", "single column"),
    "number as y": (lambda: splits.dirichlet(7, 1, 1.0), "y", "one-dimensional"),
    "ragged y": (lambda: splits.by_label(RAGGED, 2), "y", "unequal length"),
    "empty y": (lambda: splits.by_label([], 1), "y", "at least one"),
    "missing label": (lambda: splits.dirichlet([1.0, NAN], 1, 1.0), "y[1]", "missing", "drop"),
    "nan": (lambda: splits.by_column(np.array([1.0, NAN])), "column[1]", "nan", "drop"),
    "nan among words": (lambda: splits.by_column(["a", NAN]), "column[1]", "nan"),
    "none": (lambda: splits.by_column(["a", None]), "column[1]", "None"),
    "pandas gap": (lambda: splits.by_column(pandas.Series([1, None], dtype="Int64")), "column[1]", "NA"),
    "no date": (lambda: splits.by_column(np.array(["2020", "NaT"], dtype="M8[D]")), "column[1]", "missing"),
    "masked": (lambda: splits.by_column(np.ma.array([1, 2], mask=[0, 1])), "column", "mask", "drop"),
    "mixed": (lambda: splits.by_column(MIXED), "column", "convert it to strings"),
    "number as parts": (lambda: splits.describe(3), "parts", "list of index arrays"),
    "no parts": (lambda: splits.describe([]), "parts", "at least one"),
    "flat parts": (lambda: splits.describe([0, 1]), "parts[0]", "one index array a worker"),
    "empty part": (lambda: splits.describe([[0], []]), "parts[1]", "non-empty"),
    "mask as part": (lambda: splits.describe([[True, False]]), "parts[0]", "bool"),
    "ragged part": (lambda: splits.describe([RAGGED]), "parts[0]", "unequal length"),
    "other y": (lambda: splits.describe([[0], [1, 2]], [5, 5]), "parts[1]", "holds 2", "2 samples"),
    "negative index": (lambda: splits.describe([[-1]], [5, 5]), "parts[0]", "holds -1"),
}


@pytest.mark.parametrize(("call", "words"), [(c, w) for c, *w in MISTAKES.values()], ids=MISTAKES.keys())
def test_a_mistake_is_refused_in_one_sentence_that_names_the_argument(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message and message.endswith(".") and ". " not in message
    assert message.startswith(words[0]) and all(word in message for word in words), message
