"""Every format gives the same rows, whole or in shares."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from tether.io import Choice, Share, opening, read_data, read_matrix, read_vector

NAMES = ("age", "income", "car power", "rooms")
TABLES = ["t.csv", "t.tsv", "t.csv.gz", "t.parquet"]
WITH_TARGET = ["t.svm", "bare", "zero.svm", "t.npz", "sparse.npz"]
WITHOUT = ["only.npz", "t.npy", "t.mtx", "dense.mtx", "t.txt"]


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def target_of(name):
    return Choice(aside=("y",)) if name in TABLES else Choice()


@pytest.mark.parametrize("name", [*TABLES, *WITH_TARGET, *WITHOUT])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_format_holds_the_same_rows_whole_or_in_shares(name, count, table, files):
    X, y = table
    parts = [read_data(files / name, target_of(name), Share(k, count)) for k in range(count)]
    facts = [part.facts for part in parts]
    parts = [part.among(facts) for part in parts]
    np.testing.assert_array_equal(np.vstack([dense(part.X) for part in parts]), X)
    if name in TABLES:
        np.testing.assert_array_equal(np.concatenate([part.columns["y"] for part in parts]), y)
    elif name in WITH_TARGET:
        np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), y)
    else:
        assert parts[0].y is None
    named = name in (*TABLES, "t.npz")
    counted = {"zero.svm": ("x0", "x1", "x2", "x3"), "t.svm": ("x1", "x2", "x3", "x4")}
    assert parts[0].names == (
        NAMES if named else counted.get(name, counted["t.svm"] if name == "bare" else None)
    )


@pytest.mark.parametrize("name", ["t.npz", "t.npy", "t.mtx", "dense.mtx", "only.npz", "t.txt", "t.csv"])
def test_a_matrix_is_read_with_the_names_it_has(name, table, files):
    found = read_matrix(files / name, "X")
    entries = dense(found.entries)
    np.testing.assert_array_equal(entries[:, :4], table[0])
    assert found.names == ((*NAMES, "y") if name == "t.csv" else None)


@pytest.mark.parametrize("seed", range(4))
def test_svmlight_is_read_as_scikit_learn_reads_it(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "BLOCK", 200)  # many blocks
    rng = np.random.default_rng(seed)
    X = sparse.random_array((60, 30), density=0.2, rng=rng, format="csr")
    X.data *= 10.0 ** rng.integers(-300, 300, X.nnz)
    path = tmp_path / "a.svm"
    dump_svmlight_file(X, rng.standard_normal(60), str(path), zero_based=bool(seed % 2), comment="made here")
    mine, (rows, y) = read_data(path), load_svmlight_file(str(path), zero_based=bool(seed % 2))
    assert mine.X.shape == rows.shape and (rows != mine.X).nnz == 0
    np.testing.assert_array_equal(mine.y, y)


def test_svmlight_may_have_comments_queries_blank_lines_and_no_pairs(tmp_path, written):
    text = "# made\n\n1 qid:3 2:0.5 1:2 # first\r\n-1\n  \n+1 3:1e-3\t1:.5"
    data = read_data(written("a.svm", text))
    np.testing.assert_array_equal(dense(data.X), [[2, 0.5, 0], [0, 0, 0], [0.5, 0, 1e-3]])
    assert data.y.tolist() == [1, -1, 1]


@pytest.mark.parametrize(
    ("ending", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_files_are_read_and_shared(ending, compress, files, table, written):
    for name in ("t.svm", "t.csv", "t.mtx"):
        path = written(name + ending, compress((files / name).read_bytes()))
        parts = [read_data(path, target_of(name), Share(k, 3)) for k in range(3)]
        rows = np.vstack([dense(part.among([p.facts for p in parts]).X) for part in parts])
        np.testing.assert_array_equal(rows, table[0])


def test_columns_are_set_aside_used_and_left_out_by_name(files, table):
    for name in ("t.csv", "t.parquet"):
        data = read_data(files / name, Choice(aside=("y", "age"), left_out=("car*",)))
        assert data.names == ("income", "rooms") and set(data.columns) == {"y", "age"}
        np.testing.assert_array_equal(data.X, table[0][:, [1, 3]])
        assert read_data(files / name, Choice(aside=("y",), used=("r*", "age"))).names == ("age", "rooms")
    assert read_data(files / "t.npz", Choice(left_out=("car power",))).names == ("age", "income", "rooms")


def test_a_column_set_aside_may_hold_texts_and_is_numbers_only_if_it_is_everywhere(tmp_path, written):
    path = written("t.csv", 'x,kind\n1,1\n2,"2"\n3,"a,b"\n4,1\n')
    assert read_data(path, Choice(aside=("kind",))).columns["kind"].tolist() == ["1", "2", "a,b", "1"]
    parts = [read_data(path, Choice(aside=("kind",)), Share(k, 2)) for k in range(2)]
    kinds = [part.among([p.facts for p in parts]).columns["kind"].dtype.kind for part in parts]
    assert kinds == ["U", "U"]


def test_csv_may_have_quotes_blank_lines_a_mark_and_windows_ends(tmp_path, written):
    text = '\ufeff"age, in years";b\r\n"1.5";2\r\n\r\n3;-4e2\r\n'
    data = read_data(written("t.csv", text))
    assert data.names == ("age, in years", "b") and data.X.tolist() == [[1.5, 2.0], [3.0, -400.0]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("b.txt", "1\n-inf\n\n2.5\n"),
        ("b.csv", "b\n1\n2\n3\n"),
        ("b", "1\n2\n3"),
    ],
)
def test_vectors_are_a_number_a_line(name, content, tmp_path, written):
    assert read_vector(written(name, content)).tolist() in ([1, -np.inf, 2.5], [1, 2, 3])


def test_vectors_of_numpy_and_matrix_market(tmp_path):
    from scipy import io

    np.save(tmp_path / "b.npy", [1.0, 2.0])
    np.savez(tmp_path / "b.npz", b=[1.0, 2.0], other=[3.0])
    io.mmwrite(tmp_path / "b.mtx", np.array([[1.0], [2.0]]))
    for name in ("b.npy", "b.npz", "b.mtx"):
        assert read_vector(tmp_path / name).tolist() == [1.0, 2.0]


def test_labels_may_be_texts(tmp_path, written):
    path = written("y.txt", "yes\nno\nyes\n")
    assert read_vector(path, texts=True).tolist() == ["yes", "no", "yes"]
    with pytest.raises(ValueError, match="line 1: 'yes' is no number"):
        read_vector(path)
