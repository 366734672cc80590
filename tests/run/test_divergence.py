"""A step that is far too large: the run ends with the last good point and says what to change."""

import re

import numpy as np
import pytest

import tether
from tether import Status
from tether.methods import LBFGS, Anderson, DelayedASVRG, DelayedSGD, DelayedSVRG, ProxSkip, ProxSkipSVRG
from tether.problem import Facts


@pytest.fixture(scope="module")
def objective():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6))
    return tether.GLM(X, X @ rng.standard_normal(6) + rng.standard_normal(120), loss="squared", l2=0.01)


@pytest.fixture(scope="module")
def constraint():
    return tether.Affine(np.random.default_rng(1).standard_normal((2, 6)), [1.0, -1.0])


def default_step(method, objective):
    facts = Facts(objective.n_samples, objective.dim, objective.smoothness)
    return method().prepare(facts).step_size


@pytest.mark.parametrize("factor", [1e3, 1e6, 1e100, 1e300])
@pytest.mark.parametrize("method", [DelayedSGD, DelayedSVRG, DelayedASVRG, ProxSkip, ProxSkipSVRG])
def test_far_too_large_a_step_ends_with_the_last_good_point(objective, constraint, method, factor):
    step = factor * default_step(method, objective)
    sol = tether.solve(objective, constraint, method(step_size=step), max_passes=300)
    start = constraint.project(np.zeros(6))
    assert sol.status is Status.DIVERGED and not sol.success
    assert np.isfinite(sol.x).all() and constraint.residual(sol.x) < 1e-12
    assert sol.fun == pytest.approx(objective.value(sol.x), rel=1e-14) and sol.fun <= objective.value(start)
    assert sol.gap is not None and np.isfinite(sol.gap)
    advised = float(re.search(r"try step_size=(\S+) or a smaller interval", sol.message).group(1))
    assert 0 < advised < step and f"step_size={step:g}" in sol.message


@pytest.mark.parametrize("method", [DelayedSGD, DelayedSVRG, ProxSkip])
def test_following_the_advice_leads_to_a_run_that_does_not_diverge(objective, constraint, method):
    step = 1e3 * default_step(method, objective)
    for _ in range(12):
        sol = tether.solve(objective, constraint, method(step_size=step), max_passes=20)
        if sol.status is not Status.DIVERGED:
            break
        step = float(re.search(r"try step_size=(\S+) or", sol.message).group(1))
    assert sol.status is not Status.DIVERGED
    assert sol.fun < objective.value(constraint.project(np.zeros(6)))


def test_a_diverged_run_does_not_overwrite_its_checkpoint(objective, constraint, tmp_path):
    path = tmp_path / "run.npz"
    tether.solve(objective, constraint, DelayedSVRG(step_size=1e6), checkpoint=path)
    assert not path.exists()


@pytest.mark.parametrize("inner", [DelayedSVRG, DelayedASVRG, ProxSkipSVRG])
def test_anderson_mends_a_step_that_is_far_too_large(objective, constraint, inner):
    step = 1e3 * default_step(inner, objective)
    sol = tether.solve(objective, constraint, Anderson(inner(step_size=step)), tol=1e-8, max_passes=500)
    assert sol.success


def test_a_line_search_survives_trial_points_where_the_objective_overflows():
    rng = np.random.default_rng(0)
    X = 2.0 * rng.standard_normal((120, 6))
    counts = rng.poisson(np.exp(0.5 * X @ rng.standard_normal(6))).astype(float)
    objective = tether.GLM(X, counts, loss="poisson", l2=0.01)
    far = tether.solve(objective, None, LBFGS(), x0=np.full(6, 3.0))
    near = tether.solve(objective, None, LBFGS())
    assert np.isinf(far.history["value"]).any(), "the first trials overflow"
    assert far.success and abs(far.fun - near.fun) <= far.gap + near.gap
