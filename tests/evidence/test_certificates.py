"""The gap that a run reports is a bound: F(x) - F* never exceeds it."""

import numpy as np
import pytest

import tether
from tether.methods import NAMES, Anderson, DelayedASVRG, DelayedSGD, DelayedSVRG, ProxSkip, Regularised

METHODS = [
    *dict.fromkeys([*NAMES, "auto"]),
    DelayedSGD(interval=5, output="last"),
    DelayedASVRG(parameters="theory", interval=1),
    ProxSkip(interval=4, random=True),
    Anderson(DelayedSVRG(interval=10)),
    Regularised(DelayedSVRG()),
]
ROUNDING = 1e-14


@pytest.mark.parametrize("l2", [0.5, 0.02, 0.001])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: repr(method)[:40])
def test_every_measured_gap_is_a_bound(logistic, method, l2):
    known = logistic(l2)
    reference = tether.solve(known.objective, known.constraint, "lbfgs", tol=1e-13)
    assert reference.success and abs(reference.fun - known.best) < 1e-13
    solution = tether.solve(known.objective, known.constraint, method, tol=1e-9, max_passes=40, seed=3)
    value, gap = solution.history["value"], solution.history["gap"]
    seen = np.isfinite(value)
    assert seen.sum() >= 3
    assert (value[seen] >= known.best - ROUNDING).all()
    assert (gap[seen] >= value[seen] - known.best - ROUNDING).all()
    assert known.gap(solution.x) <= solution.gap + ROUNDING
    assert solution.success == (solution.gap <= 1e-9 * max(1.0, abs(solution.fun)))


def test_the_bound_is_tight_on_the_flattest_direction():
    # On F = mu/2 ||x||^2 the bound holds with equality.
    objective = tether.Quadratic(matrix=0.15 * np.eye(4))
    constraint = tether.Affine(np.ones((1, 4)))
    x0 = constraint.project(np.array([1.0, 2.0, -4.0, 3.0]))
    first = next(tether.iterate(objective, constraint, "lbfgs", x0=x0)).reply
    mu = objective.smoothness.convexity
    assert first.certificate / (2 * mu) == pytest.approx(objective.value(x0), rel=1e-12)


LABELS = {
    "logistic": lambda z, rng: np.where(z + rng.logistic(size=len(z)) > 0, 1, 0),
    "poisson": lambda z, rng: rng.poisson(np.exp(np.clip(z, -3, 3))),
    "gamma": lambda z, rng: rng.gamma(2.0, np.exp(np.clip(z, -3, 3)) / 2.0),
}


@pytest.mark.parametrize("equations", [0, 2])
@pytest.mark.parametrize("l2", [0.0, 1e-6])
@pytest.mark.parametrize("loss", LABELS)
def test_units_of_columns_do_not_loosen_the_bound(loss, l2, equations):
    rng = np.random.default_rng(equations)
    units = 10.0 ** rng.uniform(-3, 4, 8)
    X = rng.standard_normal((300, 8)) @ rng.standard_normal((8, 8))
    y = LABELS[loss](0.3 * X[:, 0], rng)
    objective = tether.GLM(X * units, y, loss, l2=l2)
    constraint = tether.Affine(rng.standard_normal((2, 8)) * units) if equations else None
    best = tether.solve(objective, constraint, "newton", tol=0.0).fun
    for tol in (1e-3, 1e-5, 1e-7, 1e-9):
        sol = tether.solve(objective, constraint, tether.methods.Newton(refresh=1), tol=tol)
        gap = sol.fun - best
        assert sol.success and sol.gap >= gap - ROUNDING
        assert sol.gap <= 3.0 * gap + 1e-13
