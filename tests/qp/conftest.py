"""Random programs of every mixture, their optimality conditions in plain NumPy, and CVXPY's word on them."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from tether.polyhedral import Pieces, Polyhedral
from tether.qp import Program


def _curvature(kind, p, rng):
    factors = rng.normal(size=(p + 2 if kind in ("dense", "sparse") else max(1, p // 2), p))
    matrix = factors.T @ factors / p
    return {
        "dense": matrix,
        "sparse": sparse.csc_array(matrix),
        "diagonal": 0.1 + rng.random(p),
        "singular": matrix,
        "singular, sparse": sparse.csc_array(matrix),
        "half a diagonal": np.where(rng.random(p) < 0.5, rng.random(p), 0.0),
        "linear": np.zeros(p),
    }[kind]


def _walls(z, rng, share):
    """Walls around z, some of which it touches: points are often vertices."""
    room = lambda: rng.random(len(z)) * (rng.random(len(z)) < 0.6)  # noqa: E731
    lower = np.where(rng.random(len(z)) < share, z - room(), -np.inf)
    return lower, np.where(rng.random(len(z)) < share, z + room(), np.inf)


def draw_program(kind, feature, seed):
    """Return a program that has a solution: x is within 30 of zero."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(3, 14))
    x = np.where(rng.random(p) < 0.3, 0.0, rng.normal(size=p))
    rows = rng.normal(size=(int(rng.integers(2, 8)), p))
    variables, values = Pieces.of(p, -30.0, 30.0), Pieces.of(len(rows))
    A = rng.normal(size=(int(rng.integers(1, 1 + p // 2)), p))
    equations = None if feature in ("bounds", "rows", "one-sided rows", "l1", "l1 rows") else (A, A @ x)
    if feature == "redundant equations":
        more = rng.normal(size=(2, len(A))) @ A
        equations = (np.vstack([A, A[0], more]), np.concatenate([A @ x, A[:1] @ x, more @ x]))
    if feature in ("bounds", "fixed", "everything"):
        lower, upper = _walls(x, rng, 0.5)
        variables = Pieces.of(p, np.maximum(lower, -30.0), np.minimum(upper, 30.0))
    if feature == "fixed":
        some = rng.random(p) < 0.4
        variables = Pieces.of(p, np.where(some, x, variables.lower), np.where(some, x, variables.upper))
    if feature in ("rows", "everything"):
        values = Pieces.of(len(rows), *_walls(rows @ x, rng, 0.6))
    if feature == "one-sided rows":
        values = Pieces.of(len(rows), rows @ x - rng.random(len(rows)))
    if feature == "duplicate rows":
        rows = np.vstack([rows, rows[:1], 2.0 * rows[1:2], -rows[:1]])
        values = Pieces.of(len(rows), rows @ x - 0.1, np.inf)
    if feature == "vertex":  # many more rows through one point than variables
        rows = rng.normal(size=(3 * p, p))
        values = Pieces.of(3 * p, upper=rows @ x)
    if feature in ("l1", "everything"):
        variables = Pieces(variables.lower, variables.upper, rng.random(p), rng.random(p))
    if feature in ("l1 rows", "slopes and walls", "everything"):
        walls = values if feature == "everything" else Pieces.of(len(rows))
        if feature == "slopes and walls":
            walls = Pieces.of(len(rows), *_walls(rows @ x, rng, 0.7))
        values = Pieces(walls.lower, walls.upper, rng.random(len(rows)), rng.random(len(rows)))
    matrix = sparse.csr_array(rows) if seed % 2 else rows
    return Program(
        _curvature(kind, p, rng), rng.normal(size=p), equations, Polyhedral(variables, matrix, values)
    )


@pytest.fixture(scope="session")
def draw():
    return draw_program


def whole(matrix):
    if matrix.ndim == 1:
        return np.diag(matrix)
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


@pytest.fixture(scope="session")
def reference():
    """Return CVXPY's status and value."""

    def solved(program):
        x = cp.Variable(program.dim)
        objective = 0.5 * cp.quad_form(x, cp.psd_wrap(whole(program.hessian))) + program.linear @ x
        held = [] if program.equations is None else [program.equations[0] @ x == program.equations[1]]
        psi = program.polyhedral
        for z, part in ((x, psi.coordinates), (psi.matrix @ x, psi.rows)):
            if part.size == 0:
                continue
            objective += part.left @ cp.neg(z) + part.right @ cp.pos(z)
            low, high = np.flatnonzero(np.isfinite(part.lower)), np.flatnonzero(np.isfinite(part.upper))
            held += [z[low] >= part.lower[low]] if low.size else []
            held += [z[high] <= part.upper[high]] if high.size else []
        problem = cp.Problem(cp.Minimize(objective), held)
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        return problem.status, problem.value

    return solved


@pytest.fixture(scope="session")
def assert_optimal():
    """Check the optimality conditions, with nothing but NumPy."""

    def check(program, answer, tol=1e-11):
        x, (s, y), psi = answer.x, answer.duals, program.polyhedral
        A, K = whole(program.plane[0]), whole(psi.matrix)
        b, z = program.plane[1], K @ answer.x
        force = whole(program.hessian) @ x + program.linear
        size = max(1.0, *(np.abs(part).max(initial=0.0) for part in (x, force, s, y, answer.equalities)))
        np.testing.assert_allclose(A @ x, b, atol=tol * size)
        np.testing.assert_allclose(force + s + K.T @ y, A.T @ answer.equalities, atol=tol * size)
        assert (psi.coordinates.lower <= x).all() and (x <= psi.coordinates.upper).all()  # exactly
        low, high = psi.coordinates.interval(x)
        assert (low <= s).all() and (s <= high).all()  # exactly
        assert psi.rows.violation(z).max(initial=0.0) <= tol * size
        assert psi.misfit(x, answer.duals) <= tol * size**2

    return check
