"""Data that is projected once gives the answer of the problem as it was written."""

import importlib
import tracemalloc

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.optimize import LinearConstraint
from scipy.special import expit

import tether
from tether import Status, presolve
from tether.engines.base import Problem

N, P, FREE = 2_000, 120, 12  # samples, variables, directions that the equations leave
DELTA = 1.35


def slopes(loss, z, y):
    """Return loss, first and second derivative of every sample, written down once more."""
    if loss == "logistic":
        s = expit(-y * z)
        return np.logaddexp(0.0, -y * z), -y * s, s * (1.0 - s)
    if loss == "poisson":
        return np.exp(z) - y * z, np.exp(z) - y, np.exp(z)
    r = z - y
    if loss == "squared":
        return 0.5 * r**2, r, np.ones_like(r)
    far = np.abs(r) > DELTA
    values = np.where(far, DELTA * (np.abs(r) - 0.5 * DELTA), 0.5 * r**2)
    return values, np.clip(r, -DELTA, DELTA), np.where(far, 0.0, 1.0)


class Case:
    """A problem with few free directions, and its optimum by Newton's method in null-space coordinates."""

    def __init__(self, loss="logistic", b=True, intercept=False, weighted=False, dtype=float, l2=1e-3, p=P):
        rng = np.random.default_rng(7)
        self.loss, self.l2 = loss, l2
        self.X = (rng.standard_normal((N, p - intercept)) * np.geomspace(1.0, 0.1, p - intercept)).astype(
            dtype
        )
        z = 0.3 * (self.X @ rng.standard_normal(p - intercept))
        self.y = {
            "logistic": np.where(rng.random(N) < expit(z), 1.0, -1.0),
            "poisson": rng.poisson(np.exp(np.clip(z, -3.0, 2.0))).astype(float),
        }.get(loss, z + rng.standard_t(2, N))
        self.weights = rng.uniform(0.5, 2.0, N) if weighted else None
        self.A = rng.standard_normal((p - FREE, p))
        self.b = 0.1 * rng.standard_normal(p - FREE) * b
        self.objective = tether.GLM(
            self.X, self.y, loss, l2=l2, fit_intercept=intercept, sample_weight=self.weights
        )
        self.constraint = tether.Affine(self.A, self.b)
        self.wide = np.column_stack([self.X, np.ones(N)]).astype(float) if intercept else self.X.astype(float)
        self.w = np.ones(N) if self.weights is None else self.weights / self.weights.mean()

    def at(self, x):
        """Return F and its gradient."""
        values, first, _ = slopes(self.loss, self.wide @ x, self.y)
        gradient = self.wide.T @ (self.w * first) / N + self.l2 * x
        return (self.w * values).mean() + 0.5 * self.l2 * (x @ x), gradient

    def optimum(self):
        """Return the minimiser on A x = b."""
        Z, x = linalg.null_space(self.A), np.linalg.lstsq(self.A, self.b, rcond=None)[0]
        for _ in range(100):
            value, gradient = self.at(x)
            second = slopes(self.loss, self.wide @ x, self.y)[2]
            reduced = self.wide @ Z
            hessian = (reduced * (self.w * second)[:, None]).T @ reduced / N + self.l2 * np.eye(Z.shape[1])
            step, length = Z @ np.linalg.solve(hessian, -Z.T @ gradient), 1.0
            while self.at(x + length * step)[0] > value + 1e-15 and length > 1e-10:
                length /= 2
            x = x + length * step
            if np.linalg.norm(step) < 1e-12:
                return x
        raise AssertionError("Newton's method did not converge")

    def solve(self, **options):
        return tether.solve(self.objective, self.constraint, **{"tol": 1e-11, **options})


@pytest.fixture(scope="module")
def case():
    return Case()


def was_projected(sol):
    return "the data was projected once" in sol.message


CASES = {
    "logistic": {},
    "b = 0": {"b": False},
    "intercept": {"intercept": True},
    "intercept, b = 0, weights": {"intercept": True, "b": False, "weighted": True},
    "huber": {"loss": "huber"},
    "huber, weights": {"loss": "huber", "weighted": True},
    "poisson": {"loss": "poisson"},
    "poisson, intercept": {"loss": "poisson", "intercept": True},
    "least squares": {"loss": "squared", "p": 520},
    "least squares, no ridge": {"loss": "squared", "p": 520, "l2": 0.0},
    "float32": {"dtype": np.float32},
    "float32, intercept": {"dtype": np.float32, "intercept": True},
}


@pytest.mark.parametrize("label", CASES)
def test_the_answer_is_the_optimum_on_the_constraint(label):
    case = Case(**CASES[label])
    sol, best = case.solve(), case.optimum()
    assert sol.success and was_projected(sol)
    np.testing.assert_allclose(sol.x, best, atol=2e-5)
    value, gradient = case.at(sol.x)
    assert sol.fun == pytest.approx(value, rel=1e-12)
    assert 0.0 <= value - case.at(best)[0] + 1e-14 <= sol.gap + 2e-14 <= 1e-11 * max(1.0, value) + 2e-14
    assert (
        sol.residual == pytest.approx(np.linalg.norm(case.A @ sol.x - case.b), abs=1e-12)
        and sol.residual < 1e-11
    )
    np.testing.assert_allclose(case.A.T @ sol.multipliers, gradient, atol=1e-5)
    multipliers = np.linalg.lstsq(case.A.T, case.at(best)[1], rcond=None)[0]
    np.testing.assert_allclose(sol.multipliers, multipliers, atol=1e-4)


def test_the_same_answer_comes_without_the_presolve(case, monkeypatch):
    with_it = case.solve()
    monkeypatch.setattr(importlib.import_module("tether.solve"), "reduce", lambda problem: None)
    without = case.solve()
    assert without.success and not was_projected(without)
    np.testing.assert_allclose(with_it.x, without.x, atol=1e-5)
    np.testing.assert_allclose(with_it.multipliers, without.multipliers, atol=1e-4)


@pytest.mark.parametrize("kind", ["dense", "sparse", "LinearConstraint"])
def test_equations_that_others_imply_change_nothing(case, kind):
    A, b = np.vstack([case.A, case.A[3] - 2 * case.A[5], 0 * case.A[:1]]), None
    b = np.concatenate([case.b, [case.b[3] - 2 * case.b[5], 0.0]])
    constraint = {
        "dense": lambda: tether.Affine(A, b),
        "sparse": lambda: tether.Affine(sparse.csr_array(A), b),
        "LinearConstraint": lambda: LinearConstraint(A, b, b),
    }[kind]()
    sol = tether.solve(case.objective, constraint, tol=1e-11)
    assert sol.success and f"from {P} columns to {FREE + 1}" in sol.message
    np.testing.assert_allclose(sol.x, case.optimum(), atol=2e-5)
    np.testing.assert_allclose(A.T @ sol.multipliers, case.at(sol.x)[1], atol=1e-5)


def test_the_range_of_a_narrow_matrix_is_projected_on_too():
    case = Case(b=False)
    sol = tether.solve(
        case.objective, tether.Range(linalg.null_space(case.A) @ np.triu(np.ones((FREE, FREE)))), tol=1e-11
    )
    assert sol.success and f"from {P} columns to {FREE}" in sol.message
    np.testing.assert_allclose(sol.x, case.optimum(), atol=2e-5)


def test_a_flow_with_few_cycles_is_found_in_the_space_of_cycles(case):
    rng, nodes = np.random.default_rng(0), P - FREE + 1
    path, chords = np.arange(nodes - 1), rng.permutation(nodes - 1)[:FREE]
    tails, heads = np.concatenate([path, chords]), np.concatenate([path + 1, (chords + nodes // 2) % nodes])
    flow = tether.Flow(np.column_stack([tails, heads]), np.eye(1, nodes)[0] - np.eye(1, nodes, nodes - 1)[0])
    sol = tether.solve(case.objective, flow, tol=1e-11)
    assert sol.success and f"from {P} columns to {FREE + 1}" in sol.message and sol.residual < 1e-11
    np.testing.assert_allclose(sol.multipliers[tails] - sol.multipliers[heads], case.at(sol.x)[1], atol=1e-5)


def test_the_basis_is_orthonormal_and_spans_the_feasible_points(case):
    reduced = presolve.reduce(Problem(case.objective, case.constraint))
    B = reduced.basis
    np.testing.assert_allclose(B.T @ B, np.eye(FREE + 1), atol=1e-14)
    np.testing.assert_allclose(case.A @ B[:, :-1], 0.0, atol=1e-13)
    x = case.constraint.project(np.random.default_rng(0).standard_normal(P))
    v = reduced.lower(x)
    np.testing.assert_allclose(reduced.lift(v), x, atol=1e-12)
    assert reduced.problem.constraint.residual(v) < 1e-12
    assert reduced.problem.objective.value(v) == pytest.approx(case.at(x)[0], rel=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_projected_data_keeps_its_precision(dtype):
    case = Case(dtype=dtype, intercept=True)
    reduced = presolve.reduce(Problem(case.objective, case.constraint))
    data = reduced.problem.objective.design.matrix
    assert data.dtype == dtype
    np.testing.assert_allclose(data, case.wide @ reduced.basis, atol=20 * np.finfo(dtype).eps)


def test_whatever_is_lifted_is_feasible(case):
    reduced = presolve.reduce(Problem(case.objective, case.constraint))
    off = np.random.default_rng(0).standard_normal(FREE + 1)
    assert reduced.problem.constraint.residual(off) > 0.1
    assert case.constraint.residual(reduced.lift(off)) < 1e-12


def test_an_accuracy_that_is_lost_on_the_way_back_is_no_success(case):
    reduced = presolve.reduce(Problem(case.objective, case.constraint))
    inside = tether.solve(*reduced.problem[:2], tol=1e-4)
    kept, lost = reduced.answer(inside, 1e-4), reduced.answer(inside, 1e-15)
    assert inside.success and kept.success and lost.status is Status.EXHAUSTED
    assert lost.message.startswith("rounding errors allow no further progress; auto chose")
    assert kept.counts.gradients == inside.counts.gradients + N
    assert kept.counts.rounds == inside.counts.rounds + 1
    assert kept.gap == lost.gap > 1e-15


def test_the_gap_of_least_squares_uses_the_curvature_that_is_left():
    case = Case(loss="squared", p=520, l2=0.0)
    reduced = presolve.reduce(Problem(case.objective, case.constraint))
    sol = reduced.answer(tether.solve(*reduced.problem[:2], "nesterov", max_rounds=3, tol=0.0), 0.0)
    gradient, B = case.at(sol.x)[1], reduced.basis
    tangent = B[:, :-1].T @ gradient
    least = np.linalg.eigvalsh(B.T @ case.wide.T @ case.wide @ B / N)[0]
    assert sol.gap == pytest.approx(tangent @ tangent / (2 * least), rel=1e-6)
    assert 1e-8 < sol.fun - case.at(case.optimum())[0] <= sol.gap


def test_dense_equations_project_several_directions_at_once(case):
    directions = np.random.default_rng(0).standard_normal((P, 3))
    one_by_one = np.column_stack([case.constraint.tangent(d) for d in directions.T])
    np.testing.assert_allclose(case.constraint.tangent(directions), one_by_one, atol=1e-13)


def test_curvature_that_the_equations_forbid_does_not_limit_the_step():
    case = Case()
    loud = case.X + 100.0 * np.random.default_rng(0).standard_normal((N, 1)) * (
        case.A[0] / np.linalg.norm(case.A[0])
    )
    objective = tether.GLM(loud, case.y, l2=case.l2)
    b = np.concatenate([[0.0], case.b[1:]])
    reduced = presolve.reduce(Problem(objective, tether.Affine(case.A, b)))
    assert reduced.problem.objective.smoothness.maximum < 0.01 * objective.smoothness.maximum


def test_the_callback_sees_feasible_points_of_the_length_that_was_asked_for(case):
    seen = []
    sol = case.solve(callback=seen.append)
    assert len(seen) == len(sol.history) - 1  # the last row is the measurement in x
    for result, rounds in zip(seen, sol.history["rounds"], strict=False):
        assert result.x.shape == (P,) and case.constraint.residual(result.x) < 1e-11
        assert result.nit == result.counts.rounds == rounds
    measured = [result for result in seen if np.isfinite(result.fun)]
    assert measured[-1].fun == pytest.approx(case.at(measured[-1].x)[0], rel=1e-12)
    assert sol.gap <= 1.001 * measured[-1].gap  # with P grad F itself instead of a bound on it


def test_stop_iteration_returns_the_best_point_so_far(case):
    def callback(result):
        if result.nit >= 4:
            raise StopIteration

    sol = case.solve(callback=callback)
    assert sol.status is Status.CALLBACK and not sol.success
    assert sol.message.startswith("the callback stopped the run") and was_projected(sol)
    assert sol.x.shape == (P,) and sol.residual < 1e-11
    assert sol.fun == pytest.approx(case.at(sol.x)[0], rel=1e-13)
    assert sol.fun == pytest.approx(np.nanmin(sol.history["value"]), rel=1e-13)


def test_an_error_in_the_callback_brings_a_point_of_the_user_along(case):
    def callback(result):
        if result.nit >= 4:
            raise KeyError("weights")

    with pytest.raises(tether.CallbackError, match=r"callback raised KeyError: 'weights'") as caught:
        case.solve(callback=callback)
    partial = caught.value.solution
    assert isinstance(caught.value.__cause__, KeyError)
    assert partial.status is Status.CALLBACK and partial.x.shape == (P,) and partial.residual < 1e-11
    rest = case.solve(x0=partial)
    assert rest.success and rest.history["value"][0] == pytest.approx(partial.fun, rel=1e-12)


def test_a_given_start_is_projected_and_used(case):
    x0, best = np.random.default_rng(1).standard_normal(P), case.optimum()
    seen = []
    case.solve(x0=x0, callback=seen.append)
    there = case.constraint.project(x0)
    np.testing.assert_allclose(seen[0].x, there, atol=1e-12)
    assert seen[0].fun == pytest.approx(case.at(there)[0], rel=1e-12)
    warm = case.solve(x0=best, tol=1e-9)
    assert warm.success and warm.counts.gradients <= 3 * N


@pytest.mark.parametrize("x0", [np.zeros(FREE + 1), [np.nan] * P])
def test_a_start_of_another_length_or_not_finite_is_refused(case, x0):
    with pytest.raises(ValueError, match="x0 must be"):
        case.solve(x0=x0)


@pytest.mark.parametrize(
    ("budget", "status"),
    [
        ({"max_rounds": 4}, Status.MAX_ROUNDS),
        ({"max_passes": 5}, Status.MAX_PASSES),
        ({"max_seconds": 1e-9}, Status.MAX_SECONDS),
    ],
)
def test_a_budget_stops_the_run_at_a_feasible_point(case, budget, status):
    sol = case.solve(tol=0.0, **budget)
    assert sol.status is status and was_projected(sol) and sol.residual < 1e-11
    assert sol.fun == pytest.approx(case.at(sol.x)[0], rel=1e-13)
    assert sol.counts.rounds <= 6 and sol.counts.gradients <= 9 * N
    assert sol.gap >= sol.fun - case.at(case.optimum())[0]


def test_the_history_ends_with_what_the_solution_says(case):
    sol = case.solve()
    last = {name: sol.history[name][-1] for name in sol.history.columns}
    assert (last["value"], last["gap"], last["seconds"]) == (sol.fun, sol.gap, sol.seconds)
    assert tuple(last[name] for name in sol.counts._fields) == tuple(sol.counts)
    assert last["passes"] == sol.counts.gradients / N
    for name in ("rounds", "gradients", "seconds"):
        assert (np.diff(sol.history[name]) >= 0).all()


def test_the_same_seed_gives_the_same_run(case):
    one, two, other = case.solve(seed=3), Case().solve(seed=3), case.solve(seed=4)
    np.testing.assert_array_equal(one.x, two.x)
    assert one.counts == two.counts
    assert not np.array_equal(one.x, other.x)


def test_a_run_stopped_after_every_request_goes_on_bit_for_bit(case, tmp_path):
    def stop(result):
        raise StopIteration

    whole, path = case.solve(), tmp_path / "run.npz"
    for _ in range(400):
        sol = Case().solve(checkpoint=path, callback=stop)
        if sol.status is not Status.CALLBACK:
            break
    resumed = case.solve(checkpoint=path)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert (resumed.fun, resumed.gap, resumed.status) == (whole.fun, whole.gap, whole.status)
    assert resumed.counts == whole.counts
    np.testing.assert_array_equal(resumed.history["value"], whole.history["value"])


def test_the_checkpoint_of_other_equations_is_refused(case, tmp_path):
    case.solve(checkpoint=tmp_path / "run.npz", max_rounds=3)
    other = tether.Affine(case.A[:, ::-1], case.b)
    with pytest.raises(ValueError, match="belongs to another problem"):
        tether.solve(case.objective, other, checkpoint=tmp_path / "run.npz")


@pytest.mark.parametrize("b", [0.0, 1.0])
def test_equations_with_a_single_solution_are_met(case, b):
    A = np.random.default_rng(0).standard_normal((P, P))
    sol = tether.solve(case.objective, tether.Affine(A, np.full(P, b)))
    assert sol.success
    np.testing.assert_allclose(sol.x, np.linalg.solve(A, np.full(P, b)), atol=1e-9)


def test_one_free_direction_is_enough(case):
    A = np.random.default_rng(0).standard_normal((P - 1, P))
    sol = tether.solve(case.objective, tether.Affine(A, np.ones(P - 1)), tol=1e-10)
    assert sol.success and f"from {P} columns to 2" in sol.message
    gradient = case.at(sol.x)[1]
    assert abs(linalg.null_space(A)[:, 0] @ gradient) < 1e-5


def reduced(objective, constraint):
    return presolve.reduce(Problem(objective, constraint))


def test_what_does_not_pay_is_left_alone(case, tmp_path):
    y, wide = case.y, Case(p=300)
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=case.X.shape)
    mapped[:] = case.X
    multinomial = tether.GLM(case.X, (y > 0).astype(int), "multinomial")
    assert reduced(case.objective, case.constraint) is not None
    assert reduced(case.objective, tether.Unconstrained(P)) is None
    assert reduced(case.objective, tether.Affine(case.A[: P // 2])) is None
    assert reduced(case.objective, tether.Range(np.eye(P, P // 2))) is None
    assert reduced(case.objective, tether.Consensus(P)) is None
    assert reduced(tether.GLM(wide.X[:999], y[:999]), wide.constraint) is None
    assert reduced(tether.GLM(wide.X[:1000], y[:1000]), wide.constraint) is not None
    assert reduced(tether.GLM(mapped, y), case.constraint) is None
    assert reduced(tether.GLM(sparse.csr_array(case.X), y), case.constraint) is None
    for p in (2_000, 2_001):  # directions of sparse equations are projected one by one
        fixed = tether.Affine(sparse.eye_array(p - 11, p, format="csr"))
        assert (reduced(tether.GLM(np.ones((1_000, p)), y[:1_000]), fixed) is None) == (p > 2_000)
    assert reduced(multinomial, tether.Affine(np.eye(220, 240))) is None
    assert reduced(tether.GLM(case.X, case.y, "squared"), case.constraint) is None  # has its linear system
    assert reduced(tether.Quadratic(factors=case.X), case.constraint) is None


@pytest.mark.parametrize("method", ["skip", tether.methods.Auto()])
def test_only_the_word_auto_changes_the_variables(case, method):
    assert not was_projected(tether.solve(case.objective, case.constraint, method, tol=1e-4))
    moment = next(tether.iterate(case.objective, case.constraint))
    assert moment.state.lbfgs.x.shape == (P,)


def test_the_peak_of_memory_is_a_share_of_the_data():
    n, p = 40_000, 150
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, p)), np.arange(n) % 2
    constraint = tether.Affine(rng.standard_normal((p - 30, p)))
    assert was_projected(tether.solve(tether.GLM(X, y, l2=1e-2), constraint))  # compile before counting
    objective = tether.GLM(X, y, l2=1e-2)
    tracemalloc.start()
    tether.solve(objective, constraint)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.3 * X.nbytes
