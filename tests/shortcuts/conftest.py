"""Problems with few free directions, and their optimum by Newton's method in those directions."""

import numpy as np
import pytest
from scipy import linalg
from scipy.special import expit

import tether

N, P, FREE = 2_000, 120, 12  # samples, variables, directions that the equations leave
DELTA = 1.35


def slopes(loss, z, y):
    """Return loss, first and second derivative of every sample, written down once more."""
    if loss == "logistic":
        s = expit(-y * z)
        return np.logaddexp(0.0, -y * z), -y * s, s * (1.0 - s)
    if loss == "poisson":
        return np.exp(z) - y * z, np.exp(z) - y, np.exp(z)
    r = z - y
    if loss == "squared":
        return 0.5 * r**2, r, np.ones_like(r)
    far = np.abs(r) > DELTA
    values = np.where(far, DELTA * (np.abs(r) - 0.5 * DELTA), 0.5 * r**2)
    return values, np.clip(r, -DELTA, DELTA), np.where(far, 0.0, 1.0)


class Case:
    """A problem with few free directions, and its optimum by Newton's method in null-space coordinates."""

    def __init__(self, loss="logistic", b=True, intercept=False, weighted=False, dtype=float, l2=1e-3, p=P):
        rng = np.random.default_rng(7)
        self.loss, self.l2 = loss, l2
        self.X = (rng.standard_normal((N, p - intercept)) * np.geomspace(1.0, 0.1, p - intercept)).astype(
            dtype
        )
        z = 0.3 * (self.X @ rng.standard_normal(p - intercept))
        self.y = {
            "logistic": np.where(rng.random(N) < expit(z), 1.0, -1.0),
            "poisson": rng.poisson(np.exp(np.clip(z, -3.0, 2.0))).astype(float),
        }.get(loss, z + rng.standard_t(2, N))
        self.weights = rng.uniform(0.5, 2.0, N) if weighted else None
        self.A = rng.standard_normal((p - FREE, p))
        self.b = 0.1 * rng.standard_normal(p - FREE) * b
        self.objective = tether.GLM(
            self.X, self.y, loss, l2=l2, fit_intercept=intercept, sample_weight=self.weights
        )
        self.constraint = tether.Affine(self.A, self.b)
        self.wide = np.column_stack([self.X, np.ones(N)]).astype(float) if intercept else self.X.astype(float)
        self.w = np.ones(N) if self.weights is None else self.weights / self.weights.mean()

    def at(self, x):
        """Return F and its gradient."""
        values, first, _ = slopes(self.loss, self.wide @ x, self.y)
        gradient = self.wide.T @ (self.w * first) / N + self.l2 * x
        return (self.w * values).mean() + 0.5 * self.l2 * (x @ x), gradient

    def optimum(self):
        """Return the minimiser on A x = b."""
        Z, x = linalg.null_space(self.A), np.linalg.lstsq(self.A, self.b, rcond=None)[0]
        for _ in range(100):
            value, gradient = self.at(x)
            second = slopes(self.loss, self.wide @ x, self.y)[2]
            reduced = self.wide @ Z
            hessian = (reduced * (self.w * second)[:, None]).T @ reduced / N + self.l2 * np.eye(Z.shape[1])
            step, length = Z @ np.linalg.solve(hessian, -Z.T @ gradient), 1.0
            while self.at(x + length * step)[0] > value + 1e-15 and length > 1e-10:
                length /= 2
            x = x + length * step
            if np.linalg.norm(step) < 1e-12:
                return x
        raise AssertionError("Newton's method did not converge")

    def solve(self, **options):
        return tether.solve(self.objective, self.constraint, **{"tol": 1e-11, **options})


@pytest.fixture(scope="session")
def make_case():
    return Case


@pytest.fixture(scope="module")
def case():
    return Case()


@pytest.fixture(scope="session")
def was_projected():
    return lambda sol: "the data was projected once" in sol.message
