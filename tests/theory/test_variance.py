"""Heterogeneity against direct computation, and Lemma 6.1 by enumerating all joint samples."""

from itertools import product

import numpy as np
import pytest

from tether.constraints.base import Constraint
from tether.objectives.base import Evaluation, Objective, Smoothness
from tether.theory import Heterogeneity, WorkerHeterogeneity, heterogeneity, worker_heterogeneity


class LeastSquares(Objective):
    """f_i(x) = (c_i x - y_i)^2 / 2."""

    def __init__(self, rows, targets):
        self.rows, self.targets = rows, targets
        self.n_samples, self.dim = rows.shape

    def evaluate(self, x):
        r = self.rows @ x - self.targets
        return Evaluation(float(r @ r) / (2 * len(r)), self.rows.T @ r / len(r))

    def batch_gradient(self, x, batch, anchor=None, slopes=None):
        assert anchor is None
        rows, targets = self.rows[batch], self.targets[batch]
        return rows.T @ (rows @ x - targets) / len(targets)

    @property
    def smoothness(self):
        return Smoothness(1.0, 1.0, 0.0)


class Kernel(Constraint):
    """{x : a x = 0} for one row a."""

    def __init__(self, a):
        self.a = a / np.linalg.norm(a)

    def project(self, x):
        return x - self.a * (self.a @ x)

    tangent = project

    def residual(self, x):
        return abs(self.a @ x)

    def multipliers(self, gradient):
        return np.array([self.a @ gradient])

    def normal(self, multipliers):
        return self.a * multipliers[0]


def make(n_samples, dim, seed):
    rng = np.random.default_rng(seed)
    return LeastSquares(rng.standard_normal((n_samples, dim)), rng.standard_normal(n_samples))


@pytest.fixture
def problem():
    objective, constraint = make(40, 5, seed=0), Kernel(np.arange(1.0, 6.0))
    P = np.eye(5) - np.outer(constraint.a, constraint.a)
    x = P @ np.linalg.pinv(objective.rows @ P) @ objective.targets
    return objective, constraint, x


def test_noise_splits_the_gradients_along_and_across_the_constraint(problem):
    objective, constraint, x = problem
    gradients = objective.rows * (objective.rows @ x - objective.targets)[:, None]
    across = gradients @ constraint.a
    found = heterogeneity(objective, constraint, x)
    assert found.normal == pytest.approx(np.mean(across**2))
    assert found.tangent == pytest.approx(np.mean(np.sum(gradients**2, axis=1) - across**2))
    assert found.gradient == pytest.approx(np.mean(across) ** 2)  # the full gradient is normal at the optimum


def test_a_random_subset_estimates_the_noise(problem):
    _, constraint, x = problem
    many = make(4000, 5, seed=1)
    exact = heterogeneity(many, constraint, x, max_samples=4000)
    guess = heterogeneity(many, constraint, x, max_samples=1000, seed=2)
    assert guess.tangent != exact.tangent
    assert guess.tangent == pytest.approx(exact.tangent, rel=0.25)
    assert guess.normal == pytest.approx(exact.normal, rel=0.25)
    assert guess == heterogeneity(many, constraint, x, max_samples=1000, seed=2)


def test_residual_noise_grows_with_the_interval():
    assert Heterogeneity(1.0, 2.0, 3.0).residual(1) == 2.0
    assert Heterogeneity(1.0, 2.0, 3.0).residual(5) == 14.0


def test_worker_numbers_by_hand():
    one = LeastSquares(np.ones((2, 1)), np.array([0.0, 2.0]))  # gradients at 0: 0 and -2
    two = LeastSquares(np.ones((1, 1)), np.array([-1.0]))  # gradient at 0: 1
    found = worker_heterogeneity([one, two], np.zeros(1))
    assert found == WorkerHeterogeneity(variance=0.5, dissimilarity=1.0, workers=2)


def test_equal_workers_are_not_dissimilar():
    worker = make(30, 3, seed=4)
    x = np.linalg.lstsq(worker.rows, worker.targets, rcond=None)[0]
    found = worker_heterogeneity([worker, worker], x)
    assert found.dissimilarity == pytest.approx(0.0, abs=1e-20)
    assert found.variance > 0.01


def test_lemma_6_1_relates_the_workers_to_the_stacked_problem():
    workers = [make(size, 2, seed) for seed, size in enumerate((3, 4, 5))]
    normal = sum(w.rows.T @ w.rows / w.n_samples for w in workers)
    x = np.linalg.solve(normal, sum(w.rows.T @ w.targets / w.n_samples for w in workers))
    along = across = count = 0.0
    for draw in product(*(range(w.n_samples) for w in workers)):
        g = np.array([w.batch_gradient(x, np.array([i])) for w, i in zip(workers, draw, strict=True)])
        mean = np.broadcast_to(g.mean(axis=0), g.shape)
        along += np.sum(mean**2)
        across += np.sum((g - mean) ** 2)
        count += 1
    found = worker_heterogeneity(workers, x).stacked()
    assert found.tangent == pytest.approx(along / count)
    assert found.normal == pytest.approx(across / count)
    assert found.gradient == pytest.approx(sum(np.sum(w.gradient(x) ** 2) for w in workers))


def test_stacked_numbers_are_those_of_the_lemma():
    assert WorkerHeterogeneity(2.0, 3.0, 4).stacked() == Heterogeneity(2.0, 12.0 + 6.0, 12.0)


def test_bad_arguments_are_named_in_one_sentence(problem):
    objective, constraint, x = problem
    with pytest.raises(ValueError, match=r"x_star must have shape \(5,\), got shape \(4,\)"):
        heterogeneity(objective, constraint, x[:4])
    with pytest.raises(ValueError, match="max_samples must be a whole number >= 1, got 0"):
        heterogeneity(objective, constraint, x, max_samples=0)
    with pytest.raises(ValueError, match="objectives must be a list of at least one"):
        worker_heterogeneity([], x)
