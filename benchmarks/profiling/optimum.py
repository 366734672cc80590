"""The optimal value of a problem, from two solvers that share no code where possible; kept on disk."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg, splu

import tether
from profiling.newton import newton
from profiling.null_space import NullSpace
from profiling.pieces import Pieces

CACHE = Path(__file__).parents[1] / ".cache"
PATIENCE = 60.0  # seconds for the long run of L-BFGS
NEWTON_DIM = 1_500
EXACT = 1e-8  # violation of the equations up to which a value counts here


def optimum(name: str, pieces: Pieces) -> dict[str, Any]:
    """Return the optimal ``value``, F at the feasible point nearest to 0 as ``start``, and their ``doubt``.

    ``doubt`` is the error of the value relative to start - value: the least of the difference between two
    solvers, the estimate by the Newton decrement, and the certificate of L-BFGS.
    """
    path = CACHE / "optima" / f"{pieces.digest()}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"name": name, **_found(pieces)}))
    return dict(json.loads(path.read_text()))


def _found(pieces: Pieces) -> dict[str, Any]:
    constraint = pieces.constraint()
    origin = np.zeros(pieces.dim)
    start = pieces.value(origin if constraint is None else constraint.project(origin))
    witnesses = {}
    x, error = _by_lbfgs(pieces, constraint)
    answers = {"tether lbfgs": x}
    if pieces.is_quadratic:
        answers["optimality system"] = _by_optimality_system(pieces)
    if NullSpace.fits(pieces) and pieces.dim <= NEWTON_DIM:
        space = NullSpace(pieces)
        v, decrement = newton(space, lambda v, value: False)
        answers["null-space newton"], error = space.lift(v), min(error, decrement)
    elif not pieces.is_quadratic:
        answers["newton-cg"] = _polished(pieces, constraint, x)
    for who, answer in answers.items():
        if pieces.violation(answer) <= EXACT and np.isfinite(pieces.value(answer)):
            witnesses[who] = pieces.value(answer)
    first, *others = sorted(witnesses.values())
    scale = start - first
    spread = (others[0] - first) / scale if others else np.inf
    doubt = min(spread, max(error / scale, np.finfo(float).eps * abs(first) / scale))
    return {"value": first, "start": start, "doubt": float(doubt), "witnesses": witnesses}


def _by_lbfgs(pieces: Pieces, constraint: tether.Constraint | None) -> tuple[np.ndarray, float]:
    """Return a point and what its gap certainly is below."""
    sol = tether.solve(
        pieces.objective(), constraint, "lbfgs", tol=1e-15, max_passes=20_000, max_seconds=PATIENCE
    )
    return np.asarray(sol.x), np.inf if sol.gap is None else float(sol.gap)


def _by_optimality_system(pieces: Pieces) -> np.ndarray:
    """Solve [P A'; A -e] [x l] = [-q b] by a sparse factorisation, and refine e away."""
    A, b = pieces.equations
    P, A = sparse.csr_array(pieces.P), sparse.csr_array(A)
    system = sparse.block_array([[P, A.T], [A, None]], format="csr") if len(b) else P
    shift = 1e-10 * np.concatenate([np.full(len(pieces.q), 1.0), np.full(len(b), -1.0)]) * abs(P).max()
    factors = splu(sparse.csc_array(system + sparse.diags_array(shift)))
    target = np.concatenate([-pieces.q, b])
    unknowns = np.zeros(len(target))
    for _ in range(50):
        unknowns = unknowns + factors.solve(target - system @ unknowns)
    return unknowns[: len(pieces.q)]


def _polished(pieces: Pieces, constraint: tether.Constraint | None, x: np.ndarray) -> np.ndarray:
    """Take a Newton step by a few conjugate gradients on the tangent space: it finds what L-BFGS missed."""
    tangent = (lambda g: g) if constraint is None else constraint.tangent
    gradient = tangent(pieces.gradient(x))
    bend = LinearOperator((len(x), len(x)), matvec=lambda u: tangent(pieces.bend(x, tangent(u.ravel()))))
    step = tangent(cg(bend, -gradient, rtol=1e-3, maxiter=100)[0])
    return x + step
