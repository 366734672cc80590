"""Data with fewer samples than variables is projected once, and the answer is that of the problem itself."""

import tracemalloc

import numpy as np
import pytest
from scipy import linalg, sparse

import tether
from tests.shortcuts.conftest import slopes
from tether import shortcuts
from tether.objectives.losses import Logistic
from tether.problem import Problem
from tether.shortcuts import wide_data
from tether.tolerance import Tolerance

N, P, M = 40, 520, 15  # samples, variables, equations
LOSSES = ["logistic", "poisson", "huber", "squared"]


class Wide:
    """A model of wide data, ill-conditioned by its columns, and its optimum by steps in the null space."""

    def __init__(
        self, loss="logistic", n=N, p=P, m=M, rows="plain", b=True, ridge=1e-3, dtype=float, free=False
    ):
        rng = np.random.default_rng(3)
        self.loss, self.n = loss, n
        self.A = rng.standard_normal((m, p)) if m else None
        X = rng.standard_normal((n, p)) * np.geomspace(1.0, 1e-2, p)
        X /= np.sqrt((X**2).sum(axis=1).mean())
        if rows == "repeated":
            X = X[rng.integers(0, n // 2, n)]
        elif rows == "zero":
            X[::3] = 0.0
        elif rows == "of A":
            X[::2] = rng.standard_normal((len(X[::2]), m)) @ self.A / p
        elif rows == "heavy":
            X *= np.exp(1.5 * rng.standard_normal((n, 1)))
        elif rows == "huge columns":
            X *= np.geomspace(1e3, 1e-3, p)
        self.X = X.astype(dtype)
        z = 2.0 * X @ rng.standard_normal(p)
        self.y = {
            "logistic": np.where(rng.logistic(size=n) < z, 1.0, -1.0),
            "poisson": rng.poisson(np.exp(np.clip(0.3 * z, -3.0, 2.0))).astype(float),
        }.get(loss, z + rng.standard_t(2, n))
        self.wide = np.column_stack([self.X, np.ones(n)]) if free else self.X.astype(float)
        self.l2 = np.append(np.full(p, ridge), 0.0) if free else np.full(p, ridge)
        if m and free:
            self.A = np.column_stack([self.A, np.zeros(m)])
        self.b = self.A @ rng.standard_normal(self.A.shape[1]) / p * b if m else None
        l2 = self.l2 if free else ridge
        self.objective = tether.GLM(self.X, self.y, loss, l2=l2, fit_intercept=free)
        self.constraint = tether.Affine(self.A, self.b) if m else tether.Unconstrained(self.wide.shape[1])

    def at(self, x):
        values, first, _ = slopes(self.loss, self.wide @ x, self.y)
        return values.mean() + 0.5 * self.l2 @ x**2, self.wide.T @ first / self.n + self.l2 * x

    def optimum(self):
        Z = np.eye(self.wide.shape[1]) if self.A is None else linalg.null_space(self.A)
        x = np.zeros(len(Z)) if self.A is None else np.linalg.lstsq(self.A, self.b, rcond=None)[0]
        for _ in range(200):
            value, gradient = self.at(x)
            second = slopes(self.loss, self.wide @ x, self.y)[2]
            reduced = self.wide @ Z
            hessian = (reduced * second[:, None]).T @ reduced / self.n + Z.T @ (self.l2[:, None] * Z)
            step, length = Z @ np.linalg.solve(hessian, -Z.T @ gradient), 1.0
            while self.at(x + length * step)[0] > value + 1e-15 and length > 1e-10:
                length /= 2
            x = x + length * step
            if np.linalg.norm(step) < 1e-11 * (1.0 + np.linalg.norm(x)):
                return x
        raise AssertionError("Newton's method did not converge")

    def solve(self, **options):
        return tether.solve(self.objective, self.constraint, **options)


def reduced(objective, constraint=None, warm=False, seconds=np.inf):
    constraint = tether.Unconstrained(objective.dim) if constraint is None else constraint
    problem = Problem(objective, constraint)
    straight = shortcuts.Way(
        problem=problem,
        original=problem,
        method=tether.methods.Auto(),
        asked=Tolerance(rtol=1e-6),
        seconds=seconds,
    )
    return wide_data.with_wide_data(straight, warm)


def check(case, sol, tol):
    best = case.optimum()
    value, gradient = case.at(sol.x)
    assert sol.success and "projected once" in sol.message
    assert sol.fun == pytest.approx(value, rel=1e-12 if case.X.dtype == float else 1e-5)
    assert value - case.at(best)[0] <= sol.gap + 1e-14 * abs(value) and sol.gap <= tol * max(1.0, abs(value))
    if case.A is not None:
        assert np.linalg.norm(case.A @ sol.x - case.b) <= 1e-11
        least = linalg.lstsq(case.A.T, gradient)[0]
        np.testing.assert_allclose(sol.multipliers, least, atol=1e-5 * (1.0 + np.abs(least).max()))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("m", [0, 1, M, P - 10])
def test_the_answer_is_the_optimum_on_the_constraint(loss, m):
    case = Wide(loss, m=m, b=m != 1)
    check(case, case.solve(tol=1e-9), 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rows", ["repeated", "zero", "of A", "heavy", "huge columns"])
def test_rows_may_be_any(loss, rows):
    case = Wide(loss, rows=rows, ridge=1e-2)
    check(case, case.solve(), 1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_one_sample_is_enough(loss):
    case = Wide(loss, n=1, m=2)
    sol = case.solve(tol=1e-9)
    check(case, sol, 1e-9)
    assert f"from {P} columns to 2" in sol.message


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("m", [0, M])
def test_single_precision_is_certified_in_double(loss, m):
    case = Wide(loss, m=m, dtype=np.float32)
    check(case, case.solve(), 1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("m", [0, M])
def test_an_intercept_without_ridge_is_a_coordinate_of_its_own(loss, m):
    case = Wide(loss, m=m, free=True, ridge=1e-2)
    sol = case.solve(tol=1e-7)
    if sol.gap is None:  # nothing bounds it where second derivatives may vanish
        assert sol.success and sol.fun <= case.at(case.optimum())[0] + 1e-7
    else:
        check(case, sol, 1e-7)
    assert f"from {P + 1} columns to {N + 1 + (m > 0)}" in sol.message


@pytest.mark.parametrize("ridge", [1e-5, 1e-7])
def test_the_gap_holds_with_hardly_any_ridge(ridge):
    for rows in ("plain", "heavy", "repeated"):
        case = Wide("logistic", p=150, rows=rows, ridge=ridge)
        sol = case.solve()
        gap = sol.fun - case.at(case.optimum())[0]
        assert gap <= sol.gap + 1e-14


def test_several_outputs_share_the_space_of_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 600)) * np.geomspace(1.0, 1e-2, 600)
    objective = tether.GLM(X, np.arange(60) % 3, "multinomial", l2=1e-3)
    sol = tether.solve(objective, tol=1e-8)
    best = tether.solve(objective, None, "lbfgs", tol=1e-11)
    assert sol.success and "from 600 columns to 60" in sol.message
    assert -1e-11 <= sol.fun - best.fun <= sol.gap + 1e-12 and sol.gap <= 1e-8
    np.testing.assert_allclose(sol.x, best.x, atol=1e-3)


@pytest.mark.parametrize("rows", ["plain", "repeated", "of A"])
def test_the_coordinates_are_orthonormal(rows):
    case = Wide(rows=rows, ridge=1.0)
    way = reduced(case.objective, case.constraint)
    v = np.random.default_rng(0).standard_normal((2, way.narrow.dim))
    v[:, -1] = np.linalg.norm(case.constraint.project(np.zeros(P)))
    one, other = map(way.lift, v)
    assert one @ other == pytest.approx(v[0] @ v[1], rel=1e-9)
    assert way.problem.objective.value(v[0]) == pytest.approx(case.at(one)[0], rel=1e-10)
    np.testing.assert_allclose(way.lower(one), v[0], atol=1e-8)


def test_what_lies_beyond_rows_is_left_out_of_a_start():
    case = Wide()
    seen, x0 = [], np.random.default_rng(1).standard_normal(P)
    sol = case.solve(x0=x0, callback=seen.append)
    assert sol.success and seen[0].fun <= case.at(case.constraint.project(x0))[0]
    again = case.solve(x0=sol.x)
    assert again.success and again.history["value"][0] == pytest.approx(sol.fun, rel=1e-9)


def test_small_tangent_parts_that_matter_are_not_dropped():
    case = Wide(rows="of A", ridge=1e-12)
    case.X[0] += 1e-9 * np.arange(P)
    objective = tether.GLM(case.X, case.y, l2=1e-12)
    assert reduced(objective, case.constraint) is None
    assert reduced(tether.GLM(case.X, case.y, l2=1.0), case.constraint) is not None


def test_rows_without_tangent_parts_are_left_alone():
    case = Wide()
    X = np.random.default_rng(0).standard_normal((N, M)) @ case.A
    assert reduced(tether.GLM(X, case.y, l2=1.0), case.constraint) is None


def test_what_is_no_case_for_it_is_left_alone(tmp_path):
    case = Wide(m=0)
    X, y = case.X, case.y
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=X.shape)
    mapped[:] = X
    uneven = tether.GLM(X, y, l2=np.linspace(1.0, 2.0, P))
    classes = tether.GLM(X, np.arange(N) % 3, "multinomial", l2=1.0)

    class Own(Logistic):
        pass

    assert reduced(case.objective) is not None and reduced(classes) is not None
    assert reduced(tether.GLM(X, y)) is None
    assert reduced(uneven) is None
    assert reduced(tether.GLM(mapped, y, l2=1.0)) is None
    assert reduced(tether.GLM(sparse.csr_array(X), y, l2=1.0)) is None
    assert reduced(tether.GLM(X.T, np.arange(P) % 2, l2=1.0)) is None
    assert reduced(tether.GLM(X, y, Own(), l2=1e-3)) is None
    assert reduced(classes, tether.Affine(np.ones((1, 3 * P)))) is None
    assert reduced(tether.Quadratic(factors=X)) is None
    free = tether.GLM(X, y, l2=np.append(np.ones(P), 0.0), fit_intercept=True)
    assert reduced(free) is not None
    assert reduced(free, tether.Affine(np.ones((1, P + 1)))) is None


def test_it_is_taken_where_it_costs_less_than_iterations():
    rng = np.random.default_rng(0)
    white, y = rng.standard_normal((600, 3_000)) / np.sqrt(3_000), np.arange(600) % 2
    X = white + rng.standard_normal((600, 10)) @ rng.standard_normal((10, 3_000)) / 100
    assert reduced(tether.GLM(X, y, l2=1 / 600)) is None  # a few iterations will do
    assert reduced(tether.GLM(white, y, l2=1e-4 / 600)) is None  # and here: rows are nearly orthogonal
    assert reduced(tether.GLM(X, y, l2=1e-4 / 600)) is not None
    assert reduced(tether.GLM(X, y, l2=1e-4 / 600), seconds=1e-3) is None
    few, many = rng.standard_normal((2, 780, 800)) * np.logspace(0.0, -3.0, 800)
    assert reduced(tether.GLM(many, rng.standard_normal(780), "squared", l2=1e-6)) is None  # as much work
    assert reduced(tether.GLM(few[:200], rng.standard_normal(200), "squared", l2=1e-6)) is not None
    case = Wide()
    for method, taken in (("auto", True), ("lbfgs", False), ("newton", False)):
        assert ("projected once" in case.solve(method=method).message) is taken


def test_a_kept_run_is_the_same_again(tmp_path):
    case = Wide("poisson")
    plain = case.solve()
    parts = [case.solve(checkpoint=tmp_path / "run.npz", max_rounds=3)]
    parts.append(case.solve(checkpoint=tmp_path / "run.npz", max_rounds=500))
    whole = case.solve(max_rounds=500)
    assert not parts[0].success and parts[1].success
    np.testing.assert_array_equal(parts[1].x, whole.x)
    assert parts[1].counts.gradients == whole.counts.gradients
    assert whole.fun == pytest.approx(plain.fun, rel=1e-6)


@pytest.mark.parametrize(("loss", "m"), [("squared", 0), ("logistic", 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_peak_of_memory_is_a_share_of_the_data(loss, m, dtype):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((200, 5)) @ rng.standard_normal((5, 30_000))).astype(dtype)
    X += rng.standard_normal((200, 30_000)).astype(dtype)
    y = X[:, 0] > 0
    constraint = tether.Affine(rng.standard_normal((m, 30_000))) if m else None
    assert tether.solve(tether.GLM(X, y, loss, l2=1e-3), constraint).success  # compile before counting
    objective = tether.GLM(X, y, loss, l2=1e-3)
    tracemalloc.start()
    sol = tether.solve(objective, constraint)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sol.success and "projected once" in sol.message
    assert peak < 0.5 * X.nbytes
