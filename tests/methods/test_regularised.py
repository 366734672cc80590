"""Regularised: the inner method sees F + (s/2)||x - x_0||^2, and s falls until it no longer matters."""

from itertools import islice, pairwise

import numpy as np
import pytest

import tether
from tether.engines import Problem
from tether.methods import (
    LBFGS,
    Anderson,
    Auto,
    DelayedASVRG,
    DelayedSGD,
    DelayedSVRG,
    Nesterov,
    ProxSkip,
    ProxSkipSVRG,
    Regularised,
    Scaffold,
)
from tether.requests import Descend

SHORT = {"interval": 3, "stage_length": 8, "batch_size": 2}
INNER = [
    DelayedSGD(**SHORT),
    DelayedSVRG(**SHORT),
    DelayedASVRG(**SHORT),
    DelayedASVRG(**SHORT, first_step="coupled"),
    ProxSkip(interval=3),
    ProxSkipSVRG(**SHORT, step_size=0.05),
    Anderson(DelayedSVRG(**SHORT)),
    Anderson(ProxSkipSVRG(**SHORT, step_size=0.05)),
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


WALKING = [method for method in INNER if not isinstance(method, Nesterov | LBFGS)]


@pytest.mark.parametrize(
    "inner",
    [*WALKING, ProxSkip(interval=3, random=True), Scaffold(interval=3, batch_size=2)],
    ids=lambda method: repr(method)[:40],
)
def test_steps_go_on_drawing_fresh_samples_when_the_pull_is_halved(convex, converse, x0, inner):
    moments = converse(convex.objective, convex.constraint, Regularised(inner), x0)
    strengths, taken = set(), 0
    for _ in range(150):
        moment = next(moments)
        strengths.add(moment.state.strength)
        if isinstance(moment.request, Descend):
            assert moment.request.clock == taken
            taken += moment.reply.work.steps
    assert taken > 100
    assert len(strengths) > 3


@pytest.mark.parametrize("participation", [1.0, 0.5])
def test_workers_drop_their_controls_when_the_pull_is_halved(participation):
    rng = np.random.default_rng(0)
    workers = [tether.GLM(rng.standard_normal((20, 2)), rng.standard_normal(20), "squared") for _ in range(4)]
    problem = Problem(tether.Federation(workers), tether.Unconstrained(2))
    engine = tether.engines.Workers()
    method = Scaffold(interval=3, full_gradients=True, participation=participation)
    algorithm = Regularised(method).prepare(engine.facts(problem))
    state, memory = algorithm.start(np.ones(2)), engine.blank(problem)
    for _ in range(12):  # s is halved after each
        reply, memory = engine.exchange(problem, algorithm.ask(state), memory)
        before, state = state, algorithm.tell(state, reply)
        assert state.strength == before.strength / 2
    controls = np.mean([one.duals[-1] for one in memory], axis=0)
    moved = (before.inner.x - reply.end) / (3 * algorithm._at(before.strength).step_size)
    np.testing.assert_allclose(controls, moved, rtol=0, atol=1e-12)


def test_coins_are_tossed_anew_when_the_pull_is_halved(convex, converse, x0):
    moments = converse(
        convex.objective, convex.constraint, Regularised(ProxSkip(interval=5, random=True)), x0
    )
    assert len({next(moments).reply.work.steps for _ in range(20)}) > 3


def test_a_good_starting_point_is_passed_on(convex, x0):
    algorithm = convex.prepare(Regularised(Anderson(ProxSkipSVRG(renew=True))))
    cold = algorithm.start(convex.project(x0))
    assert not algorithm.ask(cold).tangent
    assert algorithm.ask(algorithm.warm(cold)).dual.seed


def test_what_the_method_chose_is_passed_on(convex, x0):
    algorithm = convex.prepare(Regularised(Auto()))
    assert algorithm.describe(algorithm.start(convex.project(x0))) == "auto chose L-BFGS (few samples)"
    solution = tether.solve(convex.objective, convex.constraint, Regularised(Auto()), tol=1e-8)
    assert solution.success and solution.message.endswith("auto chose L-BFGS (few samples)")


@pytest.mark.parametrize("inner", [LBFGS(), Nesterov()], ids=["L-BFGS", "Nesterov"])
def test_a_pull_under_which_nothing_moves_any_more_is_weakened(converse, inner):
    objective = tether.Quadratic(matrix=np.eye(3), linear=np.array([1.0, 2.0, 4.0]))
    constraint = tether.Affine(np.ones((1, 3)) / 3, [0.1])
    method = Regularised(inner, strength=1e3, floor=1e-3)
    best = tether.solve(objective, constraint, "lbfgs").x
    moments = converse(objective, constraint, method, best)
    moment = next(moment for moment in islice(moments, 400) if moment.state.strength == 1.0)
    np.testing.assert_allclose(moment.x, best, rtol=0, atol=1e-12)


def test_a_regularised_method_is_not_regularised_again():
    with pytest.raises(TypeError, match="method must be another method"):
        Regularised(Regularised(Nesterov()))
