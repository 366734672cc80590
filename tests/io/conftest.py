"""The same small table in every format."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse
from sklearn.datasets import dump_svmlight_file

NAMES = ("age", "income", "car power", "rooms")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((23, 4)) < 0.4, 0.0, rng.standard_normal((23, 4)).round(6))
    X[0, 3] = 1e-7
    return X, rng.integers(0, 2, 23)


@pytest.fixture
def files(table, tmp_path):
    """Write the table in every format and return the paths by format."""
    X, y = table
    frame = pd.DataFrame(X, columns=NAMES)
    frame["y"] = y
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=7)
    for name in ("t.svm", "bare"):
        dump_svmlight_file(X, y, str(tmp_path / name), zero_based=False)
    dump_svmlight_file(X, y, str(tmp_path / "zero.svm"), zero_based=True)
    np.savez(tmp_path / "t.npz", X=X, y=y, names=NAMES)
    sparse.save_npz(tmp_path / "only.npz", sparse.csr_array(X))
    held = dict(np.load(tmp_path / "only.npz"))
    np.savez(tmp_path / "sparse.npz", **held, y=y)
    np.save(tmp_path / "t.npy", X)
    io.mmwrite(tmp_path / "t.mtx", sparse.csr_array(X))
    io.mmwrite(tmp_path / "dense.mtx", X)
    np.savetxt(tmp_path / "t.txt", X)
    return tmp_path


@pytest.fixture
def written(tmp_path):
    """Return what writes a small file and returns its path."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
