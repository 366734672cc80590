"""Small problems, and the mathematics of the paper written out by hand for them."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit

import tether
from tether.engines import Problem
from tether.engines.local_work import Memory
from tether.engines.sampling import Stream, batches

N, P = 24, 6


def _logistic(l2):
    """A constrained logistic regression with its gradient and projections in plain NumPy."""
    rng = np.random.default_rng(5)
    X, labels = rng.standard_normal((N, P)), np.where(rng.random(N) < 0.5, 1.0, -1.0)
    A, b = rng.standard_normal((2, P)), rng.standard_normal(2)
    inverse = np.linalg.pinv(A)

    def gradient(x, batch=slice(None)):
        rows, y = X[batch], labels[batch]
        return rows.T @ (-y * expit(-y * (rows @ x))) / len(y) + l2 * x

    def value(x, batch=slice(None)):
        return np.logaddexp(0.0, -labels[batch] * (X[batch] @ x)).mean() + 0.5 * l2 * x @ x

    def samples(steps, size, seed=0):
        return batches(Stream(seed, 0, N, replacement=False), clock=0, steps=steps, batch_size=size)[0]

    objective, constraint = tether.GLM(X, labels, loss="logistic", l2=l2), tether.Affine(A, b)
    facts = tether.Serial().facts(Problem(objective, constraint))
    return SimpleNamespace(
        objective=objective,
        constraint=constraint,
        prepare=lambda method: method.prepare(facts),
        mu=l2,
        matrix=A,
        right=b,
        value=value,
        gradient=gradient,
        samples=samples,
        project=lambda x: x - inverse @ (A @ x - b),
        tangent=lambda v: v - inverse @ (A @ v),
    )


@pytest.fixture(scope="session")
def strongly_convex():
    return _logistic(0.1)


@pytest.fixture(scope="session")
def convex():
    return _logistic(0.0)


@pytest.fixture(params=[0.1, 0.0], ids=["mu>0", "mu=0"], scope="session")
def by_hand(request):
    return _logistic(request.param)


@pytest.fixture(scope="session")
def x0():
    return np.random.default_rng(11).standard_normal(P)


@pytest.fixture(scope="session")
def converse():
    """Return the loop of the library in its three lines, yielding the state and the memory."""

    def run(objective, constraint, method, x0, seed=0):
        engine, problem, memory = tether.Serial(), Problem(objective, constraint, seed), Memory()
        algorithm = method.prepare(engine.facts(problem))
        state = algorithm.start(engine.project(problem, x0))
        while True:
            request = algorithm.ask(state)
            reply, memory = engine.exchange(problem, request, memory)
            state = algorithm.tell(state, reply)
            moment = SimpleNamespace(
                x=algorithm.estimate(state), state=state, request=request, reply=reply, memory=memory
            )
            yield moment
            state = moment.state  # which the caller may have changed

    return run


@pytest.fixture(scope="session")
def first_moments():
    """Return what `iterate` yields until a number of stages is over, measurements between them left out."""

    def run(problem, method, stages, **options):
        moments = []
        for moment in tether.iterate(problem.objective, problem.constraint, method, **options):
            moments.append(moment)
            if moment.counts.stages >= stages:
                return moments

    return run
