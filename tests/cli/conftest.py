"""A small problem in files, and the command line in this process."""

import json
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse
from sklearn.datasets import dump_svmlight_file

from tether.cli import main

COLUMNS = ("age_30", "age_40", "age_50", "income")


class Told(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(scope="session")
def sample():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 4)).round(3)
    noise = rng.standard_normal(120)
    z = X @ [0.6, 0.4, 0.5, -1.0] + 0.3
    return pd.DataFrame(X, columns=COLUMNS).assign(
        y=(z + noise > 0).astype(int),
        kind=np.where(z + noise > 1, "good", np.where(z > -1, "fair", "bad")),
        number=(z + noise).round(4),
        count=rng.poisson(np.exp(np.clip(z, -2, 2))),
        years=rng.uniform(0.5, 2.0, 120).round(2),
    )


@pytest.fixture
def folder(sample, tmp_path, monkeypatch):
    """A folder to work in, with the problem in several formats."""
    monkeypatch.chdir(tmp_path)
    X = sample[list(COLUMNS)].to_numpy()
    sample.to_csv("t.csv", index=False)
    sample.to_parquet("t.parquet")
    dump_svmlight_file(X, sample["y"], "t.svm", zero_based=False)
    np.savez("t.npz", X=X, y=sample["y"], names=COLUMNS, years=sample["years"])
    io.mmwrite("X.mtx", sparse.csr_array(X))
    np.savetxt("y.txt", sample["y"])
    io.mmwrite("A.mtx", sparse.csr_array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]))
    np.savetxt("b.txt", [0.0, 0.5])
    return tmp_path


@pytest.fixture
def tether_solve(folder, capsys):
    """Run `tether solve` in this process, quietly, with its answer as JSON."""

    def run(*words: str, data: tuple[str, ...] = ("--data", "t.svm"), json: bool = True) -> Told:
        capsys.readouterr()
        try:
            code = main(["solve", *data, *words, *(("--json", "--quiet") if json else ())])
        except SystemExit as leaving:
            code = leaving.code
        return Told(code, *capsys.readouterr())

    return run
