"""Lemma 6.1: the noise of a federation, seen as one problem on the consensus set."""

import itertools
from dataclasses import dataclass

import numpy as np

from tether.arrays import Array, Indices
from tether.constraints import Consensus
from tether.objectives import GLM, Federation, FiniteSum, Objective
from tether.report import Table
from tether.report.parts import Cell
from tether.reproduce.experiment import Claim, Experiment, Judgement, Results, Settings
from tether.reproduce.problems import SIZES, SpreadImages
from tether.reproduce.runner import built
from tether.solve import solve
from tether.theory import Heterogeneity, heterogeneity, worker_heterogeneity

ROUNDING = 1e-10
DRAWS = 20_000  # tuples of samples, where there are too many to list
NAMES = ("σ² along the constraint", "σ² across", "‖∇F(x*)‖²")


def lemma_6_1(settings: Settings) -> Experiment:
    """Return what the lemma says, by listing all tuples of samples, and on images by drawing some."""
    exact = _small()
    drawn = _images(settings)
    return Experiment(
        name="lemma-6.1",
        title="Lemma 6.1: noise and heterogeneity",
        series=(),
        claims=(
            Claim("σ² along is σ*², σ² across is nζ*² + (n − 1)σ*² (all tuples listed)", exact.judge),
            Claim(f"the same on {settings.data} by label (tuples drawn)", drawn.judge),
        ),
        tables=(lambda results: _table([exact, drawn]),),
    )


@dataclass(frozen=True)
class Comparison:
    """The numbers of the lemma, and the same measured on the stacked problem."""

    label: str
    said: Heterogeneity
    measured: Heterogeneity
    errors: tuple[float, float, float]  # that drawing leaves

    def judge(self, results: Results) -> Judgement:
        """Say whether they agree."""
        pairs = list(zip(NAMES, self.said, self.measured, self.errors, strict=True))
        words = ", ".join(f"{name} {said:.6g} / {found:.6g}" for name, said, found, _ in pairs)
        holds = all(abs(said - found) <= error for _, said, found, error in pairs)
        return Judgement(holds, f"said / measured: {words}")


def _small() -> Comparison:
    """Three workers with five samples each: 125 tuples."""
    rng = np.random.default_rng(0)
    workers: list[Objective] = [
        GLM(rng.standard_normal((5, 4)), rng.standard_normal(5) + k, "squared", l2=0.1) for k in range(3)
    ]
    x = _common_optimum(workers)
    tuples = list(itertools.product(range(5), repeat=3))
    stacked = _stacked(workers, tuples)
    measured = heterogeneity(stacked, Consensus(3), np.tile(x, 3), max_samples=len(tuples))
    said = worker_heterogeneity(workers, x).stacked()
    scale = max(said)
    return Comparison("three workers, 125 tuples", said, measured, (ROUNDING * scale,) * 3)


def _stacked(workers: list[Objective], tuples: list[tuple[int, ...]]) -> FiniteSum:
    """Return F(x) = sum_k f_k(x_k) whose samples are tuples, one sample a worker."""
    d, n = workers[0].dim, len(workers)

    def gradient(x: Array, chosen: Indices) -> Array:
        blocks = x.reshape(n, d)
        picked = np.array([tuples[place] for place in chosen])
        return np.concatenate(
            [worker.batch_gradient(blocks[k], picked[:, k]) for k, worker in enumerate(workers)]
        )

    def value(x: Array, chosen: Indices) -> float:
        return float(sum(worker.value(block) for worker, block in zip(workers, x.reshape(n, d), strict=True)))

    return FiniteSum(gradient, value, n_samples=len(tuples), dim=n * d)


def _common_optimum(workers: list[Objective]) -> Array:
    return solve(Federation(workers), method="newton", tol=1e-20).x


def _images(settings: Settings) -> Comparison:
    """Ten workers by label: gradients of single samples at the common optimum, tuples drawn at random."""
    count = min(SIZES[settings.data].samples, 2_000)
    federation, _ = built(SpreadImages(settings.data, count, split="by label", l2=1e-2))
    assert isinstance(federation, Federation)
    workers = list(federation.objectives)
    x = solve(federation, method="lbfgs", tol=1e-10).x
    said = worker_heterogeneity(workers, x, max_samples=count).stacked()
    rng, n = np.random.default_rng(0), len(workers)
    each = [_gradients(worker, x) for worker in workers]
    picked = [rng.integers(len(rows), size=DRAWS) for rows in each]
    along, across = np.empty(DRAWS), np.empty(DRAWS)
    for place in range(DRAWS):
        blocks = np.array([rows[chosen[place]] for rows, chosen in zip(each, picked, strict=True)])
        along[place] = n * np.sum(blocks.mean(axis=0) ** 2)
        across[place] = np.sum(blocks**2) - along[place]
    full = float(sum(np.sum(rows.mean(axis=0) ** 2) for rows in each))
    errors = [5.0 * float(np.std(draws)) / DRAWS**0.5 for draws in (along, across)]
    measured = Heterogeneity(float(along.mean()), float(across.mean()), full)
    return Comparison(f"{settings.data}, ten workers by label", said, measured, (*errors, ROUNDING * full))


def _gradients(worker: Objective, x: Array) -> Array:
    return np.array([worker.batch_gradient(x, np.array([i])) for i in range(worker.n_samples)])


def _table(comparisons: list[Comparison]) -> Table:
    rows: list[list[Cell]] = [
        [one.label, name, f"{said:.6g}", f"{found:.6g}"]
        for one in comparisons
        for name, said, found in zip(NAMES, one.said, one.measured, strict=True)
    ]
    return Table(["workers", "number", "Lemma 6.1", "measured on the consensus set"], rows)
