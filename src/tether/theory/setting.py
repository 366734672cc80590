"""The problem as the theory sees it: a handful of numbers."""

import math
from dataclasses import dataclass, replace

from tether.inputs import LARGEST_NUMBER, nonnegative, number, positive, shown
from tether.theory.conditions import count, curvature
from tether.theory.variance import Heterogeneity, WorkerHeterogeneity, require_noise

__all__ = ["Setting"]


@dataclass(frozen=True)
class Setting:
    """What a complexity depends on besides the method and its parameters.

    Parameters
    ----------
    smoothness : float
        L, of every sample.
    n_samples : int
        N. In the federated rows N, T and G are those of one worker.
    accuracy : float
        eps: the wanted F(x) - F(x*).
    convexity : float
        mu; zero for general convex objectives.
    distance : float
        Delta (B in a federation), the distance from the start to the optimum.
    initial_gap : float, optional
        F(x_0) - F(x*); the tables bound it by L Delta^2, which is the default.
    noise : Heterogeneity, optional
        What `heterogeneity` measures; the rows of SGD need it.
    workers : WorkerHeterogeneity, optional
        What `worker_heterogeneity` measures; D-SGD, Local SGD and SCAFFOLD need it.
    variance : float, optional
        sigma^2, a bound on the gradient variance everywhere, which the analyses of P-SGD, D-SGD and SCAFFOLD
        ask for. Without it the variance at the optimum is used: these rows then look better than proved.

    Examples
    --------
    >>> Setting.conditioned(kappa=1e4, n_samples=100_000, accuracy=1e-6).kappa
    10000.0
    """

    smoothness: float
    n_samples: float
    accuracy: float
    convexity: float = 0.0
    distance: float = 1.0
    initial_gap: float | None = None
    noise: Heterogeneity | None = None
    workers: WorkerHeterogeneity | None = None
    variance: float | None = None

    def __post_init__(self) -> None:
        curvature(positive("smoothness", self.smoothness), nonnegative("convexity", self.convexity))
        count("n_samples", self.n_samples)
        positive("accuracy", self.accuracy)
        positive("distance", self.distance)
        if self.initial_gap is not None:
            positive("initial_gap", self.initial_gap)
        if self.variance is not None:
            nonnegative("variance", self.variance)
        require_noise("noise", self.noise, Heterogeneity)
        require_noise("workers", self.workers, WorkerHeterogeneity)
        if self.workers is not None:
            count("workers.workers", self.workers.workers)
        if max(self.difficulty, self.kappa if self.strongly_convex else 0.0) > LARGEST_NUMBER:
            raise ValueError(
                f"accuracy and convexity must not be {LARGEST_NUMBER:g} times smaller than smoothness, got "
                f"accuracy {self.accuracy:g}, convexity {self.convexity:g} and smoothness {self.smoothness:g}."
            )

    @classmethod
    def conditioned(
        cls, kappa: float, n_samples: float, accuracy: float, noise: Heterogeneity | None = None
    ) -> "Setting":
        """Return the strongly convex problem with L = Delta = 1 and mu = 1/kappa."""
        mu = 1.0 / number("kappa", kappa, least=1.0, most=LARGEST_NUMBER)
        return cls(1.0, n_samples, accuracy, convexity=mu, noise=noise)

    @property
    def strongly_convex(self) -> bool:
        """Whether mu > 0."""
        return self.convexity > 0

    @property
    def kappa(self) -> float:
        """The condition number L/mu; infinite for mu = 0."""
        return self.smoothness / self.convexity if self.strongly_convex else math.inf

    @property
    def difficulty(self) -> float:
        """L Delta^2 / eps, what replaces kappa when mu = 0."""
        return self.smoothness * float(self.distance) ** 2 / self.accuracy

    @property
    def gap(self) -> float:
        """F(x_0) - F(x*), or its bound L Delta^2."""
        return self.smoothness * float(self.distance) ** 2 if self.initial_gap is None else self.initial_gap

    def regularised(self) -> "Setting":
        """Return the problem that adaptive regularisation ends with: mu = eps / Delta^2.

        The rows of Corollary 5.3 are those of Corollary 5.1 for this problem.
        """
        if self.difficulty < 1:
            raise ValueError(
                f"accuracy must not exceed smoothness * distance^2 = {self.difficulty * self.accuracy:g} "
                f"for regularisation to make sense, got {self.accuracy:g}; the start is accurate enough."
            )
        return replace(self, convexity=self.accuracy / float(self.distance) ** 2)

    def stacked(self) -> "Setting":
        """Return the consensus problem F(x) = sum_k f_k(x_k) of the workers (Corollary 6.1)."""
        if self.workers is None:
            raise ValueError(
                "this federated method needs Setting(workers=...), got None; "
                "measure it with worker_heterogeneity."
            )
        n = self.workers.workers
        return replace(
            self,
            accuracy=n * self.accuracy,
            distance=math.sqrt(n) * self.distance,
            initial_gap=n * self.gap,
            noise=self.workers.stacked(),
        )


def require_setting(setting: object) -> None:
    """Refuse what is no `Setting`."""
    if not isinstance(setting, Setting):
        raise TypeError(f"setting must be a theory.Setting, got {shown(setting)}.")
