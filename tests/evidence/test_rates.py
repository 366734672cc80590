"""How fast the methods converge, and to what: the paper's and ProxSkip's rates, measured."""

import numpy as np
import pytest

import tether
from tether.methods import (
    LBFGS,
    Anderson,
    DelayedASVRG,
    DelayedSGD,
    DelayedSVRG,
    Nesterov,
    ProxSkip,
    ProxSkipSVRG,
    Regularised,
)


def _measured(solution, best):
    """Return stages and gaps where F was measured, down to rounding."""
    value, stages = solution.history["value"], solution.history["stages"]
    seen = np.isfinite(value) & (value - best > 1e-12)
    return stages[seen], value[seen] - best


KAPPAS = (10, 100, 1000, 10_000)


@pytest.mark.parametrize(
    ("method", "low", "high"),
    [
        (lambda kappa: ProxSkip(interval=round(np.sqrt(kappa))), 0.35, 0.65),
        (lambda kappa: ProxSkip(interval=round(np.sqrt(kappa)), random=True), 0.35, 0.65),
        (lambda kappa: Nesterov(), 0.35, 0.65),
        (lambda kappa: ProxSkip(interval=1), 0.85, 1.15),
    ],
    ids=["proxskip", "proxskip with coins", "nesterov", "projected gradient descent"],
)
def test_projections_grow_with_the_right_power_of_kappa(quadratic, rounds_to, method, low, high):
    rounds = [rounds_to(quadratic(kappa), method(kappa), 1e-3) for kappa in KAPPAS]
    power = np.polyfit(np.log(KAPPAS), np.log(rounds), 1)[0]
    assert low < power < high


def _plateau(known, interval, step):
    """Return the gap at which full-gradient DP-SGD comes to rest."""
    n_samples = known.objective.n_samples
    method = DelayedSGD(
        interval=interval, step_size=step, batch_size=n_samples, stage_length=16, output="last"
    )
    solution = tether.solve(known.objective, known.constraint, method, tol=0, max_passes=1200)
    _, gaps = _measured(solution, known.best)
    assert gaps[-1] == pytest.approx(gaps[-20], rel=1e-3)
    return gaps[-1]


def test_delayed_sgd_stalls_at_an_error_that_grows_with_interval_and_step(logistic):
    known = logistic(0.02)
    eta = 0.25 / known.objective.smoothness.full
    errors = {(E, k): _plateau(known, E, k * eta) for E in (2, 4, 8) for k in (1, 2)}
    for k in (1, 2):
        assert 1e-7 < errors[2, k] < errors[4, k] < errors[8, k]
    for E in (2, 4, 8):
        # O(eta^2): a step twice as large leaves about four times the error.
        assert 3 < errors[E, 2] / errors[E, 1] < 7
    # O((E-1)^2 ||grad F(x*)||^2): 1, 9, 49.
    assert 6 < errors[4, 1] / errors[2, 1] < 13
    assert 30 < errors[8, 1] / errors[2, 1] < 75


@pytest.mark.parametrize("interval", [2, 8, 16])
def test_variance_reduction_removes_the_error_that_delayed_sgd_stalls_at(logistic, interval):
    known = logistic(0.02)
    method = DelayedSVRG(
        interval=interval,
        stage_length=16,
        batch_size=known.objective.n_samples,
        step_size=0.5 / known.objective.smoothness.full,
    )
    solution = tether.solve(known.objective, known.constraint, method, tol=1e-10)
    assert solution.success
    assert known.gap(solution.x) < 1e-10


@pytest.mark.parametrize("method", [ProxSkip(interval=8), ProxSkipSVRG(), DelayedASVRG()])
def test_so_do_learned_duals_and_momentum(logistic, method):
    known = logistic(0.02)
    solution = tether.solve(known.objective, known.constraint, method, tol=1e-10)
    assert solution.success
    assert known.gap(solution.x) < 1e-10


@pytest.mark.parametrize("interval", [1, 10, None])
def test_delayed_svrg_converges_linearly(logistic, interval):
    known = logistic(0.02)
    method = DelayedSVRG(interval=interval)
    solution = tether.solve(known.objective, known.constraint, method, tol=1e-14)
    stages, gaps = _measured(solution, known.best)
    logarithms = np.log10(gaps)
    slope = np.polyfit(stages, logarithms, 1)[0]
    assert np.corrcoef(stages, logarithms)[0, 1] ** 2 > 0.98
    assert logarithms[0] - logarithms[-1] > 6
    assert slope < -0.1


THEORY = {"parameters": "theory", "batch_size": 1, "replacement": True}


@pytest.mark.slow
@pytest.mark.parametrize("interval", [1, 4])
@pytest.mark.parametrize("l2", [0.02, 0.0], ids=["mu>0", "mu=0"])
@pytest.mark.parametrize("method", [DelayedSGD, DelayedSVRG, DelayedASVRG])
def test_the_parameters_of_the_theorems_converge(logistic, method, l2, interval):
    known = logistic(l2)
    budget = 50 * interval  # the safe steps are of the order of 1/(L E)
    solution = tether.solve(
        known.objective, known.constraint, method(interval=interval, **THEORY), tol=1e-10, max_passes=budget
    )
    _, gaps = _measured(solution, known.best)
    assert solution.status is not tether.Status.DIVERGED
    assert gaps.max() == gaps[0] == known.first_gap
    assert gaps[-1] < 0.5 * gaps[0]
    later = gaps[len(gaps) // 2 :]
    assert later.max() < gaps[: len(gaps) // 4].max()


def test_the_theory_of_momentum_wins_for_mu_0(logistic):
    known = logistic(0.0)
    gaps = [
        known.gap(
            tether.solve(
                known.objective, known.constraint, method(interval=4, **THEORY), tol=0, max_passes=120
            ).x
        )
        for method in (DelayedASVRG, DelayedSVRG)
    ]
    assert 10 * gaps[0] < gaps[1]


@pytest.fixture(scope="module")
def flat():
    """Least squares whose matrix has rank 3 of 8, with its KKT solution."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 8)), rng.standard_normal(40)
    A, b = rng.standard_normal((2, 8)), rng.standard_normal(2)
    kkt = np.block([[X.T @ X / 40, A.T], [A, np.zeros((2, 2))]])
    x = np.linalg.lstsq(kkt, np.concatenate([X.T @ y / 40, b]), rcond=1e-10)[0][:8]
    objective = tether.GLM(X, y, loss="squared")
    assert objective.smoothness.convexity == 0
    assert np.linalg.norm(A @ x - b) < 1e-12
    return objective, tether.Affine(A, b), objective.value(x)


@pytest.mark.parametrize(
    "inner",
    [
        DelayedSVRG(),
        DelayedASVRG(),
        DelayedASVRG(parameters="theory", stage_length=1, interval=1),
        ProxSkip(interval=3),
        ProxSkipSVRG(),
        Anderson(DelayedSVRG()),
        Anderson(ProxSkipSVRG()),
        Nesterov(),
        LBFGS(),
    ],
    ids=lambda method: repr(method)[:30],
)
def test_regularised_reaches_the_optimum_without_strong_convexity(flat, inner):
    objective, constraint, best = flat
    solution = tether.solve(objective, constraint, Regularised(inner), tol=1e-5, max_passes=2000)
    assert solution.success
    assert solution.gap is None
    assert abs(solution.fun - best) < 1e-7
    assert constraint.residual(solution.x) < 1e-12
