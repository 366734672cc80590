"""Data sets are found in the folder, in the cache or on a server; else one sentence says so."""

import bz2
import gzip
import hashlib
import http.server
import json
import threading
from importlib.resources import files

import numpy as np
import pytest

from tether import datasets
from tether.datasets import arff


@pytest.fixture
def at_home(tmp_path, monkeypatch):
    """A machine without data and with an empty cache."""
    monkeypatch.delenv("TETHER_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def server(monkeypatch):
    """A server on this machine that stands for OpenML and LIBSVM; what it was asked is kept."""
    pages, asked = {}, []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            code, body = pages.get(self.path, (404, b"not here"))
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{running.server_port}"
        monkeypatch.setenv("TETHER_OPENML", address)
        monkeypatch.setenv("TETHER_LIBSVM", address)
        yield pages, asked
        running.shutdown()


def publish(pages, name, table, target, version="status/active/", **more):
    """Have the server know a table as OpenML would."""
    said = {"id": "7", "name": name, "url": "https://www.openml.org/data/v1/download/9/it.arff"}
    said |= {"default_target_attribute": target, "md5_checksum": hashlib.md5(table).hexdigest(), **more}
    found = {"data": {"dataset": [{"did": 7, "name": name, "status": "active"}]}}
    pages[f"/api/v1/json/data/list/data_name/{name}/limit/2/{version}"] = 200, json.dumps(found).encode()
    pages["/api/v1/json/data/7"] = 200, json.dumps({"data_set_description": said}).encode()
    pages["/data/v1/download/9/it.arff"] = 200, table


MIXED = b"""% a comment
@RELATION it
@ATTRIBUTE row integer
@ATTRIBUTE 'a length' NUMERIC
@attribute colour {red, 'light blue'}
@attribute class {no,yes}
@DATA
1, 0.5, red, yes
2, ?, 'light blue', no

3, -2e1, red, no
"""


def test_what_openml_has_becomes_numbers_once(at_home, server):
    pages, asked = server
    publish(pages, "it", MIXED, "class", row_id_attribute="row")
    X, y = datasets.openml("it")
    np.testing.assert_array_equal(X, [[0.5, 1, 0], [np.nan, 0, 1], [-20, 1, 0]])
    np.testing.assert_array_equal(y, [1, 0, 0])
    assert y.dtype == np.int64
    asked.clear()
    again = datasets.openml("it")
    np.testing.assert_array_equal(again.X, X)
    assert asked == []


def test_real_answers_of_openml_are_read(at_home, server):
    pages, _ = server
    folder = files("sklearn.datasets.tests.data.openml.id_61")

    def stored(name):
        return 200, gzip.decompress(folder.joinpath(name).read_bytes())

    pages["/api/v1/json/data/list/data_name/iris/limit/2/data_version/1"] = stored(
        "api-v1-jdl-dn-iris-l-2-dv-1.json.gz"
    )
    pages["/api/v1/json/data/61"] = stored("api-v1-jd-61.json.gz")
    pages["/data/v1/download/61/iris.arff"] = stored("data-v1-dl-61.arff.gz")
    X, y = datasets.openml("iris", version=1)
    from sklearn.datasets import load_iris

    assert (
        X.shape == (150, 4) and np.abs(X - load_iris().data).max() < 0.6
    )  # a few cells differ in the source
    np.testing.assert_array_equal(y, load_iris().target)


def test_a_damaged_file_is_refused_and_leaves_nothing(at_home, server):
    pages, _ = server
    publish(pages, "it", MIXED, "class")
    pages["/data/v1/download/9/it.arff"] = 200, MIXED.replace(b"0.5", b"0.6")
    with pytest.raises(OSError, match="arrived damaged: its checksum"):
        datasets.openml("it")
    assert list((at_home / "cache").rglob("*.*")) == []


def test_an_unknown_name_is_said(at_home, server):
    pages, _ = server
    pages["/api/v1/json/data/list/data_name/nil/limit/2/status/active/"] = 412, b"no results"
    with pytest.raises(ValueError, match="OpenML has no data set named 'nil'"):
        datasets.openml("nil")
    with pytest.raises(ValueError, match="LIBSVM has no binary data set 'nil'"):
        datasets.libsvm("nil")


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist", "a8a"])
def test_without_a_network_one_sentence_says_what_to_do(at_home, monkeypatch, name):
    monkeypatch.setenv("TETHER_OPENML", "http://127.0.0.1:9")
    monkeypatch.setenv("TETHER_LIBSVM", "http://127.0.0.1:9")
    with pytest.raises(OSError, match=r"cannot be reached .* set TETHER_DATA"):
        getattr(datasets, name)()


def idx(header, numbers):
    return gzip.compress(bytes(header) + np.asarray(numbers, dtype=np.uint8).tobytes())


def test_images_are_read_from_the_folder(at_home, monkeypatch):
    folder = at_home / "data" / "mnist"
    folder.mkdir(parents=True)
    pixels = np.arange(3 * 784) % 256
    (folder / "train-images-idx3-ubyte.gz").write_bytes(idx(16, pixels))
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(idx(8, [5, 0, 4]))
    monkeypatch.setenv("TETHER_DATA", str(at_home / "data"))
    X, y = datasets.mnist()
    np.testing.assert_array_equal(X, pixels.reshape(3, 784) / 255)
    np.testing.assert_array_equal(y, [5, 0, 4])
    assert datasets.mnist().first(2).X.shape == (2, 784)
    with pytest.raises(ValueError, match="between 1 and 3"):
        datasets.mnist().first(4)


def test_images_come_from_openml_where_the_folder_has_none(at_home, server, monkeypatch):
    pages, _ = server
    monkeypatch.setattr(datasets.images, "TRAINING", 2)
    table = "@attribute p1 real\n@attribute p2 real\n@attribute class {0,1,2}\n@data\n"
    table += "0,255,1\n51,0,0\n102,1,2\n"
    publish(pages, "mnist_784", table.encode(), "class", "data_version/1")
    X, y = datasets.mnist()
    np.testing.assert_array_equal(X, [[0, 1], [0.2, 0]])
    np.testing.assert_array_equal(y, [1, 0])
    assert datasets.mnist("test").y.tolist() == [2]


def test_libsvm_is_asked_once_also_for_packed_files(at_home, server):
    pages, asked = server
    pages["/binary/tiny.bz2"] = 200, bz2.compress(b"+1 1:0.5 3:2\n-1 2:1\n")
    X, y = datasets.libsvm("tiny")
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 2], [0, 1, 0]])
    assert y.tolist() == [1, -1] and asked == ["/binary/tiny", "/binary/tiny.bz2"]
    datasets.libsvm("tiny")
    assert len(asked) == 2


def test_the_folder_has_to_exist(monkeypatch):
    monkeypatch.setenv("TETHER_DATA", "/no/such/folder")
    with pytest.raises(FileNotFoundError, match="TETHER_DATA must name a folder that exists"):
        datasets.a8a()


def test_packages_are_only_in_the_folder(at_home):
    with pytest.raises(FileNotFoundError, match="set TETHER_DATA to a folder that holds debian_packages_X"):
        datasets.debian_packages()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("@attribute a real\n", "no @data line"),
        ("@attribute a string\n@data\n", "column 'a' holds strings"),
        ("@attribute a real\n@data\n1,2\n", "a row has 2 cells and should have 1"),
        ("@attribute a {x,y}\n@data\nz\n", "'z', which is none of its categories"),
    ],
)
def test_what_is_no_table_is_refused(table, said):
    with pytest.raises(ValueError, match=said):
        arff.read(table.splitlines())


def test_sparse_rows_are_zero_elsewhere():
    table = "@attribute a real\n@attribute b {u,v}\n@attribute c real\n@data\n{0 2.5,1 v}\n{2 -1}\n"
    np.testing.assert_array_equal(arff.read(table.splitlines()).numbers, [[2.5, 1, 0], [0, 0, -1]])
