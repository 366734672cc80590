"""The momentum of DP-ASVRG stays where its proof needs it, and the restart theorem holds on a real run."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.theory import (
    asvrg_step_size,
    drift,
    first_momentum,
    momentum,
    momentum_sequence,
    next_momentum,
    restart_length,
)

intervals = st.integers(1, 3000)


@given(E=intervals, laps=st.floats(1, 1e4), kappa=st.floats(1, 1e9))
def test_constant_momentum_meets_the_conditions_of_the_descent_lemma(E, laps, kappa):
    m = laps * E
    a = asvrg_step_size(1.0, convexity=1 / kappa, interval=E, stage_length=m)
    theta = momentum(a, smoothness=1.0, convexity=1 / kappa, stage_length=m, interval=E)
    delta = drift(a, smoothness=1.0, interval=E)
    assert 2 * delta < theta <= 1 + delta
    assert 1 - theta >= 2 * a / (1 - a) - 1e-12
    assert E * (E - 1) * a**2 <= 1 / 3


@given(E=intervals, horizon=st.integers(1, 10**7))
def test_first_momentum_lies_between_the_drift_and_one(E, horizon):
    a = asvrg_step_size(1.0, interval=E, stages=horizon)
    theta = first_momentum(a, smoothness=1.0, interval=E)
    assert max(0.5 - 1e-12, 2 * drift(a, smoothness=1.0, interval=E)) < theta <= 1
    assert 1 - theta == pytest.approx(2 * a / (1 - a))


@given(E=intervals, S=st.integers(1, 400))
def test_momentum_decreases_but_not_below_the_drift(E, S):
    a = asvrg_step_size(1.0, interval=E, stages=S)
    thetas = momentum_sequence(a, S, smoothness=1.0, interval=E)
    delta = drift(a, smoothness=1.0, interval=E)
    assert len(thetas) == S
    assert np.all(thetas >= 2 * delta - 1e-12)
    assert np.all(thetas <= 1 + delta)
    assert np.all(np.diff(thetas) <= 1e-12)


@given(E=st.integers(2, 3000), S=st.integers(2, 400))
def test_momentum_contracts_towards_the_drift(E, S):
    a = asvrg_step_size(1.0, interval=E, stages=S)
    delta = drift(a, smoothness=1.0, interval=E)
    excess = momentum_sequence(a, S, smoothness=1.0, interval=E) - 2 * delta
    assert np.all(excess[1:] <= (1 - delta) * excess[:-1] + 1e-12)


def test_without_drift_momentum_falls_like_two_over_the_stage():
    thetas = momentum_sequence(0.2, 1000, smoothness=1.0)
    assert np.all(thetas <= 2 / (2 + np.arange(1000)))
    assert thetas[-1] > 1 / 1000


@given(theta=st.floats(1e-6, 1.5), delta=st.floats(0, 0.99))
def test_next_momentum_solves_its_equation(theta, delta):
    t = next_momentum(theta, delta)
    assert (1 - t + delta) / ((1 - delta) * t**2) == pytest.approx(1 / theta**2, rel=1e-5)
    printed = math.sqrt((1 + delta) / (1 - delta) * theta**2 + theta**4 / (4 * (1 - delta) ** 2))
    assert t == pytest.approx(printed - theta**2 / (2 * (1 - delta)), rel=1e-6)


def test_momenta_by_hand():
    assert drift(0.1, smoothness=1.0, interval=2) == pytest.approx(0.27)
    theta = momentum(0.1, smoothness=1.0, convexity=0.01, stage_length=10, interval=2)
    assert theta == pytest.approx(0.54 + math.sqrt(0.2916 + 0.01))
    assert first_momentum(0.1, smoothness=2.0) == pytest.approx(0.5)
    assert restart_length(0.5, step_size=0.1, convexity=0.01, stage_length=100) == 20
    assert restart_length(0.5, step_size=0.1, convexity=1.0, stage_length=1000) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: drift(1.0, smoothness=1.0, interval=10), "step_size 1 is too large for interval 10"),
        (lambda: drift(0.1, smoothness=0.0), "smoothness must be a finite number > 0, got 0"),
        (lambda: first_momentum(0.5, smoothness=1.0), "theta_0 .* = -1 must exceed"),
        (lambda: first_momentum(2.0, smoothness=1.0), "step_size 2 is too large"),
        (
            lambda: momentum(1.0, smoothness=1.0, convexity=0.5, stage_length=8),
            "too large for stage_length 8: theta = 2 must not exceed 1",
        ),
        (
            lambda: momentum(0.1, smoothness=1.0, convexity=0.0, stage_length=8),
            "convexity must be a finite number > 0",
        ),
        (lambda: next_momentum(0.5, 1.0), r"delta must lie in \[0, 1\), got 1"),
        (lambda: momentum_sequence(0.1, 0, smoothness=1.0), "stages must be a finite number >= 1, got 0"),
    ],
)
def test_bad_arguments_are_named_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


class Rows:
    """A small least-squares problem with one linear constraint, and DP-ASVRG written out for it."""

    def __init__(self):
        rng = np.random.default_rng(3)
        self.C, self.y = rng.standard_normal((30, 4)), rng.standard_normal(30)
        self.C /= np.linalg.norm(self.C, axis=1, keepdims=True)
        self.mu, self.L = np.linalg.eigvalsh(self.C.T @ self.C / 30)[0], 1.0
        a = rng.standard_normal(4)
        self.P = np.eye(4) - np.outer(a, a) / (a @ a)
        self.best = self.value(np.linalg.pinv(self.C @ self.P) @ self.y)

    def value(self, x):
        return float(np.mean((self.C @ x - self.y) ** 2) / 2)

    def gradient(self, x):
        return self.C.T @ (self.C @ x - self.y) / len(self.y)

    def restart(self, x, eta, thetas, m, E, rng):
        """Return the anchors of one run; the first is the start."""
        anchors, u = [x], x
        for theta in thetas:
            anchor, h = anchors[-1], self.P @ self.gradient(anchors[-1])
            total = np.zeros(4)
            for t in range(m):
                c = self.C[rng.integers(len(self.y))]
                step = c * (c @ (theta * (u - anchor))) + h  # grad f_i(x) - grad f_i(anchor) + h
                u = u - eta / theta * step
                if (t + 1) % E == 0:
                    u = self.P @ u
                total += anchor + theta * (u - anchor)
            u = self.P @ u
            anchors.append(self.P @ total / m)
        return anchors


@pytest.mark.parametrize(("E", "m"), [(1, 20), (3, 30)])
def test_one_restart_halves_the_gap(E, m):
    problem, rng = Rows(), np.random.default_rng(0)
    eta = asvrg_step_size(problem.L, convexity=problem.mu, interval=E, stage_length=m)
    theta = momentum(eta, smoothness=problem.L, convexity=problem.mu, stage_length=m, interval=E)
    S = restart_length(theta, step_size=eta, convexity=problem.mu, stage_length=m)
    start = problem.P @ np.full(4, 3.0)
    ends = [np.mean(problem.restart(start, eta, [theta] * S, m, E, rng)[1:], axis=0) for _ in range(5)]
    gap = np.mean([problem.value(x) for x in ends]) - problem.best
    assert 0 <= gap <= 0.5 * (problem.value(start) - problem.best)


def test_general_convex_momenta_converge_faster_than_one_over_the_stages():
    problem, rng = Rows(), np.random.default_rng(0)
    E, m, S = 3, 30, 60
    eta = asvrg_step_size(problem.L, interval=E, stages=S)
    thetas = momentum_sequence(eta, S, smoothness=problem.L, interval=E)
    start = problem.P @ np.full(4, 3.0)
    anchors = problem.restart(start, eta, thetas, m, E, rng)
    gap = problem.value(anchors[-1]) - problem.best
    assert -1e-12 <= gap <= (problem.value(start) - problem.best) / S
