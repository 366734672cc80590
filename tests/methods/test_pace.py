"""Walks of open length: they grow while F falls, and a stage in which it rose is undone."""

import numpy as np
import pytest
from scipy import sparse

import tether
from tether import Affine
from tether.engines import Problem
from tether.methods import Anderson, DelayedASVRG, DelayedSVRG
from tether.methods.pace import FIRST_WAIT, GROWTH
from tether.objectives.base import Smoothness
from tether.objectives.compiled import SCATTERED_READ
from tether.problem import Facts
from tether.requests import Arrived

METHODS = [DelayedSVRG, DelayedASVRG]
RIGHT = 1.0


def correlated(n_samples=400):
    """Return least squares whose unconstrained minimum pulls long walks far past the constrained one."""
    rng = np.random.default_rng(2)
    common = rng.standard_normal((n_samples, 1))
    X = common + 0.1 * rng.standard_normal((n_samples, 2))
    y = X @ [3.0, -2.0] + 0.1 * rng.standard_normal(n_samples)
    return tether.GLM(X, y, "squared", l2=1e-3), tether.Affine([[0.0, 1.0]], [RIGHT]), X, y


def minimum(X, y, l2=1e-3):
    """Return the minimiser with the second coordinate given."""
    free, rest = X[:, 0], y - RIGHT * X[:, 1]
    return np.array([free @ rest / (free @ free + l2 * len(y)), RIGHT])


def walks(objective, constraint, method, stages):
    """Return the lengths of the walks of each stage."""
    lengths = [[]]
    for moment in tether.iterate(objective, constraint, method):
        if isinstance(moment.reply, Arrived):
            lengths[-1].append(moment.reply.work.steps)
            if moment.counts.stages == stages:
                return lengths
            if moment.counts.stages == len(lengths):
                lengths.append([])


@pytest.mark.parametrize("method", METHODS)
def test_walks_grow_until_they_are_a_stage_long(strongly_convex, method):
    found = walks(strongly_convex.objective, strongly_convex.constraint, method(interval=1, growth=4), 5)
    assert [stage[0] for stage in found] == [1, 4, 16, 24, 24]


@pytest.mark.parametrize("method", METHODS)
def test_a_given_interval_stays(strongly_convex, method):
    found = walks(strongly_convex.objective, strongly_convex.constraint, method(interval=5), 4)
    assert found == [[5, 5, 5, 5, 4]] * 4


@pytest.mark.parametrize("method", METHODS)
def test_walks_that_are_too_long_are_cut_and_the_run_converges(method):
    objective, constraint, X, y = correlated()
    long = {"interval": 1600, "batch_size": 1, "stage_length": 1600}
    alone = tether.solve(objective, constraint, method(**long), tol=1e-9, max_passes=60)
    assert not alone.success
    paced = tether.solve(objective, constraint, method(**long, growth=GROWTH), tol=1e-9, max_passes=300)
    assert paced.success
    np.testing.assert_allclose(paced.x, minimum(X, y), atol=1e-4)


FACTS = Facts(10_000, 50, Smoothness(1.0, 0.01, 1e-4))  # E = 2/(eta L_F) = 1102 steps are safe


@pytest.mark.parametrize("method", METHODS)
def test_the_default_is_safe_where_rounds_are_cheap_and_bold_where_they_cost_more_than_the_steps(method):
    cheap, costly = (method().prepare(FACTS._replace(round_work=work)) for work in (2_200, 2_210))
    assert (cheap.interval, cheap.growth) == (1102, 1)
    assert (costly.interval, costly.growth, costly.shortest) == (10_000, GROWTH, 1102)
    assert method().prepare(FACTS).interval == 10_000, "nobody knows what a round costs"


def test_a_round_is_worth_the_numbers_that_it_reads(monkeypatch):
    monkeypatch.setattr("tether.constraints.algebra.sparse.SMALL_WORK", 0.0)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3_000, 40)), rng.integers(0, 2, 3_000)

    def worth(data, rows):
        objective = tether.GLM(data, y, l2=1e-3)
        objective.compile()
        return tether.Serial().facts(Problem(objective, rows)).round_work

    few, many, thin = (Affine(rng.standard_normal((m, 40))) for m in (2, 20, 38))
    assert worth(X, many) - worth(X, few) == pytest.approx(2 * (20 - 2))
    assert worth(X, thin) == pytest.approx(worth(X, few)), "the complement is used where it is smaller"
    assert worth(X, Affine(sparse.csr_array(np.eye(2, 40)))) == np.inf
    half = sparse.csr_array(X * (np.arange(40) < 5))
    assert worth(half, few) == pytest.approx(worth(X, few) * 40 / (5 * SCATTERED_READ))


@pytest.mark.parametrize("method", METHODS)
def test_the_default_walks_converge_where_long_ones_do_not(method):
    objective, constraint, X, y = correlated()
    for inner in (method(), Anderson(method())):
        solution = tether.solve(objective, constraint, inner, tol=1e-9, max_passes=300)
        assert solution.success
        np.testing.assert_allclose(solution.x, minimum(X, y), atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_an_undone_stage_starts_where_the_last_good_one_did(method):
    objective, constraint, _, _ = correlated()
    method = method(interval=1600, batch_size=1, stage_length=1600, growth=4)
    before, seen = None, 0
    for moment in tether.iterate(objective, constraint, method):
        state = moment.state.anchored
        if state.pace.turned_back:
            np.testing.assert_array_equal(state.anchor, before)
            assert state.pace.interval == 400 and state.pace.wait == FIRST_WAIT
            assert objective.value(before) < moment.reply.value
            break
        before, seen = state.pace.good[0], seen + 1
        assert seen < 50


@pytest.mark.parametrize("method", METHODS)
def test_an_overflow_is_undone(method):
    objective, constraint, X, _ = correlated()
    wild = 300.0 / np.linalg.norm(X, axis=1).max() ** 2
    method = method(interval=1600, batch_size=1, stage_length=1600, growth=4, step_size=wild)
    moments = tether.iterate(objective, constraint, method)
    with np.errstate(all="ignore"):
        overflow = next(
            m for m in moments if isinstance(m.reply, Arrived) and m.state.anchored.pace.turned_back
        )
    assert not np.isfinite(overflow.reply.end).all() and np.isfinite(overflow.x).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_no_pace_mends_is_still_called_diverged(method):
    objective, constraint, X, _ = correlated()
    wild = 300.0 / np.linalg.norm(X, axis=1).max() ** 2
    solution = tether.solve(objective, constraint, method(step_size=wild), max_passes=100)
    assert solution.status is tether.Status.DIVERGED and "step_size" in solution.message


@pytest.mark.parametrize("method", METHODS)
def test_workers_begin_with_one_walk_a_stage(method):
    rng = np.random.default_rng(0)
    workers = [tether.GLM(rng.standard_normal((50, 4)), rng.integers(0, 2, 50), l2=0.1) for _ in range(3)]
    found = walks(tether.Federation(workers), None, method(), 2)
    assert [len(stage) for stage in found] == [1, 1]


@pytest.mark.parametrize("method", METHODS)
def test_growth_is_refused_where_something_else_fixes_the_interval(method):
    with pytest.raises(ValueError, match="growth"):
        method(interval=(2, 5), growth=2)
    with pytest.raises(ValueError, match="growth"):
        method(parameters="theory", growth=2)


@pytest.mark.parametrize("output", ["mean", "last"])
def test_an_undone_stage_does_not_count_in_the_mean(output):
    objective, constraint, _, _ = correlated()
    method = DelayedSVRG(interval=1600, batch_size=1, stage_length=1600, growth=4, output=output)
    anchors, turns = [], 0
    for moment in tether.iterate(objective, constraint, method):
        state = moment.state.anchored
        if isinstance(moment.reply, Arrived) and state.step == 0:
            anchors.append(state.anchor)
        if state.pace.turned_back and not isinstance(moment.reply, Arrived):
            anchors.pop()
            turns += 1
        assert state.averaged == len(anchors)
        if anchors:
            np.testing.assert_allclose(state.mean, np.mean(anchors, axis=0), atol=1e-12)
        if turns and state.stage > turns + 8:
            break


def test_restarts_are_not_taken_for_rises_and_the_run_converges():
    objective, constraint, X, y = correlated()
    solution = tether.solve(objective, constraint, DelayedASVRG(restart=3), tol=1e-9, max_passes=400)
    assert solution.success and np.isfinite(solution.history["value"]).any()
    np.testing.assert_allclose(solution.x, minimum(X, y), atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_stopped_after_an_undone_stage_resumes_as_if_it_had_not_been(method, tmp_path):
    objective, constraint, _, _ = correlated()
    method = method(interval=1600, batch_size=1, stage_length=1600, growth=4)
    whole = tether.solve(objective, constraint, method, tol=0.0, max_rounds=30)
    for rounds in range(2, 31, 4):
        path = tmp_path / "run.npz"
        part = tether.solve(objective, constraint, method, tol=0.0, max_rounds=rounds, checkpoint=path)
    last = tether.solve(objective, constraint, method, tol=0.0, max_rounds=30, checkpoint=path)
    np.testing.assert_array_equal(last.x, whole.x)
    assert part.counts.rounds <= last.counts.rounds == whole.counts.rounds
