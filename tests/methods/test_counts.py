"""T, S, P and G as they happened, against schedules counted by hand (N = 24)."""

import numpy as np
import pytest

import tether
from tether.methods import (
    LBFGS,
    NAMES,
    Anderson,
    DelayedASVRG,
    DelayedSGD,
    DelayedSVRG,
    Nesterov,
    ProxSkip,
    ProxSkipSVRG,
    Regularised,
)
from tether.run.solution import Counts

START = Counts(rounds=1, projections=1)  # x0 is projected
SHORT = {"interval": 3, "stage_length": 8, "batch_size": 2}

#: Method, stages, and the counts after them beside the start's.
SCHEDULES = {
    # 3 steps a walk, the average projected with the walks that end at 9, 18 and 24. F is looked at when it
    # starts and again after 24 component gradients.
    "dp-sgd": (DelayedSGD(**SHORT), 3, Counts(24, 3, 8, 8 + 3, 48, audits=2, audit_gradients=2 * 24)),
    # A full gradient and three walks a stage.
    "dp-svrg": (DelayedSVRG(**SHORT), 3, Counts(24, 3, 3 * 4, 3 * 5, 3 * (24 + 16))),
    "dp-svrg, last anchor": (DelayedSVRG(**SHORT, anchor="last"), 3, Counts(24, 3, 12, 12, 120)),
    "p-svrg": (
        DelayedSVRG(interval=1, stage_length=8, batch_size=2),
        2,
        Counts(16, 2, 2 * 9, 2 * 10, 2 * (24 + 16)),
    ),
    # At its first step x is the anchor, where the stochastic part vanishes and costs nothing.
    "dp-asvrg": (DelayedASVRG(**SHORT), 3, Counts(24, 3, 3 * 4, 3 * 5, 3 * (24 + 14))),
    "dp-asvrg, coupled": (
        DelayedASVRG(**SHORT, first_step="coupled"),
        3,
        Counts(24, 3, 3 * 4, 3 * 5, 3 * (24 + 16)),
    ),
    # Full gradients at every step; F is looked at, without a projection, before every walk.
    "proxskip": (ProxSkip(interval=5), 3, Counts(15, 3, 3, 3, 3 * 5 * 24, audit_gradients=3 * 24)),
    # The pass at the anchor needs no projection.
    "proxskip-svrg": (ProxSkipSVRG(**SHORT, renew=False), 3, Counts(24, 3, 3 * 3, 3 * 3, 3 * (24 + 16))),
    "skip": (
        Anderson(ProxSkipSVRG(stage_length=8, batch_size=2, renew=False)),
        3,
        Counts(24, 3, 3, 3, 3 * (24 + 16)),
    ),
    "nesterov": (Nesterov(), 4, Counts(0, 4, 4, 4, 4 * 24)),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_counts_are_those_of_the_schedule(strongly_convex, first_moments, name):
    method, stages, expected = SCHEDULES[name]
    moments = first_moments(strongly_convex, method, stages)
    assert moments[-1].counts == Counts(*(begun + more for begun, more in zip(START, expected, strict=True)))


def test_projection_times_of_a_stage_are_counted(strongly_convex, first_moments):
    method = DelayedSVRG(interval=(2, 3, 7, 40), stage_length=10, batch_size=1)
    moments = first_moments(strongly_convex, method, 2)
    assert moments[-1].counts == Counts(20, 2, 1 + 2 * 5, 1 + 2 * 6, 2 * (24 + 10))
    legs = [moment.reply.work.steps for moment in moments if moment.reply.work.steps]
    assert legs == [2, 1, 4, 3] * 2


def test_recomputed_anchor_gradients_are_counted(strongly_convex, first_moments):
    problem = strongly_convex
    without_slopes = tether.FiniteSum(
        problem.gradient, problem.value, 24, 6, smoothness=problem.objective.smoothness
    )
    moments = tether.iterate(without_slopes, problem.constraint, DelayedSVRG(**SHORT))
    gradient, walk = next(moments), next(moments)
    assert gradient.counts.gradients == 24
    assert walk.counts.gradients == 24 + 2 * 3 * 2


METHODS = [
    *dict.fromkeys([*NAMES, "auto"]),
    Anderson(DelayedSVRG()),
    Regularised(DelayedSVRG()),
    LBFGS(memory=2),
]


@pytest.mark.parametrize("stop", [{"tol": 1e-4}, {"tol": 0, "max_rounds": 30}, {"tol": 0, "max_passes": 7}])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: str(method)[:25])
def test_the_history_adds_up_to_the_counts(strongly_convex, method, stop):
    problem = strongly_convex
    solution = tether.solve(problem.objective, problem.constraint, method, **stop)
    history, counts = solution.history, solution.counts
    assert Counts(*(int(history[field][-1]) for field in Counts._fields)) == counts
    for field in Counts._fields:
        assert (np.diff(history[field]) >= 0).all()
    np.testing.assert_allclose(history["passes"], history["gradients"] / 24)
    assert counts.projections >= counts.rounds
    assert solution.fun in history["value"]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: str(method)[:25])
def test_each_row_adds_what_its_request_cost(strongly_convex, method):
    problem = strongly_convex
    before, rows = START, 0
    for moment in tether.iterate(problem.objective, problem.constraint, method):
        work = moment.reply.work
        own, audit = before.plus(work, moment.counts.stages), before.plus_audit(work)
        assert moment.counts in (own, audit)
        before, rows = moment.counts, rows + 1
        if rows == 40:
            break
