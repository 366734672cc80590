"""Stepping by hand: the same conversation, one request at a time."""

from itertools import islice

import numpy as np
import pytest

import tether
from tether.methods import NAMES, Anderson, DelayedSVRG, Regularised
from tether.requests import Arrived, Measured

METHODS = [*sorted({*NAMES, "auto"}), Anderson(DelayedSVRG(interval=7)), Regularised(DelayedSVRG(interval=7))]


@pytest.fixture(scope="module")
def objective():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    return tether.GLM(X, np.sign(X[:, 0] + rng.standard_normal(40)), loss="logistic", l2=0.1)


@pytest.fixture(scope="module")
def constraint():
    return tether.Affine(np.random.default_rng(1).standard_normal((2, 5)), [1.0, -0.5])


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_every_moment_holds_a_feasible_point_a_state_a_reply_and_the_counts(objective, constraint, method):
    before = tether.Counts(rounds=1, projections=1)
    for moment in islice(tether.iterate(objective, constraint, method), 30):
        assert constraint.residual(moment.x) < 1e-11
        assert isinstance(moment.reply, Measured | Arrived)
        work = moment.reply.work
        assert moment.counts in (before.plus(work, moment.state.stage), before.plus_audit(work))
        before = moment.counts


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_stepping_by_hand_writes_the_history_that_solve_writes(objective, constraint, method):
    seen = []
    sol = tether.solve(objective, constraint, method, tol=0.0, max_rounds=25, seed=3, callback=seen.append)
    moments = list(islice(tether.iterate(objective, constraint, method, seed=3), len(seen)))
    for i, (moment, result) in enumerate(zip(moments, seen, strict=True)):
        assert result.nit == moment.counts.rounds
        value = moment.reply.value if isinstance(moment.reply, Measured) else np.nan
        np.testing.assert_equal(sol.history["value"][i], value)
        assert [sol.history[name][i] for name in moment.counts._fields] == list(moment.counts)


def test_stepping_by_hand_starts_where_it_is_told(objective, constraint):
    first = next(tether.iterate(objective, constraint, "dp-svrg", x0=np.ones(5)))
    np.testing.assert_array_equal(first.reply.point, constraint.project(np.ones(5)))
    solution = tether.solve(objective, constraint, "nesterov", max_rounds=4)
    warm = next(tether.iterate(objective, constraint, "dp-svrg", x0=solution))
    np.testing.assert_array_equal(warm.reply.point, constraint.project(solution.x))


def test_stepping_can_stop_at_any_time_and_has_no_end_of_its_own(objective, constraint):
    moments = tether.iterate(objective, constraint, "lbfgs")
    *_, last = islice(moments, 200)
    assert last.counts.rounds == 201
    moments.close()
    with pytest.raises(StopIteration):
        next(moments)


@pytest.mark.parametrize("method", ["dp-sgd", "skip", Regularised(DelayedSVRG(interval=7))], ids=str)
def test_interleaved_runs_do_not_disturb_each_other(objective, constraint, method):
    def moments(seed):
        return tether.iterate(objective, constraint, method, seed=seed)

    alone = [list(islice(moments(seed), 25)) for seed in (1, 2)]
    for one, other, *expected in zip(moments(1), moments(2), *alone, strict=False):
        np.testing.assert_array_equal(one.x, expected[0].x)
        np.testing.assert_array_equal(other.x, expected[1].x)
        assert one.counts == expected[0].counts


def test_a_moment_is_not_changed_by_what_follows(objective, constraint):
    moments = tether.iterate(objective, constraint, "p-svrg")
    kept = list(islice(moments, 8))
    copies = [(moment.x.copy(), moment.state.x.copy()) for moment in kept]
    list(islice(moments, 60))
    for moment, (x, state_x) in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(moment.x, x)
        np.testing.assert_array_equal(moment.state.x, state_x)


def test_mistakes_show_when_iterate_is_called_not_at_the_first_step(objective):
    with pytest.raises(ValueError, match="seed"):
        tether.iterate(objective, seed=-1)
    with pytest.raises(ValueError, match="x0"):
        tether.iterate(objective, x0=np.ones(3))
