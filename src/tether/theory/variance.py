"""How far the samples, and the workers, disagree at the optimum.

DP-SGD stalls at an error made of three numbers: the variance of single-sample gradients inside the constraint
(it averages out), across it (it drifts off between projections) and the pull of the full gradient across it.
In a federation the same numbers are the noise and the heterogeneity of the workers (Lemma 6.1).
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tether.arrays import Array
from tether.inputs import nonnegative, positive_integer, shown, vector, whole_number

if TYPE_CHECKING:
    from tether.constraints.base import Constraint
    from tether.objectives.base import Objective

__all__ = ["Heterogeneity", "WorkerHeterogeneity", "heterogeneity", "worker_heterogeneity"]


class Heterogeneity(NamedTuple):
    """Sizes of the gradients at the constrained optimum (Li & Zhang, Assumption 3.1).

    Attributes
    ----------
    tangent : float
        sigma_{A perp,*}^2 = E ||P grad f_i(x*)||^2, the statistical noise.
    normal : float
        sigma_{A,*}^2 = E ||(I - P) grad f_i(x*)||^2, what pushes the steps off the constraint.
    gradient : float
        ||grad F(x*)||^2; it lies across the constraint because P grad F(x*) = 0.
    """

    tangent: float
    normal: float
    gradient: float = 0.0

    def residual(self, interval: float) -> float:
        """Return sigma_A^2 + (E - 1) ||grad F(x*)||^2, the residual noise of Theorem 3.2."""
        return self.normal + (interval - 1.0) * self.gradient


class WorkerHeterogeneity(NamedTuple):
    """Noise and disagreement of n workers at the common optimum (Li & Zhang, Lemma 6.1).

    Attributes
    ----------
    variance : float
        sigma_*^2, the mean over workers of the variance of their single-sample gradients.
    dissimilarity : float
        zeta_*^2 = (1/n) sum_k ||grad f_k(x*)||^2; zero when all workers have the same optimum.
    workers : int
        n.
    """

    variance: float
    dissimilarity: float
    workers: int

    def stacked(self) -> Heterogeneity:
        """Return the numbers of F(x) = sum_k f_k(x_k) on the consensus set, one sample a worker.

        They are sigma_*^2, n zeta_*^2 + (n - 1) sigma_*^2 and n zeta_*^2. For the mean over workers
        instead of the sum divide all three by n^2.
        """
        n, spread = self.workers, self.workers * self.dissimilarity
        return Heterogeneity(self.variance, spread + (n - 1) * self.variance, spread)


def heterogeneity(
    objective: "Objective", constraint: "Constraint", x_star: Array, max_samples: int = 2000, seed: int = 0
) -> Heterogeneity:
    """Measure the gradient noise along and across the constraint at its optimum.

    Parameters
    ----------
    objective : Objective
        F(x) = (1/N) sum_i f_i(x).
    constraint : Constraint
        The set whose ``tangent`` is P.
    x_star : ndarray
        The constrained optimum x*.
    max_samples : int
        With more samples than this, that many are drawn without replacement.
    seed : int
        Seed of the draw.

    References
    ----------
    Li & Zhang, Assumption 3.1 and equation (new_sigmaa) of Theorem 3.2.
    """
    _require_objective("objective", objective)
    if not hasattr(constraint, "tangent"):
        raise TypeError(f"constraint must be a constraint such as Affine(A, b), got {shown(constraint)}.")
    x = _as_point(x_star, objective)
    along = across = 0.0
    chosen = _choose(objective, max_samples, whole_number("seed", seed))
    for g in _sample_gradients(objective, x, chosen):
        inside = constraint.tangent(g)
        along += float(inside @ inside)
        across += float(np.sum((g - inside) ** 2))
    full = objective.gradient(x)
    return Heterogeneity(along / len(chosen), across / len(chosen), float(full @ full))


def worker_heterogeneity(
    objectives: "Sequence[Objective]", x_star: Array, max_samples: int = 2000, seed: int = 0
) -> WorkerHeterogeneity:
    """Measure how noisy and how different the workers of a federation are at the common optimum.

    Parameters
    ----------
    objectives : sequence of Objective
        The local f_k.
    x_star : ndarray
        The minimiser of their mean.
    max_samples : int
        Samples drawn from each worker at most.
    seed : int
        Seed of the draws.

    References
    ----------
    Li & Zhang, Lemma 6.1.
    """
    if not isinstance(objectives, Sequence) or isinstance(objectives, str) or not objectives:
        raise ValueError(
            f"objectives must be a list of at least one worker's objective, got {shown(objectives)}."
        )
    noise, spread, seed = [], [], whole_number("seed", seed)
    for k, objective in enumerate(objectives):
        _require_objective(f"objectives[{k}]", objective)
        x = _as_point(x_star, objective)
        mean = objective.gradient(x)
        chosen = _choose(objective, max_samples, [seed, k])
        deviations = [float(np.sum((g - mean) ** 2)) for g in _sample_gradients(objective, x, chosen)]
        noise.append(np.mean(deviations))
        spread.append(float(mean @ mean))
    return WorkerHeterogeneity(float(np.mean(noise)), float(np.mean(spread)), len(objectives))


def require_noise(name: str, noise: Any, kind: type[Any], optional: bool = True) -> None:
    """Refuse what is no measured noise of a kind, or has negative sizes."""
    if noise is None and optional:
        return
    if not isinstance(noise, kind):
        raise TypeError(f"{name} must be a theory.{kind.__name__}, got {shown(noise)}.")
    for field, size in noise._asdict().items():
        nonnegative(f"{name}.{field}", size)


def _require_objective(name: str, objective: Any) -> None:
    if not hasattr(objective, "batch_gradient"):
        raise TypeError(f"{name} must be an objective such as GLM(X, y), got {shown(objective)}.")


def _as_point(x: Array, objective: "Objective") -> Array:
    return vector("x_star", x, objective.dim)


def _choose(objective: "Objective", max_samples: int, seed: int | list[int]) -> np.ndarray:
    most, n = positive_integer("max_samples", max_samples), objective.n_samples
    if n <= most:
        return np.arange(n)
    return np.random.default_rng(seed).choice(n, size=most, replace=False)


def _sample_gradients(objective: "Objective", x: Array, samples: np.ndarray) -> Iterator[Array]:
    for i in samples:
        yield objective.batch_gradient(x, np.array([i], dtype=np.int64))
