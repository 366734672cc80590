"""Theorems 3.1 and 3.2: the three errors of DP-SGD."""

from dataclasses import dataclass, replace

import numpy as np

from tether.arrays import Array
from tether.methods import DelayedSGD
from tether.reproduce.curves import Curve
from tether.reproduce.experiment import Series, Settings
from tether.reproduce.prescribed import Prescribed, facts_of
from tether.reproduce.task import Budget, Looks, Task
from tether.reproduce.theorems.part import Bounded, Part, below_bound, draw_bounded, draw_powers, powers
from tether.theory import Heterogeneity, error_bound, sgd_step_size

KAPPA = 20.0
LONG = 9.0  # runs last so many times kappa/eta steps
SHARES = (1.0, 0.5, 0.25)  # of the largest step
INTERVALS = (4, 8, 16)


@dataclass(frozen=True)
class Case:
    """DP-SGD on a problem with the largest step that is proved, or a share of it."""

    problem: Prescribed
    interval: int
    batch: int = 1
    share: float = 1.0
    of: int | None = None  # the interval whose largest step is meant; None: its own

    @property
    def eta(self) -> float:
        """The step size."""
        widest = self.of or self.interval
        feasible = self.problem.feasible
        return self.share * sgd_step_size(
            1.0, convexity=1 / self.problem.kappa, interval=widest, feasible_gradients=feasible
        )

    def series(self, key: str, label: str, seeds: int) -> Series:
        """Return the runs."""
        rounds = LONG * self.problem.kappa / self.eta / self.interval
        looks = max(1, round(rounds / 60))
        method = DelayedSGD(
            interval=self.interval,
            step_size=self.eta,
            batch_size=self.batch,
            replacement=self.batch == 1,
            stage_length=looks * self.interval,
            output="average" if self.batch == 1 else "last",
        )
        budget, every = Budget(rounds=rounds), Looks(every=looks)
        task = Task(problem=self.problem, method=method, budget=budget, looks=every)
        return Series(key, label, task, seeds)

    def bound(self, steps: float) -> float:
        """Return the bound of Theorem 3.1, or 3.2 where gradients leave the constraint."""
        setting, noise = self.problem.setting(1.0), facts_of(self.problem).noise
        if self.batch > 1:  # all samples: only the full gradient is left, and it lies across
            noise = Heterogeneity(0.0, noise.gradient, noise.gradient)
        setting = replace(setting, noise=noise)
        return error_bound(
            "dp-sgd",
            setting,
            steps,
            step_size=self.eta,
            interval=self.interval,
            feasible_gradients=self.problem.feasible,
        ).total


def left(curve: Curve) -> Array:
    """Return the gap at which each run has come to rest: the mean of its last quarter."""
    return np.array([np.mean(trace["value"][-len(trace) // 4 :]) for trace in curve.traces]) - curve.best


def rest(curve: Curve) -> Array:
    """Return the gap at which runs without noise have come to rest."""
    return curve.end("value")


def sgd(settings: Settings) -> Part:
    """Return what belongs to Theorems 3.1 and 3.2."""
    seeds = settings.seeds or (2 if settings.quick else 6)
    simple, hard = Prescribed(KAPPA, noise=1.0, feasible=True), Prescribed(KAPPA, noise=1.0)
    shares, intervals = (SHARES[:2], INTERVALS[1:]) if settings.quick else (SHARES, INTERVALS)
    pulled = Prescribed(KAPPA, 32, pull=3.0)
    curves = {
        "3.1/E = 8": Case(simple, 8),
        "3.1/E = 2": Case(simple, 2),
        "3.2/E = 8": Case(hard, 8),
        "3.2/E = 2": Case(hard, 2),
    }
    by_step = {share: Case(simple, 4, share=share) for share in shares}
    by_drift = {share: Case(pulled, 4, pulled.samples, share) for share in shares}
    by_interval = {E: Case(pulled, E, pulled.samples, of=INTERVALS[-1]) for E in intervals}
    series = [
        *(case.series(key, f"Theorem {key.replace('/', ', ')}", seeds) for key, case in curves.items()),
        *(case.series(f"step/{share:g}", f"{share:g}", seeds) for share, case in by_step.items()),
        *(case.series(f"drift/{share:g}", f"{share:g}", 1) for share, case in by_drift.items()),
        *(case.series(f"interval/{E}", f"E = {E}", 1) for E, case in by_interval.items()),
    ]
    steps = {case.eta: f"step/{share:g}" for share, case in by_step.items()}
    drifts = {case.eta: f"drift/{share:g}" for share, case in by_drift.items()}
    gaps = {np.sqrt(E * (E - 1.0)): f"interval/{E}" for E in intervals}
    bounded = {key: Bounded(key, case.bound) for key, case in curves.items()}
    simple_ones, hard_ones = (
        [one for key, one in bounded.items() if key.startswith(name)] for name in ("3.1", "3.2")
    )
    return Part(
        tuple(series),
        (
            below_bound("Theorem 3.1", *simple_ones),
            below_bound("Theorem 3.2", *hard_ones),
            powers("Theorem 3.1: the statistical error is O(η)", steps, 0.6, 1.4, left),
            powers("Theorem 3.2: the residual error is O(η²)", drifts, 1.7, 2.3, rest),
            powers("Theorem 3.2: the residual error is O(E(E − 1)) in E", gaps, 1.6, 2.2, rest),
        ),
        (
            draw_bounded("Theorem 3.1: gradients stay feasible", "steps T", *simple_ones),
            draw_bounded("Theorem 3.2: gradients leave", "steps T", *hard_ones),
            draw_powers("what is left, by η", "η", {"statistical": steps, "residual": drifts}, left),
            draw_powers("residual error, by E", "√(E(E − 1))", {"residual": gaps}, rest),
        ),
    )
