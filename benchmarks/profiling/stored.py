"""Data of the folder that TETHER_DATA points at."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat
from sklearn.preprocessing import normalize

from profiling.equations import class_sums, dense_rows, sparse_rows
from profiling.generators import flow
from profiling.pieces import Pieces
from tether import datasets


def data_file(*parts: str) -> Path:
    """Return a file of the folder; FileNotFoundError where it is not there."""
    folder = os.environ.get("TETHER_DATA")
    if folder is None:
        raise FileNotFoundError(f"{parts[-1]} is needed: set TETHER_DATA to the folder that holds it")
    path = Path(folder, *parts)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: TETHER_DATA must be the folder that holds it")
    return path


def people(mu: float, equations: int, unit: bool, loss: str = "logistic") -> Pieces:
    """a8a of LIBSVM: 22,696 people, 123 traits that are 0 or 1; rows of length 1 if wanted."""
    X, y = datasets.a8a()
    X = sparse.csr_array(normalize(sparse.csr_matrix(X))) if unit else X
    y = y.astype(float) if loss == "logistic" else 2.0 * y - 1.0
    return Pieces(loss=loss, X=X, y=y, l2=mu / len(y), **dense_rows(equations, X.shape[1], 11))


def text(
    mu: float, rows: int, equations: dict[str, int], loss: str = "logistic", unit: bool = True
) -> Pieces:
    """Package descriptions: every k-th row so that ``rows`` stay, columns that occur in them."""
    X, y = datasets.debian_packages()
    kept = np.linspace(0, X.shape[0] - 1, rows).astype(int)
    X, y = X[kept], (y[kept] > 0).astype(float)
    X = X[:, np.diff(X.tocsc().indptr) > 0]
    X = sparse.csr_array(normalize(X) if unit else X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    y = y if loss == "logistic" else 2.0 * y - 1.0
    few = equations.get("each")
    count = equations.get("count", 0)
    drawn = sparse_rows(count, X.shape[1], few, 12) if few else dense_rows(count, X.shape[1], 12)
    return Pieces(loss=loss, X=X, y=y, l2=mu / rows, **drawn)


def _images(count: int) -> tuple[np.ndarray, np.ndarray]:
    images, labels = datasets.mnist().first(count)
    return np.hstack([images, np.ones((count, 1))]), labels


def mnist(count: int, l2: float, equations: int, sums: bool = False) -> Pieces:
    """Ten digits by 784 pixels and a constant."""
    X, y = _images(count)
    drawn = class_sums(785, 10) if sums else dense_rows(equations, 7850, 13)
    return Pieces(loss="multinomial", X=X, y=y, l2=l2, **drawn)


def mnist_pair(count: int, loss: str, mu: float, equations: int) -> Pieces:
    """Tell digits below 5 from the others."""
    X, y = _images(count)
    labels = (y < 5).astype(float) if loss == "logistic" else y.astype(float)
    return Pieces(loss=loss, X=X, y=labels, l2=mu / count, **dense_rows(equations, 785, 14))


def program(name: str, *, more: bool = True, shift: float = 0.0) -> Pieces:
    """A quadratic program of Maros and Meszaros: its equations without its inequalities and bounds.

    ``shift`` is added to the diagonal of P where F would have no minimum without the bounds.
    """
    data = loadmat(data_file("maros_meszaros_more" if more else "maros_meszaros", f"{name}.mat"))
    lower, upper = np.ravel(data["l"]).astype(float), np.ravel(data["u"]).astype(float)
    P = sparse.csr_array(data["P"]).astype(float)
    P = sparse.csr_array((P + P.T) / 2.0 + shift * sparse.eye_array(P.shape[0]))
    A = sparse.csr_array(data["A"]).astype(float)[np.flatnonzero(lower == upper)]
    q = np.ravel(data["q"]).astype(float)
    equations: dict[str, Any] = {"A": A, "b": lower[lower == upper]} if A.shape[0] else {}
    return Pieces(loss="quadratic", P=P, q=q, **equations)


def traffic(name: str, loss: str, total: float = 1.0) -> Pieces:
    """Send what the first origin of a road network sends, scaled; roads cost by time over capacity."""
    links = [
        line.split()
        for line in data_file("tntp", f"{name}_net.tntp").read_text().splitlines()
        if line.strip().endswith(";") and not line.startswith(("~", "<"))
    ]
    ends = np.array([[int(link[0]), int(link[1])] for link in links]) - 1
    capacity, minutes = (np.array([float(link[column]) for link in links]) for column in (2, 4))
    supply = np.zeros(ends.max() + 1)
    demand = _first_row(data_file("tntp", f"{name}_trips.tntp").read_text())
    for zone, trips in demand.items():
        supply[zone - 1] -= total * trips / sum(demand.values())
    supply[0] += total
    costs = minutes / capacity
    return flow(loss, ends, supply, costs / costs.mean())


def _first_row(trips: str) -> dict[int, float]:
    first = re.split(r"Origin\s+\d+", trips)[1]
    return {int(zone): float(count) for zone, count in re.findall(r"(\d+)\s*:\s*([\d.]+)\s*;", first)}
