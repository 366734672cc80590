"""The problems of section 7: multinomial logistic regression on images, constrained or over workers."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tether import datasets, splits
from tether.arrays import Array
from tether.constraints import Affine
from tether.objectives import GLM, Federation
from tether.reproduce.task import Problem, Setup

CLASSES = 10


class Size(NamedTuple):
    """How a data set is used."""

    samples: int  # N
    equations: int  # rows of A in figure 1
    batch: int  # b

    @property
    def stage(self) -> int:
        """m = N/b."""
        return self.samples // self.batch


#: The paper's numbers for 28 x 28 pixels; digits are few and small, and keep the ratios.
SIZES = {
    "mnist": Size(50_000, 200, 128),
    "fashion": Size(50_000, 200, 128),
    "digits": Size(1_797, 20, 4),
}
LOADERS = {"mnist": datasets.mnist, "fashion": datasets.fashion_mnist, "digits": datasets.digits}


@lru_cache(maxsize=1)
def images(data: str, count: int) -> datasets.Data:
    """Return the first images of a data set."""
    return LOADERS[data]().first(count)


@dataclass(frozen=True)
class Images(Problem):
    """Multinomial logistic regression with intercept and A x = 0, A orthonormalised Gaussian rows."""

    data: str
    count: int
    equations: int
    l2: float = 1e-4

    def build(self) -> Setup:
        """Return F and A."""
        X, y = images(self.data, self.count)
        objective = GLM(X, y, "multinomial", l2=self.l2, fit_intercept=True, n_classes=CLASSES)
        return Setup(objective, Affine(orthonormal_rows(self.equations, objective.dim)))


@dataclass(frozen=True)
class SpreadImages(Problem):
    """The same model without equations, its images spread over workers: at random or by label."""

    data: str
    count: int
    workers: int = 10
    split: str = "iid"
    l2: float = 1e-4

    def build(self) -> Setup:
        """Return the federation."""
        X, y = images(self.data, self.count)
        model: dict[str, Any] = {
            "loss": "multinomial",
            "l2": self.l2,
            "fit_intercept": True,
            "n_classes": CLASSES,
        }
        locals_ = [GLM(X[part], y[part], **model) for part in self._parts(y)]
        return Setup(Federation(locals_), None)

    def _parts(self, y: Array) -> list[np.ndarray]:
        return splits.iid(len(y), self.workers) if self.split == "iid" else splits.by_label(y, self.workers)


def orthonormal_rows(count: int, dim: int, seed: int = 0) -> Array:
    """Return Gaussian rows after Gram-Schmidt."""
    drawn = np.random.default_rng(seed).standard_normal((dim, count))
    return np.ascontiguousarray(np.linalg.qr(drawn)[0].T)
