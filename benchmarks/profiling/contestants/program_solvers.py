"""Solvers of quadratic programs: OSQP, PIQP, Clarabel. X'X of a squared loss is formed on the clock."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from profiling.contestants.base import Answer, Contestant
from profiling.pieces import Pieces
from profiling.watch import Watch

DENSE = 2_000
ENTRIES = 5_000_000


def matrix_and_linear(pieces: Pieces) -> tuple[Any, np.ndarray]:
    """Return P and q of a quadratic or a squared loss."""
    if pieces.is_quadratic:
        return pieces.P, pieces.q
    X, n = pieces.X, pieces.n_samples
    ridge = sparse.eye_array(pieces.dim) if pieces.is_sparse else np.eye(pieces.dim)
    return X.T @ X / n + pieces.l2 * ridge, -(X.T @ pieces.y) / n


def by_osqp(P: Any, q: np.ndarray, A: Any, b: np.ndarray, tolerance: float) -> np.ndarray:
    """Solve by operator splitting, polished."""
    osqp = import_module("osqp")
    solver = osqp.OSQP()
    settings = {
        "verbose": False,
        "eps_abs": tolerance,
        "eps_rel": tolerance,
        "max_iter": 10**8,
        "polishing": True,
    }
    solver.setup(sparse.triu(sparse.csc_matrix(P), format="csc"), q, sparse.csc_matrix(A), b, b, **settings)
    return np.asarray(solver.solve().x)


def by_piqp(P: Any, q: np.ndarray, A: Any, b: np.ndarray, tolerance: float) -> np.ndarray:
    """Solve by a proximal interior point method, dense or sparse as P is."""
    piqp = import_module("piqp")
    dense = not sparse.issparse(P)
    solver = piqp.DenseSolver() if dense else piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = tolerance
    given = (np.asfortranarray, np.asfortranarray) if dense else (sparse.csc_matrix, sparse.csc_matrix)
    if dense and sparse.issparse(A):
        A = A.toarray()
    rows = (given[1](A), b) if len(b) else ()
    solver.setup(given[0](P), q, *rows)
    solver.solve()
    return np.array(solver.result.x)


def by_clarabel(P: Any, q: np.ndarray, A: Any, b: np.ndarray, tolerance: float) -> np.ndarray:
    """Solve by an interior point method."""
    clarabel = import_module("clarabel")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    upper = sparse.triu(sparse.csc_matrix(P), format="csc")
    cones = [clarabel.ZeroConeT(len(b))] if len(b) else []
    return np.array(clarabel.DefaultSolver(upper, q, sparse.csc_matrix(A), b, cones, settings).solve().x)


class ProgramSolver(Contestant):
    """A solver of quadratic programs."""

    tolerances = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)

    def __init__(self, name: str, solve: Callable[..., np.ndarray]) -> None:
        self.name, self.solve = name, solve

    def refuses(self, pieces: Pieces) -> str:
        """Take quadratics whose matrix can be formed."""
        if pieces.loss not in ("quadratic", "squared"):
            return "solves quadratic programs only"
        if pieces.loss == "squared" and pieces.is_sparse:
            lengths = np.diff(pieces.X.indptr).astype(float)
            return "" if float(lengths @ lengths) <= ENTRIES else "its matrix has too many entries"
        return "" if pieces.is_sparse or pieces.dim <= DENSE else "too many variables"

    def run(self, problem: Pieces, tolerance: float, watch: Watch) -> Answer:
        """Form the matrix and solve."""
        P, q = matrix_and_linear(problem)
        return Answer(self.solve(P, q, *problem.equations, tolerance), {})


def _installed() -> list[ProgramSolver]:
    known = {"osqp": by_osqp, "piqp": by_piqp, "clarabel": by_clarabel}
    found = []
    for name, solve in known.items():
        try:
            import_module(name)
        except ImportError:
            continue
        found.append(ProgramSolver(name, solve))
    return found


SOLVERS = _installed()
