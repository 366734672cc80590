"""Least squares with exactly the constants one asks for, so that theory can be held against counts.

The rows of data are a_i = V diag(sqrt(lambda)) s_i with vectors of signs s_i, the rows of a Hadamard matrix.
So every row has the same length: each f_i(x) = (a_i x - y_i)^2 / 2 has the same L = sum(lambda) = 1, and the
columns of signs are orthogonal, so the Hessian of F is V diag(lambda) V' to the last bit. The smallest
lambda is mu. Both extreme eigenvalues come once more often than there are equations, which therefore cannot
remove them.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.linalg import hadamard

from tether.arrays import Array
from tether.constraints import Affine
from tether.objectives import GLM, Federation
from tether.reproduce.task import Problem, Setup
from tether.theory import (
    Heterogeneity,
    Setting,
    WorkerHeterogeneity,
    worker_heterogeneity,
)

MIDDLE = 8  # eigenvalues between the extreme ones


@dataclass(frozen=True)
class Prescribed(Problem):
    """min (1/N) sum (a_i x - y_i)^2 / 2 with A x = 0, L = 1 and mu = 1/kappa.

    Parameters
    ----------
    kappa : float
        L/mu.
    samples : int
        N, a power of two.
    equations : int
        Rows of A, at random.
    noise : float
        The size of what no x explains, the same for every sample.
    flat : bool
        Whether x* is as far from 0 in all directions, which makes F fall like 1/T, or F is as high in all.
    pull : float
        The size of the gradient at the optimum that is added across the constraint.
    feasible : bool
        Whether gradients at feasible points are feasible (Assumption 3.2): A then belongs to V.
    """

    kappa: float
    samples: int = 256
    equations: int = 3
    noise: float = 0.0
    flat: bool = False
    pull: float = 0.0
    feasible: bool = False
    seed: int = 0
    apart: int | None = None  # of workers: whose optimum it is; None: the one of all

    @property
    def dim(self) -> int:
        """The number of variables."""
        return MIDDLE + 2 * (self.equations + 1)

    def spectrum(self) -> Array:
        """Return the eigenvalues of the Hessian; they sum to L = 1 and the smallest is 1/kappa."""
        ends, middle = self.equations + 1, np.geomspace(1.0, 1.0 / self.kappa, MIDDLE + 2)[1:-1]
        low = np.full(ends, 1.0 / self.kappa)
        high = np.concatenate([np.ones(ends), middle])
        share = (1.0 - self.dim / self.kappa) / (high - 1.0 / self.kappa).sum()
        return np.concatenate([1.0 / self.kappa + share * (high - 1.0 / self.kappa), low])

    def build(self) -> Setup:
        """Return F and A."""
        X, y, V = self.data()
        objective = GLM(X, y, "squared")
        objective.compile()
        return Setup(objective, Affine(self.rows(V)))

    def rows(self, V: Array) -> Array:
        """Return A, given the basis; where gradients stay feasible an equation holds one coordinate of it."""
        if self.feasible:
            return np.ascontiguousarray(V[:, self._held()].T)
        return np.random.default_rng([self.seed, 1]).standard_normal((self.equations, self.dim))

    def data(self) -> tuple[Array, Array, Array]:
        """Return rows, responses, and the basis V."""
        p, rng = self.dim, np.random.default_rng(self.seed)
        if self.kappa <= p:
            raise ValueError(f"kappa must be above {p}, the number of variables, got {self.kappa:g}.")
        if self.samples & (self.samples - 1) or self.samples <= p + 1:
            raise ValueError(f"samples must be a power of two above {p + 1}, got {self.samples}.")
        signs = hadamard(self.samples).astype(float)
        spectrum, V = self.spectrum(), np.linalg.qr(rng.standard_normal((p, p)))[0]
        X = (signs[:, 1 : p + 1] * np.sqrt(spectrum)) @ V.T
        along = rng.choice([-1.0, 1.0], p)
        if self.apart is not None:
            along = along + 0.5 * np.random.default_rng([self.seed, 2, self.apart]).choice([-1.0, 1.0], p)
        along = along / (1.0 if self.flat else np.sqrt(spectrum))
        if self.feasible:
            along[self._held()] = 0.0
        along /= np.linalg.norm(along * np.sqrt(spectrum))  # F(0) - min F = 1/2
        unexplained = self.noise * signs[:, p + 1]  # orthogonal to all columns
        return X, X @ (V @ along + self._across(V)) + unexplained, V

    def _across(self, V: Array) -> Array:
        """Return H^-1 A'v with ||A'v|| = pull: an optimum moved by it has the same constrained one."""
        if self.pull == 0.0:
            return np.zeros(self.dim)
        normal = self.rows(V).sum(axis=0)
        normal *= self.pull / np.linalg.norm(normal)
        return V @ ((V.T @ normal) / self.spectrum())

    def _held(self) -> Array:
        """Return the coordinates that equations hold at 0: spread over the spectrum."""
        return np.linspace(0, self.dim - 1, self.equations).astype(int)

    def setting(self, accuracy: float) -> Setting:
        """Return the constants as the theory names them."""
        facts = facts_of(self)
        return Setting(
            1.0,
            self.samples,
            accuracy,
            convexity=1.0 / self.kappa,
            distance=facts.distance,
            initial_gap=facts.gap,
            noise=facts.noise,
        )


@dataclass(frozen=True)
class PrescribedWorkers(Problem):
    """Workers with such sums of their own: all have L = 1 and mu = 1/kappa, and optima that lie apart.

    Parameters
    ----------
    each : Prescribed
        A worker's sum, without equations; all have the same Hessian, so that kappa is that of F too.
    workers : int
        n.
    alike : bool
        Whether all workers have the same sum.
    """

    each: Prescribed
    workers: int = 4
    alike: bool = False

    def parts(self) -> list[Prescribed]:
        """Return the workers' sums."""
        return [replace(self.each, apart=None if self.alike else k) for k in range(self.workers)]

    def locals(self) -> list[GLM]:
        """Return what each worker has."""
        return [GLM(*one.data()[:2], "squared") for one in self.parts()]

    def build(self) -> Setup:
        """Return the federation."""
        return Setup(Federation(self.locals()), None)


@dataclass(frozen=True)
class Facts:
    """What is known of a prescribed problem besides L and mu."""

    best: float  # F*
    gap: float  # F(0) - F*
    distance: float  # ||x*||
    noise: Heterogeneity


@lru_cache(maxsize=64)
def facts_of(problem: Prescribed) -> Facts:
    """Return the optimum of a prescribed problem, from its optimality system, and the noise there."""
    X, y, V = problem.data()
    A, p, N = problem.rows(V), problem.dim, problem.samples
    system = np.block([[X.T @ X / N, A.T], [A, np.zeros((len(A), len(A)))]])
    x = np.linalg.solve(system, np.concatenate([X.T @ y / N, np.zeros(len(A))]))[:p]
    gradients = X * (X @ x - y)[:, None]  # a row a sample
    across = np.linalg.pinv(A) @ A
    normal = gradients @ across
    best, start = (0.5 * float(np.mean((X @ at - y) ** 2)) for at in (x, np.zeros(p)))
    noise = Heterogeneity(
        float(np.mean(np.sum((gradients - normal) ** 2, axis=1))),
        float(np.mean(np.sum(normal**2, axis=1))),
        float(np.sum(gradients.mean(axis=0) ** 2)),
    )
    return Facts(best, start - best, float(np.linalg.norm(x)), noise)


@lru_cache(maxsize=64)
def workers_facts(problem: PrescribedWorkers) -> tuple[Facts, WorkerHeterogeneity]:
    """Return the common optimum, and how far workers disagree there."""
    workers = problem.locals()
    data = [one.data() for one in problem.parts()]
    hessian = np.mean([X.T @ X / len(y) for X, y, _ in data], axis=0)
    x = np.linalg.solve(hessian, np.mean([X.T @ y / len(y) for X, y, _ in data], axis=0))
    best, start = (float(np.mean([one.value(at) for one in workers])) for at in (x, np.zeros_like(x)))
    apart = worker_heterogeneity(workers, x, max_samples=problem.each.samples)
    return Facts(best, start - best, float(np.linalg.norm(x)), apart.stacked()), apart


def workers_setting(problem: PrescribedWorkers, accuracy: float) -> Setting:
    """Return the constants of a federation as the theory names them: N is that of one worker."""
    facts, apart = workers_facts(problem)
    return Setting(
        1.0,
        problem.each.samples,
        accuracy,
        convexity=1.0 / problem.each.kappa,
        distance=facts.distance,
        initial_gap=facts.gap,
        workers=apart,
    )
