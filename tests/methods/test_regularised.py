"""Regularised: the inner method sees F + (s/2)||x - x_0||^2, and s falls until it no longer matters."""

from itertools import pairwise

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

SHORT = {"interval": 3, "stage_length": 8, "batch_size": 2}
INNER = [
    DelayedSGD(**SHORT),
    DelayedSVRG(**SHORT),
    DelayedASVRG(**SHORT),
    DelayedASVRG(**SHORT, first_step="coupled"),
    ProxSkip(interval=3),
    ProxSkipSVRG(**SHORT),
    Anderson(DelayedSVRG(**SHORT)),
    Anderson(ProxSkipSVRG(**SHORT)),
    Nesterov(),
    LBFGS(),
]


def _with_pull(problem, center, strength):
    """F + (s/2)||x - c||^2 as an objective of its own."""
    constants = problem.objective.smoothness
    return tether.FiniteSum(
        gradient=lambda x, batch: problem.gradient(x, batch) + strength * (x - center),
        value=lambda x, batch: problem.value(x, batch) + 0.5 * strength * np.sum((x - center) ** 2),
        n_samples=problem.objective.n_samples,
        dim=problem.objective.dim,
        smoothness=tether.Smoothness(
            constants.maximum + strength, constants.full + strength, constants.convexity + strength
        ),
    )


@pytest.mark.parametrize("inner", INNER, ids=lambda method: repr(method)[:30])
def test_the_inner_method_sees_a_pull_to_the_start(convex, converse, x0, inner):
    strength, center = 0.3, convex.project(x0)
    kept = Regularised(inner, strength=strength, floor=1.0)  # s is never halved
    ours = converse(convex.objective, convex.constraint, kept, x0)
    theirs = converse(_with_pull(convex, center, strength), convex.constraint, inner, x0)
    for _ in range(20):
        np.testing.assert_allclose(next(ours).x, next(theirs).x, rtol=0, atol=1e-9)


def test_the_pull_is_halved_down_to_its_floor(convex, converse, x0):
    moments = converse(convex.objective, convex.constraint, Regularised(Nesterov(), floor=0.01), x0)
    strengths = [next(moments).state.strength for _ in range(300)]
    first = convex.objective.smoothness.full
    assert strengths[0] == first and strengths[-1] == 0.01 * first
    changes = [later / earlier for earlier, later in pairwise(strengths)]
    assert sum(change < 1 for change in changes) == 7  # six halvings, the seventh stops at the floor
    assert all(change == 1 or change >= 0.5 for change in changes)


def test_the_pull_is_halved_once_the_certificate_is_a_quarter(convex, converse, x0):
    moments = converse(convex.objective, convex.constraint, Regularised(Nesterov(), strength=0.5), x0)
    center, strength, first = convex.project(x0), 0.5, None
    halvings = 0
    for _ in range(60):
        moment = next(moments)
        y = moment.reply.point
        misfit = convex.tangent(convex.gradient(y)) + strength * (y - center)
        size = misfit @ misfit
        if first is None:
            first = size
        elif size <= first / 4:
            strength, first, halvings = strength / 2, None, halvings + 1
        assert moment.state.strength == strength
    assert halvings > 5


def test_steps_go_on_drawing_fresh_samples_when_the_pull_is_halved(convex, converse, x0):
    moments = converse(convex.objective, convex.constraint, Regularised(DelayedSVRG(**SHORT)), x0)
    clocks = [next(moments).state.inner.clock for _ in range(150)]
    assert clocks == sorted(clocks)
    assert clocks[-1] > 200


def test_a_regularised_method_is_not_regularised_again():
    with pytest.raises(TypeError, match="method must be another method"):
        Regularised(Regularised(Nesterov()))
