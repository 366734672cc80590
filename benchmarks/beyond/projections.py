"""How many projections text takes, with 200 dense equations and every mixture of bounds and l1 terms."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds

import tether
from beyond.contest import Contest, Contestant

MIXTURES: dict[str, tuple[list[Any], Any]] = {
    "equations only": ([], None),
    "l1 = 2e-5": ([], tether.L1(2e-5)),
    "l1 = 1e-4": ([], tether.L1(1e-4)),
    "bounds 0.5": ([Bounds(-0.5, 0.5)], None),
    "x >= 0": ([tether.NonNegative()], None),
    "bounds 0.1": ([Bounds(-0.1, 0.1)], None),
    "l1 = 2e-5, bounds 0.5": ([Bounds(-0.5, 0.5)], tether.L1(2e-5)),
}


def text() -> Iterator[Contest]:
    """Package descriptions, mu = 1/N and 0.01/N, to a certified gap of 1e-6."""
    from tether.datasets import debian_packages

    X, y = debian_packages()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sparse.csr_array(sparse.diags_array(1.0 / np.where(lengths > 0.0, lengths, 1.0)) @ X)
    plane = tether.Affine(np.random.default_rng(0).standard_normal((200, X.shape[1])))
    for share in (1.0, 0.01):
        objective = tether.GLM(X, y, l2=share / X.shape[0])
        for name, (sets, penalty) in MIXTURES.items():

            def own(objective: Any = objective, sets: Any = sets, penalty: Any = penalty) -> tether.Solution:
                return tether.solve(objective, [plane, *sets], penalty=penalty, tol=1e-6)

            def value(x: np.ndarray, objective: Any = objective, penalty: Any = penalty) -> float:
                return objective.value(x) + (0.0 if penalty is None else penalty.value(x))

            yield Contest(f"text, mu = {share:g}/N, {name}", value, [Contestant("tether", own)])
