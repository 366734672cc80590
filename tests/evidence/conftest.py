"""Problems whose optimum is known beside the library."""

from typing import NamedTuple

import numpy as np
import pytest

import tether
from tether.engines import Problem
from tether.engines.local_work import Memory


class Known(NamedTuple):
    """A problem and its optimal value."""

    objective: tether.Objective
    constraint: tether.Constraint
    best: float

    def gap(self, x):
        return self.objective.value(x) - self.best

    @property
    def first_gap(self):
        return self.gap(self.constraint.project(np.zeros(self.objective.dim)))


def _newton(objective, hessian, A, b):
    """Return the optimum by Newton's method on the KKT system."""
    x, rows = np.linalg.lstsq(A, b)[0], len(b)
    for _ in range(50):
        kkt = np.block([[hessian(x), A.T], [A, np.zeros((rows, rows))]])
        x = x + np.linalg.solve(kkt, np.concatenate([-objective.gradient(x), b - A @ x]))[: len(x)]
    return x


@pytest.fixture(scope="session")
def logistic():
    """Return a logistic regression with three equations, by its l2; for l2 = 0 it still has an optimum."""

    def build(l2, n_samples=60):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n_samples, 8)) * np.logspace(0, -0.7, 8)
        y = np.where(X @ rng.standard_normal(8) + 0.5 * rng.standard_normal(n_samples) > 0, 1.0, -1.0)
        A, b = rng.standard_normal((3, 8)), rng.standard_normal(3)
        objective = tether.GLM(X, y, loss="logistic", l2=l2)

        def hessian(x):
            s = 1 / (1 + np.exp(-X @ x))
            return (X.T * (s * (1 - s))) @ X / n_samples + l2 * np.eye(8)

        x = _newton(objective, hessian, A, b)
        assert np.linalg.norm(A @ x - b) < 1e-13
        return Known(objective, tether.Affine(A, b), objective.value(x))

    return build


@pytest.fixture(scope="session")
def quadratic():
    """Return a quadratic whose condition number on the constraint is exactly kappa.

    The extreme eigenvalues come four times, so that three equations cannot remove them.
    """

    def build(kappa, rows=3, dim=16):
        rng = np.random.default_rng(0)
        basis = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
        ends = np.ones(rows + 1)
        spectrum = np.concatenate([ends, np.geomspace(1, 1 / kappa, dim - 2 * rows - 2), ends / kappa])
        hessian = (basis * spectrum) @ basis.T
        hessian = (hessian + hessian.T) / 2
        A, b, g = rng.standard_normal((rows, dim)), rng.standard_normal(rows), rng.standard_normal(dim)
        kkt = np.block([[hessian, A.T], [A, np.zeros((rows, rows))]])
        x = np.linalg.solve(kkt, np.concatenate([-g, b]))[:dim]
        objective = tether.Quadratic(matrix=hessian / 2, linear=g)
        return Known(objective, tether.Affine(A, b), objective.value(x))

    return build


@pytest.fixture(scope="session")
def rounds_to():
    """Return the projections a method needs until F - F* has shrunk by a factor."""

    def count(known, method, factor):
        engine, problem = tether.Serial(), Problem(known.objective, known.constraint)
        method = method.prepare(engine.facts(problem))
        state, memory = method.start(engine.project(problem, np.zeros(known.objective.dim))), Memory()
        target, rounds = factor * known.first_gap, 0
        while known.gap(method.estimate(state)) > target:
            reply, memory = engine.exchange(problem, method.ask(state), memory)
            state, rounds = method.tell(state, reply), rounds + reply.work.rounds
            assert rounds < 50_000
        return rounds

    return count
