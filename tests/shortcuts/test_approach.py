"""Newton's steps before the run: they save rounds of conversation and decide nothing."""

import numpy as np
import pytest
from scipy import sparse

import tether
from tether.curvature import unpacked
from tether.engines.centre import Centre
from tether.objectives.losses import Logistic

N, P = 120, 6


def labels(loss, z, rng):
    return {
        "logistic": lambda: z + rng.logistic(size=N) > 0,
        "poisson": lambda: rng.poisson(np.exp(0.3 * z)),
        "gamma": lambda: np.exp(0.2 * z) * rng.gamma(3.0, 1.0, N),
        "huber": lambda: 1e4 * (z + rng.standard_t(2, N)),
        "multinomial": lambda: np.arange(N) % 3,
    }[loss]()


def problem(loss, m=0, seed=0, l2=1e-3, units=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P)) * (np.logspace(-3, 3, P) if units else 1.0)
    y = labels(loss, X @ (rng.standard_normal(P) / np.abs(X).max(axis=0)), rng)
    objective = tether.GLM(X, y, loss, l2=l2)
    A = rng.standard_normal((m, objective.dim))
    return objective, tether.Affine(A, rng.standard_normal(m)) if m else None


@pytest.mark.parametrize("loss", ["logistic", "poisson", "gamma", "huber", "multinomial"])
@pytest.mark.parametrize(("m", "units"), [(0, False), (2, False), (0, True)])
def test_the_run_begins_next_to_the_minimum(loss, m, units):
    objective, constraint = problem(loss, m, units=units)
    sol = tether.solve(objective, constraint)
    best = tether.solve(objective, constraint, "newton", rtol=1e-12)
    assert sol.success and len(sol.history) <= 3
    assert sol.fun - best.fun <= sol.gap * (1 + 1e-9) + 1e-13 * abs(best.fun)
    assert sol.gap <= 1e-6 * max(abs(sol.fun), objective.value(np.zeros(objective.dim)) - sol.fun)
    assert sol.solver.startswith("Newton's method, ") and sol.counts.stages >= 2


@pytest.mark.parametrize("loss", ["logistic", "huber"])
def test_what_the_steps_cost_is_counted(loss, monkeypatch):
    objective, constraint = problem(loss, 1)
    seen = {"looks": 0, "bends": 0}
    evaluate, curvature, expansion = (
        getattr(type(objective), name) for name in ("evaluate", "curvature", "expansion")
    )

    def looked(self, x):
        seen["looks"] += 1
        return evaluate(self, x)

    def bent(self, *arguments):
        seen["bends"] += 1
        return curvature(self, *arguments)

    def expanded(self, x):
        seen["looks"] += 1
        value, gradient, hessian = expansion(self, x)

        def made():
            seen["bends"] += 1
            return hessian()

        return value, gradient, made

    monkeypatch.setattr(type(objective), "expansion", expanded)
    monkeypatch.setattr(type(objective), "evaluate", looked)
    monkeypatch.setattr(type(objective), "curvature", bent)
    counts = tether.solve(objective, constraint).counts
    passes = seen["looks"] + seen["bends"] * objective.second_order.full
    assert counts.gradients + counts.audit_gradients == pytest.approx(N * passes, abs=2 + seen["bends"])
    assert counts.projections >= counts.stages


@pytest.mark.parametrize("limits", [{"max_rounds": 100}, {"max_passes": 60}, {"max_seconds": 0.9}])
def test_budgets_that_may_be_met_keep_the_run_in_the_loop(limits):
    objective, constraint = problem("logistic", 1)
    sol = tether.solve(objective, constraint, **limits)
    assert sol.success and len(sol.history) >= 3


def test_a_given_start_is_looked_at_first():
    objective, constraint = problem("logistic", 1)
    x0, seen = np.full(P, 0.3), []
    tether.solve(objective, constraint, x0=x0, callback=seen.append)
    assert seen[0].fun == pytest.approx(objective.value(constraint.project(x0)), rel=1e-12)


def test_stepping_by_hand_shows_every_step():
    objective, constraint = problem("poisson", 1)
    moments = tether.iterate(objective, constraint)
    assert next(moments).reply.value == pytest.approx(objective.value(constraint.project(np.zeros(P))))


def test_data_without_a_minimum_is_not_approached():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    sol = tether.solve(tether.GLM(X, X[:, 0] > 0))
    assert sol.status is tether.Status.DIVERGED and not sol.success


def test_a_loss_of_a_user_takes_every_step_in_the_loop():
    class Wavy(Logistic):
        def values(self, z, y):
            return super().values(z, y) + 0.05 * np.cos(3.0 * z)

        def slopes(self, z, y):
            return super().slopes(z, y) - 0.15 * np.sin(3.0 * z)

        def curvatures(self, z, y):
            return super().curvatures(z, y) - 0.45 * np.cos(3.0 * z)

    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, P))
    sol = tether.solve(tether.GLM(X, X[:, 0] > 0, Wavy(), l2=0.1))
    assert len(sol.history) > 3 and sol.gap is None


def test_equations_that_say_nearly_the_same_are_kept_to():
    objective, _ = problem("logistic")
    rows = np.random.default_rng(3).standard_normal((3, P))
    rows[2] = rows[0] + 1e-7 * rows[2]
    constraint = tether.Affine(rows, [0.0, 1.0, 1e-7])
    sol = tether.solve(objective, constraint)
    best = tether.solve(objective, constraint, "newton", rtol=1e-12)
    assert sol.success and sol.residual <= 1e-12 * (1 + np.linalg.norm(sol.x))
    missed = sum(np.abs(one.multipliers) @ np.abs(rows @ one.x - constraint.b) for one in (sol, best))
    assert sol.fun - best.fun <= sol.gap * (1 + 1e-9) + 2 * missed + 1e-13


def test_a_kept_run_is_the_same_again(tmp_path):
    objective, constraint = problem("poisson", 2)
    first = tether.solve(objective, constraint, checkpoint=tmp_path / "run.npz")
    again = tether.solve(objective, constraint, checkpoint=tmp_path / "run.npz")
    plain = tether.solve(objective, constraint)
    assert first.counts == plain.counts and np.array_equal(first.x, plain.x)
    assert np.array_equal(again.x, first.x) and again.counts.gradients == first.counts.gradients


@pytest.mark.parametrize(
    ("loss", "n", "p", "m"), [("multinomial", 5, 150, 0), ("poisson", 2, 300, 2), ("logistic", 1, 200, 2)]
)
def test_few_samples_of_many_variables_keep_to_the_passes_that_are_allowed(loss, n, p, m):
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((n, p)), rng.integers(0, 2, n)
    objective = tether.GLM(X, y, loss, l2=0.1, **({"n_classes": 4} if loss == "multinomial" else {}))
    rows = rng.standard_normal((m, objective.dim))
    constraint = tether.Affine(rows, 0.1 * rows @ rng.standard_normal(objective.dim)) if m else None
    for limit in (20, 200, None):
        sol = tether.solve(objective, constraint, max_passes=limit)
        assert sol.counts.gradients <= (limit or 1000) * n
    assert sol.success


def test_steps_that_do_not_converge_are_counted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    objective = tether.GLM(X, X[:, 0] > 0)
    stepped = tether.solve(objective, max_passes=500)
    looped = tether.solve(objective, max_passes=500, max_rounds=10**6)
    assert stepped.status is looped.status is tether.Status.DIVERGED
    assert stepped.counts.gradients > looped.counts.gradients


def skewed(n=200, scale=4.0):
    """A column like incomes: some are thousands of times as large as most."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 3))
    X[:, 0] = np.round(np.exp(scale * rng.standard_normal(n)))
    return X, X[:, 0] + np.exp(3.0) * rng.standard_normal(n) > np.exp(1.0)


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_a_hessian_far_from_where_steps_led_certifies_nothing(loss):
    X, y = skewed()
    X = X if loss == "logistic" else np.column_stack([X[:, 0] / 1e3, X[:, 1:]])
    objective = tether.GLM(X, y, loss, l2=1e-3, fit_intercept=True)
    sol, best = tether.solve(objective), tether.solve(objective, method="newton", rtol=1e-12)
    assert sol.success and sol.fun - best.fun <= sol.gap * (1 + 1e-9) + 1e-13 * abs(best.fun)


@pytest.mark.parametrize("loss", ["logistic", "poisson", "multinomial"])
@pytest.mark.parametrize("single", [False, True])
def test_second_derivatives_fall_by_no_more_than_predictions_move(loss, single):
    rng = np.random.default_rng(3)
    objective, _ = problem(loss, units=True)
    if single:
        objective = tether.GLM(objective.design.matrix.astype(np.float32), objective.y, loss, l2=1e-3)
    x, v = (rng.standard_normal(objective.dim) * 1e-3 for _ in range(2))
    one, other = (unpacked(objective.curvature(at, "full")) for at in (x, x + v))
    least = np.linalg.eigvalsh(other - np.exp(-objective.fall(v)) * one)[0]
    assert 0.0 < objective.fall(v) < np.inf and least >= -1e-9 * np.abs(other).max()


@pytest.mark.parametrize("loss", ["logistic", "poisson", "gamma"])
@pytest.mark.parametrize("spread", ["dense", "sparse", "weighted"])
def test_what_steps_took_is_to_the_last_bit_what_workers_send(loss, spread):
    objective, _ = problem(loss)
    X, weights = objective.design.matrix, np.linspace(0.5, 2.0, N) if spread == "weighted" else None
    X = sparse.csr_array(X * (np.abs(X) > 0.5)) if spread == "sparse" else X
    objective = tether.GLM(X, objective.y, loss, l2=1e-3, sample_weight=weights, fit_intercept=True)
    x = np.linspace(-0.2, 0.3, objective.dim)
    np.testing.assert_array_equal(objective.expansion(x)[2](), unpacked(objective.curvature(x, "full")))


def test_the_first_request_is_certified_with_the_hessian_that_led_there(monkeypatch):
    known = []
    real = Centre.know
    monkeypatch.setattr(Centre, "know", lambda self, *given: known.append(given) or real(self, *given))
    objective, constraint = problem("logistic", 1)
    sol = tether.solve(objective, constraint)
    (_, request, hessian), *_ = known
    np.testing.assert_allclose(hessian, unpacked(objective.curvature(request.metric.point, "full")))
    assert not np.array_equal(request.metric.point, request.point) and len(sol.history) <= 3
