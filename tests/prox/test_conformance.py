"""What every prox must do, over all kinds of sets and penalties, whatever algorithm computes it."""

import cvxpy as cp
import numpy as np
import pytest

from tether.constraints import Unconstrained
from tether.prox import Prox
from tether.prox.program import Quadratic

from .cases import KINDS, draw

SEEDS = range(12)
EVERY = pytest.mark.parametrize("name", KINDS)


def sizes(case, found):
    """The sizes of the terms of each equation of stationarity."""
    parts = [found.point / case.t, case.z / case.t, found.normal, found.duals.coordinates]
    size = sum(np.abs(part) for part in parts) + abs(case.psi.matrix.T) @ np.abs(found.duals.rows)
    return size + size.max()


def plane_of(case):
    return case.constraint.sized(len(case.z))


def objective(case, x):
    return case.psi.value(x) + float(np.sum((x - case.z) ** 2 / (2 * case.t)))


def solved(name, seed):
    case = draw(name, seed)
    return case, Prox(case.constraint, case.psi).at(case.z, case.t)


@EVERY
@pytest.mark.parametrize("seed", SEEDS)
def test_the_answer_is_its_own_proof(name, seed):
    case, found = solved(name, seed)
    x, plane = found.point, plane_of(case)
    pull = (x - case.z) / case.t + case.psi.subgradient(found.duals) - found.normal
    assert np.all(np.abs(pull) <= 1e-11 * sizes(case, found))
    # Subgradients are so exactly at the variables, and to the rounding of K x at the rows.
    assert np.all(case.psi.coordinates.violation(x) == 0.0)
    assert np.all(case.psi.coordinates.misfit(x, found.duals.coordinates) == 0.0)
    assert case.psi.violation(x) <= 1e-11 * (1 + np.abs(x).max())
    size = 1 + np.abs(x).max() * (1 + np.abs(found.duals.rows).max(initial=0.0))
    assert case.psi.misfit(x, found.duals) <= 1e-10 * size
    assert plane.residual(x) <= 1e-11 * (1 + np.linalg.norm(x))
    assert np.linalg.norm(plane.tangent(found.normal)) <= 1e-10 * (1e-12 + np.linalg.norm(found.normal))


@EVERY
@pytest.mark.parametrize("seed", SEEDS)
def test_two_points_come_closer_as_the_firmly_nonexpansive_do(name, seed):
    case, found = solved(name, seed)
    other_z = case.z + np.random.default_rng(seed).normal(size=len(case.z))
    other = Prox(case.constraint, case.psi).at(other_z, case.t)
    moved, before = other.point - found.point, other_z - case.z
    scale = np.sum((np.abs(case.z) + np.abs(found.point) + 1) ** 2 / case.t)
    assert np.sum(moved**2 / case.t) <= np.sum(moved * before / case.t) + 1e-11 * scale


@EVERY
@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_feasible_point_is_below_the_subgradient(name, seed):
    case, found = solved(name, seed)
    prox, rng = Prox(case.constraint, case.psi), np.random.default_rng(seed)
    slope = (case.z - found.point) / case.t
    for _ in range(5):
        other = prox.at(3.0 * rng.normal(size=len(case.z)), case.t).point
        rise = case.psi.value(other) - case.psi.value(found.point)
        size = 1 + abs(case.psi.value(other)) + np.abs(slope) @ np.abs(other - found.point)
        assert rise >= slope @ (other - found.point) - 1e-10 * size


@EVERY
@pytest.mark.parametrize("seed", SEEDS)
def test_starting_from_an_earlier_prox_changes_nothing_but_the_work(name, seed):
    case, found = solved(name, seed)
    prox = Prox(case.constraint, case.psi)
    near = prox.at(case.z + 0.1 * np.random.default_rng(seed).normal(size=len(case.z)), case.t)
    far = prox.at(-3.0 * case.z, case.t)
    for start in (found, near, far):
        again = prox.at(case.z, case.t, start)
        gap = np.abs(again.point - found.point) / np.sqrt(case.t)
        assert np.all(gap <= 1e-9 * (1 + np.abs(case.z / np.sqrt(case.t)).max()))


def written(case, x):
    """The objective and the walls, for CVXPY."""
    terms, walls = [cp.sum(cp.multiply(1 / (2 * case.t), cp.square(x - case.z)))], []
    for part, pieces in ((x, case.psi.coordinates), (case.psi.matrix @ x, case.psi.rows)):
        if pieces.size == 0:
            continue
        terms.append(pieces.right @ cp.pos(part) + pieces.left @ cp.neg(part))
        below, above = np.flatnonzero(np.isfinite(pieces.lower)), np.flatnonzero(np.isfinite(pieces.upper))
        walls += [part[below] >= pieces.lower[below]] if len(below) else []
        walls += [part[above] <= pieces.upper[above]] if len(above) else []
    return sum(terms), walls


def on_the_plane(plane, x):
    if plane.equations is not None:
        return [plane.equations[0] @ x == plane.equations[1]] if len(plane.equations[1]) else []
    columns = plane.tangent_space(plane.dim).columns
    return [x == columns.T @ cp.Variable(columns.shape[0])]


@EVERY
@pytest.mark.parametrize("seed", range(8))
def test_clarabel_finds_nothing_better(name, seed):
    case, found = solved(name, seed)
    x = cp.Variable(len(case.z))
    total, walls = written(case, x)
    problem = cp.Problem(cp.Minimize(total), walls + on_the_plane(plane_of(case), x))
    least = problem.solve(solver="CLARABEL")
    assert objective(case, found.point) == pytest.approx(least, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", sorted(set(KINDS) - {"inequalities", "everything", "span"}))
@pytest.mark.parametrize("seed", SEEDS)
def test_every_algorithm_agrees_with_the_quadratic_program(name, seed):
    case, found = solved(name, seed)
    assert not isinstance(Prox(case.constraint, case.psi)._algorithm, Quadratic)
    program = Quadratic(plane_of(case), case.psi).at(case.z, case.t, None)
    gap = np.abs(program.point - found.point) / np.sqrt(case.t)
    assert np.all(gap <= 1e-8 * (1 + np.abs(case.z / np.sqrt(case.t)).max()))


@EVERY
def test_a_case_is_no_trivial_one(name):
    moved = settled = 0
    for seed in SEEDS:
        case, found = solved(name, seed)
        moved += bool(np.abs(found.point - plane_of(case).project(case.z)).max() > 1e-6)
        parts = (case.psi.coordinates, found.point), (case.psi.rows, case.psi.matrix @ found.point)
        settled += any(pieces.settled(np.round(at, 9)).any() for pieces, at in parts if pieces.size)
    assert min(moved, settled) >= 0.6 * len(SEEDS)


def test_an_unsized_plane_takes_the_length_of_psi():
    case = draw("separable", 0)
    sized = Prox(Unconstrained(len(case.z)), case.psi).at(case.z, case.t)
    assert np.array_equal(Prox(Unconstrained(), case.psi).at(case.z, case.t).point, sized.point)
