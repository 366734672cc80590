"""The collection of LIBSVM: sparse rows in svmlight's format."""

import os
from pathlib import Path

import numpy as np
from scipy import sparse

from tether.datasets.data import Data
from tether.datasets.download import UnavailableError, download
from tether.datasets.places import cached, given

PAGE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
KINDS = ("binary", "multiclass", "regression")
ENDINGS = ("", ".bz2")


def libsvm(name: str, kind: str = "binary") -> Data:
    """Return a data set of LIBSVM's page, as CSR rows and labels.

    Parameters
    ----------
    name : str
        As on the page, for example "a8a" or "covtype.libsvm.binary.scale".
    kind : {"binary", "multiclass", "regression"}
        The list on the page that it is in.

    Notes
    -----
    TETHER_DATA's folder may hold it as name.svm or name.svm.gz. TETHER_LIBSVM names a mirror of the page.

    Examples
    --------
    >>> X, y = libsvm("w8a")  # doctest: +SKIP
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}.")
    for ending in (".svm.gz", ".svm"):
        path = given(f"{name}{ending}")
        if path is not None:
            return _read(path)
    return _read(_fetched(name, kind))


def a8a() -> Data:
    """Return 22,696 people of a census, 123 traits that are 0 or 1, and whether they earn much (1 or 0).

    Examples
    --------
    >>> X, y = a8a()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (22696, 123)
    """
    X, y = libsvm("a8a")
    return Data(X, (y > 0).astype(np.int64))


def _fetched(name: str, kind: str) -> Path:
    page = os.environ.get("TETHER_LIBSVM", PAGE).rstrip("/")
    kept = [cached("libsvm", kind, name + ending) for ending in ENDINGS]
    for path in kept:
        if path.exists():
            return path
    for path in kept:
        try:
            return download(f"{page}/{kind}/{path.name}", path)
        except UnavailableError as error:
            if error.code != 404:
                raise
    raise ValueError(f"LIBSVM has no {kind} data set {name!r}; see {page}/{kind}.html for those there are.")


def _read(path: Path) -> Data:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path))
    return Data(sparse.csr_array(X), y)
