"""A problem as plain arrays, and as Tether sees it; every solver starts its clock from the arrays."""

from typing import Any, NamedTuple

import numpy as np

import tether

FEASIBLE = 1e-6  # an answer counts where ||A x - b|| <= this (1 + ||b||)


class Problem(NamedTuple):
    """F(x) = mean loss(a_i x, y_i) + l2/2 ||x||^2, or mean (a_i x)^2 + y'x for "quadratic", with A x = b."""

    name: str
    X: Any
    y: np.ndarray  # labels; the linear term of a quadratic
    A: Any
    b: np.ndarray
    loss: str
    l2: float = 0.0
    fit_intercept: bool = False

    @property
    def n_classes(self) -> int:
        """How many numbers predict one sample."""
        return int(self.y.max()) + 1 if self.loss == "multinomial" else 1

    def objective(self) -> tether.Objective:
        """Build F."""
        if self.loss == "quadratic":
            return tether.Quadratic(factors=self.X, linear=self.y)
        return tether.GLM(self.X, self.y, self.loss, l2=self.l2, fit_intercept=self.fit_intercept)

    def constraint(self) -> tether.Affine:
        """Factorise A."""
        return tether.Affine(self.A, self.b)

    def violation(self, x: np.ndarray) -> float:
        """Return ||A x - b|| / (1 + ||b||)."""
        return float(np.linalg.norm(self.A @ x - self.b) / (1.0 + np.linalg.norm(self.b)))


def random_rows(count: int, dim: int) -> np.ndarray:
    """Return dense random constraints."""
    return np.random.default_rng(0).standard_normal((count, dim))


def loaded(build: Any) -> dict[str, Any]:
    """Return what benchopt passes on: the problem, or the reason why it has to be skipped."""
    try:
        return {"problem": build(), "missing": None}
    except FileNotFoundError as error:
        return {"problem": None, "missing": str(error)}
