"""A run that began where F was enormous is not done when it is small against that."""

import numpy as np

import tether


def poisson(initial):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 4)), rng.poisson(1.0, 100)

    def value(x, batch):
        z = X[batch] @ x
        return float(np.mean(np.exp(z) - y[batch] * z)) + 0.05 * x @ x

    def gradient(x, batch):
        return X[batch].T @ (np.exp(X[batch] @ x) - y[batch]) / len(batch) + 0.1 * x

    return tether.FiniteSum(gradient, value, 100, 4, convexity=0.1, convex=True, initial=initial)


def test_the_gap_is_small_against_f_itself():
    sol, best = tether.solve(poisson(np.full(4, 9.0))), tether.solve(poisson(np.zeros(4)), rtol=1e-10)
    assert best.success
    assert not sol.success or sol.fun - best.fun <= sol.gap <= 1e-3 * abs(sol.fun)
