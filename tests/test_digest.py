"""Digests: equal data has equal ones, and whatever differs has others."""

import os

import numpy as np
import pytest
from scipy import sparse

from tether.digest import digest_of

X = np.arange(12.0).reshape(4, 3)


def _same(first, second):
    return digest_of(first) == digest_of(second)


@pytest.mark.parametrize(
    "changed", [X + np.eye(4, 3) * 1e-15, X.ravel(), X.T, X.astype(np.float32), X[:3], -X]
)
def test_another_array_has_another_digest(changed):
    assert not _same(X, changed)


@pytest.mark.parametrize("equal", [X.copy(), np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]])
def test_the_order_in_memory_does_not_count(equal):
    assert _same(X, equal)


def test_a_digest_is_short_hexadecimal_and_the_same_in_every_process():
    assert digest_of(X, "squared", 0.5, None, (1, True)) == "538c74a6e9e30ce8bb7d694c01cd2cbe"


def test_a_label_that_was_corrected_changes_the_digest():
    y = np.repeat([0, 1], 500_000)
    corrected = y.copy()
    corrected[123_456] = 1
    assert not _same(y, corrected)


def test_sparse_matrices_count_by_shape_numbers_and_places():
    matrix = sparse.csr_array(np.eye(3, 5))
    assert _same(matrix, sparse.coo_array(np.eye(3, 5))) and _same(matrix, sparse.csc_matrix(np.eye(3, 5)))
    for other in (np.eye(3, 6), np.eye(4, 5), 2 * np.eye(3, 5), np.eye(3, 5, k=1)):
        assert not _same(matrix, sparse.csr_array(other))
    assert not _same(matrix, matrix.toarray())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("ab", "c"), ("a", "bc")),
        ((1, 2, 3), (1, (2, 3))),
        ((1,), (1.0,)),
        ((1,), (True,)),
        ((1,), ("1",)),
        ((None,), ("None",)),
        ((None,), ()),
        ((np.zeros(2), np.zeros(1)), (np.zeros(1), np.zeros(2))),
        ((0.1,), (0.1 + 1e-17 + 2e-17,)),
        (("a",), (b"a",)),
    ],
)
def test_parts_do_not_run_together(first, second):
    assert digest_of(*first) != digest_of(*second)


def test_numpy_scalars_count_like_numbers():
    assert _same(np.float64(0.1), 0.1) and _same(np.int32(3), 3) and _same(np.bool_(True), True)


@pytest.mark.parametrize("part", [object(), {"l2": 1}, [1.0], np.array([None, 1]), len])
def test_what_has_no_bytes_of_its_own_is_refused(part):
    with pytest.raises(TypeError, match="parts of a digest must"):
        digest_of(part)


def test_empty_arrays_have_digests():
    assert not _same(np.zeros((0, 3)), np.zeros((3, 0)))
    assert _same(np.zeros((0, 3)), np.zeros((0, 3)))


# --- data mapped from a file -----------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((400, 250)))
    return tmp_path / "data.npy"


def _mapped(path, mode="r"):
    return np.load(path, mmap_mode=mode)


def _written(path, row, keep_time):
    """Change one number of the file."""
    before = os.stat(path)
    data = _mapped(path, "r+")
    data[row, 7] += 1.0
    data.flush()
    del data
    later = 0 if keep_time else 1_000_000_000
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + later))


def test_a_map_has_the_same_digest_again_also_through_a_view(path):
    data = _mapped(path)
    assert _same(data, _mapped(path)) and _same(data, np.asarray(_mapped(path)))
    assert not _same(data, data[:200]) and not _same(data, data[:, :200])


@pytest.mark.parametrize("row", [0, 399])
def test_a_change_in_the_first_or_last_block_is_seen_whatever_the_time_says(path, row):
    before = digest_of(_mapped(path))
    _written(path, row, keep_time=True)
    assert digest_of(_mapped(path)) != before


def test_a_change_anywhere_is_seen_by_the_time_of_the_file(path):
    before = digest_of(_mapped(path))
    _written(path, 201, keep_time=False)
    assert digest_of(_mapped(path)) != before


def test_a_map_is_not_read_in_whole(path):
    before, changed = digest_of(_mapped(path)), 0
    for row in range(400):
        _written(path, row, keep_time=True)
        changed += digest_of(_mapped(path)) != before
        before = digest_of(_mapped(path))
    assert 66 <= changed < 250  # 66 blocks of about two rows each


def test_changes_that_stay_in_memory_count_too(path):
    data = _mapped(path, "c")
    before = digest_of(data)
    data[201, 7] += 1.0
    assert digest_of(data) != before


def test_short_maps_are_read_in_whole(path):
    before = digest_of(_mapped(path)[:100])
    _written(path, 51, keep_time=True)
    assert digest_of(_mapped(path)[:100]) != before
