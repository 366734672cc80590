"""Programs without a solution: multipliers that prove a contradiction, directions along which values fall.

Both come from programs that have a solution always. The point nearest to all equations and rows, between the
walls of variables, minimises u'u/2 + v'v/2 with A x - u = b and K x - v between its walls; u and v are the
multipliers of a contradiction unless they are zero. The direction of steepest descent among those that are
feasible for ever and without curvature minimises d'd/2 + q'd + slopes; it is zero unless values fall without
end. What they say is checked by itself before it is believed.
"""

from typing import Any

import numpy as np
from scipy import sparse

from tether.arrays import Array
from tether.polyhedral import Pieces, Polyhedral
from tether.qp.program import Point, Program
from tether.qp.units import Units
from tether.qp.yardstick import lengths

ROUNDING = 1e-10  # what is smaller than this, relative to its terms, is zero
MARGIN = 1e-9  # what is larger than this, relative to its terms, is not


def nearest_program(program: Program, units: Units) -> Program:
    """Return the program of the point that is nearest to all equations and rows."""
    psi, (matrix, b) = program.polyhedral, program.plane
    p, m, k = program.dim, len(b), psi.rows.size
    walls = Pieces.of(
        p + m + k,
        np.concatenate([psi.coordinates.lower, np.full(m + k, -np.inf)]),
        np.concatenate([psi.coordinates.upper, np.full(m + k, np.inf)]),
    )
    rows = Pieces.of(k, psi.rows.lower, psi.rows.upper)
    equations = _beside(matrix, -sparse.eye_array(m), sparse.csr_array((m, k)))
    elastic = _beside(psi.matrix, sparse.csr_array((k, m)), -sparse.eye_array(k))
    weights = np.concatenate([np.zeros(p), units.equations**2, units.rows**2])
    return Program(weights, np.zeros(p + m + k), (equations, b), Polyhedral(walls, elastic, rows))


def contradiction(program: Program, nearest: Point) -> Point | None:
    """Return multipliers, s + K'y = A'lambda, that prove that nothing is feasible; None if these do not."""
    psi, (matrix, b) = program.polyhedral, program.plane
    size = max(float(np.abs(part).max(initial=0.0)) for part in (nearest.equalities, nearest.y))
    if not (np.isfinite(size) and size > 0.0):
        return None
    lam, y = nearest.equalities / size, nearest.y / size
    pull, push = matrix.T @ lam, psi.matrix.T @ y
    s = pull - push
    terms = abs(matrix).T @ np.abs(lam) + abs(psi.matrix).T @ np.abs(y)
    s = np.where(np.abs(s) <= ROUNDING * terms, 0.0, s)
    # what is rounding is taken against the variables where they are, and where the nearest point is
    error = float(np.abs(pull - push - s) @ _reach(psi.coordinates, nearest.x[: program.dim]))
    walls = [*_support(psi.coordinates, s), *_support(psi.rows, y)]
    largest = float(sum(part.sum() for part in walls))
    forced = float(b @ lam)
    scale = float(np.abs(b) @ np.abs(lam)) + sum(float(np.abs(part).sum()) for part in walls)
    proven = np.isfinite(largest) and forced - largest > MARGIN * scale + error
    return Point(nearest.x[: program.dim], lam, s, y) if proven else None


def descent_program(program: Program, units: Units) -> Program:
    """Return the program of the direction of steepest descent without curvature."""
    psi, (matrix, _) = program.polyhedral, program.plane
    curvature = program.hessian
    if curvature.ndim == 1:
        curved = np.flatnonzero(curvature)
        curvature = sparse.eye_array(program.dim, format="csr")[curved]
    else:
        curvature = _unit_rows(curvature)
    equations = (
        np.vstack([matrix, curvature])
        if isinstance(matrix, np.ndarray) and isinstance(curvature, np.ndarray)
        else sparse.vstack([sparse.csr_array(matrix), sparse.csr_array(curvature)], format="csr")
    )
    cone = Polyhedral(_recession(psi.coordinates), psi.matrix, _recession(psi.rows))
    return Program(units.variables**-2, program.linear, (equations, np.zeros(equations.shape[0])), cone)


def ray(program: Program, direction: Array) -> Array | None:
    """Return the direction if values fall along it for ever, None if they do not."""
    psi, (matrix, _) = program.polyhedral, program.plane
    size = float(np.abs(direction).max(initial=0.0))
    if not (np.isfinite(size) and size > 0.0):
        return None
    d = np.clip(direction / size, *_recession(psi.coordinates)[:2])
    z = psi.matrix @ d
    walls = _recession(psi.rows)
    reach, length = np.abs(d), float(np.linalg.norm(d))
    flat = _negligible(program.curve(d), lengths(program.hessian) * length)
    level = _negligible(matrix @ d, lengths(matrix) * length)
    kept = _negligible(walls.violation(z), lengths(psi.matrix) * length)
    slope = float(program.linear @ d) + psi.coordinates.value(d) + psi.rows.value(z)
    terms = float(np.abs(program.linear) @ reach) + psi.coordinates.value(d) + psi.rows.value(z)
    return d if flat and level and kept and slope < -MARGIN * terms else None


def _negligible(values: Array, terms: Array) -> bool:
    return bool((np.abs(values) <= ROUNDING * terms).all())


def _recession(pieces: Pieces) -> Pieces:
    """Return what is left of pieces far away: walls where there are walls, slopes as they are."""
    return Pieces(
        np.where(np.isfinite(pieces.lower), 0.0, -np.inf),
        np.where(np.isfinite(pieces.upper), 0.0, np.inf),
        pieces.left,
        pieces.right,
    )


def _support(pieces: Pieces, s: Array) -> tuple[Array, Array]:
    """Return the largest values of s_j x_j between the walls, by those with s_j > 0 and with s_j < 0."""
    return s[s > 0.0] * pieces.upper[s > 0.0], s[s < 0.0] * pieces.lower[s < 0.0]


def _reach(pieces: Pieces, x: Array) -> Array:
    """Return how large variables may be: by their walls if they have two, else many times what they are."""
    walls = np.maximum(np.abs(pieces.lower), np.abs(pieces.upper))
    return np.where(np.isfinite(walls), walls, 1e3 * (np.abs(x) + np.abs(x).max(initial=0.0)))


def _unit_rows(matrix: Any) -> Any:
    """Return the rows of a matrix in length 1, without those that are zero."""
    sizes = lengths(matrix)
    chosen = np.flatnonzero(sizes > 0.0)
    if isinstance(matrix, np.ndarray):
        return matrix[chosen] / sizes[chosen, None]
    return sparse.diags_array(1.0 / sizes[chosen]) @ sparse.csr_array(matrix)[chosen]


def _beside(*parts: Any) -> Any:
    return sparse.hstack([sparse.csr_array(part) for part in parts], format="csr")
