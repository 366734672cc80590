"""What every method promises, whatever its name."""

import dataclasses
from itertools import pairwise
from numbers import Number

import numpy as np
import pytest

import tether
from tether.engines import Problem
from tether.engines.local_work import Memory
from tether.methods import (
    NAMES,
    Algorithm,
    Anderson,
    DelayedASVRG,
    DelayedSVRG,
    Method,
    Nesterov,
    Regularised,
    as_method,
)
from tether.requests import Descend, Gradient

METHODS = {
    **{name: name for name in NAMES},
    "auto": "auto",
    "anderson-dp-svrg": Anderson(DelayedSVRG()),
    "anderson-dp-asvrg": Anderson(DelayedASVRG()),
    "regularised-dp-svrg": Regularised(DelayedSVRG()),
    "regularised-nesterov": Regularised(Nesterov()),
}
FULL_GRADIENT = {"auto", "proxskip", "nesterov", "lbfgs", "newton", "regularised-nesterov"}
TURNS = 60


@pytest.fixture(params=METHODS)
def name(request):
    return request.param


@pytest.fixture
def method(name):
    return METHODS[name]


def _estimates(problem, method, x0, seed=0):
    moments = tether.iterate(problem.objective, problem.constraint, method, x0=x0, seed=seed)
    return np.array([next(moments).x for _ in range(TURNS)])


@pytest.fixture
def algorithm(strongly_convex, method):
    return strongly_convex.prepare(as_method(method))


def test_the_estimate_is_feasible_after_every_turn(strongly_convex, method, x0):
    problem = strongly_convex
    for x in _estimates(problem, method, 10 * x0):
        assert np.linalg.norm(problem.matrix @ x - problem.right) <= 1e-12 * (1 + np.linalg.norm(x))


def test_the_same_seed_gives_the_same_iterates_to_the_last_bit(strongly_convex, method, x0):
    first, second = (_estimates(strongly_convex, method, x0, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_another_seed_gives_other_iterates_unless_no_samples_are_drawn(strongly_convex, name, method, x0):
    first, second = (_estimates(strongly_convex, method, x0, seed=seed) for seed in (4, 5))
    assert np.array_equal(first, second) == (name in FULL_GRADIENT)


def test_settings_are_frozen_and_hashable(method, algorithm):
    assert isinstance(as_method(method), Method) and isinstance(algorithm, Algorithm)
    for settings in (as_method(method), algorithm):
        assert hash(settings) == hash(dataclasses.replace(settings))
        for field in dataclasses.fields(settings):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(settings, field.name, None)


def test_a_prepared_algorithm_reads_like_the_method_with_its_settings_filled(method, algorithm):
    settings = as_method(method)
    assert algorithm.name == type(settings).__name__
    assert repr(algorithm).startswith(f"{algorithm.name}(")
    assert "Facts(" not in repr(algorithm) and "Algorithm(" not in repr(algorithm)
    shown = {field.name for field in dataclasses.fields(algorithm) if field.repr}
    for field in dataclasses.fields(algorithm):
        value = getattr(algorithm, field.name)
        assert (f"{field.name}={value!r}" in repr(algorithm)) == (field.name in shown)
    written = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    given = {name for name, value in written.items() if isinstance(value, int | float | bool)}
    for name in shown & given:
        assert getattr(algorithm, name) == written[name]


def test_estimates_change_from_stage_to_stage_while_there_is_something_to_gain(strongly_convex, method, x0):
    moments = tether.iterate(strongly_convex.objective, strongly_convex.constraint, method, x0=10 * x0)
    ends, stage = [], 0
    while len(ends) < 8:
        moment = next(moments)
        assert moment.state.stage in (stage, stage + 1)
        if moment.state.stage > stage:
            ends.append(moment.x)
        stage = moment.state.stage
    for earlier, later in pairwise(ends):
        assert not np.array_equal(earlier, later)


def _draws_samples(name):
    return name not in {"nesterov", "lbfgs", "newton", "regularised-nesterov"}


def test_starting_anew_goes_on_with_samples_that_nobody_has_seen(strongly_convex, name, algorithm, x0):
    x = strongly_convex.project(x0)
    assert algorithm.clock(algorithm.start(x)) == 0
    state = algorithm.start(x, clock=17)
    assert algorithm.clock(state) == (17 if _draws_samples(name) else 0)
    problem = Problem(strongly_convex.objective, strongly_convex.constraint)
    engine, memory = tether.Serial(), Memory()
    for _ in range(8):
        request = algorithm.ask(state)
        assert isinstance(request, Gradient) or request.clock == algorithm.clock(state) >= 17
        reply, memory = engine.exchange(problem, request, memory)
        before, state = algorithm.clock(state), algorithm.tell(state, reply)
        assert algorithm.clock(state) == before + reply.work.steps


def test_walks_that_are_cut_short_are_gone_on_from(strongly_convex, method, algorithm, x0):
    problem = Problem(strongly_convex.objective, strongly_convex.constraint)
    engine, memory, rng = tether.Serial(), Memory(), np.random.default_rng(0)
    state, steps = algorithm.start(strongly_convex.project(x0)), 0
    values = [strongly_convex.value(algorithm.estimate(state))]
    for _ in range(150):
        request = algorithm.ask(state)
        if isinstance(request, Descend):
            assert request.clock == steps
            request = request._replace(steps=int(rng.integers(1, request.steps + 1)))
        reply, memory = engine.exchange(problem, request, memory)
        state, steps = algorithm.tell(state, reply), steps + reply.work.steps
        x = algorithm.estimate(state)
        values.append(strongly_convex.value(x))
        assert np.linalg.norm(problem.constraint.residual(x)) < 1e-11
    assert state.stage > 1
    best = tether.solve(problem.objective, problem.constraint, "lbfgs", tol=1e-12).fun
    assert values[-1] - best < 0.1 * (values[0] - best)


def _is_plain(value):
    if hasattr(value, "_fields"):
        return all(_is_plain(part) for part in value)
    if isinstance(value, np.ndarray):
        return value.dtype == np.float64
    return value is None or isinstance(value, Number | bool)


def test_states_are_named_tuples_of_arrays_and_numbers(strongly_convex, method, x0):
    moments = tether.iterate(strongly_convex.objective, strongly_convex.constraint, method, x0=x0)
    for _ in range(TURNS):
        state = next(moments).state
        assert hasattr(state, "_fields")
        assert _is_plain(state)


def test_telling_leaves_the_old_state_as_it_was(strongly_convex, method, x0):
    moments = tether.iterate(strongly_convex.objective, strongly_convex.constraint, method, x0=x0)
    states = [next(moments).state for _ in range(TURNS)]
    seen = tether.iterate(strongly_convex.objective, strongly_convex.constraint, method, x0=x0)
    for state in states:
        assert _same(state, next(seen).state)


def _same(one, other):
    if hasattr(one, "_fields"):
        return type(one) is type(other) and all(map(_same, one, other))
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


SETS = {
    "none": None,
    "consensus": tether.Consensus(3),
    "flow": tether.Flow([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [3, 1]], [1.0, 0.5, -1.0, -0.5]),
    "range": tether.Range(np.random.default_rng(1).standard_normal((6, 3))),
}


def _null_space(constraint, dim):
    """Return a feasible point and an orthonormal basis of the directions, through the projections."""
    if constraint is None:
        return np.zeros(dim), np.eye(dim)
    projector = np.array([constraint.tangent(direction) for direction in np.eye(dim)])
    values, vectors = np.linalg.eigh(projector)
    return constraint.project(np.zeros(dim)), vectors[:, values > 0.5]


@pytest.fixture(scope="module")
def least_squares():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((30, 6))
    return X, X @ rng.standard_normal(6) + rng.standard_normal(30)


@pytest.mark.parametrize("kind", SETS)
def test_every_method_gets_near_the_optimum_on_every_set(least_squares, kind, name, method):
    X, y = least_squares
    constraint = SETS[kind]
    objective = tether.GLM(X, y, loss="squared", l2=0.1)
    origin, basis = _null_space(constraint, 6)
    hessian = basis.T @ (X.T @ X / 30 + 0.1 * np.eye(6)) @ basis
    best = origin - basis @ np.linalg.solve(hessian, basis.T @ objective.gradient(origin))
    solution = tether.solve(objective, constraint, method, tol=1e-6, max_passes=60)
    gap = objective.value(solution.x) - objective.value(best)
    assert solution.residual <= 1e-12
    near = 0.1 if name in ("p-sgd", "dp-sgd", "scaffold") else 1e-3  # noise and drift stay with plain SGD
    assert gap < near * (objective.value(origin) - objective.value(best))
    assert gap <= solution.gap + 1e-14
