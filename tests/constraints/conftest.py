"""One constraint of every kind, for the conformance suite."""

from typing import NamedTuple

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from tether.constraints import Affine, Consensus, Constraint, Flow, Range, Unconstrained


class Case(NamedTuple):
    constraint: Constraint
    dim: int
    projector: np.ndarray  # the dense matrix of P, found with pinv
    point: np.ndarray  # the shortest feasible point
    transposed: np.ndarray  # A^T: what multipliers are multiplied with to give a normal


def _affine(A, wrap) -> Case:
    x0 = np.random.default_rng(5).standard_normal(A.shape[1])
    pinv = np.linalg.pinv(A, rcond=1e-10)
    return Case(Affine(wrap(A), A @ x0), A.shape[1], np.eye(A.shape[1]) - pinv @ A, pinv @ A @ x0, A.T)


def _range(D, wrap) -> Case:
    projector = D @ np.linalg.pinv(D, rcond=1e-10)
    return Case(Range(wrap(D)), len(D), projector, np.zeros(len(D)), np.eye(len(D)) - projector)


def _aligned_affine(columns, names) -> Case:
    """Equations on some of the variables, in another order than theirs."""
    table = pandas.DataFrame(
        np.random.default_rng(8).standard_normal((3, len(columns))), columns=list(columns)
    )
    A = table.reindex(columns=list(names), fill_value=0.0).to_numpy()
    pinv, b = np.linalg.pinv(A), np.arange(3.0)
    constraint = Affine(table, b).aligned(tuple(names))
    return Case(constraint, len(names), np.eye(len(names)) - pinv @ A, pinv @ b, A.T)


def _aligned_range() -> Case:
    table = pandas.DataFrame(np.random.default_rng(9).standard_normal((5, 2)), index=list("ecabd"))
    plain = _range(table.loc[list("abcde")].to_numpy(), np.asarray)
    return plain._replace(constraint=Range(table).aligned(tuple("abcde")))


def _flow() -> Case:
    edges = np.array([[0, 1], [1, 2], [2, 0], [0, 1], [3, 4], [4, 3], [1, 5], [5, 2]])
    supply = np.array([2.0, -1.0, -3.0, 4.0, -4.0, 2.0, 0.0])  # node 6 has no edges
    B = np.zeros((7, len(edges)))
    for e, (tail, head) in enumerate(edges):
        B[tail, e] += 1
        B[head, e] -= 1
    pinv = np.linalg.pinv(B, rcond=1e-10)
    return Case(Flow(edges, supply), len(edges), np.eye(len(edges)) - pinv @ B, pinv @ supply, B.T)


def _consensus() -> Case:
    block_mean = np.kron(np.full((3, 3), 1 / 3), np.eye(4))
    return Case(Consensus(3), 12, block_mean, np.zeros(12), np.eye(12) - block_mean)


def _matrices() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    wide = rng.standard_normal((4, 11))
    return {
        "wide": wide,
        "nearly square": rng.standard_normal((7, 9)),
        "square": rng.standard_normal((6, 6)),
        "tall": rng.standard_normal((9, 5)),
        "redundant": np.vstack([wide, wide[:2] - 3 * wide[2:], np.zeros(11)]),
        "badly scaled": 10.0 ** rng.uniform(-8, 8, (5, 1)) * rng.standard_normal((5, 10)),
        "empty": np.zeros((0, 4)),
    }


FORMS = {"dense": np.asarray, "sparse": sp.coo_array, "operator": aslinearoperator}

CASES = {
    **{
        f"Affine, {form}, {shape}": (lambda A=A, wrap=wrap: _affine(A, wrap))
        for shape, A in _matrices().items()
        for form, wrap in FORMS.items()
        if not (form == "operator" and shape == "empty")
    },
    **{
        f"Range, {form}, {shape}": (lambda A=A, wrap=FORMS[form]: _range(A.T.copy(), wrap))
        for shape, A in _matrices().items()
        for form in ("dense", "sparse")
        if shape != "empty"
    },
    "Affine, aligned": lambda: _aligned_affine("fbdace", "abcdef"),
    "Affine, aligned with the complement": lambda: _aligned_affine("dacb", "abcd"),
    "Affine, aligned with variables left out": lambda: _aligned_affine("ceb", "abcdef"),
    "Range, aligned": _aligned_range,
    "Flow": _flow,
    "Consensus": _consensus,
    "Unconstrained": lambda: Case(Unconstrained(), 6, np.eye(6), np.zeros(6), np.zeros((6, 0))),
    "Unconstrained of known length": lambda: Case(
        Unconstrained(6), 6, np.eye(6), np.zeros(6), np.zeros((6, 0))
    ),
}


@pytest.fixture(scope="module", autouse=True)
def small_matrices_stay_sparse():
    """Let the matrices here, small as they are, be worked with as large ones are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tether.constraints.algebra.sparse.SMALL_WORK", 0.0)
        yield


@pytest.fixture(scope="module", params=CASES, ids=str)
def case(request) -> Case:
    return CASES[request.param]()


@pytest.fixture(scope="module", params=FORMS, ids=str)
def form(request):
    """A function that gives a dense matrix the form in which a user might have it."""
    return FORMS[request.param]
