"""Files that cannot be read end in one sentence with their name and, where they have lines, the line."""

import gzip

import numpy as np
import pytest
from scipy import sparse

from tether.io import Choice, Share, read_data, read_matrix, read_vector

Y = Choice(aside=("y",))


def said(call):
    with pytest.raises(ValueError) as error:
        call()
    text = str(error.value)
    assert "\n" not in text and text.endswith(".")
    return text


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.svm", "", "is empty."),
        ("a.svm", " \n\n", "is empty."),
        ("a.svm", "# only words\n", "has no samples."),
        ("a.svm", "1 1:2\n1 1:x\n", "line 2: '1:x' has no finite number"),
        ("a.svm", "1 1:2\n\n1 1:nan\n", "line 3: '1:nan' has no finite number"),
        ("a.svm", "1 1:2\n1 1:1e400\n", "line 2: '1:1e400' has no finite number"),
        ("a.svm", "1 1:2\n1 3:\n", "line 2: '3:' is no pair index:value; perhaps the line is not complete."),
        ("a.svm", "1 1:2\n1 3: 4\n", "line 2: '3:' is no pair"),
        ("a.svm", "1 1:2\n1 3\n", "line 2: '3' is no pair"),
        ("a.svm", "1 1:2\n1 -3:2\n", "line 2: '-3:2' is no pair"),
        ("a.svm", "1 1:2\n1 1.5:2\n", "line 2: '1.5:2' is no pair"),
        ("a.svm", "1 1:2\n1:3 1:2\n", "line 2: '1:3' is no label"),
        ("a.svm", "1 1:2\n1,2 1:2\n", "line 2: '1,2' is no label; it must be one finite number."),
        ("a.svm", "1 1:2\nnan 1:2\n", "line 2: 'nan' is no label"),
        ("a.svm", "1 1:2 4:1 1:3\n", "line 1: index 1 is there twice"),
        ("a.svm", "1 1:2 99999999999:3\n", "has an index above 2147483647"),
        ("a.csv", "a,b,y\n", "has a header but no rows"),
        ("a.csv", "a,b,y\n1,2,3\n1,2\n", "line 3: there are 2 fields, but the header names 3 columns"),
        ("a.csv", "a,b,y\n1,2,3\n1,2,3,4\n", "line 3: there are 4 fields"),
        ("a.csv", 'a,b,y\n1,"2",3\n1,"2",3,4\n', "line 3: there are 4 fields"),
        ("a.csv", "a,b,y\n1,red,3\n", "line 2: column 'b' holds 'red', which is no number"),
        ("a.csv", "a,b,y\n1,2,3\n\n1,,3\n", "line 4: column 'b' has no value; impute it"),
        ("a.csv", "a,b,y\n1,2,3\n1,NA,3\n", "line 3: column 'b' has no value"),
        ("a.csv", "a,b,y\n1,2,3\n1,nan,3\n", "line 3: column 'b' has no value"),
        ("a.csv", "a,b,y\n1,inf,3\n", "line 2: column 'b' holds 'inf', which is not finite"),
        ("a.csv", "a;b;y\n1;2,5;3\n", "line 2: column 'b' holds '2,5'; write numbers with a point"),
        ("a.csv", "1,2,3\n1,2,3\n", "line 1: there is no header, but numbers"),
        ("a.csv", ",a,y\n0,1,2\n", "column 1 has no name, as the index that pandas writes"),
        ("a.csv", "a,a,y\n0,1,2\n", "has more than one column 'a'"),
        ("a.csv", "a,b\n0,1\n", "has no column 'y'; there are 'a', 'b'"),
        ("a.csv", "y\n1\n", "has no columns left for X; it has 'y'"),
        ("a.csv", b"a,b\xff,y\n1,2,3\n", "line 1: the names are not written in UTF-8"),
        ("a.csv", b"a,b,y\n1,2,3\n1,\xff,3\n", "line 3: not written in UTF-8"),
        ("a.csv", "a,b,y\n1,2,3\n".encode("utf-16"), "is written in UTF-16; save it as UTF-8"),
        ("a.csv", b"PAR1\x00\x00", "is named like CSV but begins like Parquet"),
        ("a.csv", b"\x00\x01\x02", "is named like CSV but does not begin like that"),
        ("a.dat", b"\x00\x01\x02", "has none of the formats that can be read"),
        ("a.npz", "1 1:2\n", "is named like NumPy's .npz but begins like svmlight"),
        ("a.npz", "words", "is named like NumPy's .npz but does not begin like that"),
        ("a.npz", b"PK\x03\x04 and then nothing", "damaged or not complete"),
        ("a.parquet", b"PAR1 and then nothing", "damaged or not complete"),
        ("a.npy", b"\x93NUMPY and then nothing", "damaged or not complete"),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.0\n",
            "no complete Matrix Market",
        ),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n5 1 1.0\n",
            "no complete Matrix Market",
        ),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 nan\n",
            "row 1, column 2 is not finite",
        ),
        ("a.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n", "complex numbers"),
        ("a.mtx", "1 2 3\n", "is named like Matrix Market but does not begin like that"),
        ("a.csv.gz", b"a,b,y\n1,2,3\n", "cannot be decompressed"),
        ("a.csv.bz2", b"a,b,y\n1,2,3\n", "cannot be decompressed"),
        ("a.csv.xz", b"a,b,y\n1,2,3\n", "cannot be decompressed"),
        ("a.txt", "1 2\n3\n", "has lines with 1 and with 2 numbers"),
        ("a.txt", "1 2\n3 x\n", "line 2: 'x' is no number"),
    ],
)
def test_a_bad_file_is_refused_in_a_sentence(name, content, words, tmp_path, written):
    path = written(name, content)
    text = said(lambda: read_data(path, Y if name.startswith("a.csv") else Choice()))
    assert words in text and str(path) in text


def test_truncated_files_are_refused(tmp_path, written):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", X=rng.standard_normal((50, 4)), y=np.ones(50))
    np.save(tmp_path / "a.npy", rng.standard_normal((50, 4)))
    sparse.save_npz(tmp_path / "s.npz", sparse.random_array((50, 50), density=0.2, rng=rng))
    written("a.svm.gz", gzip.compress(b"1 1:2\n" * 10_000))
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
        assert "damaged or not complete" in said(lambda path=path: read_data(path))


def test_a_truncated_parquet_file_is_refused(files):
    path = files / "t.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    assert "damaged or not complete" in said(lambda: read_data(path, Y))


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (
            {"X": np.ones((3, 2)), "y": np.ones(4)},
            "y must have 3 entries, one for each row of X, got shape (4,)",
        ),
        ({"X": np.ones(3)}, "X must be a matrix, got an array of shape (3,)"),
        (
            {"Z": np.ones((3, 2)), "y": np.ones(3)},
            "has no array 'X' and is not of scipy.sparse.save_npz; it holds",
        ),
        ({"X": np.array([["a"]])}, "X must hold real numbers, got dtype <U1"),
        ({"X": np.array([[1.0, np.nan]])}, "row 1, column 2 is not finite"),
        ({"X": np.ones((3, 2)), "names": ["a"]}, "names must be 2 texts"),
        ({"X": np.array([[{}]], dtype=object)}, "holds Python objects, which are not read"),
        ({}, "it is empty"),
    ],
)
def test_an_archive_with_other_arrays_is_refused(arrays, words, tmp_path):
    np.savez(tmp_path / "a.npz", **arrays)
    assert words in said(lambda: read_data(tmp_path / "a.npz"))


def test_columns_of_parquet_must_be_numbers_and_there(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, None], "b": ["x", "y"], "c": [1.0, np.inf], "y": [1, 2]})
    frame.to_parquet(tmp_path / "a.parquet")

    def read(used):
        return said(lambda: read_data(tmp_path / "a.parquet", Choice(aside=("y",), used=(used,))))

    assert "column 'b' holds" in read("b") and "encode" in read("b")
    assert "column 'a' has no value in row 1" in read("a")
    assert "column 'c' holds inf in row 1" in read("c")
    assert "has no column 'bb'; perhaps 'b' is meant" in read("bb")


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    assert "is a folder" in said(lambda: read_data(tmp_path))
    assert "is no file" in said(lambda: read_data(tmp_path / "nothing.csv"))


def test_columns_without_names_cannot_be_chosen(files):
    for name in ("t.svm", "t.npy", "only.npz"):
        assert "name" in said(lambda name=name: read_data(files / name, Choice(left_out=("a",))))


def test_more_processes_than_rows_are_refused_by_those_that_have_none(tmp_path, written):
    path = written("a.svm", "1 1:2\n2 1:3\n")
    assert "for every process" in said(lambda: read_data(path, share=Share(1, 9)))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("b.txt", "1\nx\n", "line 2: 'x' is no number"),
        ("b.csv", "a,b\n1,2\n3,4\n", "must hold one number a row"),
    ],
)
def test_bad_vectors_are_refused(name, content, words, tmp_path, written):
    assert words in said(lambda: read_vector(written(name, content)))


def test_a_matrix_among_several_arrays_needs_its_name(tmp_path):
    np.savez(tmp_path / "a.npz", B=np.ones((1, 2)), C=np.ones((1, 2)))
    assert "has no array 'A'" in said(lambda: read_matrix(tmp_path / "a.npz"))
    assert "none is called 'b'" in said(lambda: read_vector(tmp_path / "a.npz"))
